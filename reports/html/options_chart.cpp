#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../screens/result_figures.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

using charts::ScatterPoint;

// "$400", "$0.05", "$0.10": cents where there are some.
std::string dollar_tick(double value) {
  const double cents = 100 * value;
  const bool round = std::abs(cents - std::round(cents)) < 1e-6 && value < 1'000;
  return round && value != std::round(value) ? fmt::format("${:.2f}", value)
                                             : "$" + tick_text(value);
}

std::string seconds_tick(double value) { return duration_text(from_seconds(value)); }

// What is drawn: dollars for a month, a job or requests, against the share of a limit or a time.
struct OptionAxes {
  enum class Price : std::uint8_t { Month, Job, Requests } price = Price::Month;
  enum class Upwards : std::uint8_t { Limit, Latency, JobTime } upwards = Upwards::Limit;
};

bool same_bill(const std::vector<ShownOption>& options) {
  std::optional<Usd> bill;
  for (const ShownOption& option : options) {
    if (!option.figures) continue;
    if (bill && bill->nano != option.figures->monthly.nano) return false;
    bill = option.figures->monthly;
  }
  return options.size() > 1;
}

std::optional<Usd> price_of(const sim::OptionFigures& figures, OptionAxes::Price price) {
  switch (price) {
    case OptionAxes::Price::Month:
      return figures.monthly;
    case OptionAxes::Price::Job:
      return figures.per_job;
    case OptionAxes::Price::Requests:
      return figures.per_1k_in_slo;
  }
  return std::nullopt;
}

std::string_view price_axis(OptionAxes::Price price) {
  switch (price) {
    case OptionAxes::Price::Month:
      return "dollars per month";
    case OptionAxes::Price::Job:
      return "dollars per finished job";
    case OptionAxes::Price::Requests:
      return "dollars per 1,000 requests in SLO";
  }
  return "";
}

OptionAxes axes_for(const HtmlReport& report, const std::vector<ShownOption>& options) {
  OptionAxes axes;
  const auto any = [&options](auto has) {
    return std::ranges::any_of(options,
                               [&](const ShownOption& o) { return o.figures && has(*o.figures); });
  };
  const bool objectives = any([](const auto& f) { return !f.objectives.empty(); });
  const bool latency = any([](const auto& f) { return f.latency_p99.has_value(); });
  const bool jobs = any([](const auto& f) { return f.per_job.has_value(); });
  const bool requests = any([](const auto& f) { return f.per_1k_in_slo.has_value(); });
  if (jobs && !objectives && !latency) axes.price = OptionAxes::Price::Job;
  // Where the nodes are the same the load is what differs.
  if (requests && !report.plan && same_bill(options)) axes.price = OptionAxes::Price::Requests;
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
  const std::optional<Usd> price = price_of(*option.figures, axes.price);
  const OptionFigure y = upwards_of(report, option, axes);
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
  chart.x = {std::string(price_axis(axes.price)), dollar_tick, false, true};
  for (std::size_t o = 0; o < options.size(); ++o) {
    auto point = point_of(report, options[o], axes);
    if (!point) continue;
    // Those that the table of the first screen leaves out are in the one below.
    const bool shown = !report.plan || options[o].stands || options[o].today;
    point->link = "#" + (shown ? option_id(o) : "options");
    chart.points.push_back(std::move(*point));
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
      chart.y = {"tightest objective, share of its limit" + suffix, limit_share_text, logarithmic,
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
