#include "variants.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../fields/node_values.hpp"
#include "../fields/path_setter.hpp"
#include "patch.hpp"
#include "sweep.hpp"

namespace slicewise::scenarios {
namespace {

// One value of --set, "path=value".
struct Setting {
  std::string path;
  SourceLocation where;
  NodePtr value;
  std::vector<std::string> without_place;  // names of variants
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
  Setting setting{
      text.substr(0, equals), {"--set", line, 1, static_cast<int>(equals)}, nullptr, {}};
  // Padded so that places in the value count from the start of the argument.
  SourceText padded{"--set", std::string(number, '\n') + std::string(equals + 1, ' ')};
  padded.text += text.substr(equals + 1);
  Diagnostics syntax;
  setting.value = read_document(padded, syntax);
  for (Diagnostic& problem : syntax) findings.add(std::move(problem));
  return setting.value == nullptr ? std::nullopt : std::optional(std::move(setting));
}

NodePtr without(const NodePtr& spec, std::initializer_list<std::string_view> keys) {
  auto result = std::make_shared<Node>(*spec);
  for (const std::string_view key : keys) {
    std::erase_if(result->entries, [&](const Entry& entry) { return entry.key == key; });
  }
  return result;
}

// In a file `true` and `3` need quotes to be text; on a command line the shell removes them.
NodePtr as_text(const NodePtr& value) {
  if (!value->is_scalar() || value->kind == Node::Kind::Null) return value;
  auto text = std::make_shared<Node>(*value);
  text->kind = Node::Kind::Text;
  return text;
}

// --set on the base, and again on every variant, where it wins over a patch of the same field.
class Settings {
 public:
  explicit Settings(Findings& findings) : findings_(findings) {}

  // Changes the base `spec`; mistakes and conflicts with its sweep are reported.
  void apply(NodePtr& spec, const std::vector<std::string>& set) {
    const NodePtr original = spec;
    for (std::size_t i = 0; i < set.size(); ++i) {
      auto setting = read_setting(set[i], i, findings_);
      if (!setting || conflicts_with_sweep(*setting, original)) continue;
      if (apply_to_base(*setting, spec)) settings_.push_back(std::move(*setting));
    }
  }

  NodePtr apply_again(NodePtr spec, const std::string& variant) {
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

  // A setting that did nothing in some of `variants` is a warning, in all of them an error.
  void report_without_place(std::size_t variants, Diagnostics& notes) {
    for (const Setting& setting : settings_) {
      const std::vector<std::string>& names = setting.without_place;
      if (names.empty()) continue;
      if (names.size() == variants) {
        findings_.add(Code::PathUnknown, setting.where,
                      fmt::format("--set {} changes nothing: a patch of every variant removes "
                                  "what it would change",
                                  setting.path),
                      "take it out of the patches, or set the block that they remove");
        continue;
      }
      notes.push_back(make_diagnostic(
          Code::PathUnknown, setting.where,
          fmt::format("--set {} changes nothing in {} \"{}\": the patch removes what it would "
                      "change",
                      setting.path, names.size() == 1 ? "variant" : "variants",
                      fmt::join(names, "\", \"")),
          "to change it there too, set the block that the patch removes"));
      notes.back().severity = Severity::Warning;
    }
  }

 private:
  bool apply_to_base(Setting& setting, NodePtr& spec) {
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

  // Two paths of which one holds the other: the sweep would replace what --set says, or --set what
  // the sweep varies.
  bool conflicts_with_sweep(const Setting& setting, const NodePtr& spec) {
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

  // Empty when no spec can have the path.
  static std::vector<std::string> steps_of(const std::string& path, const NodePtr& value,
                                           NodePtr spec) {
    Findings ignored;
    PathSetter setter(path, {}, ignored);
    const auto outcome = setter.set(spec, value, PathSetter::Parents::Create);
    return outcome == PathSetter::Outcome::Unknown ? std::vector<std::string>{} : setter.steps();
  }

  Findings& findings_;
  std::vector<Setting> settings_;
};

}  // namespace

std::vector<Variant> expand_variants(const NodePtr& spec, const std::vector<std::string>& set,
                                     Findings& findings, Diagnostics& notes) {
  NodePtr base = spec;
  Settings settings(findings);
  settings.apply(base, set);
  base = without(base, {"variants", "sweep"});
  std::vector<Variant> variants;
  if (const Node* list = blocks(spec.get(), "variants")) {
    for (const NodePtr& item : list->items) {
      const Node* patch = block(item.get(), "patch");
      const NodePtr patched = patch == nullptr ? base : apply_patch(base, *patch, findings);
      const std::string name = text_at(item.get(), "name").value_or("");
      variants.push_back({name, text_at(item.get(), "description").value_or(""),
                          without(settings.apply_again(patched, name), {"variants", "sweep"})});
    }
    settings.report_without_place(variants.size(), notes);
  } else {
    variants.push_back({"base", "", base});
  }
  const Entry* sweep = spec->entry("sweep");
  if (sweep == nullptr || sweep->value->kind != Node::Kind::Map) return variants;
  return expand_sweep(std::move(variants), *sweep, findings, notes);
}

}  // namespace slicewise::scenarios
