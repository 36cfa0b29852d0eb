#include "node_disruption.hpp"

#include <algorithm>
#include <utility>

#include "../../world/admission.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Provisioner;

// Karpenter checks its decision again after that.
// Source: sigs.k8s.io/karpenter, pkg/controllers/disruption, consolidationTTL.
constexpr Duration kConfirms = seconds(15);

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

NodeDisruption::NodeDisruption(RunState& run, NodeLives& nodes, const DisruptionBudgets& budgets,
                               PodPacking& packing)
    : run_(run),
      rooms_(nodes.rooms()),
      nodes_(nodes),
      budgets_(budgets),
      packing_(packing),
      stays_(run.world.workloads.size()),
      nodes_then_(run.world.pools.size()) {
  for (const PoolModel& pool : run.world.pools) {
    const auto first = std::ranges::find(run.world.pools, pool.node_pool(), &PoolModel::node_pool);
    first_of_.push_back(static_cast<std::size_t>(first - run.world.pools.begin()));
    expires_ = expires_ || (pool.most_nodes && pool.expire_after);
  }
  for (const WorkloadModel& workload : run.world.workloads) {
    keeps_.push_back(keeps_node(workload.spec.pod, run.world.provisioner.kind) ? 1 : 0);
  }
}

// Source: sigs.k8s.io/karpenter, pkg/controllers/nodeclaim/expiration, Controller.Reconcile.
void NodeDisruption::end_expired() {
  if (!expires_) return;
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    const Node& node = run_.cluster.nodes[n];
    const PoolModel& pool = run_.cluster.pool(node);
    if (node.stage != NodeStage::Ready || !pool.most_nodes || !pool.expire_after) continue;
    if (run_.now >= node.life.decided + *pool.expire_after) nodes_.expire(n);
  }
}

// Whether the provisioner may do without it.
bool NodeDisruption::is_removable(const Node& node) const {
  const PoolModel& pool = run_.cluster.pool(node);
  return node.stage == NodeStage::Ready && pool.most_nodes &&
         nodes_.pool(index(node.pool)).nodes > pool.nodes && !node.life.replaced_by &&
         !(any_stays_ && holds_back(node));
}

// Whose pods say that they must not be disturbed, or have a budget that lets nobody go now; once
// for all nodes, because budgets count pods. True: others than at the last look.
// Sources: karpenter pkg/utils/pdb, CanEvictPods; cluster-autoscaler
// simulator/drainability/rules/pdb.
bool NodeDisruption::ask_who_stays() {
  bool changed = false;
  any_stays_ = false;
  for (std::size_t w = 0; w < stays_.size(); ++w) {
    const bool stays = keeps_[w] != 0 || budgets_.allowed(w) == 0;
    changed = (stays_[w] != 0) != stays || changed;
    stays_[w] = stays ? 1 : 0;
    any_stays_ = any_stays_ || stays;
  }
  return changed;
}

// Whether such a pod is there. Empty nodes have none.
bool NodeDisruption::holds_back(const Node& node) const {
  bool any = false;
  for_each_pod_on(run_.cluster, node, [&](std::uint32_t p) {
    any = any || stays_[index(run_.cluster.pods[p].workload)] != 0;
  });
  return any;
}

// An empty node that will go itself has no room; to start another in a node's place, it has.
void NodeDisruption::open_others(std::uint32_t candidate, bool with_empty) {
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    const Node& node = run_.cluster.nodes[n];
    const bool takes = n != candidate && node.stage == NodeStage::Ready && !node.life.replaced_by &&
                       (with_empty || !run_.cluster.is_empty(node) || !is_removable(node) ||
                        is_awaited(run_.cluster, n));
    takes ? rooms_.open(n, NodeRooms::Tickets::Free) : rooms_.close(n);
  }
  packing_.begin(true);
  its_.clear();
  add_pods_of(run_.cluster, run_.cluster.nodes[candidate], its_);
}

// Whether the other nodes have room for all pods of this one, besides those that are Pending or
// will be.
bool NodeDisruption::fits_elsewhere(std::uint32_t candidate) {
  open_others(candidate, false);
  for (const std::size_t w : packing_.order()) {
    for (const PodsToMove& some : packing_.to_place(w)) packing_.place_on_nodes(some);
  }
  return std::ranges::all_of(packing_.order(), [this](std::size_t w) {
    return std::ranges::all_of(its_, [this, w](const PodsToMove& some) {
      return some.workload != w || packing_.fit_on_nodes(some);
    });
  });
}

// Of a node that would start now.
UsdPerHour NodeDisruption::price_in(std::size_t pool) const {
  return hourly_price(run_.world.pools[pool], nodes_.falls_back(pool));
}

