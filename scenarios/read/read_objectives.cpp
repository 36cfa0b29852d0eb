#include <fmt/format.h>

#include "node_values.hpp"
#include "read_scenario.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::pair<std::string_view, Figure> kFigures[] = {
    {"latencyP50", Figure::LatencyP50},
    {"latencyP90", Figure::LatencyP90},
    {"latencyP95", Figure::LatencyP95},
    {"latencyP99", Figure::LatencyP99},
    {"latencyP999", Figure::LatencyP999},
    {"availability", Figure::Availability},
    {"throughput", Figure::Throughput},
    {"ttftP50", Figure::TtftP50},
    {"ttftP95", Figure::TtftP95},
    {"ttftP99", Figure::TtftP99},
    {"tpotP50", Figure::TpotP50},
    {"tpotP95", Figure::TpotP95},
    {"tpotP99", Figure::TpotP99},
    {"completionP95", Figure::CompletionP95},
    {"waitP95", Figure::WaitP95},
    {"deadline", Figure::Deadline},
    {"sessionStartP95", Figure::SessionStartP95},
    {"cellSlowdownP95", Figure::CellSlowdownP95},
    {"oomPerUserMonth", Figure::OomPerUserMonth},
};

std::optional<FigureValue> limit_at(const Node* slo, std::string_view name, Figure figure) {
  const auto in_unit = [](const auto& value) {
    return value ? std::optional<FigureValue>(*value) : std::nullopt;
  };
  switch (figure) {
    case Figure::Availability:
      if (const auto share = percent_at(slo, name)) return Share{*share};
      return std::nullopt;
    case Figure::Throughput:
      return in_unit(rate_at(slo, name));
    case Figure::CellSlowdownP95:
    case Figure::OomPerUserMonth:
      return in_unit(number_at(slo, name));
    default:
      return in_unit(duration_at(slo, name));
  }
}

}  // namespace

std::optional<Figure> figure_called(std::string_view name) {
  for (const auto& [known, figure] : kFigures) {
    if (known == name) return figure;
  }
  return std::nullopt;
}

std::vector<Objective> read_objectives(const Node& parent) {
  std::vector<Objective> objectives;
  const Node* slo = block(&parent, "slo");
  if (slo == nullptr) return objectives;
  for (const auto& [name, figure] : kFigures) {
    if (const auto limit = limit_at(slo, name, figure)) {
      objectives.push_back({figure, *limit, value_place(*slo, name)});
    }
  }
  return objectives;
}

}  // namespace slicewise::scenarios
