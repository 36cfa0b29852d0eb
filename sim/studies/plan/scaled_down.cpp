#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/sim/serving/arrivals.hpp"

#include "plan_sections.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

constexpr int kHoursOfDay = 24;
constexpr Duration kEachHour = hours(1);
constexpr std::int64_t kNsOfDay = kEachHour.ns * kHoursOfDay;
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
      : scenario_(scenario), local_start_(scenario.start() + utc_offset + hours(kHoursOfDay)) {}

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
    RateCurve curve(traffic, scenario_.start(), scenario_.seed, 0, 0);
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
    for (Arrivals arrivals(traffic, scenario_.start(), scenario_.seed, 0, 0); arrivals.next() < end;
         arrivals.advance()) {
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

// The scenario's Services, as their traffic rises and falls.
bool scales_by_itself(const Scenario& scenario) {
  return std::ranges::any_of(scenario.workloads, [](const Workload& workload) {
    return workload.autoscaling && workload.traffic &&
           std::holds_alternative<scenarios::Diurnal>(workload.traffic->shape);
  });
}

// Whether nobody pays for the nodes of the pool while they are not there.
bool may_leave(const PoolChoice& pool) {
  return pool.on_demand + pool.unshared == 0 && !pool.elastic &&
         (pool.purchase == "on-demand" || pool.purchase == "spot" ||
          pool.purchase == kSpotFallback);
}

// A Service of a pool whose load falls every day.
struct FallingLoad {
  const Workload* service = nullptr;
  int pods = 1;
  Duration utc_offset;
  LoadByHour by_hour{};
};

std::optional<FallingLoad> falling_load(const Scenario& scenario, const PoolChoice& pool,
                                        std::size_t place) {
  const Workload* service = scenario.find_workload(pool.workloads[place]);
  if (service == nullptr || service->autoscaling || service->kind != WorkloadKind::Service) {
    return std::nullopt;
  }
  const bool is_changed = !pool.pods.empty() && pool.pods[place] > 0;
  const std::vector<const Traffic*> sources = sources_of(scenario, *service);
  FallingLoad load{service, is_changed ? pool.pods[place] : service->count, offset_of(sources)};
  DayOfService day(scenario, load.utc_offset);
  for (const Traffic* traffic : sources) {
    if (!day.add(*traffic)) return std::nullopt;
  }
  load.by_hour = day.load();
  return best_night(load.by_hour, load.pods, 1) ? std::optional(load) : std::nullopt;
}

// By whom pods are scaled. false: the load leaves no pods to take away.
using ScaleService = bool (*)(const FallingLoad& load, double margin, PoolChoice& pool);

bool scale_by_clock(const FallingLoad& load, double margin, PoolChoice& pool) {
  const auto night = best_night(load.by_hour, load.pods, margin);
  if (!night) return false;
  const int morning = night->from + night->hours + kHoursOfDay - 1;
  pool.schedules.push_back(
      {load.service->name.value, load.pods, night->pods,
       fmt::format("{} {} * * *", 60 - kMinutesBefore, morning % kHoursOfDay),
       fmt::format("0 {} * * *", night->from),
       load.utc_offset.ns == 0 ? "" : *scenarios::zone_of_offset(load.utc_offset)});
  return true;
}

bool scale_by_load(const FallingLoad& load, double margin, PoolChoice& pool) {
  // As exports and the scenario write it.
  constexpr double kParts = 1000;
  const double bears = std::ranges::max(load.by_hour) / load.pods / margin;
  const double target = std::round(bears * kParts) / kParts;
  if (target <= 0) return false;
  pool.scalings.push_back({load.service->name.value, 1, load.pods, target});
  return true;
}

// nullopt: there is nothing to scale.
std::optional<PlanOption> scaled(const Scenario& scenario, PlanOption option, double margin,
                                 ScaleService scale) {
  bool any = false;
  for (PoolChoice& pool : option.pools) {
    if (!may_leave(pool)) continue;
    bool here = false;
    for (std::size_t w = 0; w < pool.workloads.size(); ++w) {
      const auto load = falling_load(scenario, pool, w);
      here = (load && scale(*load, margin, pool)) || here;
    }
    pool.elastic = here;
    any = any || here;
  }
  return any ? std::optional(std::move(option)) : std::nullopt;
}

bool simulate(const BlockSearch& search, PlanOption& option) {
  const PlanProbe probe = probe_of(search, option, search.input, search.factor);
  const PlanAnswer answer = whole_answer(search, probe);
  if (!answer.figures) return false;
  option.figures = *answer.figures;
  option.goal = goal_of(search.goal, option.figures);
  if (!stands(answer)) return true;
  if (auto otherwise = fails_again(search, probe, *answer.figures)) {
    option.figures = at_cost_of(*answer.figures, std::move(*otherwise));
  }
  return true;
}

// As few pods as stand, or the most that were tried.
std::optional<PlanOption> simulated(const BlockSearch& search, const PlanOption& fixed,
                                    ScaleService scale) {
  std::optional<PlanOption> last;
  for (const double margin : kMargins) {
    auto option = scaled(search.base, fixed, margin, scale);
    if (!option || !simulate(search, *option)) return last;
    last = std::move(option);
    if (last->figures.stands()) return last;
  }
  return last;
}

// The cheapest that stands with a schedule and saves something of what `fixed` costs.
std::optional<PlanOption> cheapest_by_clock(const BlockSearch& search, const PlanOption& fixed,
                                            const std::vector<PlanOption>& options) {
  std::optional<PlanOption> best;
  double most = kWorthASchedule * fixed.goal.value_or(0);
  for (const PlanOption& each : options) {
    auto option = simulated(search, each, scale_by_clock);
    if (!option || !option->figures.stands() || !option->goal || *option->goal >= most) continue;
    most = *option->goal;
    best = std::move(option);
  }
  return best;
}

// The scenario's own autoscalers, on nodes that come and go.
std::optional<PlanOption> by_own_autoscalers(const BlockSearch& search, PlanOption option) {
  bool any = false;
  for (PoolChoice& pool : option.pools) {
    const bool scales = std::ranges::any_of(search.base.workloads, [&](const Workload& workload) {
      return workload.autoscaling && contains(pool.workloads, workload.name.value);
    });
    if (!scales || !may_leave(pool)) continue;
    pool.elastic = any = true;
  }
  return any && simulate(search, option) ? std::optional(std::move(option)) : std::nullopt;
}

std::optional<ScaledDown> scaled_over_days(const BlockSearch& search,
                                           const std::vector<PlanOption>& options) {
  ScaledDown found{options.front(), std::nullopt, std::nullopt};
  if (!simulate(search, found.fixed)) return std::nullopt;
  found.by_clock = cheapest_by_clock(search, found.fixed, options);
  found.by_load = simulated(search, options.front(), scale_by_load);
  if (!found.by_load) found.by_load = by_own_autoscalers(search, options.front());
  return found;
}

bool has_falling_load(const Scenario& scenario, const PlanOption& option) {
  return std::ranges::any_of(option.pools, [&](const PoolChoice& pool) {
    for (std::size_t w = 0; w < pool.workloads.size(); ++w) {
      if (falling_load(scenario, pool, w)) return true;
    }
    return false;
  });
}

}  // namespace

