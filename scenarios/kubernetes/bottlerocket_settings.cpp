#include "bottlerocket_settings.hpp"

#include <algorithm>
#include <utility>

namespace slicewise::scenarios::manifests {
namespace {

std::string setting_path(const std::string& before, const std::string& key) {
  const bool has_dot = key.find('.') != std::string::npos;
  return before + (before.empty() ? "" : ".") + (has_dot ? "\"" + key + "\"" : key);
}

// eksctl writes YAML values as TOML values of the same type.
TomlValue::Kind kind_of(const Node& value) {
  switch (value.kind) {
    case Node::Kind::Boolean:
      return TomlValue::Kind::Truth;
    case Node::Kind::Integer:
      return TomlValue::Kind::Whole;
    case Node::Kind::Text:
      return TomlValue::Kind::Text;
    default:
      return TomlValue::Kind::Other;
  }
}

void append_settings(std::vector<BottlerocketSetting>& settings, const Node& mapping,
                     const std::string& before, int levels) {  // NOLINT(misc-no-recursion)
  for (const Entry& entry : mapping.entries) {
    if (entry.value == nullptr) continue;
    std::string path = setting_path(before, entry.key);
    if (entry.value->kind != Node::Kind::Map) {
      settings.push_back(
          {std::move(path), kind_of(*entry.value), entry.value->text, entry.key_where});
    } else if (levels > 0) {
      append_settings(settings, *entry.value, path, levels - 1);
    }
  }
}

}  // namespace

std::vector<BottlerocketSetting> bottlerocket_settings(const SourceText& toml, Diagnostics& found) {
  std::vector<BottlerocketSetting> settings;
  for (TomlValue& value : read_toml(toml, found)) {
    if (value.path.size() < 2 || value.path.front() != "settings") continue;
    std::string path;
    for (std::size_t n = 1; n < value.path.size(); ++n) path = setting_path(path, value.path[n]);
    settings.push_back({std::move(path), value.kind, std::move(value.text), value.where});
  }
  return settings;
}

std::vector<BottlerocketSetting> bottlerocket_settings(const Node* settings) {
  constexpr int kLevels = 6;  // kubelet-device-plugins.nvidia.mig.profile."a100.40gb"
  std::vector<BottlerocketSetting> all;
  if (settings != nullptr && settings->kind == Node::Kind::Map) {
    append_settings(all, *settings, "", kLevels);
  }
  return all;
}

std::string plugin_setting(const std::vector<BottlerocketSetting>& settings, std::string_view key) {
  const std::string path = std::string(kBottlerocketPlugin) + std::string(key);
  const auto found = std::ranges::find(settings, path, &BottlerocketSetting::path);
  return found == settings.end() ? std::string() : found->value;
}

}  // namespace slicewise::scenarios::manifests
