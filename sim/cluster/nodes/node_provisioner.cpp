#include "node_provisioner.hpp"

#include <algorithm>

namespace slicewise::sim {
namespace {

using scenarios::Provisioner;

// The Cluster Autoscaler waits with pods that are new, longer with those that ask for a GPU: nodes
// with GPUs are expensive. Source: cluster-autoscaler, core/static_autoscaler.go,
// unschedulablePodTimeBuffer and unschedulablePodWithGpuTimeBuffer.
constexpr Duration kNewPod = seconds(2);
constexpr Duration kNewGpuPod = seconds(30);

}  // namespace

NodeProvisioner::NodeProvisioner(RunState& run, const Scheduler& scheduler, NodeLives& nodes,
                                 const DisruptionBudgets& budgets)
    : run_(run),
      scheduler_(scheduler),
      rooms_(nodes.rooms()),
      nodes_(nodes),
      packing_(run, scheduler, nodes),
      disruption_(run, nodes, budgets, packing_) {
  grows_ = std::ranges::any_of(run.world.pools,
                               [](const PoolModel& pool) { return pool.most_nodes.has_value(); });
  if (!grows_) return;
  if (run.world.provisioner.kind == Provisioner::Kind::ClusterAutoscaler) {
    run.timers.set(TimerKind::Provisioner, 0, run.now + run.world.provisioner.scan_interval);
  } else {
    arm_removal();
  }
}

void NodeProvisioner::ask_for_nodes() {
  nodes_.finish_replacements();
  if (!grows_ || !run_.cluster.grew || scheduler_.queue().size() == 0) return;
  run_.cluster.grew = false;
  const Provisioner& provisioner = run_.world.provisioner;
  if (provisioner.kind != Provisioner::Kind::Karpenter) return;
  if (!batch_began_) batch_began_ = run_.now;
  run_.timers.set(
      TimerKind::Provisioner, 0,
      std::min(run_.now + provisioner.batch_idle, *batch_began_ + provisioner.batch_max));
}

void NodeProvisioner::on_timer() {
  if (run_.world.provisioner.kind == Provisioner::Kind::Karpenter) {
    asked_ = batch_began_.value_or(run_.now);
    batch_began_.reset();
    start_nodes();
    return;
  }
  run_.timers.set(TimerKind::Provisioner, 0, run_.now + run_.world.provisioner.scan_interval);
  asked_ = run_.now - (run_.world.provisioner.scan_interval + kNewGpuPod);
  if (!pods_are_new() && start_nodes()) last_scale_up_ = run_.now;
  disruption_.remove_unneeded(last_scale_up_);
}

void NodeProvisioner::arm_removal() {
  if (run_.world.provisioner.kind != Provisioner::Kind::Karpenter) return;
  run_.timers.set(TimerKind::Removal, 0, run_.now + NodeDisruption::kPollingPeriod);
}

void NodeProvisioner::on_removal_timer() {
  arm_removal();
  disruption_.end_expired();
  disruption_.consolidate();
}

// The room on nodes that are there or start, as the provisioner sees it or as it will be.
void NodeProvisioner::open_rooms(bool as_expected) {
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    const Node& node = run_.cluster.nodes[n];
    const NodeRooms::Tickets guess =
        as_expected ? packing_.new_nodes().guess_of(index(node.pool)) : NodeRooms::Tickets::All;
    switch (node.stage) {
      case NodeStage::Absent:
      case NodeStage::Draining:
        rooms_.close(n);
        break;
      case NodeStage::Launching:
      case NodeStage::Booting:
        rooms_.open(n, guess);
        break;
      case NodeStage::Registered: {
        const bool overlooked =
            as_expected && run_.world.provisioner.kind == Provisioner::Kind::ClusterAutoscaler &&
            !nodes_.pool(index(node.pool)).accelerator_label;
        rooms_.open(n, overlooked ? NodeRooms::Tickets::Free : guess);
        break;
      }
      case NodeStage::Ready:
        node.life.replaced_by ? rooms_.close(n) : rooms_.open(n, NodeRooms::Tickets::Free);
        break;
    }
  }
}

// Finds room for all these pods, on new nodes where nothing that is there holds them.
void NodeProvisioner::place_pending(bool as_expected) {
  open_rooms(as_expected);
  packing_.begin(as_expected);
  for (const std::size_t w : packing_.order()) {
    for (const PodsToMove& some : packing_.to_place(w)) {
      if (packing_.place_anywhere(some) > 0 && as_expected) note_kept_off(w, some.pools);
    }
  }
}

// Why no node of these pools starts for pods of the workload.
void NodeProvisioner::note_kept_off(std::size_t w, PoolMask pools) {
  bool at_limit = false;
  bool unknown = false;
  for (std::size_t p = 0; p < run_.world.pools.size(); ++p) {
    if (!has_pool(pools, p) || !run_.world.pools[p].most_nodes) continue;
    // Then it is its company that is missing, not a node.
    if (rooms_.reaches(w) && nodes_.free_place(p)) continue;
    const bool expected = rooms_.on_empty(p, w, packing_.new_nodes().guess_of(p)) > 0;
    at_limit = at_limit || expected;
    unknown = unknown || (!expected && rooms_.on_empty(p, w, NodeRooms::Tickets::All) > 0);
  }
  WorkloadRecord& record = run_.record.workloads[w];
  record.met_node_limit = record.met_node_limit || at_limit;
  record.no_node_for_it = record.no_node_for_it || (unknown && !at_limit);
}

// Starts nodes for the pods that nothing there can hold. False: none.
bool NodeProvisioner::start_nodes() {
  if (scheduler_.queue().size() == 0) return false;
  place_pending(false);
  needed_.clear();
  for (std::size_t p = 0; p < run_.world.pools.size(); ++p) {
    needed_.push_back(packing_.new_nodes().of_pool(p));
  }
  place_pending(true);
  packing_.new_nodes().start(asked_);
  bool started = false;
  for (std::size_t p = 0; p < needed_.size(); ++p) {
    const std::int64_t wanted = packing_.new_nodes().of_pool(p);
    nodes_.add_surplus(p, std::max<std::int64_t>(0, wanted - needed_[p]));
    started = started || wanted > 0;
  }
  return started;
}

bool NodeProvisioner::pods_are_new() const {
  TimePoint oldest = kNever;
  TimePoint oldest_with_gpu = kNever;
  for (std::size_t w = 0; w < run_.world.workloads.size(); ++w) {
    if (scheduler_.queue().jobs_of(w) == 0) continue;
    const TimePoint queued = scheduler_.queue().oldest_of(w);
    oldest = std::min(oldest, queued);
    if (run_.world.workloads[w].resource) oldest_with_gpu = std::min(oldest_with_gpu, queued);
  }
  if (oldest == kNever) return true;
  return run_.now < oldest + kNewPod ||
         (oldest_with_gpu != kNever && run_.now < oldest_with_gpu + kNewGpuPod);
}

}  // namespace slicewise::sim
