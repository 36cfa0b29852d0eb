
#include <fmt/format.h>

#include "slicewise/reports/difference.hpp"

#include "../charts/choice_chart.hpp"
#include "../screens/result_verdict.hpp"

namespace slicewise::reports {
namespace {

using Role = StoredFigure::Role;

// What of its limit it uses.
std::optional<double> limit_share(const StoredFigure& figure) {
  if (!figure.limit || figure.found_nothing()) return std::nullopt;
  const double most = figure.more_is_better ? figure.value : *figure.limit;
  const double used = figure.more_is_better ? *figure.limit : figure.value;
  return most > 0 ? std::optional(used / most) : std::nullopt;
}

void raise(charts::UpwardsFigure& highest, double value, std::optional<double> half_width) {
  if (!highest.value || value > *highest.value) highest = {value, half_width};
}

void take(const StoredFigure& figure, charts::Choice& choice) {
  if (figure.role == Role::Cost && figure.workload.empty()) {
    if (figure.condition == "cost") choice.month = from_dollars(figure.value);
    if (figure.condition == "cost.perJob") choice.per_job = from_dollars(figure.value);
    if (figure.condition == "cost.per1k") choice.per_1k_requests = from_dollars(figure.value);
  }
  if (figure.role == Role::Objective) {
    choice.is_judged = true;
    const auto share = limit_share(figure);
    const bool has_width = share && figure.ci95 && !figure.more_is_better;
    if (share) {
      raise(choice.limit_share, *share,
            has_width ? std::optional(*figure.ci95 / *figure.limit) : std::nullopt);
    }
  }
  if (figure.role == Role::Latency) {
    const bool of_jobs = figure.name == "jobCompletionP95";
    raise(of_jobs ? choice.job_time : choice.latency, figure.value, figure.ci95);
  }
}

// One side of an item.
charts::Choice choice_of(const ItemDifference& item,
                         std::optional<StoredFigure> FigureDifference::*side,
                         const std::optional<sim::Verdict>& verdict) {
  charts::Choice choice;
  for (const FigureDifference& figure : item.figures) {
    if (figure.*side) take(*(figure.*side), choice);
  }
  choice.point.hollow = verdict && !verdict->stands();
  if (choice.point.hollow) choice.reason = brief_reasons(*verdict);
  return choice;
}

}  // namespace

std::optional<std::string> difference_svg(const DocumentDifference& difference) {
  std::vector<charts::Choice> choices;
  const bool single = difference.items.size() == 1;
  for (const ItemDifference& item : difference.items) {
    const auto add = [&](charts::Choice choice, const char* when) {
      choice.name = fmt::format("{}, {}", item.name, when);
      choice.point.label = single ? when : choice.name;
      choices.push_back(std::move(choice));
    };
    if (item.side != ItemDifference::Side::OldOnly) {
      charts::Choice now = choice_of(item, &FigureDifference::after, item.verdict_after);
      now.point.emphasised = true;
      now.point.series = 0;
      add(std::move(now), "after");
    }
    if (item.side != ItemDifference::Side::NewOnly) {
      charts::Choice was = choice_of(item, &FigureDifference::before, item.verdict_before);
      was.point.series = 2;
      was.point.shape = charts::Shape::Square;
      add(std::move(was), "before");
    }
  }
  charts::ScatterChart chart = charts::choice_chart(
      {"chart-difference", "Before and after: dollars against what it does.",
       "Square: before. Ringed circle: after. Right: dearer. Up: slower or closer to a limit. "
       "Hollow points do not do what they should."},
      choices, true);
  if (chart.points.empty()) return std::nullopt;
  return svg_file(draw(chart));
}

}  // namespace slicewise::reports
