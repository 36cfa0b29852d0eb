#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "slicewise/scenarios/quantity.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/serving/arrivals.hpp"

#include "parts.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Traffic;

constexpr Duration kWeek = hours(std::int64_t{24} * 7);

// A piece of the curve of a source.
struct Piece {
  double per_second = 0;
  TimePoint from;
  TimePoint until;
};

// The first of those with the highest rate that reach into the time between.
Piece highest_between(const Traffic& traffic, Duration starts_at, TimePoint begin, TimePoint end) {
  RateCurve curve(traffic, starts_at, 0, 0, 0);
  Piece highest;
  for (TimePoint from; from < end;) {
    const TimePoint until = curve.until();
    if (until > begin && curve.per_second() > highest.per_second) {
      highest = {curve.per_second(), from, until};
    }
    if (until >= end) break;
    curve.step();
    from = until;
  }
  return highest;
}

// "20m", as the format takes it.
std::string as_written(Duration time) {
  const std::int64_t second = time.ns / seconds(1).ns;
  if (second % 3600 == 0) return fmt::format("{}h", second / 3600);
  return second % 60 == 0 ? fmt::format("{}m", second / 60) : fmt::format("{}s", second);
}

// The middle of what is measured at the peak, by whole pieces of five minutes.
std::string start_at_peak(const Scenario& scenario, const Piece& peak) {
  const Duration middle = (peak.from - TimePoint{}) + Duration{(peak.until - peak.from).ns / 2};
  const Duration before{(scenario.warmup + *scenario.duration).ns / 2};
  const std::int64_t start = (scenario.starts_at + middle - before).ns % kWeek.ns;
  const std::int64_t of_week = start < 0 ? start + kWeek.ns : start;
  return scenarios::week_time_text(Duration{of_week - of_week % minutes(5).ns});
}

// Of traffic whose rate the clock tells.
void note_missed_peak(const Scenario& scenario, const std::string& name, const Traffic& traffic,
                      Diagnostics& found) {
  const bool by_day = std::holds_alternative<scenarios::Diurnal>(traffic.shape);
  if (!by_day && !std::holds_alternative<std::vector<scenarios::RateStep>>(traffic.shape)) return;
  const TimePoint end = TimePoint{} + *scenario.duration;
  const Piece seen =
      highest_between(traffic, scenario.starts_at, TimePoint{} + scenario.warmup, end);
  const TimePoint far = by_day ? TimePoint{} + kWeek : kNever;
  const Piece peak = highest_between(traffic, scenario.starts_at, end, far);
  constexpr double kNearEnough = 0.8;
  if (seen.per_second >= kNearEnough * peak.per_second) return;
  const Duration whole_hour{((peak.from - TimePoint{}).ns / hours(1).ns + 1) * hours(1).ns};
  const std::string longer = fmt::format("duration: {}", as_written(whole_hour));
  const std::string start = by_day ? start_at_peak(scenario, peak) : "";
  add_diagnostic(
      found, Code::PeakNotInRun, traffic.where,
      fmt::format("\"{}\" gets at most {}/s in the run of {} from {} on, and {}/s {}: the run says "
                  "nothing of its peak ({})",
                  name, short_text(seen.per_second), as_written(*scenario.duration),
                  scenarios::week_time_text(scenario.starts_at), short_text(peak.per_second),
                  by_day ? "at its busiest" : "later",
                  by_day ? fmt::format("startsAt: {} has it, or {}", start, longer) : longer));
  found.back().workloads.push_back(name);
}

}  // namespace

Diagnostics peaks_not_in_run(const Scenario& scenario) {
  Diagnostics found;
  if (!scenario.duration) return found;
  for (const scenarios::Workload& workload : scenario.workloads) {
    if (workload.count == 0 || !workload.traffic) continue;
    note_missed_peak(scenario, workload.name.value, *workload.traffic, found);
  }
  for (const scenarios::Pipeline& pipeline : scenario.pipelines) {
    note_missed_peak(scenario, pipeline.name.value, pipeline.traffic, found);
  }
  return found;
}

}  // namespace slicewise::sim
