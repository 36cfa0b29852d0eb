#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "../decimal.hpp"
#include "manifest_reader.hpp"

// Bottlerocket's own device plugin and its settings.
// Source: bottlerocket.dev, settings.kubelet-device-plugins, 1.54.
namespace slicewise::scenarios::manifests {
namespace {

constexpr std::string_view kTable = "settings.kubelet-device-plugins.nvidia";
constexpr std::array<std::string_view, 7> kModels = {"a100.40gb",      "a100.80gb",  "h100.80gb",
                                                     "h200.141gb",     "b200.180gb", "b300.269gb",
                                                     "rtxpro6000.96gb"};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// A value or key without quotes, and without a comment behind it.
std::string bare(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && (text[0] == '"' || text[0] == '\'')) {
    const std::size_t end = text.find(text[0], 1);
    return std::string(text.substr(1, end == text.npos ? text.npos : end - 1));
  }
  return std::string(trimmed(text.substr(0, text.find('#'))));
}

void append_settings(std::vector<BottlerocketSetting>& settings, const Node& mapping,
                     const std::string& prefix, int levels) {  // NOLINT(misc-no-recursion)
  for (const Entry& entry : mapping.entries) {
    if (entry.value == nullptr) continue;
    const std::string path = prefix.empty() ? entry.key : prefix + "." + entry.key;
    if (entry.value->is_scalar()) {
      settings.push_back({path, entry.value->text, entry.value->where});
    } else if (levels > 0) {
      append_settings(settings, *entry.value, path, levels - 1);
    }
  }
}

}  // namespace

std::vector<BottlerocketSetting> bottlerocket_settings(const SourceText& toml) {
  std::vector<BottlerocketSetting> settings;
  std::string table;
  std::string_view rest = toml.text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    const std::string_view words = trimmed(text);
    if (words.empty() || words[0] == '#') continue;
    if (words[0] == '[') {
      table = bare(words.substr(1, words.find(']') == words.npos ? 0 : words.find(']') - 1));
      continue;
    }
    const std::size_t equals = words.find('=');
    if (equals == words.npos) continue;
    std::string path =
        table.empty() ? bare(words.substr(0, equals)) : table + "." + bare(words.substr(0, equals));
    if (!path.starts_with(kTable) || path.size() <= kTable.size() + 1) continue;
    path.erase(0, kTable.size() + 1);
    const auto column = static_cast<int>(text.find_first_not_of(" \t")) + 1;
    settings.push_back(
        {std::move(path),
         bare(words.substr(equals + 1)),
         {toml.name, line, column, static_cast<int>(trimmed(words.substr(0, equals)).size())}});
  }
  return settings;
}

std::vector<BottlerocketSetting> bottlerocket_settings(const Node* nvidia) {
  std::vector<BottlerocketSetting> settings;
  constexpr int kLevels = 3;  // mig.profile."a100.40gb"
  if (is_map(nvidia)) append_settings(settings, *nvidia, "", kLevels);
  return settings;
}

void apply_bottlerocket(Context& context, const std::vector<BottlerocketSetting>& settings,
                        NodeGroupFile& group) {
  group.is_bottlerocket = true;
  if (settings.empty()) return;
  group.bottlerocket_where = settings.front().where;
  PluginConfigFile config;
  config.key = "Bottlerocket";
  config.where = settings.front().where;
  config.renames = true;
  config.refuses_several = true;
  ReplicatedResource gpu{"nvidia.com/gpu", 2, config.where, config.where};
  const auto tell = [&](Code code, const SourceLocation& where, std::string message,
                        std::string help) {
    report(context, make_diagnostic(code, where, std::move(message), std::move(help)));
  };
  for (const BottlerocketSetting& setting : settings) {
    if (setting.path == "device-sharing-strategy") {
      config.sharing_where = setting.where;
      config.sharing = setting.value == "mps"            ? FileSharing::Mps
                       : setting.value == "time-slicing" ? FileSharing::TimeSlicing
                                                         : FileSharing::None;
    } else if (setting.path == "device-partitioning-strategy") {
      group.bottlerocket_partitions = setting.value == "mig";
    } else if (setting.path.ends_with(".replicas")) {
      gpu.replicas_where = setting.where;
      gpu.replicas = std::clamp<std::int64_t>(whole_of(setting.value).value_or(0), 0, 1'000'000);
      if (gpu.replicas < 2) {
        tell(Code::ReplicasTooFew, setting.where, "replicas must be a whole number >= 2",
             "device-sharing-strategy = \"none\" switches sharing off");
      }
    } else if (setting.path.ends_with(".rename-by-default")) {
      config.renames = setting.value != "false";
    } else if (setting.path.ends_with(".fail-requests-greater-than-one")) {
      config.refuses_several = setting.value != "false";
    } else if (setting.path.starts_with("mig.profile.")) {
      const std::string model = bare(setting.path.substr(12));
      group.bottlerocket_mig.push_back({model, setting.value, setting.where, setting.where});
      if (std::ranges::find(kModels, std::string_view(model)) == kModels.end()) {
        const auto near = nearest_name(model, kModels);
        tell(Code::BottlerocketMig, setting.where,
             fmt::format("Bottlerocket knows no GPU model {}", model.substr(0, 40)),
             near ? fmt::format("did you mean {}?", *near)
                  : std::string("one of a100.40gb, a100.80gb, h100.80gb, h200.141gb, ..."));
      }
    }
  }
  if (group.bottlerocket_partitions && config.sharing == FileSharing::Mps) {
    tell(Code::BottlerocketMig, config.sharing_where, "MpsMigConflict: MPS and MIG on one node",
         "use time-slicing beside MIG, or MPS without MIG");
  }
  if (config.sharing != FileSharing::None && gpu.replicas >= 2) config.resources.push_back(gpu);
  if (group.bottlerocket_partitions) config.strategy = "single";
  group.bottlerocket = std::move(config);
}

}  // namespace slicewise::scenarios::manifests
