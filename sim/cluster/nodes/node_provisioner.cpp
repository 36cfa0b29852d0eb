#include "node_provisioner.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "../../world/admission.hpp"

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

// Source: Karpenter, "Disruption", pod-level controls; cluster-autoscaler FAQ, "What types of pods
// can prevent CA from removing a node?".
bool keeps_node(const PodTemplate& pod, Provisioner::Kind kind) {
  const bool karpenter = kind == Provisioner::Kind::Karpenter;
  const auto found =
      pod.annotations.find(karpenter ? scenarios::kDoNotDisrupt : scenarios::kSafeToEvict);
  return found != pod.annotations.end() && found->second == (karpenter ? "true" : "false");
}

// Of the resource of which most is in use, as the Cluster Autoscaler looks at nodes with GPUs.
double tickets_in_use(const PoolModel& pool, const Node& node) {
  double most = 0;
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    const auto all = static_cast<double>(pool.tickets_per_node(offer, node.layout));
    if (all <= 0) continue;
    most = std::max(most, 1 - static_cast<double>(node.tickets_free[offer]) / all);
  }
  return most;
}

// Karpenter takes the heaviest preference for a requirement, and the next where nothing meets it,
// at last none; the Cluster Autoscaler asks the filters of kube-scheduler, which know of none. Of
// labels that nodes get once they have joined neither knows.
// Source: sigs.k8s.io/karpenter, pkg/scheduling, NewPodRequirements, and
// pkg/controllers/provisioning/scheduling, Preferences.removePreferredNodeAffinityTerm.
std::vector<std::vector<char>> preferred_pools(const World& world, const PodTemplate& pod) {
  std::vector<std::vector<char>> sets;
  std::vector<scenarios::PreferredNodes> heaviest_first = pod.preferences.nodes;
  if (world.provisioner.kind != Provisioner::Kind::Karpenter) heaviest_first.clear();
  std::ranges::stable_sort(heaviest_first, std::ranges::greater{},
                           &scenarios::PreferredNodes::weight);
  for (const scenarios::PreferredNodes& nodes : heaviest_first) {
    std::vector<char>& set = sets.emplace_back();
    for (const PoolModel& pool : world.pools) {
      std::map<std::string, std::string> labels = pool.labels;
      for (const std::string& label : pool.late_labels) labels.erase(label);
      set.push_back(meets(labels, nodes.requirements) ? 1 : 0);
    }
  }
  sets.emplace_back(world.pools.size(), char{1});
  return sets;
}

// By the budget that NodePools have by default a tenth of their nodes goes at a time, rounded up.
// Source: sigs.k8s.io/karpenter, pkg/controllers/disruption, BuildDisruptionBudgetMapping.
// `first_of`: of each pool the first of its NodePool.
bool is_in_budget(const ClusterState& cluster, const std::vector<std::size_t>& first_of,
                  const Node& node) {
  const std::size_t node_pool = first_of[index(node.pool)];
  int nodes = 0;
  int going = 0;
  for (const Node& other : cluster.nodes) {
    if (!other.is_known() || first_of[index(other.pool)] != node_pool) continue;
    ++nodes;
    if (other.stage == NodeStage::Draining || other.life.replaced_by) ++going;
  }
  return going < (nodes + 9) / 10;
}

// Pods of the node in whose place it is still have to come.
bool is_awaited(const ClusterState& cluster, std::uint32_t n) {
  return std::ranges::any_of(cluster.nodes, [n](const Node& other) {
    return other.stage != NodeStage::Absent && other.life.replaced_by == n;
  });
}

}  // namespace

