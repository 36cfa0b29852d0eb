#include "settings.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/load.hpp"

#include "../fields/node_values.hpp"
#include "../fields/path_setter.hpp"
#include "variants.hpp"

namespace slicewise::scenarios {
namespace {

std::optional<Setting> read_setting(const std::string& text, std::size_t number,
                                    Findings& findings) {
  const std::size_t equals = text.find('=');
  const int line = static_cast<int>(number) + 1;
  const bool swept = text.starts_with(kSweepPath);
  const std::string flag = swept ? "--sweep" : "--set";
  const std::size_t shown_from = swept ? kSweepPath.size() : 0;
  const SourceLocation all{flag, line, 1,
                           static_cast<int>(std::max<std::size_t>(1, text.size() - shown_from))};
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
  Setting setting{
      text.substr(0, equals), {flag, line, 1, static_cast<int>(equals - shown_from)}, nullptr, {}};
  // Padded so that places in the value count from the start of the argument.
  SourceText padded{flag, std::string(number, '\n') + std::string(equals + 1 - shown_from, ' ')};
  padded.text += text.substr(equals + 1);
  Diagnostics syntax;
  setting.value = read_document(padded, syntax);
  for (Diagnostic& problem : syntax) findings.add(std::move(problem));
  return setting.value == nullptr ? std::nullopt : std::optional(std::move(setting));
}

// In a file `true` and `3` need quotes to be text; on a command line the shell removes them.
NodePtr as_text(const NodePtr& value) {
  if (!value->is_scalar() || value->kind == Node::Kind::Null) return value;
  auto text = std::make_shared<Node>(*value);
  text->kind = Node::Kind::Text;
  return text;
}

}  // namespace

void Settings::apply(NodePtr& spec, const std::vector<std::string>& set) {
  std::vector<Setting> others;
  for (std::size_t i = 0; i < set.size(); ++i) {
    auto setting = read_setting(set[i], i, findings_);
    if (!setting) continue;
    if (setting->path.starts_with(kSweepPath)) {
      add_to_sweep(*setting, spec);
    } else {
      others.push_back(std::move(*setting));
    }
  }
  const NodePtr original = spec;
  for (Setting& setting : others) {
    if (conflicts_with_sweep(setting, original)) continue;
    if (apply_to_base(setting, spec)) settings_.push_back(std::move(setting));
  }
}

NodePtr Settings::apply_again(NodePtr spec, const std::string& variant) {
  Findings known;
  for (Setting& setting : settings_) {
    PathSetter setter(setting.path, setting.where, known);
    const bool done = setter.set(spec, setting.value, PathSetter::Parents::MustExist) ==
                      PathSetter::Outcome::Done;
    const bool already_gone = setting.value->kind == Node::Kind::Null;
    if (!done && !already_gone) setting.without_place.push_back(variant);
  }
  return spec;
}

void Settings::report_without_place(std::size_t variants, Diagnostics& notes) {
  for (const Setting& setting : settings_) {
    const std::vector<std::string>& names = setting.without_place;
    if (names.empty()) continue;
    if (names.size() == variants) {
      findings_.add(
          Code::PathUnknown, setting.where,
          fmt::format(
              "--set {} changes nothing: a patch of every variant removes what it would change",
              setting.path),
          "take it out of the patches, or set the block that they remove");
      continue;
    }
    notes.push_back(make_diagnostic(
        Code::PathUnknown, setting.where,
        fmt::format("--set {} changes nothing in {} \"{}\": the patch removes what it would change",
                    setting.path, names.size() == 1 ? "variant" : "variants",
                    fmt::join(names, "\", \"")),
        "to change it there too, set the block that the patch removes"));
    notes.back().severity = Severity::Warning;
  }
}

void Settings::add_to_sweep(const Setting& setting, NodePtr& spec) {
  if (setting.value->kind != Node::Kind::List || setting.value->items.empty()) {
    findings_.add(Code::FieldType, setting.where, "a sweep takes a list of values",
                  fmt::format("write --sweep {}=1,2,3", setting.path.substr(kSweepPath.size())));
    return;
  }
  auto sweep = std::make_shared<Node>();
  sweep->kind = Node::Kind::Map;
  sweep->where = setting.where;
  sweep->entries = {{setting.path.substr(kSweepPath.size()), setting.where, setting.value}};
  auto patch = std::make_shared<Node>();
  patch->kind = Node::Kind::Map;
  patch->entries = {{"sweep", setting.where, std::move(sweep)}};
  spec = apply_patch(spec, *patch, findings_);
}

bool Settings::apply_to_base(Setting& setting, NodePtr& spec) {
  PathSetter setter(setting.path, setting.where, findings_);
  const auto outcome = setter.set(spec, setting.value, PathSetter::Parents::Create);
  if (outcome == PathSetter::Outcome::Absent) {
    findings_.add(
        Code::PathUnknown, setting.where,
        fmt::format("\"{}\" leads nowhere: the list it goes through is absent", setting.path));
  }
  if (outcome != PathSetter::Outcome::Done) return false;
  if (setter.reached_text()) {
    setting.value = as_text(setting.value);
    setter.set(spec, setting.value, PathSetter::Parents::MustExist);
  }
  return true;
}

bool Settings::conflicts_with_sweep(const Setting& setting, const NodePtr& spec) {
  const Node* sweep = block(spec.get(), "sweep");
  if (sweep == nullptr) return false;
  const std::vector<std::string> own = steps_of(setting.path, setting.value, spec);
  for (const Entry& entry : sweep->entries) {
    const std::vector<std::string> swept = steps_of(entry.key, setting.value, spec);
    const std::size_t common = std::min(own.size(), swept.size());
    if (common == 0 || !std::equal(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(common),
                                   swept.begin())) {
      continue;
    }
    findings_.add(
        Code::SettingConflict, setting.where,
        own.size() == swept.size()
            ? fmt::format("--set and sweep both set {}", entry.key)
            : fmt::format("--set {} conflicts with the sweep of {}", setting.path, entry.key),
        "drop the --set, or take the path out of the sweep");
    return true;
  }
  return false;
}

std::vector<std::string> Settings::steps_of(const std::string& path, const NodePtr& value,
                                            NodePtr spec) {
  Findings ignored;
  PathSetter setter(path, {}, ignored);
  const auto outcome = setter.set(spec, value, PathSetter::Parents::Create);
  return outcome == PathSetter::Outcome::Unknown ? std::vector<std::string>{} : setter.steps();
}

}  // namespace slicewise::scenarios
