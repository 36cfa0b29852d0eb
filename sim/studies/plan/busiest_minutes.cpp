#include <algorithm>
#include <variant>
#include <vector>

#include "slicewise/sim/serving/arrivals.hpp"

#include "plan_sections.hpp"

namespace slicewise::sim {
namespace {

constexpr Duration kMinutes = minutes(10);  // after the warm-up
constexpr std::int64_t kMuchLonger = 4;
constexpr Duration kWeek = hours(std::int64_t{24} * 7);

// What is sent to Services by a rate that the hour tells; nullopt: there is something else.
std::optional<std::vector<const Traffic*>> steady_sources(const Scenario& scenario) {
  std::vector<const Traffic*> sources;
  for (const Workload& workload : scenario.workloads) {
    if (workload.count == 0) continue;
    if (workload.kind != WorkloadKind::Service || workload.faults) return std::nullopt;
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

}  // namespace

std::optional<Scenario> busiest_minutes(const Scenario& scenario) {
  const auto sources = steady_sources(scenario);
  const Duration length = scenario.warmup + kMinutes;
  if (!sources || sources->empty() || !scenario.duration ||
      *scenario.duration < length * kMuchLonger) {
    return std::nullopt;
  }
  const Duration before = scenario.warmup + Duration{kMinutes.ns / 2};
  const TimePoint busiest_at =
      busiest_time(*sources, scenario.start(), TimePoint{} + *scenario.duration);
  const Duration start =
      std::clamp(busiest_at - TimePoint{} - before, Duration{}, *scenario.duration - length);
  Scenario busiest = scenario;
  busiest.starts_at = Duration{(scenario.start() + start).ns % kWeek.ns};
  busiest.duration = length;
  busiest.replications = 1;
  return busiest;
}

}  // namespace slicewise::sim
