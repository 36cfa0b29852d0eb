#include <algorithm>

#include <fmt/format.h>

#include "../result_figures.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

using charts::ScatterPoint;

std::string dollar_tick(double value) { return "$" + tick_text(value); }

std::string percent_tick(double value) { return fmt::format("{:.0f}%", 100 * value); }

std::string seconds_tick(double value) { return duration_text(from_seconds(value)); }

// What is drawn: dollars for a month or for a job, against the share of a limit or a time.
struct OptionAxes {
  bool per_job = false;
  enum class Upwards : std::uint8_t { Limit, Latency, JobTime } upwards = Upwards::Limit;
};

OptionAxes axes_for(const HtmlReport& report, const std::vector<ShownOption>& options) {
  OptionAxes axes;
  const auto any = [&options](auto has) {
    return std::ranges::any_of(options,
                               [&](const ShownOption& o) { return o.figures && has(*o.figures); });
  };
  const bool objectives = any([](const auto& f) { return !f.objectives.empty(); });
  const bool latency = any([](const auto& f) { return f.latency_p99.has_value(); });
  const bool jobs = any([](const auto& f) { return f.per_job.has_value(); });
  axes.per_job = jobs && !objectives && !latency;
  if (objectives) return axes;
  axes.upwards =
      latency || report.plan ? OptionAxes::Upwards::Latency : OptionAxes::Upwards::JobTime;
  return axes;
}

// Of the slowest workload: until 95 % of its jobs are done.
OptionFigure job_time(const HtmlReport& report, const ShownOption& option) {
  OptionFigure time;
  for (const sim::VariantResult& variant : report.result.variants) {
    if (variant.name != option.name) continue;
    for (const sim::WorkloadResult& workload : variant.workloads) {
      if (!workload.job_completion || workload.job_completion->count == 0) continue;
      const double p95 = to_seconds(workload.job_completion->p95);
      if (time.value && *time.value >= p95) continue;
      time.value = p95;
      const auto& half = workload.job_completion->p95_ci95;
      time.half_width = half ? std::optional(to_seconds(*half)) : std::nullopt;
    }
  }
  return time;
}

OptionFigure upwards_of(const HtmlReport& report, const ShownOption& option,
                        const OptionAxes& axes) {
  switch (axes.upwards) {
    case OptionAxes::Upwards::Limit:
      return limit_share_of(option);
    case OptionAxes::Upwards::Latency:
      if (!option.figures->latency_p99) return {};
      return {to_seconds(*option.figures->latency_p99), std::nullopt};
    case OptionAxes::Upwards::JobTime:
      return job_time(report, option);
  }
  return {};
}

std::optional<ScatterPoint> point_of(const HtmlReport& report, const ShownOption& option,
                                     const OptionAxes& axes) {
  if (!option.figures) return std::nullopt;
  const std::optional<Usd> price =
      axes.per_job ? option.figures->per_job : std::optional(option.figures->monthly);
  const OptionFigure y = upwards_of(report, option, axes);
  constexpr double kNothingDone = 999;
  const bool off_scale =
      axes.upwards == OptionAxes::Upwards::Limit && y.value.value_or(0) > kNothingDone;
  if (!price || !y.value || off_scale) return std::nullopt;
  ScatterPoint point;
  point.x = to_dollars(*price);
  point.y = *y.value;
  point.y_half_width = y.half_width;
  point.label = option.label;
  point.tooltip = fmt::format("{}: {}{}", option.name, money_text(*price),
                              option.stands ? "" : ", " + option.reason);
  point.shape = option.shape;
  point.series = option.series;
  point.hollow = !option.stands;
  point.emphasised = option.best;
  return point;
}

std::string finding_of(const std::vector<ShownOption>& options) {
  std::size_t stand = 0;
  std::size_t simulated = 0;
  const ShownOption* best = nullptr;
  for (const ShownOption& option : options) {
    if (!option.figures) continue;
    ++simulated;
    if (option.stands) ++stand;
    if (option.best) best = &option;
  }
  if (best == nullptr) {
    return fmt::format("None of the {} options that can run does what it should.", simulated);
  }
  return fmt::format("{} of {} options that can run do what they should; {} does it best.", stand,
                     simulated, best->name);
}

}  // namespace

charts::ScatterChart options_chart(const HtmlReport& report,
                                   const std::vector<ShownOption>& options) {
  const OptionAxes axes = axes_for(report, options);
  charts::ScatterChart chart;
  chart.text = {"chart-options", finding_of(options),
                "One point for each option. Right: dearer. Up: slower or closer to a limit. Hollow "
                "points do not do what they should. Shape: circle whole GPUs, triangle "
                "time-slicing, square MPS, diamond MIG, plus vGPU."};
  chart.x = {axes.per_job ? "dollars per finished job" : "dollars per month", dollar_tick, false,
             true};
  for (const ShownOption& option : options) {
    if (auto point = point_of(report, option, axes)) chart.points.push_back(std::move(*point));
  }
  double least = 1e300;
  double most = 0;
  for (const ScatterPoint& point : chart.points) {
    least = std::min(least, point.y);
    most = std::max(most, point.y);
  }
  constexpr double kWide = 10;
  const bool logarithmic = least > 0 && most > kWide * least;
  const std::string suffix = logarithmic ? " (log)" : "";
  switch (axes.upwards) {
    case OptionAxes::Upwards::Limit:
      chart.y = {"tightest objective, share of its limit" + suffix, percent_tick, logarithmic,
                 true};
      chart.limit = 1;
      chart.limit_label = "limit";
      break;
    case OptionAxes::Upwards::Latency:
      chart.y = {"p99 latency of the slowest workload" + suffix, seconds_tick, logarithmic, true,
                 charts::time_unit(most)};
      break;
    case OptionAxes::Upwards::JobTime:
      chart.y = {"time until 95% of the jobs are done" + suffix, seconds_tick, logarithmic, true,
                 charts::time_unit(most)};
      break;
  }
  return chart;
}

}  // namespace slicewise::reports::html