NodeProvisioner::NodeProvisioner(RunState& run, const Scheduler& scheduler, NodeLives& nodes,
                                 const DisruptionBudgets& budgets)
    : run_(run),
      scheduler_(scheduler),
      rooms_(nodes.rooms()),
      nodes_(nodes),
      budgets_(budgets),
      new_nodes_(run, nodes),
      stays_(run.world.workloads.size()),
      nodes_then_(run.world.pools.size()) {
  for (std::size_t w = 0; w < run.world.workloads.size(); ++w) packing_order_.push_back(w);
  std::ranges::stable_sort(packing_order_, [this](std::size_t a, std::size_t b) {
    const PodTemplate& left = run_.world.workloads[a].spec.pod;
    const PodTemplate& right = run_.world.workloads[b].spec.pod;
    if (left.cpu_request != right.cpu_request) return left.cpu_request > right.cpu_request;
    return left.memory_request > right.memory_request;
  });
  for (const WorkloadModel& workload : run.world.workloads) {
    preferred_.push_back(preferred_pools(run.world, workload.spec.pod));
  }
  grows_ = std::ranges::any_of(run.world.pools,
                               [](const PoolModel& pool) { return pool.most_nodes.has_value(); });
  for (const PoolModel& pool : run.world.pools) {
    const auto first = std::ranges::find(run.world.pools, pool.node_pool(), &PoolModel::node_pool);
    first_of_.push_back(static_cast<std::size_t>(first - run.world.pools.begin()));
  }
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
  remove_unneeded();
}

void NodeProvisioner::arm_removal() {
  if (run_.world.provisioner.kind != Provisioner::Kind::Karpenter) return;
  run_.timers.set(TimerKind::Removal, 0, run_.now + kLooksForNodes);
}

void NodeProvisioner::on_removal_timer() {
  arm_removal();
  end_expired();
  consolidate();
}

// Nodes whose life is over are drained, whatever runs there.
// Source: sigs.k8s.io/karpenter, pkg/controllers/nodeclaim/expiration, Controller.Reconcile.
void NodeProvisioner::end_expired() {
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    const Node& node = run_.cluster.nodes[n];
    const PoolModel& pool = run_.cluster.pool(node);
    if (node.stage != NodeStage::Ready || !pool.most_nodes || !pool.expire_after) continue;
    if (run_.now >= node.life.decided + *pool.expire_after) nodes_.expire(n);
  }
}

