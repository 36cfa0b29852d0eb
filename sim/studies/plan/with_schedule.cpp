#include "with_schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "slicewise/scenarios/cron.hpp"
#include "slicewise/sim/serving/arrivals.hpp"

#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Traffic;
using scenarios::Workload;

constexpr int kHoursOfDay = 24;
constexpr Duration kEachHour = hours(1);
// A shorter night is not worth a schedule.
constexpr int kShortestNight = 2;
// Nodes start, images are pulled and models loaded before they are needed.
constexpr int kMinutesBefore = 30;
// Of the load that a pod bears in the busiest hour, what it is given at night, is divided by these:
// fewer pods answer less evenly.
constexpr std::array<double, 3> kMargins = {1, 1.3, 1.7};
constexpr double kWorthASchedule = 0.99;

using LoadByHour = std::array<double, kHoursOfDay>;  // requests/s, the highest of the run's days

// What is sent to the Service, by itself or through pipelines.
std::vector<const Traffic*> sources_of(const Scenario& scenario, const Workload& service) {
  std::vector<const Traffic*> sources;
  if (service.traffic) sources.push_back(&*service.traffic);
  for (const scenarios::Pipeline& pipeline : scenario.pipelines) {
    const bool passes = std::ranges::any_of(pipeline.stages, [&](const auto& stage) {
      return stage.workload.value == service.name.value;
    });
    if (passes) sources.push_back(&pipeline.traffic);
  }
  return sources;
}

// Local time - UTC of those who send.
Duration offset_of(const std::vector<const Traffic*>& sources) {
  for (const Traffic* traffic : sources) {
    const auto* diurnal = std::get_if<scenarios::Diurnal>(&traffic->shape);
    if (diurnal != nullptr && scenarios::zone_of_offset(diurnal->utc_offset)) {
      return diurnal->utc_offset;
    }
  }
  return {};
}

class DayOfService {
 public:
  DayOfService(const Scenario& scenario, Duration utc_offset)
      : scenario_(scenario), local_start_(scenario.starts_at + utc_offset + hours(kHoursOfDay)) {}

  // False: nobody knows when its requests come.
  bool add(const Traffic& traffic) {
    const auto& shape = traffic.shape;
    const bool is_recorded = std::holds_alternative<scenarios::RequestTrace>(shape) ||
                             std::holds_alternative<scenarios::ClientTraffic>(shape);
    const bool is_curve = std::holds_alternative<std::monostate>(shape) ||
                          std::holds_alternative<scenarios::Diurnal>(shape) ||
                          std::holds_alternative<std::vector<scenarios::RateStep>>(shape);
    if (is_recorded) add_arrivals(traffic);
    if (is_curve) add_curve(traffic);
    return is_recorded || is_curve;
  }

  const LoadByHour& load() const { return load_; }

 private:
  std::size_t hour_at(TimePoint at) const {
    return static_cast<std::size_t>((local_start_ + (at - TimePoint{})).ns / kEachHour.ns %
                                    kHoursOfDay);
  }

  void add_curve(const Traffic& traffic) {
    LoadByHour most{};
    RateCurve curve(traffic, scenario_.starts_at, scenario_.seed, 0, 0);
    const TimePoint end = TimePoint{} + *scenario_.duration;
    for (TimePoint from; from < end;) {
      const TimePoint until = std::min(end, curve.until());
      // A piece may be of days; each of its hours is looked at once.
      for (TimePoint at = from; at < until && at < from + hours(kHoursOfDay); at = at + kEachHour) {
        double& hour = most[hour_at(at)];
        hour = std::max(hour, curve.per_second());
      }
      double& last = most[hour_at(until - nanoseconds(1))];
      last = std::max(last, curve.per_second());
      if (until < end) curve.step();
      from = until;
    }
    for (std::size_t h = 0; h < load_.size(); ++h) load_[h] += most[h];
  }

  void add_arrivals(const Traffic& traffic) {
    std::vector<std::int64_t> counts(
        static_cast<std::size_t>(scenario_.duration->ns / kEachHour.ns) + 1);
    const TimePoint end = TimePoint{} + *scenario_.duration;
    for (Arrivals arrivals(traffic, scenario_.starts_at, scenario_.seed, 0, 0);
         arrivals.next() < end; arrivals.advance()) {
      // Hours of the clock, of which the first and the last may be parts.
      const auto into =
          (local_start_.ns % kEachHour.ns + (arrivals.next() - TimePoint{}).ns) / kEachHour.ns;
      ++counts[static_cast<std::size_t>(into)];
    }
    LoadByHour most{};
    for (std::size_t n = 0; n < counts.size(); ++n) {
      double& hour = most[(hour_at(TimePoint{}) + n) % kHoursOfDay];
      hour = std::max(hour, static_cast<double>(counts[n]) / to_seconds(kEachHour));
    }
    for (std::size_t h = 0; h < load_.size(); ++h) load_[h] += most[h];
  }

  const Scenario& scenario_;
  Duration local_start_;
  LoadByHour load_{};
};

// Hours from `from` on, round the clock.
struct Night {
  int from = 0;
  int hours = 0;
  int pods = 1;
};

