#include "variants.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"

#include "../fields/check_fields.hpp"
#include "../fields/node_values.hpp"
#include "../fields/path_setter.hpp"

namespace slicewise::scenarios {
namespace {

bool has_names(const Node& list) {
  return !list.items.empty() &&
         std::all_of(list.items.begin(), list.items.end(),
                     [](const NodePtr& item) { return text_at(item.get(), "name").has_value(); });
}

class Merger {
 public:
  explicit Merger(Findings& findings) : findings_(findings) {}

  // NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
  NodePtr merge(const NodePtr& base, const NodePtr& patch, const std::string& path) {
    if (base == nullptr || base->kind != patch->kind) return without_nulls(patch);
    if (patch->kind == Node::Kind::Map) return merge_maps(*base, *patch, path);
    if (patch->kind == Node::Kind::List && has_names(*base) && has_names(*patch)) {
      return merge_lists(*base, *patch, path);
    }
    return patch;
  }

  NodePtr merge_maps(const Node& base, const Node& patch, const std::string& path) {
    auto result = std::make_shared<Node>(base);
    for (const Entry& change : patch.entries) {
      const auto at = std::find_if(result->entries.begin(), result->entries.end(),
                                   [&](const Entry& e) { return e.key == change.key; });
      const bool present = at != result->entries.end();
      if (change.value->kind == Node::Kind::Null) {
        if (present) result->entries.erase(at);
        continue;
      }
      const NodePtr value =
          merge(present ? at->value : nullptr, change.value, join_path(path, change.key));
      if (present) {
        *at = {change.key, change.key_where, value};
      } else {
        result->entries.push_back({change.key, change.key_where, value});
      }
    }
    return result;
  }

 private:
  NodePtr merge_lists(const Node& base, const Node& patch, const std::string& path) {
    auto result = std::make_shared<Node>(base);
    for (const NodePtr& change : patch.items) {
      const std::string name = *text_at(change.get(), "name");
      const auto at =
          std::find_if(result->items.begin(), result->items.end(),
                       [&](const NodePtr& i) { return text_at(i.get(), "name") == name; });
      if (at != result->items.end()) {
        *at = merge(*at, change, fmt::format("{}.{}", path, name));
        continue;
      }
      std::vector<std::string> names;
      for (const NodePtr& item : base.items) names.push_back(*text_at(item.get(), "name"));
      const auto nearest = nearest_name(name, names);
      findings_.add(Code::PathUnknown, value_place(*change, "name"),
                    fmt::format("{} has no entry \"{}\" to patch{}", path, name,
                                nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : ""),
                    "a patch changes entries of spec; it cannot add one");
    }
    return result;
  }

  // A patch that adds a block may say null in it, as one that changes it may.
  // NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
  static NodePtr without_nulls(const NodePtr& node) {
    if (node->kind != Node::Kind::Map) return node;
    auto result = std::make_shared<Node>(*node);
    std::erase_if(result->entries,
                  [](const Entry& e) { return e.value->kind == Node::Kind::Null; });
    for (Entry& entry : result->entries) entry.value = without_nulls(entry.value);
    return result;
  }

