#include "mig_devices.hpp"

#include <algorithm>

namespace slicewise::sim {
namespace {

// Whether the domain is there while a claim has it.
bool is_made_on_demand(const ClusterState& cluster, const Domain& domain) {
  const PoolModel& pool = cluster.pool(cluster.nodes[index(domain.node)]);
  return pool.dynamic_mig && !pool.kinds[domain.kind].partition.empty();
}

}  // namespace

MigDevices::MigDevices(RunState& run, Scheduler& scheduler)
    : run_(run),
      scheduler_(scheduler),
      busy_(run.cluster.nodes.size()),
      there_(run.cluster.domains.size(), kNever) {}

TimePoint MigDevices::prepare(const Pod& pod) {
  TimePoint ready = run_.now;
  for (const DomainId id : pod.tickets) {
    const Domain& domain = run_.cluster.domains[index(id)];
    if (!is_made_on_demand(run_.cluster, domain)) continue;
    TimePoint& there = there_[index(id)];
    if (there == kNever) {
      const PoolModel& pool = run_.cluster.pool(run_.cluster.nodes[index(domain.node)]);
      const bool is_warm = run_.starts_warm(run_.cluster.model(pod).spec);
      there = is_warm ? run_.now : does(id, pool.dynamic_mig->create);
    }
    ready = std::max(ready, there);
  }
  return ready;
}

void MigDevices::unprepare(const Pod& pod) {
  for (const DomainId id : pod.tickets) {
    Domain& domain = run_.cluster.domains[index(id)];
    if (domain.allocated > 1 || !is_made_on_demand(run_.cluster, domain)) continue;
    const PoolModel& pool = run_.cluster.pool(run_.cluster.nodes[index(domain.node)]);
    there_[index(id)] = kNever;
    domain.ending = true;
    endings_.push_back({id, does(id, pool.dynamic_mig->destroy)});
  }
  arm();
}

TimePoint MigDevices::does(DomainId device, Duration time) {
  TimePoint& busy = busy_[index(run_.cluster.domains[index(device)].node)];
  busy = std::max(run_.now, busy) + time;
  return busy;
}

void MigDevices::arm() {
  const auto next = std::ranges::min_element(endings_, {}, &Ending::gone_at);
  if (next != endings_.end()) run_.timers.set(TimerKind::MigDevice, 0, next->gone_at);
}

void MigDevices::on_timer() {
  std::erase_if(endings_, [&](const Ending& ending) {
    if (ending.gone_at > run_.now) return false;
    Domain& domain = run_.cluster.domains[index(ending.device)];
    domain.ending = false;
    scheduler_.nodes_changed(&run_.cluster.nodes[index(domain.node)]);
    return true;
  });
  run_.wake_scheduler();
  arm();
}

}  // namespace slicewise::sim