// The longest time of the day for which so many pods do.
Night longest_night(const std::array<int, kHoursOfDay>& needed, int pods) {
  Night longest{0, 0, pods};
  for (int from = 0; from < kHoursOfDay; ++from) {
    int length = 0;
    const auto hour = [&] { return static_cast<std::size_t>((from + length) % kHoursOfDay); };
    while (length < kHoursOfDay && needed[hour()] <= pods) ++length;
    if (length > longest.hours) longest = {from, length, pods};
  }
  return longest;
}

// That which saves the most hours of pods.
std::optional<Night> best_night(const LoadByHour& load, int pods, double margin) {
  const double peak = std::ranges::max(load);
  if (peak <= 0) return std::nullopt;
  std::array<int, kHoursOfDay> needed{};
  for (std::size_t h = 0; h < load.size(); ++h) {
    const double share = std::ceil(pods * load[h] / peak * margin - 1e-9);
    needed[h] = static_cast<int>(std::clamp(share, 1.0, static_cast<double>(pods)));
  }
  std::optional<Night> best;
  const auto saves = [&](const Night& night) { return (pods - night.pods) * night.hours; };
  for (int few = 1; few < pods; ++few) {
    const Night night = longest_night(needed, few);
    if (night.hours < kShortestNight || night.hours == kHoursOfDay) continue;
    if (!best || saves(night) > saves(*best)) best = night;
  }
  return best;
}

// Whether nobody pays for the nodes of the pool while they are not there.
bool may_leave(const PoolChoice& pool) {
  return pool.on_demand + pool.unshared == 0 && !pool.elastic &&
         (pool.purchase == "on-demand" || pool.purchase == "spot" ||
          pool.purchase == kSpotFallback);
}

std::optional<PodSchedule> schedule_for(const Scenario& scenario, const PoolChoice& pool,
                                        std::size_t place, double margin) {
  const Workload* const service = scenario.find_workload(pool.workloads[place]);
  if (service == nullptr || service->autoscaling ||
      service->kind != scenarios::WorkloadKind::Service) {
    return std::nullopt;
  }
  const bool is_changed = !pool.pods.empty() && pool.pods[place] > 0;
  const int pods = is_changed ? pool.pods[place] : service->count;
  const std::vector<const Traffic*> sources = sources_of(scenario, *service);
  const Duration offset = offset_of(sources);
  DayOfService day(scenario, offset);
  for (const Traffic* traffic : sources) {
    if (!day.add(*traffic)) return std::nullopt;
  }
  const auto night = best_night(day.load(), pods, margin);
  if (!night) return std::nullopt;
  const int morning = night->from + night->hours + kHoursOfDay - 1;
  return PodSchedule{service->name.value,
                     pods,
                     night->pods,
                     fmt::format("{} {} * * *", 60 - kMinutesBefore, morning % kHoursOfDay),
                     fmt::format("0 {} * * *", night->from),
                     offset.ns == 0 ? "" : *scenarios::zone_of_offset(offset)};
}

// nullopt: there is no such Service.
std::optional<PlanOption> scheduled(const Scenario& scenario, PlanOption option, double margin) {
  bool any = false;
  for (PoolChoice& pool : option.pools) {
    if (!may_leave(pool)) continue;
    for (std::size_t w = 0; w < pool.workloads.size(); ++w) {
      auto schedule = schedule_for(scenario, pool, w, margin);
      if (!schedule) continue;
      pool.schedules.push_back(std::move(*schedule));
      pool.elastic = any = true;
    }
  }
  return any ? std::optional(std::move(option)) : std::nullopt;
}

// As few pods as stand; nullopt: none do.
std::optional<PlanOption> standing_with_schedule(const BlockSearch& search, const PlanOption& fixed,
                                                 ProbeBatch& probes) {
  for (const double margin : kMargins) {
    auto option = scheduled(search.base, fixed, margin);
    if (!option || probes.interrupted()) return std::nullopt;
    const PlanProbe probe = search.about(option->pools);
    const PlanAnswer answer = probes.ask_one(probe);
    if (!stands(answer) || fails_again(search, probe, *answer.figures, probes)) continue;
    option->figures = *answer.figures;
    option->goal = goal_of(search.goal, option->figures);
    return option;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PlanOption> with_schedule(const BlockSearch& search,
                                        const std::vector<PlanOption>& options,
                                        ProbeBatch& probes) {
  constexpr std::int64_t kDay = kEachHour.ns * kHoursOfDay;
  const auto& duration = search.base.duration;
  const bool has_days = duration && duration->ns > 0 && duration->ns % kDay == 0;
  if (!has_days || options.empty() || search.space.survive != Outage::None ||
      requests_of_a_simulation(search) > kLongSimulation) {
    return std::nullopt;
  }
  std::optional<PlanOption> best;
  double most = kWorthASchedule * options.front().goal.value_or(0);
  for (const PlanOption& fixed : options) {
    auto option = standing_with_schedule(search, fixed, probes);
    if (!option || !option->goal || *option->goal >= most) continue;
    most = *option->goal;
    best = std::move(option);
  }
  return best;
}

}  // namespace slicewise::sim