  Findings& findings_;
};

}  // namespace

NodePtr apply_patch(const NodePtr& base, const Node& patch, Findings& findings) {
  return Merger(findings).merge_maps(*base, patch, "");
}

namespace {

using Outcome = PathSetter::Outcome;
using Parents = PathSetter::Parents;

constexpr std::size_t kMostVariants = 10'000;

// One path of the sweep and its values.
struct Dimension {
  std::string path;
  std::string label;  // "replicas", or the path where two dimensions end alike
  SourceLocation where;
  std::vector<NodePtr> values;
  Parents parents = Parents::MustExist;
};

struct Probe {
  Outcome outcome;
  std::string last_name;
};

Probe probe(const Variant& variant, const Dimension& dimension, Parents parents,
            Findings& findings) {
  PathSetter setter(dimension.path, dimension.where, findings);
  NodePtr spec = variant.spec;
  const Outcome outcome = setter.set(spec, dimension.values.front(), parents);
  return {outcome, setter.last_name()};
}

// A path is right when at least one variant has it, or when the fields on its way can be made.
bool resolve(const std::vector<Variant>& variants, Dimension& dimension, Findings& findings) {
  for (const Parents parents : {Parents::MustExist, Parents::Create}) {
    for (const Variant& variant : variants) {
      Findings unused;
      const Probe found = probe(variant, dimension, parents, unused);
      if (found.outcome != Outcome::Done) continue;
      dimension.parents = parents;
      dimension.label = found.last_name;
      return true;
    }
  }
  const Probe failed = probe(variants.front(), dimension, Parents::Create, findings);
  if (failed.outcome == Outcome::Absent) {
    findings.add(Code::PathUnknown, dimension.where,
                 fmt::format("\"{}\" leads nowhere: no variant has the list it goes through",
                             dimension.path));
  }
  return false;
}

void check_values(const Dimension& dimension, Findings& findings) {
  std::set<std::string> seen;
  for (const NodePtr& value : dimension.values) {
    if (!value->is_scalar() || seen.insert(value->text).second) continue;
    findings.add(Code::NameDuplicate, value->where,
                 fmt::format("the sweep of {} has {} twice", dimension.path, value->text));
  }
}

std::vector<Dimension> read_dimensions(const std::vector<Variant>& variants, const Node& sweep,
                                       Findings& findings) {
  std::vector<Dimension> dimensions;
  for (const Entry& entry : sweep.entries) {
    if (entry.value->kind != Node::Kind::List || entry.value->items.empty()) continue;
    Dimension dimension{entry.key, "", entry.key_where, entry.value->items};
    check_values(dimension, findings);
    if (resolve(variants, dimension, findings)) dimensions.push_back(std::move(dimension));
  }
  std::multiset<std::string> labels;
  for (const Dimension& dimension : dimensions) labels.insert(dimension.label);
  for (Dimension& dimension : dimensions) {
    if (labels.count(dimension.label) > 1) dimension.label = dimension.path;
  }
  return dimensions;
}

std::string value_name(const Dimension& dimension, std::size_t position) {
  const Node& value = *dimension.values[position];
  if (value.kind == Node::Kind::Null) return "null";
  return value.is_scalar() ? value.text : fmt::format("#{}", position + 1);
}

std::string point_name(const std::string& name, const Dimension& dimension, std::size_t position,
                       bool first) {
  const std::string value = fmt::format("{}={}", dimension.label, value_name(dimension, position));
  if (!first) return fmt::format("{},{}", name, value);
  return name == "base" ? value : fmt::format("{}/{}", name, value);
}

// The variants that one variant becomes along one dimension.
std::vector<Variant> along(const std::vector<Variant>& points, const Dimension& dimension,
                           bool first) {
  std::vector<Variant> result;
  Findings unused;
  for (const Variant& point : points) {
    for (std::size_t i = 0; i < dimension.values.size(); ++i) {
      Variant next{point_name(point.name, dimension, i, first), point.description, point.spec};
      PathSetter(dimension.path, dimension.where, unused)
          .set(next.spec, dimension.values[i], dimension.parents);
      result.push_back(std::move(next));
    }
  }
  return result;
}

bool too_many(std::size_t variants, const std::vector<Dimension>& dimensions) {
  std::size_t total = variants;
  for (const Dimension& dimension : dimensions) {
    if (total > kMostVariants) break;
    total *= dimension.values.size();
  }
  return total > kMostVariants;
}

}  // namespace

std::vector<Variant> expand_sweep(std::vector<Variant> variants, const Entry& sweep,
                                  Findings& findings, Diagnostics& notes) {
  if (variants.empty()) return variants;
  const std::vector<Dimension> dimensions = read_dimensions(variants, *sweep.value, findings);
  if (too_many(variants.size(), dimensions)) {
    findings.add(Code::ValueRange, sweep.key_where,
                 fmt::format("the sweep makes more than {} variants", kMostVariants),
                 "shorten a list, or split the sweep over two files");
    return variants;
  }
  std::vector<Variant> result;
  for (const Variant& variant : variants) {
    std::vector<Variant> points{variant};
    bool first = true;
    for (const Dimension& dimension : dimensions) {
      Findings unused;
      if (probe(variant, dimension, dimension.parents, unused).outcome == Outcome::Done) {
        points = along(points, dimension, first);
        first = false;
        continue;
      }
      notes.push_back(
          make_diagnostic(Code::SweepSkipped, dimension.where,
                          fmt::format("variant \"{}\" has no {} to sweep; it is not varied",
                                      variant.name, dimension.path)));
    }
    std::move(points.begin(), points.end(), std::back_inserter(result));
  }
  return result;
}

namespace {

// --sweep PATH=..., or --set sweep.PATH=[...], adds a dimension.
constexpr std::string_view kSweepPath = "sweep.";

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

