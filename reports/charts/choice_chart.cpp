#include "choice_chart.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../screens/result_figures.hpp"

namespace slicewise::reports::charts {
namespace {

// "$400", "$0.05", "$0.10": cents where there are some.
std::string dollars_and_cents_tick(double value) {
  const double cents = 100 * value;
  const bool round = std::abs(cents - std::round(cents)) < 1e-6 && value < 1'000;
  return round && value != std::round(value) ? fmt::format("${:.2f}", value) : dollars_tick(value);
}

std::string seconds_tick(double value) { return duration_text(from_seconds(value)); }

struct ChoiceAxes {
  std::optional<Usd> Choice::*price = &Choice::month;
  const char* price_label = "dollars per month";
  UpwardsFigure Choice::*upwards = &Choice::limit_share;
};

bool same_bill(const std::vector<Choice>& choices) {
  std::optional<Usd> bill;
  for (const Choice& choice : choices) {
    if (!choice.month) continue;
    if (bill && bill->nano != choice.month->nano) return false;
    bill = choice.month;
  }
  return choices.size() > 1;
}

ChoiceAxes axes_for(const std::vector<Choice>& choices, bool may_show_requests) {
  ChoiceAxes axes;
  const bool judged = std::ranges::any_of(choices, &Choice::is_judged);
  const bool latency =
      std::ranges::any_of(choices, [](const Choice& c) { return c.latency.value.has_value(); });
  const auto any = [&](std::optional<Usd> Choice::*price) {
    return std::ranges::any_of(choices, [&](const Choice& c) { return (c.*price).has_value(); });
  };
  if (any(&Choice::per_job) && !judged && !latency) {
    axes.price = &Choice::per_job;
    axes.price_label = "dollars per finished job";
  }
  // Where the nodes are the same the load is what differs.
  if (any(&Choice::per_1k_requests) && may_show_requests && same_bill(choices)) {
    axes.price = &Choice::per_1k_requests;
    axes.price_label = "dollars per 1,000 requests in SLO";
  }
  if (!judged) axes.upwards = latency ? &Choice::latency : &Choice::job_time;
  return axes;
}

std::optional<ScatterPoint> point_of(const Choice& choice, const ChoiceAxes& axes) {
  const std::optional<Usd>& price = choice.*axes.price;
  const UpwardsFigure& y = choice.*axes.upwards;
  const bool off_scale = axes.upwards == &Choice::limit_share && y.value.value_or(0) > kNothingDone;
  if (!price || !y.value || off_scale) return std::nullopt;
  ScatterPoint point = choice.point;
  point.x = to_dollars(*price);
  point.y = *y.value;
  point.y_half_width = y.half_width;
  point.tooltip = fmt::format("{}: {}{}", choice.name, money_text(*price),
                              choice.reason.empty() ? "" : ", " + choice.reason);
  return point;
}

}  // namespace

std::string limit_share_text(double share) {
  constexpr double kManyTimes = 10;
  return share < kManyTimes ? percent_text(share) : fmt::format("{:.0f}×", share);
}

ScatterChart choice_chart(ChartText text, const std::vector<Choice>& choices,
                          bool may_show_requests) {
  const ChoiceAxes axes = axes_for(choices, may_show_requests);
  ScatterChart chart;
  chart.text = std::move(text);
  chart.x = {axes.price_label, dollars_and_cents_tick, false, true};
  double least = 1e300;
  double most = 0;
  for (const Choice& choice : choices) {
    auto point = point_of(choice, axes);
    if (!point) continue;
    least = std::min(least, point->y);
    most = std::max(most, point->y);
    chart.points.push_back(std::move(*point));
  }
  constexpr double kWide = 10;
  const bool logarithmic = least > 0 && most > kWide * least;
  const std::string suffix = logarithmic ? " (log)" : "";
  if (axes.upwards == &Choice::limit_share) {
    chart.y = {"tightest objective, share of its limit" + suffix, limit_share_text, logarithmic,
               true};
    chart.limit = 1;
    chart.limit_label = "limit";
  } else {
    chart.y = {(axes.upwards == &Choice::latency ? "p99 latency of the slowest workload"
                                                 : "time until 95% of the jobs are done") +
                   suffix,
               seconds_tick, logarithmic, true, time_unit(most)};
  }
  return chart;
}

}  // namespace slicewise::reports::charts
