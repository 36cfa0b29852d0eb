#include "policy_figures.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/policy.hpp"
#include "slicewise/sim/policies.hpp"
#include "slicewise/sim/result_record.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

using scenarios::PolicyFigure;

SeenFigure seen_truth(bool truth) { return {truth, truth ? "true" : "false"}; }

SeenFigure seen_money(Usd money) {
  // Divided, so that it is the very number that an assertion of as many decimals reads as.
  const double dollars = static_cast<double>(money.nano) / 1e9;
  return {dollars,
          dollars < 1 ? fmt::format("{:.4g} USD", dollars) : fmt::format("{:.2f} USD", dollars)};
}

SeenFigure seen_number(double number, Unit unit) {
  if (unit == Unit::Ratio) return {number, figure_text(scenarios::Share{number})};
  if (unit == Unit::PerSecond) return {number, figure_text(Rate{number})};
  if (unit == Unit::Seconds) return {number, figure_text(from_seconds(number))};
  return {number, fmt::format("{:.6g}", number)};
}

SeenFigure seen_words(std::vector<std::string> words) {
  if (words.empty()) return {};
  std::string text = fmt::format("{}", fmt::join(words, ", "));
  return {std::move(words), std::move(text)};
}

SeenFigure seen_value(const Field& field, const void* value) {
  const Shape& shape = *field.shape;
  switch (shape.kind) {
    case Shape::Kind::Truth:
      return seen_truth(shapes::in<bool>(value));
    case Shape::Kind::Number:
      return seen_number(shapes::in<double>(value), field.unit);
    case Shape::Kind::Whole:
    case Shape::Kind::Size:
      return seen_number(static_cast<double>(shape.whole(value)), Unit::Number);
    case Shape::Kind::Time: {
      const auto& time = shapes::in<Duration>(value);
      return {to_seconds(time), figure_text(time)};
    }
    case Shape::Kind::Money:
      return seen_money(shapes::in<Usd>(value));
    case Shape::Kind::Text:
      return seen_words({std::string(shape.text(value))});
    case Shape::Kind::List:
      return seen_words(shapes::in<std::vector<std::string>>(value));
    default:
      return {};
  }
}

// A named figure: where it stands in its record.
struct NamedFigure {
  std::vector<const Field*> way;
  const Field* field;
};

NamedFigure named_figure(const Field::PolicyName& name, std::span<const Field* const> way,
                         const Field& field) {
  NamedFigure figure{{way.begin(), way.end()}, &field};
  if (!name.part.empty()) {
    figure.way.push_back(&field);
    figure.field = field.inner().find(name.part);
  }
  return figure;
}

using FigureMap = std::map<std::string_view, NamedFigure>;

FigureMap named_figures(const Record& record) {
  FigureMap figures;
  visit_fields(record, [&](std::span<const Field* const> way, const Field& field) {
    for (const Field::PolicyName& name : field.policy_names) {
      figures.emplace(name.name, named_figure(name, way, field));
    }
  });
  return figures;
}

SeenFigure see(const FigureMap& figures, std::string_view name, const void* record) {
  const auto found = figures.find(name);
  if (found == figures.end()) return {};
  std::any made;
  const void* const value = value_at(found->second.way, *found->second.field, record, made);
  return value == nullptr ? SeenFigure{} : seen_value(*found->second.field, value);
}

PolicyFigure kind_of(const Field& field) {
  switch (field.shape->kind) {
    case Shape::Kind::Truth:
      return PolicyFigure::Truth;
    case Shape::Kind::Money:
      return PolicyFigure::Money;
    case Shape::Kind::Time:
      return PolicyFigure::Time;
    case Shape::Kind::Text:
    case Shape::Kind::List:
      return PolicyFigure::Word;
    default:
      break;
  }
  if (field.unit == Unit::Ratio) return PolicyFigure::Share;
  if (field.unit == Unit::PerSecond) return PolicyFigure::Rate;
  return field.unit == Unit::Seconds ? PolicyFigure::Time : PolicyFigure::Number;
}

}  // namespace

std::vector<DeclaredFigure> policy_figures_of(const Record& record) {
  std::vector<DeclaredFigure> declared;
  visit_fields(record, [&](std::span<const Field* const>, const Field& field) {
    for (const Field::PolicyName& name : field.policy_names) {
      const Field& figure = name.part.empty() ? field : *field.inner().find(name.part);
      declared.push_back({name.name, kind_of(figure), name.words});
    }
  });
  return declared;
}

SeenFigure see_figure(std::string_view name, const VariantResult& result,
                      std::optional<double> headroom) {
  static const FigureMap of_results = named_figures(record_of<VariantResult>());
  static const FigureMap of_workloads = named_figures(record_of<WorkloadResult>());
  // Not of a result: the plan that asks knows it.
  if (name == "headroom") return headroom ? seen_number(*headroom, Unit::Number) : SeenFigure{};
  const scenarios::WorkloadFigure of = scenarios::workload_figure(name);
  if (of.workload.empty()) return see(of_results, name, &result);
  const auto workload = std::ranges::find(result.workloads, of.workload, &WorkloadResult::name);
  return workload == result.workloads.end() ? SeenFigure{}
                                            : see(of_workloads, of.figure, &*workload);
}

}  // namespace slicewise::sim
