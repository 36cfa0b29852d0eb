#include <algorithm>

#include "cluster_run.hpp"

// Karpenter and the Cluster Autoscaler: which nodes start, and which are taken away. Not modelled:
// replacing a node by a cheaper one (consolidation removes nodes, and moves their pods), pods that
// must not be disrupted, disruption budgets, the order of several node pools by weight (they are
// tried in the order of the scenario).
namespace slicewise::sim {
namespace {

using scenarios::Provisioner;

// Karpenter looks for nodes to remove this often, and checks its decision again after the second.
// Source: sigs.k8s.io/karpenter, pkg/controllers/disruption, pollingPeriod and consolidationTTL.
constexpr Duration kLooksForNodes = seconds(10);
constexpr Duration kConfirms = seconds(15);

// The Cluster Autoscaler waits with pods that are new, longer with those that ask for a GPU: nodes
// with GPUs are expensive. Source: cluster-autoscaler, core/static_autoscaler.go,
// unschedulablePodTimeBuffer and unschedulablePodWithGpuTimeBuffer.
constexpr Duration kNewPod = seconds(2);
constexpr Duration kNewGpuPod = seconds(30);

// Source: cluster-autoscaler FAQ, --scale-down-delay-after-add and
// --scale-down-gpu-utilization-threshold.
constexpr Duration kDelayAfterAdd = minutes(10);
constexpr double kUnneededBelow = 0.5;

}  // namespace

// Called after each look of the scheduler: pods are Pending that it could not place.
void ClusterRun::ask_for_nodes() {
  if (!grows_ || !nodes_wanted_ || scheduler_.pending() == 0) return;
  nodes_wanted_ = false;
  const Provisioner& provisioner = world_.provisioner;
  if (provisioner.kind != Provisioner::Kind::Karpenter) return;
  if (!batch_began_) batch_began_ = now_;
  timers_.set(provisioner_timer_,
              std::min(now_ + provisioner.batch_idle, *batch_began_ + provisioner.batch_max));
}

void ClusterRun::on_provisioner_timer() {
  if (world_.provisioner.kind == Provisioner::Kind::Karpenter) {
    batch_began_.reset();
    start_nodes();
    return;
  }
  timers_.set(provisioner_timer_, now_ + world_.provisioner.scan_interval);
  if (!pods_are_new() && start_nodes()) last_scale_up_ = now_;
  remove_unneeded();
}

void ClusterRun::arm_removal() {
  if (world_.provisioner.kind != Provisioner::Kind::Karpenter) return;
  timers_.set(removal_timer_, now_ + kLooksForNodes);
}

void ClusterRun::on_removal_timer() {
  arm_removal();
  consolidate();
}

// What the provisioner takes the next node of a pool for: the Cluster Autoscaler remembers what the
// last one was like.
NodeRooms::Tickets ClusterRun::guess_of(std::size_t pool) const {
  const bool remembers = world_.provisioner.kind == Provisioner::Kind::ClusterAutoscaler;
  return remembers && pools_[pool].seen ? NodeRooms::Tickets::All : NodeRooms::Tickets::Expected;
}

// The room on nodes that are there or start, as the provisioner sees it or as it will be.
void ClusterRun::open_rooms(bool as_expected) {
  for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
    const Node& node = cluster_.nodes[n];
    const NodeRooms::Tickets guess =
        as_expected ? guess_of(index(node.pool)) : NodeRooms::Tickets::All;
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
        const bool overlooked = as_expected &&
                                world_.provisioner.kind == Provisioner::Kind::ClusterAutoscaler &&
                                !pools_[index(node.pool)].accelerator_label;
        rooms_.open(n, overlooked ? NodeRooms::Tickets::Free : guess);
        break;
      }
      case NodeStage::Ready:
        rooms_.open(n, NodeRooms::Tickets::Free);
        break;
    }
  }
}

