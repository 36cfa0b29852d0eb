#include "busiest_minutes.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "slicewise/sim/serving/arrivals.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Traffic;

constexpr Duration kMinutes = minutes(10);  // after the warm-up
constexpr std::int64_t kMuchLonger = 4;
constexpr Duration kWeek = hours(std::int64_t{24} * 7);

// What is sent to Services by a rate that the hour tells; nullopt: there is something else.
std::optional<std::vector<const Traffic*>> steady_sources(const Scenario& scenario) {
  std::vector<const Traffic*> sources;
  for (const scenarios::Workload& workload : scenario.workloads) {
    if (workload.count == 0) continue;
    if (workload.kind != scenarios::WorkloadKind::Service || workload.faults) return std::nullopt;
    if (workload.traffic) sources.push_back(&*workload.traffic);
  }
  for (const scenarios::Pipeline& pipeline : scenario.pipelines) {
    sources.push_back(&pipeline.traffic);
  }
  const bool by_the_hour = std::ranges::all_of(sources, [](const Traffic* traffic) {
    return std::holds_alternative<std::monostate>(traffic->shape) ||
           std::holds_alternative<scenarios::Diurnal>(traffic->shape);
  });
  return by_the_hour ? std::optional(std::move(sources)) : std::nullopt;
}

// When the sources together are at the most of their means, in the middle of the time for which
// they are.
TimePoint busiest_time(const Scenario& scenario, const std::vector<const Traffic*>& sources) {
  std::vector<RateCurve> curves;
  curves.reserve(sources.size());
  for (const Traffic* traffic : sources) {
    curves.emplace_back(*traffic, scenario.starts_at, scenario.seed, 0, 0);
  }
  const TimePoint end = TimePoint{} + *scenario.duration;
  TimePoint busiest;
  double most = 0;
  for (TimePoint from; from < end;) {
    double load = 0;
    TimePoint until = end;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      load += curves[s].per_second() / sources[s]->mean.per_second;
      until = std::min(until, curves[s].until());
    }
    if (load > most) {
      most = load;
      busiest = from + Duration{(until - from).ns / 2};
    }
    for (RateCurve& curve : curves) {
      if (curve.until() == until && until < end) curve.step();
    }
    from = until;
  }
  return busiest;
}

}  // namespace

std::optional<Scenario> busiest_minutes(const Scenario& scenario) {
  const auto sources = steady_sources(scenario);
  const Duration length = scenario.warmup + kMinutes;
  if (!sources || sources->empty() || !scenario.duration ||
      *scenario.duration < length * kMuchLonger) {
    return std::nullopt;
  }
  const Duration before = scenario.warmup + Duration{kMinutes.ns / 2};
  const Duration start = std::clamp(busiest_time(scenario, *sources) - TimePoint{} - before,
                                    Duration{}, *scenario.duration - length);
  Scenario busiest = scenario;
  busiest.starts_at = Duration{(scenario.starts_at + start).ns % kWeek.ns};
  busiest.duration = length;
  busiest.replications = 1;
  return busiest;
}

}  // namespace slicewise::sim
