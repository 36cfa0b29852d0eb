#include <algorithm>
#include <cmath>

#include "cluster_run.hpp"

namespace slicewise::sim {
void ClusterRun::arm_fault(std::uint32_t p) {
  const auto& rate = cluster_.model(cluster_.pods[p]).spec.faults;
  if (!rate || rate->per_second <= 0) return;
  const double wait_ns = std::min(9e18, faults_[p].exponential() / rate->per_second * 1e9);
  timers_.set(first_fault_timer_ + p, now_ + nanoseconds(static_cast<std::int64_t>(wait_ns)));
}

// A fatal fault ends its process. Clients of one MPS server share its fate; time-slicing, MIG and
// vGPU confine the fault.
void ClusterRun::on_fault(std::uint32_t p) {
  const Pod& pod = cluster_.pods[p];
  const DomainId domain = pod.domain;
  ++record_.faults;
  mark(p, LaneMark::Kind::GpuFault);
  if (std::holds_alternative<models::Mps>(cluster_.kind(cluster_.domains[index(domain)]).sharing)) {
    for (const std::uint32_t neighbour : cluster_.domains[index(domain)].owner) {
      if (neighbour == kNoOwner || neighbour == p) continue;
      if (!holds_container(cluster_.pods[neighbour].phase)) continue;
      ++record_.fault_victims;
      mark(neighbour, LaneMark::Kind::FaultOfNeighbour);
      crash(neighbour);
    }
  }
  crash(p);
}

// kubectl drain: a pod that a controller owns is deleted and created anew elsewhere.
void ClusterRun::evict(std::uint32_t p) {
  if (cluster_.pods[p].leaving) return replica_gone(p);
  const scenarios::Workload& spec = cluster_.model(cluster_.pods[p]).spec;
  if (holds_container(cluster_.pods[p].phase)) {
    end_container(p, !scenarios::runs_batches(spec.kind));
  }
  mark(p, LaneMark::Kind::Evicted);
  set_activity(p, PodPhase::BackOff);
  timers_.clear(p);
  release_node(p);
  ++record_.evicted;
  submit(p);
}

// mig-manager: cordon and drain, destroy the instances, create the new ones, restart the device
// plugin; then the node offers its new resources.
void ClusterRun::on_layout_timer(std::size_t pool_index) {
  const PoolModel& pool = world_.pools[pool_index];
  LayoutProgress& progress = layout_[pool_index];
  const std::uint32_t timer = first_pool_timer_ + static_cast<std::uint32_t>(pool_index);
  progress.changing = !progress.changing;
  for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
    Node& node = cluster_.nodes[n];
    if (index(node.pool) != pool_index) continue;
    node.schedulable = !progress.changing;
    if (progress.changing) continue;
    settle_node(make_id<NodeId>(n));
    node.layout = pool.layout_changes[progress.next].layout;
    node.next_change = progress.next + 1;
    for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
      node.tickets_free[offer] = pool.tickets_per_node(offer, node.layout);
    }
  }
  if (progress.changing) {
    for (std::uint32_t p = 0; p < cluster_.pods.size(); ++p) {
      const Pod& pod = cluster_.pods[p];
      if (is_bound(pod.phase) && index(cluster_.nodes[index(pod.node)].pool) == pool_index)
        evict(p);
    }
    const scenarios::MigChangeTimes& times = pool.change_times;
    timers_.set(timer, now_ + times.drain + times.destroy + times.create + times.plugin_restart);
    return;
  }
  wake_scheduler();
  count_jobs();
  check_all_done();
  if (++progress.next == pool.layout_changes.size()) return;
  timers_.set(timer, std::max(now_, pool.layout_changes[progress.next].at));
}

}  // namespace slicewise::sim