// One where no node is and none was put in thought.
std::optional<std::uint32_t> ClusterRun::free_place(std::size_t pool) const {
  const auto places = static_cast<std::uint32_t>(world_.pools[pool].node_slots());
  for (std::uint32_t n = pools_[pool].first_node; n < pools_[pool].first_node + places; ++n) {
    if (cluster_.nodes[n].stage == NodeStage::Absent && !rooms_.is_open(n)) return n;
  }
  return std::nullopt;
}

// Finds room for all Pending pods, and counts in PoolProgress::wanted the nodes that must start for
// them. Pods of one workload are alike: a node takes as many as fit at once.
void ClusterRun::place_pending(bool as_expected, bool start) {
  for (PoolProgress& progress : pools_) progress.wanted = 0;
  for (const std::size_t w : packing_order_) {
    auto left = static_cast<std::int64_t>(scheduler_.pending_of(w).size());
    for (std::uint32_t n = 0; n < cluster_.nodes.size() && left > 0; ++n) {
      left -= rooms_.take(n, w, left);
    }
    for (std::size_t p = 0; p < pools_.size() && left > 0; ++p) {
      const NodeRooms::Tickets guess = as_expected ? guess_of(p) : NodeRooms::Tickets::All;
      if (!world_.pools[p].most_nodes || !rooms_.fits_empty(p, w, guess)) continue;
      while (left > 0) {
        const auto place = free_place(p);
        if (!place) break;
        if (start) start_node(*place);
        rooms_.open(*place, guess);
        ++pools_[p].wanted;
        left -= rooms_.take(*place, w, left);
      }
    }
    if (start && left > 0) note_kept_off(w);
  }
}

// Why no node starts for pods of the workload.
void ClusterRun::note_kept_off(std::size_t w) {
  bool at_limit = false;
  bool unknown = false;
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    if (!world_.pools[p].most_nodes) continue;
    const bool expected = rooms_.fits_empty(p, w, guess_of(p));
    at_limit = at_limit || expected;
    unknown = unknown || (!expected && rooms_.fits_empty(p, w, NodeRooms::Tickets::All));
  }
  WorkloadRecord& record = record_.workloads[w];
  record.met_node_limit = record.met_node_limit || at_limit;
  record.no_node_for_it = record.no_node_for_it || (unknown && !at_limit);
}

// Starts nodes for the pods that nothing there can hold. False: none.
bool ClusterRun::start_nodes() {
  if (scheduler_.pending() == 0) return false;
  open_rooms(false);
  place_pending(false, false);
  for (PoolProgress& progress : pools_) progress.needed = progress.wanted;
  open_rooms(true);
  place_pending(true, true);
  bool started = false;
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    PoolProgress& progress = pools_[p];
    const std::int64_t surplus = std::max<std::int64_t>(0, progress.wanted - progress.needed);
    progress.surplus += surplus;
    record_.pools[p].surplus += surplus;
    started = started || progress.wanted > 0;
  }
  return started;
}

bool ClusterRun::pods_are_new() const {
  TimePoint oldest = kNever;
  TimePoint oldest_with_gpu = kNever;
  for (std::size_t w = 0; w < world_.workloads.size(); ++w) {
    const PendingPods& pods = scheduler_.pending_of(w);
    if (pods.size() == 0) continue;
    const TimePoint queued = cluster_.pods[pods[0]].queued;
    oldest = std::min(oldest, queued);
    if (world_.workloads[w].resource) oldest_with_gpu = std::min(oldest_with_gpu, queued);
  }
  if (oldest == kNever) return true;
  return now_ < oldest + kNewPod ||
         (oldest_with_gpu != kNever && now_ < oldest_with_gpu + kNewGpuPod);
}

bool ClusterRun::is_empty(const Node& node) const {
  return node.pods_free == cluster_.pool(node).max_pods;
}

// Whether the provisioner may do without it.
bool ClusterRun::is_removable(const Node& node) const {
  const PoolModel& pool = cluster_.pool(node);
  return node.stage == NodeStage::Ready && pool.most_nodes &&
         pools_[index(node.pool)].nodes > pool.nodes;
}

