#include "new_nodes.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace slicewise::sim {
namespace {

using scenarios::Provisioner;

bool is_karpenter(const World& world) {
  return world.provisioner.kind == Provisioner::Kind::Karpenter;
}

// Which of its node pools Karpenter asks first: the one of most weight, of equals the one whose
// name is last. Pools with one label karpenter.sh/nodepool are its instance types. The Cluster
// Autoscaler has a node group for each. Source: sigs.k8s.io/karpenter, pkg/utils/nodepool,
// OrderByWeight.
std::vector<std::size_t> turns_of_pools(const World& world) {
  using NodePool = std::tuple<int, std::string>;
  std::vector<std::size_t> turns;
  std::vector<NodePool> node_pools;
  for (const PoolModel& pool : world.pools) {
    node_pools.emplace_back(pool.weight, pool.node_pool());
  }
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const auto is_before = [&](const NodePool& other) { return other > node_pools[p]; };
    const auto before = static_cast<std::size_t>(std::ranges::count_if(node_pools, is_before));
    turns.push_back(is_karpenter(world) ? before : p);
  }
  return turns;
}

}  // namespace

NewNodes::NewNodes(RunState& run, NodeLives& nodes)
    : run_(run),
      lives_(nodes),
      rooms_(nodes.rooms()),
      counts_(run.world.pools.size()),
      turns_(turns_of_pools(run.world)) {}

NodeRooms::Tickets NewNodes::guess_of(std::size_t pool) const {
  return !is_karpenter(run_.world) && lives_.pool(pool).seen ? NodeRooms::Tickets::All
                                                             : NodeRooms::Tickets::Expected;
}

void NewNodes::clear(bool as_expected) {
  as_expected_ = as_expected;
  nodes_.clear();
  std::ranges::fill(counts_, 0);
}

NodeRooms::Tickets NewNodes::tickets_of(std::size_t pool) const {
  return as_expected_ ? guess_of(pool) : NodeRooms::Tickets::All;
}

std::optional<std::size_t> NewNodes::pool_of(const NewNode& node) const {
  if (!node.place) return std::nullopt;
  return index(run_.cluster.nodes[*node.place].pool);
}

// Whether it may be of the pool, within what that may have together with others.
// Source: sigs.k8s.io/karpenter, pkg/controllers/provisioning/scheduling,
// filterByRemainingResources.
bool NewNodes::is_within_limits(std::size_t pool, const NewNode& node) const {
  const auto now = pool_of(node);
  return std::ranges::all_of(run_.world.node_limits, [&](const SharedLimit& limit) {
    if (limit.each[pool] == 0) return true;
    std::int64_t taken = limit.each[pool] - (now ? limit.each[*now] : 0);
    for (std::size_t p = 0; p < limit.each.size(); ++p) {
      taken += limit.each[p] * (lives_.pool(p).nodes + counts_[p]);
    }
    return taken <= limit.most;
  });
}

// How many pods of the workload it would hold besides those that it has, if it were of the pool.
std::int64_t NewNodes::room(const NewNode& node, std::size_t pool, std::size_t w) const {
  if (pool_of(node) == pool) return rooms_.room(*node.place, w);
  const auto place = lives_.free_place(pool);
  if (!run_.world.pools[pool].most_nodes || !place || !is_within_limits(pool, node)) return 0;
  const std::int64_t on_empty = rooms_.on_empty(pool, w, tickets_of(pool));
  if (on_empty == 0 || (node.pods.empty() && !rooms_.reaches(w))) return on_empty;
  rooms_.open(*place, tickets_of(pool));
  bool holds_all = true;
  for (const auto& [workload, pods] : node.pods) {
    holds_all = holds_all && rooms_.take(*place, workload, pods) == pods;
  }
  const std::int64_t left = holds_all ? rooms_.room(*place, w) : 0;
  rooms_.close(*place);
  return left;
}

