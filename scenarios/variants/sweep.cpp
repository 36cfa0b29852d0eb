#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "../fields/path_setter.hpp"
#include "variants.hpp"

namespace slicewise::scenarios {
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
      Variant next{point_name(point.name, dimension, i, first), point.description, point.spec,
                   value_name(dimension, i)};
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

}  // namespace slicewise::scenarios
