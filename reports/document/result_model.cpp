#include "result_model.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/sim/result_record.hpp"

namespace slicewise::reports {
namespace {

using sim::Field;
using sim::Shape;

constexpr std::string_view kWorkload = "variants[].workloads[].";

std::string number_word(sim::Unit unit) {
  switch (unit) {
    case sim::Unit::Ratio:
      return "share of 1";
    case sim::Unit::PerSecond:
      return "per second";
    case sim::Unit::Seconds:
      return "seconds";
    default:
      break;
  }
  return "number";
}

// A summary of a sample is a value: its parts are the same everywhere.
bool is_summary(const Field& field) {
  return field.shape->kind == Shape::Kind::Object && field.inner().meaning.empty();
}

std::string type_word(const Field& field) {
  switch (field.shape->kind) {
    case Shape::Kind::Truth:
      return "true or false";
    case Shape::Kind::Whole:
      return "whole number";
    case Shape::Kind::Number:
      return number_word(field.unit);
    case Shape::Kind::Time:
      return "seconds";
    case Shape::Kind::Money:
      return "US dollars";
    case Shape::Kind::Size:
      return "bytes";
    case Shape::Kind::Text:
    case Shape::Kind::Word:
      return "text";
    case Shape::Kind::Figure:
      return "in `unit`";
    case Shape::Kind::Counts:
      return "counts by name";
    case Shape::Kind::Labels:
      return "texts by name";
    case Shape::Kind::List:
      return "list";
    case Shape::Kind::Object:
      return is_summary(field) ? "summary" : "object";
  }
  return "";
}

DeclaredValue declared_value(const Field& field, const std::string& at) {
  DeclaredValue value{at + std::string(field.key),
                      type_word(field),
                      field.meaning,
                      may_be_absent(field),
                      {},
                      {},
                      {}};
  for (const Field::CsvName& csv : field.csv_names) value.csv.emplace_back(csv.name);
  for (const Field::PolicyName& policy : field.policy_names) {
    value.policies.push_back((at.starts_with(kWorkload) ? "workloads.NAME." : "") +
                             std::string(policy.name));
  }
  for (const sim::DiffFigure& diff : field.diffs) {
    std::string name(diff.name.empty() ? field.key : diff.name);
    if (!diff.condition.empty()) name += fmt::format(" (--fail-on {})", diff.condition);
    value.diff.push_back(std::move(name));
  }
  return value;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the declarations
void add_values(const sim::Record& record, const std::string& at,
                std::vector<DeclaredValue>& values) {
  for (const Field& field : record.fields) {
    if (field.key.empty() || field.shape == nullptr) continue;
    values.push_back(declared_value(field, at));
    const bool is_list = field.shape->kind == Shape::Kind::List;
    const Shape& shape = is_list ? *field.shape->item : *field.shape;
    if (shape.kind != Shape::Kind::Object || (!is_list && is_summary(field))) continue;
    DeclaredValue& object = values.back();
    if (object.meaning.empty()) object.meaning = field.inner().meaning;
    add_values(field.inner(), fmt::format("{}{}{}.", at, field.key, is_list ? "[]" : ""), values);
  }
}

}  // namespace

const std::vector<DeclaredValue>& values_of_results() {
  static const std::vector<DeclaredValue> declared = [] {
    std::vector<DeclaredValue> values;
    add_values(sim::record_of<sim::Result>(), "", values);
    return values;
  }();
  return declared;
}

const DeclaredValue* find_value(std::string_view name) {
  constexpr std::string_view kResult = "result.";
  if (name.starts_with(kResult)) name.remove_prefix(kResult.size());
  const auto is_called = [&](const DeclaredValue& value) {
    const auto holds = [&](const std::vector<std::string>& names) {
      return std::ranges::any_of(names, [&](const auto& known) { return same_name(known, name); });
    };
    const std::string_view path = value.path;
    const bool is_end = path.size() > name.size() &&
                        same_name(path.substr(path.size() - name.size()), name) &&
                        path[path.size() - name.size() - 1] == '.';
    return is_end || same_name(path, name) || holds(value.csv) || holds(value.policies);
  };
  // Of those that end alike the one that is least deep.
  const DeclaredValue* best = nullptr;
  for (const DeclaredValue& value : values_of_results()) {
    if (is_called(value) && (best == nullptr || value.path.size() < best->path.size()))
      best = &value;
  }
  return best;
}

}  // namespace slicewise::reports