Scenario over_whole_days(Scenario scenario) {
  const auto by_the_clock = [](const Traffic& traffic) {
    return std::holds_alternative<std::monostate>(traffic.shape) ||
           std::holds_alternative<scenarios::Diurnal>(traffic.shape);
  };
  const bool goes_on =
      scenario.duration && scenario.duration->ns > 0 &&
      std::ranges::all_of(scenario.workloads,
                          [&](const Workload& workload) {
                            return !workload.schedule && !workload.trace &&
                                   (!workload.traffic || by_the_clock(*workload.traffic));
                          }) &&
      std::ranges::all_of(scenario.pipelines,
                          [&](const auto& pipeline) { return by_the_clock(pipeline.traffic); });
  if (goes_on)
    scenario.duration = Duration{(scenario.duration->ns + kNsOfDay - 1) / kNsOfDay * kNsOfDay};
  return scenario;
}

std::optional<ScaledDown> scaled_down(const BlockSearch& search,
                                      const std::vector<PlanOption>& options, const RunOptions& run,
                                      Diagnostics& notes) {
  Scenario days = over_whole_days(search.base);
  const bool has_days = days.duration && days.duration->ns > 0 && days.duration->ns % kNsOfDay == 0;
  if (!has_days || options.empty() || search.space.survive != Outage::None) return std::nullopt;
  if (!has_falling_load(days, options.front()) && !scales_by_itself(days)) return std::nullopt;
  BlockSearch of_days = search_within(search, days, search.space);
  of_days.replications = 1;
  const double requests = requests_of_a_simulation(of_days);
  if (requests > kLongSimulation) {
    notes.push_back(
        make_diagnostic(Code::RunTooLarge, days.where,
                        fmt::format("what scaling down at night would save was not simulated: a "
                                    "run of {} h has {:.3g} million requests",
                                    days.duration->ns / kEachHour.ns, requests / 1e6)));
    notes.back().severity = Severity::Note;
    return std::nullopt;
  }
  const double as_many = kLongSimulation / std::max(requests, 1.0);
  of_days.replications = static_cast<int>(std::min(as_many, 1.0 * search.replications));
  if (days.duration == search.base.duration) return scaled_over_days(of_days, options);
  days.replications = of_days.replications;
  RunOptions quiet = run;
  quiet.progress = nullptr;
  ProbeBatch day_probes(probe_threads(days, search.catalogue, quiet));
  std::optional<ScaledDown> found =
      scaled_over_days(search_within(of_days, days, search.space, &day_probes), options);
  if (!day_probes.interrupted()) return found;
  return ScaledDown{options.front(), std::nullopt, std::nullopt, true};
}

}  // namespace slicewise::sim