// Of its CPU and memory, what is idle with so many pods.
// Source: kubernetes/autoscaler, cluster-autoscaler/expander/waste, leastwaste.BestOption.
double NewNodes::waste(const Fit& fit, std::size_t w) const {
  const PoolModel& pool = run_.world.pools[fit.pool];
  const PodTemplate& pod = run_.world.workloads[w].spec.pod;
  const auto idle = [&](std::int64_t all, std::int64_t each) {
    return 1 - static_cast<double>(fit.pods * each) / static_cast<double>(all);
  };
  return idle(pool.node_cpu().count, pod.cpu_request.count) +
         idle(pool.node_memory().count, pod.memory_request.count);
}

// Of the first node pool that holds a pod and may grow, the type that holds most of them, of equals
// the cheapest: prices of several node pools are not compared. The Cluster Autoscaler takes the
// group that wastes least, of equals any: here the first. Source: sigs.k8s.io/karpenter,
// pkg/controllers/provisioning/scheduling, Scheduler.addToNewNodeClaim.
NewNodes::Fit NewNodes::best_fit(const NewNode& node, std::size_t w, const NodeChoice& choice,
                                 std::int64_t pods) const {
  Fit best;
  const bool karpenter = is_karpenter(run_.world);
  const auto rank = [&](const Fit& fit) {
    return std::tuple(karpenter ? 0 : waste(fit, w), turns_[fit.pool], -fit.pods,
                      run_.world.pools[fit.pool].price.usd.per_hour);
  };
  for (std::size_t p = 0; p < counts_.size(); ++p) {
    if (!choice.has(p) || (node.place && node.pools[p] == 0)) continue;
    const Fit fit{p, std::min(pods, room(node, p, w))};
    if (fit.pods == 0) continue;
    if (best.pods == 0 || rank(fit) < rank(best)) best = fit;
  }
  return best;
}

void NewNodes::exchange(NewNode& node, std::size_t pool) {
  if (const auto now = pool_of(node)) {
    rooms_.close(*node.place);
    --counts_[*now];
  }
  node.place = lives_.free_place(pool);
  rooms_.open(*node.place, tickets_of(pool));
  for (const auto& [workload, pods] : node.pods) rooms_.take(*node.place, workload, pods);
  ++counts_[pool];
}

void NewNodes::fill(NewNode& node, const Fit& fit, std::size_t w, const NodeChoice& choice) {
  if (pool_of(node) != fit.pool) exchange(node, fit.pool);
  rooms_.take(*node.place, w, fit.pods);
  node.pods.emplace_back(w, fit.pods);
  for (std::size_t p = 0; p < node.pools.size(); ++p) {
    if (!choice.has(p)) node.pools[p] = 0;
  }
}

std::int64_t NewNodes::place_on_opened(std::size_t w, const NodeChoice& choice, std::int64_t pods) {
  for (NewNode& node : nodes_) {
    if (pods == 0) return 0;
    const Fit fit = best_fit(node, w, choice, pods);
    if (fit.pods > 0) fill(node, fit, w, choice);
    pods -= fit.pods;
  }
  return pods;
}

std::int64_t NewNodes::place(std::size_t w, const NodeChoice& choice, std::int64_t pods) {
  pods = place_on_opened(w, choice, pods);
  while (pods > 0) {
    NewNode node;
    const Fit fit = best_fit(node, w, choice, pods);
    if (fit.pods == 0) break;
    for (const std::size_t turn : turns_) node.pools.push_back(turn == turns_[fit.pool] ? 1 : 0);
    fill(node, fit, w, choice);
    pods -= fit.pods;
    nodes_.push_back(std::move(node));
    if (rooms_.reaches(w)) pods = place_on_opened(w, choice, pods);  // it makes room there
  }
  return pods;
}

bool NewNodes::may_open(std::size_t w, const NodeChoice& choice) const {
  return best_fit({}, w, choice, 1).pods > 0;
}

std::optional<std::uint32_t> NewNodes::only_place() const {
  return nodes_.size() == 1 ? nodes_.front().place : std::nullopt;
}

bool NewNodes::may_be_spot(std::size_t pool) const {
  for (std::size_t p = 0; p < turns_.size(); ++p) {
    if (turns_[p] == turns_[pool] && run_.world.pools[p].spot) return true;
  }
  return false;
}

void NewNodes::start(TimePoint asked) {
  for (const NewNode& node : nodes_) lives_.start(*node.place, asked);
}

}  // namespace slicewise::sim
