#include "faults.hpp"

#include <algorithm>
#include <cmath>

#include "slicewise/sim/kernel/far_times.hpp"

#include "../entity_streams.hpp"
#include "pod_life.hpp"
#include "pod_notes.hpp"

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

void Faults::strike(std::uint32_t p, PodLife& pods) {
  ++run_.record.faults;
  ++run_.record_of(run_.cluster.pods[p]).faults;
  mark(run_, p, LaneMark::Kind::GpuFault);
  // Collected first: the end of one may end the whole object of p, which then has no ranks left.
  victims_.clear();
  for_each_rank(run_.cluster.pods[p], [&](DomainId id, std::uint32_t) {
    const Domain& domain = run_.cluster.domains[index(id)];
    if (!std::holds_alternative<models::Mps>(run_.cluster.kind(domain).sharing)) return;
    for (const std::uint32_t neighbour : domain.owner) {
      if (neighbour == kNoOwner) continue;
      if (run_.cluster.first_of_job(neighbour) == run_.cluster.first_of_job(p)) continue;
      victims_.push_back(neighbour);
    }
  });
  for (const std::uint32_t victim : victims_) {
    if (!holds_container(run_.cluster.pods[victim].phase)) continue;
    ++run_.record.fault_victims;
    ++run_.record_of(run_.cluster.pods[victim]).faults;
    mark(run_, victim, LaneMark::Kind::FaultOfNeighbour);
    pods.crash(victim);
  }
  const bool failed_with_them = !holds_container(run_.cluster.pods[p].phase);  // its object did
  if (!failed_with_them) pods.crash(p);
}

}  // namespace slicewise::sim
