#include "variants.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "node_values.hpp"
#include "patch.hpp"
#include "path_setter.hpp"
#include "sweep.hpp"

namespace slicewise::scenarios {
namespace {

// One value of --set, "path=value".
struct Setting {
  std::string path;
  SourceLocation where;
  NodePtr value;
};

std::optional<Setting> read_setting(const std::string& text, std::size_t number,
                                    Findings& findings) {
  const std::size_t equals = text.find('=');
  const int line = static_cast<int>(number) + 1;
  const SourceLocation all{"--set", line, 1,
                           static_cast<int>(std::max<std::size_t>(1, text.size()))};
  if (equals == std::string::npos || equals == 0) {
    findings.add(Code::PathUnknown, all, fmt::format("--set \"{}\" is not path=value", text),
                 "write it like --set workloads.cifar10.count=3");
    return std::nullopt;
  }
  if (equals + 1 == text.size()) {
    findings.add(Code::YamlSyntax, all, fmt::format("--set \"{}\" has no value", text),
                 "write null to remove the field");
    return std::nullopt;
  }
  Setting setting{text.substr(0, equals), {"--set", line, 1, static_cast<int>(equals)}, nullptr};
  // Padded so that places in the value count from the start of the argument.
  SourceText padded{"--set", std::string(number, '\n') + std::string(equals + 1, ' ')};
  padded.text += text.substr(equals + 1);
  Diagnostics syntax;
  setting.value = read_document(padded, syntax);
  for (Diagnostic& problem : syntax) findings.add(std::move(problem));
  return setting.value == nullptr ? std::nullopt : std::optional(std::move(setting));
}

// --set changes the base, and wins over a patch that sets the same field.
NodePtr apply_again(NodePtr spec, const std::vector<Setting>& settings) {
  Findings known;
  for (const Setting& setting : settings) {
    PathSetter(setting.path, setting.where, known)
        .set(spec, setting.value, PathSetter::Parents::MustExist);
  }
  return spec;
}

NodePtr without(const NodePtr& spec, std::initializer_list<std::string_view> keys) {
  auto result = std::make_shared<Node>(*spec);
  for (const std::string_view key : keys) {
    std::erase_if(result->entries, [&](const Entry& entry) { return entry.key == key; });
  }
  return result;
}

std::vector<Setting> apply_settings(NodePtr& spec, const std::vector<std::string>& set,
                                    Findings& findings) {
  std::vector<Setting> settings;
  const Node* sweep = block(spec.get(), "sweep");
  for (std::size_t i = 0; i < set.size(); ++i) {
    auto setting = read_setting(set[i], i, findings);
    if (!setting) continue;
    if (sweep != nullptr && sweep->entry(setting->path) != nullptr) {
      findings.add(Code::SettingConflict, setting->where,
                   fmt::format("--set and sweep both set {}", setting->path),
                   "drop the --set, or take the path out of the sweep");
      continue;
    }
    PathSetter setter(setting->path, setting->where, findings);
    const auto outcome = setter.set(spec, setting->value, PathSetter::Parents::Create);
    if (outcome == PathSetter::Outcome::Absent) {
      findings.add(
          Code::PathUnknown, setting->where,
          fmt::format("\"{}\" leads nowhere: the list it goes through is absent", setting->path));
    } else if (outcome == PathSetter::Outcome::Done) {
      settings.push_back(std::move(*setting));
    }
  }
  return settings;
}

}  // namespace

std::vector<Variant> expand_variants(const NodePtr& spec, const std::vector<std::string>& set,
                                     Findings& findings, Diagnostics& notes) {
  NodePtr base = spec;
  const std::vector<Setting> settings = apply_settings(base, set, findings);
  base = without(base, {"variants", "sweep"});
  std::vector<Variant> variants;
  if (const Node* list = blocks(spec.get(), "variants")) {
    for (const NodePtr& item : list->items) {
      const Node* patch = block(item.get(), "patch");
      const NodePtr patched = patch == nullptr ? base : apply_patch(base, *patch, findings);
      variants.push_back({text_at(item.get(), "name").value_or(""),
                          text_at(item.get(), "description").value_or(""),
                          without(apply_again(patched, settings), {"variants", "sweep"})});
    }
  } else {
    variants.push_back({"base", "", base});
  }
  const Entry* sweep = spec->entry("sweep");
  if (sweep == nullptr || sweep->value->kind != Node::Kind::Map) return variants;
  return expand_sweep(std::move(variants), *sweep, findings, notes);
}

}  // namespace slicewise::scenarios