// Whether the other nodes have room for all pods of this one, besides those that are Pending. An
// empty node that is about to go itself has none.
bool ClusterRun::fits_elsewhere(std::uint32_t candidate) {
  for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
    const Node& node = cluster_.nodes[n];
    const bool takes =
        n != candidate && node.stage == NodeStage::Ready && !(is_empty(node) && is_removable(node));
    takes ? rooms_.open(n, NodeRooms::Tickets::Free) : rooms_.close(n);
  }
  std::ranges::fill(pods_to_move_, 0);
  for (const Pod& pod : cluster_.pods) {
    if (is_bound(pod.phase) && index(pod.node) == candidate) ++pods_to_move_[index(pod.workload)];
  }
  const auto place = [this](std::size_t w, std::int64_t pods) {
    for (std::uint32_t n = 0; n < cluster_.nodes.size() && pods > 0; ++n) {
      pods -= rooms_.take(n, w, pods);
    }
    return pods == 0;
  };
  for (const std::size_t w : packing_order_) {
    place(w, static_cast<std::int64_t>(scheduler_.pending_of(w).size()));
  }
  return std::ranges::all_of(packing_order_,
                             [&](std::size_t w) { return place(w, pods_to_move_[w]); });
}

// Karpenter removes all empty nodes, and of the others the one with the fewest pods that fit on
// nodes that are there.
void ClusterRun::consolidate() {
  const Provisioner& provisioner = world_.provisioner;
  const auto is_due = [&](const Node& node) {
    return is_removable(node) &&
           now_ >= node.life.changed + provisioner.consolidate_after + kConfirms;
  };
  for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
    if (is_due(cluster_.nodes[n]) && is_empty(cluster_.nodes[n])) remove_node(n);
  }
  if (provisioner.consolidation == Provisioner::Consolidation::WhenEmpty) return;
  while (true) {
    std::optional<std::uint32_t> candidate;
    for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
      const Node& node = cluster_.nodes[n];
      // As long as no pod came or went, the answer is the same.
      const bool examined = node.life.examined != kNever && node.life.examined >= last_pod_change_;
      if (examined || !is_due(node)) continue;
      if (!candidate || node.pods_free > cluster_.nodes[*candidate].pods_free) candidate = n;
    }
    if (!candidate) return;
    if (fits_elsewhere(*candidate)) return remove_node(*candidate);
    cluster_.nodes[*candidate].life.examined = now_;
  }
}

// Of the resource of which most is in use, as the Cluster Autoscaler looks at nodes with GPUs.
double ClusterRun::tickets_in_use(const Node& node) const {
  const PoolModel& pool = cluster_.pool(node);
  double most = 0;
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    const auto all = static_cast<double>(pool.tickets_per_node(offer, node.layout));
    if (all <= 0) continue;
    most = std::max(most, 1 - static_cast<double>(node.tickets_free[offer]) / all);
  }
  return most;
}

// The Cluster Autoscaler removes all nodes that were empty for long enough, and one whose pods fit
// elsewhere.
void ClusterRun::remove_unneeded() {
  const bool rests = last_scale_up_ && now_ < *last_scale_up_ + kDelayAfterAdd;
  bool moved_pods = false;
  for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
    Node& node = cluster_.nodes[n];
    if (!is_removable(node)) continue;
    const bool empty = is_empty(node);
    const bool unneeded = empty || (tickets_in_use(node) < kUnneededBelow && fits_elsewhere(n));
    if (!unneeded) {
      node.life.unneeded_since = kNever;
      continue;
    }
    if (node.life.unneeded_since == kNever) node.life.unneeded_since = now_;
    const bool due = now_ >= node.life.unneeded_since + world_.provisioner.unneeded_time;
    if (rests || !due || (!empty && moved_pods)) continue;
    moved_pods = moved_pods || !empty;
    remove_node(n);
  }
}

}  // namespace slicewise::sim
