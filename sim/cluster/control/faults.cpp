#include "faults.hpp"

#include <algorithm>
#include <cmath>

#include "slicewise/sim/kernel/far_times.hpp"

#include "../entity_streams.hpp"

namespace slicewise::sim {

Faults::Faults(RunState& run) : run_(run) {
  const bool any = std::ranges::any_of(
      run.world.workloads, [](const WorkloadModel& w) { return w.spec.faults.has_value(); });
  if (!any) return;
  for_each_entity(run.world, [&](std::uint32_t entity) {
    streams_.emplace_back(run.world.seed, run.replication, entity, Purpose::Fault);
  });
}

void Faults::arm(std::uint32_t p) {
  const auto& rate = run_.cluster.model(run_.cluster.pods[p]).spec.faults;
  if (!rate || rate->per_second <= 0) return;
  const double wait_ns = streams_[p].exponential() / rate->per_second * 1e9;
  run_.timers.set(TimerKind::Fault, p, run_.now + rounded_time(std::floor(wait_ns)));
}

}  // namespace slicewise::sim