bool NodeDisruption::is_cheaper_somewhere(UsdPerHour now) const {
  for (std::size_t p = 0; p < run_.world.pools.size(); ++p) {
    if (run_.world.pools[p].most_nodes && price_in(p).per_hour < now.per_hour) return true;
  }
  return false;
}

// Whether one new node that is cheaper starts in its place: with what room others have it holds
// all pods, and it starts before Karpenter gives it up. A spot node is not replaced by one of spot,
// which Karpenter does behind a feature gate and where 15 types are cheaper. The limits of node
// pools count as if it were gone. Source: sigs.k8s.io/karpenter, pkg/controllers/disruption,
// consolidation.computeConsolidation.
bool NodeDisruption::replace(std::uint32_t candidate) {
  if (run_.world.provisioner.start_up.whole() >= NodeLives::kLongestReplacement) return false;
  const Node& node = run_.cluster.nodes[candidate];
  const UsdPerHour now = hourly_price(run_.cluster.pool(node), node.life.on_demand);
  if (!is_cheaper_somewhere(now)) return false;
  NewNodes& new_nodes = packing_.new_nodes();
  open_others(candidate, true);
  new_nodes.leave_out(index(node.pool));
  for (const std::size_t w : packing_.order()) {
    for (const PodsToMove& some : packing_.to_place(w)) packing_.place_anywhere(some);
    for (const PodsToMove& some : its_) {
      if (some.workload == w && packing_.place_anywhere(some) > 0) return false;
    }
  }
  const auto place = new_nodes.only_place();
  if (!place) return false;
  const std::size_t pool = index(run_.cluster.nodes[*place].pool);
  const bool as_spot = run_.world.pools[pool].spot && !nodes_.falls_back(pool);
  const bool from_spot = run_.cluster.pool(node).spot && !node.life.on_demand;
  if (new_nodes.may_be_spot(pool) && (from_spot || !as_spot)) return false;
  if (price_in(pool).per_hour >= now.per_hour) return false;
  nodes_.replace(candidate, *place);
  return true;
}

TimePoint NodeDisruption::due_at(const Node& node) const {
  return node.life.changed + run_.cluster.pool(node).consolidate_after + kConfirms;
}

// Whether it may go now; one that its budget keeps is asked again at the next look.
bool NodeDisruption::may_go(std::uint32_t n) {
  const Node& node = run_.cluster.nodes[n];
  if (run_.now < due_at(node) || !is_removable(node) || is_awaited(run_.cluster, n)) return false;
  const bool in_budget = is_in_budget(run_.cluster, first_of_, node);
  if (!in_budget) next_due_ = run_.now;
  return in_budget;
}

// Whether no pod, no node and no budget has changed since the last look.
bool NodeDisruption::is_as_before() {
  nodes_changed_ = false;
  for (std::size_t p = 0; p < run_.world.pools.size(); ++p) {
    const int nodes = nodes_.pool(p).nodes;
    nodes_changed_ = std::exchange(nodes_then_[p], nodes) != nodes || nodes_changed_;
  }
  const bool others_stay = ask_who_stays();
  return run_.cluster.last_change < looked_ && !nodes_changed_ && !others_stay;
}

// Nodes that are not empty and may go, those with the fewest pods first.
void NodeDisruption::list_candidates() {
  candidates_.clear();
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    const Node& node = run_.cluster.nodes[n];
    if (run_.cluster.pool(node).consolidation == scenarios::Consolidation::WhenEmpty) continue;
    // As long as no pod and no node came or went, the answer is the same.
    const bool examined = !nodes_changed_ && node.life.examined != kNever &&
                          node.life.examined >= run_.cluster.last_change;
    if (!examined && may_go(n)) candidates_.push_back(n);
  }
  std::ranges::sort(candidates_, {}, [this](std::uint32_t n) {
    return std::pair(-run_.cluster.nodes[n].pods_free, n);
  });
}

void NodeDisruption::consolidate() {
  const bool same = is_as_before();  // asked each time: it remembers what there is
  if (run_.now < next_due_ && same) return;
  looked_ = run_.now;
  next_due_ = kNever;
  for (const Node& node : run_.cluster.nodes) {
    if (due_at(node) > run_.now) next_due_ = std::min(next_due_, due_at(node));
  }
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    if (run_.cluster.is_empty(run_.cluster.nodes[n]) && may_go(n)) nodes_.remove(n);
  }
  list_candidates();
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

void NodeDisruption::remove_unneeded(std::optional<TimePoint> last_scale_up) {
  const bool rests = last_scale_up && run_.now < *last_scale_up + kDelayAfterAdd;
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
