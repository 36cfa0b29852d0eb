#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/quantity.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/result_record.hpp"
#include "slicewise/sim/serving/arrivals.hpp"

#include "parts.hpp"

namespace slicewise::sim {
namespace {

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

// The start by which that is in the middle of what is measured, by whole pieces of five minutes.
Duration start_around(const Scenario& scenario, TimePoint middle) {
  const Duration before{(scenario.warmup + *scenario.duration).ns / 2};
  const std::int64_t start = (scenario.start() + (middle - TimePoint{}) - before).ns % kWeek.ns;
  const std::int64_t of_week = start < 0 ? start + kWeek.ns : start;
  return Duration{of_week - of_week % minutes(5).ns};
}

// Traffic of which the run sees less than the peak.
struct MissedPeak {
  std::string name;
  const Traffic* traffic = nullptr;
  bool by_day = false;  // of steps otherwise
  double seen = 0;      // requests/s, at most
  Piece peak;
};

// Of traffic whose rate the clock tells.
std::optional<MissedPeak> missed_peak(const Scenario& scenario, const std::string& name,
                                      const Traffic& traffic) {
  const bool by_day = std::holds_alternative<scenarios::Diurnal>(traffic.shape);
  const bool by_steps = std::holds_alternative<std::vector<scenarios::RateStep>>(traffic.shape);
  if (!by_day && !by_steps) return std::nullopt;
  const TimePoint end = TimePoint{} + *scenario.duration;
  const Piece seen = highest_between(traffic, scenario.start(), TimePoint{} + scenario.warmup, end);
  const TimePoint far = by_day ? TimePoint{} + kWeek : kNever;
  const Piece peak = highest_between(traffic, scenario.start(), end, far);
  constexpr double kNearEnough = 0.8;
  if (seen.per_second >= kNearEnough * peak.per_second) return std::nullopt;
  return MissedPeak{name, &traffic, by_day, seen.per_second, peak};
}

std::vector<MissedPeak> missed_peaks(const Scenario& scenario) {
  std::vector<MissedPeak> missed;
  if (!scenario.duration) return missed;
  const auto look_at = [&](const std::string& name, const Traffic& traffic) {
    if (auto peak = missed_peak(scenario, name, traffic)) missed.push_back(std::move(*peak));
  };
  for (const Workload& workload : scenario.workloads) {
    if (workload.count == 0 || !workload.traffic) continue;
    look_at(workload.name.value, *workload.traffic);
  }
  for (const scenarios::Pipeline& pipeline : scenario.pipelines) {
    look_at(pipeline.name.value, pipeline.traffic);
  }
  return missed;
}

std::vector<const Traffic*> traffic_by_day(const Scenario& scenario) {
  std::vector<const Traffic*> sources;
  const auto take = [&](const Traffic& traffic) {
    const bool by_day = std::holds_alternative<scenarios::Diurnal>(traffic.shape);
    if (by_day && traffic.mean.per_second > 0) sources.push_back(&traffic);
  };
  for (const Workload& workload : scenario.workloads) {
    if (workload.count > 0 && workload.traffic) take(*workload.traffic);
  }
  for (const scenarios::Pipeline& pipeline : scenario.pipelines) take(pipeline.traffic);
  return sources;
}

// "at most 12/s in the run of 20m from Mon 00:00 on, and 240/s".
std::string seen_and_missed(const Scenario& scenario, const MissedPeak& missed) {
  return fmt::format("at most {}/s in the run of {} from {} on, and {}/s", short_text(missed.seen),
                     as_written(*scenario.duration), scenarios::week_time_text(scenario.start()),
                     short_text(missed.peak.per_second));
}

TimePoint middle_of(const Piece& piece) {
  return piece.from + Duration{(piece.until - piece.from).ns / 2};
}

// Of the traffic by day whose peak the run misses, one start for all that it serves.
std::vector<scenarios::OtherPeak> other_peaks(const Scenario& scenario) {
  std::vector<MissedPeak> open = missed_peaks(scenario);
  std::erase_if(open, [](const MissedPeak& missed) { return !missed.by_day; });
  std::vector<scenarios::OtherPeak> others;
  while (!open.empty()) {
    Scenario there = scenario;
    there.starts_at = start_around(scenario, middle_of(open.front().peak));
    const std::vector<MissedPeak> still = missed_peaks(there);
    others.push_back({*there.starts_at, {}});
    std::vector<std::string>& whose = others.back().whose;
    const std::string first = open.front().name;
    std::erase_if(open, [&](const MissedPeak& missed) {
      const bool is_in_run =
          missed.name == first || !contains(still, missed.name, &MissedPeak::name);
      if (is_in_run) whose.push_back(missed.name);
      return is_in_run;
    });
  }
  return others;
}

// CronJobs that run more or less often in the run than so much time of a week has of them: nodes
// that come and go cost by the run.
Diagnostics not_as_often_as_in_a_week(const Scenario& scenario) {
  constexpr std::size_t kMost = std::size_t{7} * 24 * 60;
  constexpr double kNearEnough = 0.8;
  Diagnostics found;
  if (!scenario.duration) return found;
  for (const Workload& workload : scenario.workloads) {
    if (workload.count == 0 || !workload.schedule || workload.schedule->suspend) continue;
    using Cron = scenarios::CronSchedule;
    const std::array<bool, 5>& any = workload.schedule->cron.any;
    if (!any[Cron::Day] || !any[Cron::Month]) continue;  // weeks differ
    const auto a_week = static_cast<double>(
        scenarios::cron_times(workload.schedule->cron, {}, kWeek, kMost).size());
    const double of_run = static_cast<double>(workload.schedule->runs.size()) *
                          static_cast<double>(kWeek.ns) /
                          static_cast<double>(scenario.duration->ns);
    if (std::min(a_week, of_run) >= kNearEnough * std::max(a_week, of_run)) continue;
    found.push_back(make_diagnostic(
        Code::ScheduleNotInRun, workload.schedule->where,
        fmt::format(
            "\"{}\" runs {} in the run of {}, as {} would be a week, and {} a week by its "
            "schedule: $/month of nodes that come and go, and costs per job, are of the run",
            workload.name.value, counted(workload.schedule->runs.size(), "time"),
            as_written(*scenario.duration), short_text(of_run), short_text(a_week)),
        any[Cron::Weekday] ? "duration: 24h" : "duration: 168h"));
    found.back().workloads.push_back(workload.name.value);
  }
  return found;
}

bool has_nodes_that_come(const Scenario& scenario) {
  return std::ranges::any_of(scenario.node_pools,
                             [](const auto& pool) { return pool.most_nodes.has_value(); });
}

}  // namespace

Diagnostics schedules_not_in_run(const Scenario& scenario) {
  return has_nodes_that_come(scenario) ? Diagnostics() : not_as_often_as_in_a_week(scenario);
}

Diagnostics peaks_not_in_run(const Scenario& scenario) {
  Diagnostics found;
  if (has_nodes_that_come(scenario)) found = not_as_often_as_in_a_week(scenario);
  for (const MissedPeak& missed : missed_peaks(scenario)) {
    const Piece& peak = missed.peak;
    const Duration whole_hour{((peak.from - TimePoint{}).ns / hours(1).ns + 1) * hours(1).ns};
    const std::string longer = fmt::format("duration: {}", as_written(whole_hour));
    const Duration start = start_around(scenario, middle_of(peak));
    found.push_back(make_diagnostic(
        Code::PeakNotInRun, missed.traffic->where,
        fmt::format("\"{}\" gets {} {}: the run says nothing of its peak ({})", missed.name,
                    seen_and_missed(scenario, missed), missed.by_day ? "at its busiest" : "later",
                    missed.by_day ? fmt::format("startsAt: {} has it, or {}",
                                                scenarios::week_time_text(start), longer)
                                  : longer)));
    found.back().workloads.push_back(missed.name);
  }
  return found;
}

Scenario at_its_peak(Scenario scenario) {
  const auto& workloads = scenario.workloads;
  const bool has_cron_jobs = std::ranges::any_of(
      workloads, [](const Workload& workload) { return workload.count > 0 && workload.schedule; });
  const std::vector<MissedPeak> missed = missed_peaks(scenario);
  if (scenario.starts_at || has_cron_jobs || std::ranges::none_of(missed, &MissedPeak::by_day)) {
    return scenario;
  }
  scenario.starts_at = start_around(
      scenario, busiest_time(traffic_by_day(scenario), scenario.start(), TimePoint{} + kWeek));
  scenario.other_peaks = other_peaks(scenario);
  return scenario;
}

void tell_of_peak(const Scenario& written, const Scenario& judged, Diagnostics& found) {
  const std::vector<MissedPeak> missed = missed_peaks(written);
  const auto by_day = std::ranges::find_if(missed, &MissedPeak::by_day);
  if (judged.starts_at != written.starts_at && by_day != missed.end()) {
    std::string others;
    for (const scenarios::OtherPeak& other : judged.other_peaks) {
      others += fmt::format(", and from {} on, at that of {}",
                            scenarios::week_time_text(other.starts_at), few_names(other.whose));
    }
    found.push_back(make_diagnostic(
        Code::StartsAtPeak, by_day->traffic->where,
        fmt::format("the scenario names no startsAt: judged from {} on, at the peak of its traffic "
                    "(\"{}\" gets {} at its busiest){}",
                    scenarios::week_time_text(judged.start()), by_day->name,
                    seen_and_missed(written, *by_day), others)));
    found.back().workloads.push_back(by_day->name);
  }
  std::ranges::copy_if(peaks_not_in_run(judged), std::back_inserter(found),
                       [&](const Diagnostic& peak) {
                         return std::ranges::none_of(judged.other_peaks, [&](const auto& other) {
                           return contains(other.whose, peak.workloads.front());
                         });
                       });
}

}  // namespace slicewise::sim