  // Changes the base `spec`, its sweep first; mistakes and conflicts with that are reported.
  void apply(NodePtr& spec, const std::vector<std::string>& set) {
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
  void add_to_sweep(const Setting& setting, NodePtr& spec) {
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

// As YAML writes it on one line; of a block only that it is one.
// NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
std::string value_text(const Node& value) {
  std::string text;
  switch (value.kind) {
    case Node::Kind::Null:
      return "null";
    case Node::Kind::Map:
      return "{}";
    case Node::Kind::List:
      for (const NodePtr& item : value.items) {
        text += (text.empty() ? "" : ", ") + value_text(*item);
      }
      return "[" + text + "]";
    default:
      text = value.text;
      std::ranges::replace(text, '\n', ' ');
      return text;
  }
}

// NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
bool holds_blocks(const Node& list) {
  return std::ranges::any_of(list.items, [](const NodePtr& item) {
    return item->kind == Node::Kind::Map || (item->kind == Node::Kind::List && holds_blocks(*item));
  });
}

// NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
void add_inputs(const Node& node, const std::string& path, bool is_named,
                std::vector<std::string>& inputs) {
  const std::string before = path.empty() ? "" : path + ".";
  if (node.kind == Node::Kind::Map && !node.entries.empty()) {
    for (const Entry& entry : node.entries) {
      if ((is_named && entry.key == "name") || entry.key == "description") continue;
      add_inputs(*entry.value, before + entry.key, false, inputs);
    }
  } else if (node.kind == Node::Kind::List && holds_blocks(node)) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const auto name = text_at(node.items[i].get(), "name");
      add_inputs(*node.items[i], name ? before + *name : fmt::format("{}[{}]", path, i),
                 name.has_value(), inputs);
    }
  } else {
    inputs.push_back(path + "=" + value_text(node));
  }
}

}  // namespace

std::vector<std::string> inputs_of(NodePtr spec, const std::vector<std::string>& set) {
  Findings reported_elsewhere;
  Settings(reported_elsewhere).apply(spec, set);
  std::vector<std::string> inputs;
  add_inputs(*spec, "", false, inputs);
  return inputs;
}

std::vector<Variant> expand_variants(const NodePtr& spec, const std::vector<std::string>& set,
                                     Findings& findings, Diagnostics& notes) {
  NodePtr base = spec;
  Settings settings(findings);
  settings.apply(base, set);
  const NodePtr swept = base;
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
  const Entry* sweep = swept->entry("sweep");
  if (sweep == nullptr || sweep->value->kind != Node::Kind::Map) return variants;
  return expand_sweep(std::move(variants), *sweep, findings, notes);
}

}  // namespace slicewise::scenarios