// The room on nodes that are there or start, as the provisioner sees it or as it will be.
void NodeProvisioner::open_rooms(bool as_expected) {
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    const Node& node = run_.cluster.nodes[n];
    const NodeRooms::Tickets guess =
        as_expected ? new_nodes_.guess_of(index(node.pool)) : NodeRooms::Tickets::All;
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

// Pods that still are on nodes that drain need another place as those do that are Pending.
// Sources: sigs.k8s.io/karpenter, pkg/controllers/provisioning, Provisioner.Schedule, and
// pkg/controllers/disruption, SimulateScheduling; cluster-autoscaler,
// core/podlistprocessor/currently_drained_nodes.go.
void NodeProvisioner::list_pods_that_leave() {
  pods_to_move_.clear();
  for (const Node& node : run_.cluster.nodes) {
    if (node.stage == NodeStage::Draining || node.life.replaced_by) add_pods_of(node);
  }
}

std::vector<std::pair<PoolMask, std::int64_t>> NodeProvisioner::pods_to_place(std::size_t w) const {
  auto all = scheduler_.pods_pending(w);
  for (const PodsToMove& some : pods_to_move_) {
    if (some.workload == w) all.emplace_back(some.pools, some.pods);
  }
  return all;
}

// Finds room for all these pods, on new nodes where nothing that is there holds them. Pods of one
// workload are alike: a node takes as many as fit at once.
void NodeProvisioner::place_pending(bool as_expected) {
  open_rooms(as_expected);
  new_nodes_.clear(as_expected);
  list_pods_that_leave();
  for (const std::size_t w : packing_order_) {
    for (const auto& [pools, pods] : pods_to_place(w)) {
      if (place_anywhere(w, pools, pods) > 0 && as_expected) note_kept_off(w, pools);
    }
  }
}

// On nodes that are there or on new ones; how many are left.
std::int64_t NodeProvisioner::place_anywhere(std::size_t w, PoolMask pools, std::int64_t pods) {
  for (const PoolSet& preferred : preferred_[w]) {
    const NodeChoice choice{pools, preferred};
    pods = new_nodes_.place(w, choice, pods - place_on_nodes(w, choice, pods));
  }
  return pods;
}

// How many of the pods go onto nodes that are there and have room.
std::int64_t NodeProvisioner::place_on_nodes(std::size_t w, const NodeChoice& choice,
                                             std::int64_t pods) {
  std::int64_t left = pods;
  std::int64_t before = 0;
  do {
    before = left;
    for (std::uint32_t n = 0; n < run_.cluster.nodes.size() && left > 0; ++n) {
      const Node& node = run_.cluster.nodes[n];
      if (node.stage == NodeStage::Absent || !choice.has(index(node.pool))) continue;
      left -= rooms_.take(n, w, left);
    }
  } while (left > 0 && left < before && rooms_.reaches(w));  // one makes room for the other
  return pods - left;
}

// Whether all of them go onto nodes that have room. Karpenter starts one that they prefer before it
// puts them onto one that they do not.
bool NodeProvisioner::fit_on_nodes(std::size_t w, PoolMask pools, std::int64_t pods) {
  for (const PoolSet& preferred : preferred_[w]) {
    const NodeChoice choice{pools, preferred};
    pods -= place_on_nodes(w, choice, pods);
    if (pods == 0) return true;
    if (preferred_[w].size() > 1 && new_nodes_.may_open(w, choice)) return false;
  }
  return false;
}

// Why no node of these pools starts for pods of the workload.
void NodeProvisioner::note_kept_off(std::size_t w, PoolMask pools) {
  bool at_limit = false;
  bool unknown = false;
  for (std::size_t p = 0; p < run_.world.pools.size(); ++p) {
    if (!has_pool(pools, p) || !run_.world.pools[p].most_nodes) continue;
    // Then it is its company that is missing, not a node.
    if (rooms_.reaches(w) && nodes_.free_place(p)) continue;
    const bool expected = rooms_.on_empty(p, w, new_nodes_.guess_of(p)) > 0;
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
  std::vector<std::int64_t> needed;
  for (std::size_t p = 0; p < run_.world.pools.size(); ++p) needed.push_back(new_nodes_.of_pool(p));
  place_pending(true);
  new_nodes_.start(asked_);
  bool started = false;
  for (std::size_t p = 0; p < needed.size(); ++p) {
    const std::int64_t wanted = new_nodes_.of_pool(p);
    nodes_.add_surplus(p, std::max<std::int64_t>(0, wanted - needed[p]));
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

// Whether the provisioner may do without it.
bool NodeProvisioner::is_removable(const Node& node) const {
  const PoolModel& pool = run_.cluster.pool(node);
  return node.stage == NodeStage::Ready && pool.most_nodes &&
         nodes_.pool(index(node.pool)).nodes > pool.nodes && !node.life.replaced_by &&
         !(any_stays_ && holds_back(node));
}

// Whose pods say that they must not be disturbed, or have a budget that lets nobody go now; once
// for all nodes, because budgets count pods. True: others than at the last look.
// Sources: karpenter pkg/utils/pdb, CanEvictPods; cluster-autoscaler
// simulator/drainability/rules/pdb.
bool NodeProvisioner::ask_who_stays() {
  bool changed = false;
  any_stays_ = false;
  for (std::size_t w = 0; w < stays_.size(); ++w) {
    const bool stays = keeps_node(run_.world.workloads[w].spec.pod, run_.world.provisioner.kind) ||
                       budgets_.allowed(w) == 0;
    changed = (stays_[w] != 0) != stays || changed;
    stays_[w] = stays ? 1 : 0;
    any_stays_ = any_stays_ || stays;
  }
  return changed;
}

// Whether such a pod is there. Empty nodes have none.
bool NodeProvisioner::holds_back(const Node& node) const {
  bool any = false;
  for_each_pod_on(run_.cluster, node, [&](std::uint32_t p) {
    any = any || stays_[index(run_.cluster.pods[p].workload)] != 0;
  });
  return any;
}

void NodeProvisioner::add_pods_of(const Node& node) {
  for_each_pod_on(run_.cluster, node, [this](std::uint32_t p) {
    const Pod& pod = run_.cluster.pods[p];
    const auto is_like_it = [&](const PodsToMove& others) {
      return others.workload == index(pod.workload) && others.pools == pod.pools;
    };
    auto alike = std::ranges::find_if(pods_to_move_, is_like_it);
    if (alike == pods_to_move_.end()) {
      alike = pods_to_move_.insert(alike, {index(pod.workload), pod.pools, 0});
    }
    ++alike->pods;
  });
}

// An empty node that will go itself has no room; to start another in a node's place, it has.
void NodeProvisioner::open_others(std::uint32_t candidate, bool with_empty) {
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    const Node& node = run_.cluster.nodes[n];
    const bool takes = n != candidate && node.stage == NodeStage::Ready && !node.life.replaced_by &&
                       (with_empty || !run_.cluster.is_empty(node) || !is_removable(node) ||
                        is_awaited(run_.cluster, n));
    takes ? rooms_.open(n, NodeRooms::Tickets::Free) : rooms_.close(n);
  }
  new_nodes_.clear(true);
  list_pods_that_leave();
}

// Whether the other nodes have room for all pods of this one, besides those that are Pending or
// will be.
bool NodeProvisioner::fits_elsewhere(std::uint32_t candidate) {
  open_others(candidate, false);
  for (const std::size_t w : packing_order_) {
    for (const auto& [pools, pods] : pods_to_place(w)) {
      place_on_nodes(w, {pools, preferred_[w].back()}, pods);
    }
  }
  pods_to_move_.clear();
  add_pods_of(run_.cluster.nodes[candidate]);
  return std::ranges::all_of(packing_order_, [&](std::size_t w) {
    return std::ranges::all_of(pods_to_move_, [&](const PodsToMove& some) {
      return some.workload != w || fit_on_nodes(w, some.pools, some.pods);
    });
  });
}

// Whether one new node that is cheaper starts in its place: with what room others have it holds
// all pods, and it starts before Karpenter gives it up. A spot node is not replaced by one of spot,
// which Karpenter does behind a feature gate and where 15 types are cheaper. The limits of node
// pools count as if it were gone. Source: sigs.k8s.io/karpenter, pkg/controllers/disruption,
// consolidation.computeConsolidation.
bool NodeProvisioner::replace(std::uint32_t candidate) {
  if (run_.world.provisioner.start_up.whole() >= NodeLives::kLongestReplacement) return false;
  const Node& node = run_.cluster.nodes[candidate];
  open_others(candidate, true);
  new_nodes_.leave_out(index(node.pool));
  std::vector<PodsToMove> its;
  std::swap(its, pods_to_move_);
  add_pods_of(node);
  std::swap(its, pods_to_move_);
  for (const std::size_t w : packing_order_) {
    for (const auto& [pools, pods] : pods_to_place(w)) place_anywhere(w, pools, pods);
    for (const PodsToMove& some : its) {
      if (some.workload == w && place_anywhere(w, some.pools, some.pods) > 0) return false;
    }
  }
  const auto place = new_nodes_.only_place();
  if (!place) return false;
  const std::size_t pool = index(run_.cluster.nodes[*place].pool);
  const PoolModel& model = run_.world.pools[pool];
  const bool to_spot = new_nodes_.may_be_spot(pool);
  const bool on_demand = nodes_.falls_back(pool);
  const bool from_spot = run_.cluster.pool(node).spot && !node.life.on_demand;
  if (to_spot && (from_spot || !model.spot || on_demand)) return false;
  const auto now = hourly_price(run_.cluster.pool(node), node.life.on_demand);
  if (hourly_price(model, on_demand).per_hour >= now.per_hour) return false;
  nodes_.replace(candidate, *place);
  return true;
}

// Karpenter removes all empty nodes, and of the others the one with the fewest pods that fit on
// nodes that are there, or on these and a cheaper new one.
void NodeProvisioner::consolidate() {
  const auto due_at = [&](const Node& node) {
    return node.life.changed + run_.cluster.pool(node).consolidate_after + kConfirms;
  };
  const auto is_due = [&](const Node& node) {
    return run_.now >= due_at(node) && is_removable(node);
  };
  bool nodes_changed = false;
  for (std::size_t p = 0; p < run_.world.pools.size(); ++p) {
    const int nodes = nodes_.pool(p).nodes;
    nodes_changed = std::exchange(nodes_then_[p], nodes) != nodes || nodes_changed;
  }
  const bool others_stay = ask_who_stays();
  const bool is_as_before = run_.cluster.last_change < looked_ && !nodes_changed && !others_stay;
  if (run_.now < next_due_ && is_as_before) return;
  looked_ = run_.now;
  next_due_ = kNever;
  for (const Node& node : run_.cluster.nodes) {
    if (due_at(node) > run_.now) next_due_ = std::min(next_due_, due_at(node));
  }
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    const Node& node = run_.cluster.nodes[n];
    if (!is_due(node) || !run_.cluster.is_empty(node) || is_awaited(run_.cluster, n)) continue;
    if (is_in_budget(run_.cluster, first_of_, node)) {
      nodes_.remove(n);
    } else {
      next_due_ = run_.now;
    }
  }
  candidates_.clear();
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    const Node& node = run_.cluster.nodes[n];
    if (run_.cluster.pool(node).consolidation == scenarios::Consolidation::WhenEmpty) continue;
    // As long as no pod and no node came or went, the answer is the same.
    const bool examined = !nodes_changed && node.life.examined != kNever &&
                          node.life.examined >= run_.cluster.last_change;
    if (examined || !is_due(node) || is_awaited(run_.cluster, n)) continue;
    if (is_in_budget(run_.cluster, first_of_, node)) {
      candidates_.push_back(n);
    } else {
      next_due_ = run_.now;
    }
  }
  std::ranges::sort(candidates_, {}, [&](std::uint32_t n) {
    return std::pair(-run_.cluster.nodes[n].pods_free, n);
  });
  for (const std::uint32_t n : candidates_) {
    if (fits_elsewhere(n)) {
      next_due_ = run_.now;  // others may go next
      return nodes_.remove(n);
    }
    if (replace(n)) return;
    Node& node = run_.cluster.nodes[n];
    if (nodes_.falls_back(index(node.pool))) {
      next_due_ = run_.now;  // as long as spot is exhausted
    } else {
      node.life.examined = run_.now;
    }
  }
}

// The Cluster Autoscaler removes all nodes that were empty for long enough, and one whose pods fit
// elsewhere.
void NodeProvisioner::remove_unneeded() {
  const bool rests = last_scale_up_ && run_.now < *last_scale_up_ + kDelayAfterAdd;
  bool moved_pods = false;
  ask_who_stays();
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    Node& node = run_.cluster.nodes[n];
    if (!is_removable(node)) continue;
    const bool empty = run_.cluster.is_empty(node);
    const bool unneeded =
        empty ||
        (tickets_in_use(run_.cluster.pool(node), node) < kUnneededBelow && fits_elsewhere(n));
    if (!unneeded) {
      node.life.unneeded_since = kNever;
      continue;
    }
    if (node.life.unneeded_since == kNever) node.life.unneeded_since = run_.now;
    const bool due = run_.now >= node.life.unneeded_since + run_.world.provisioner.unneeded_time;
    if (rests || !due || (!empty && moved_pods)) continue;
    moved_pods = moved_pods || !empty;
    nodes_.remove(n);
    if (!empty) ask_who_stays();
  }
}

}  // namespace slicewise::sim
