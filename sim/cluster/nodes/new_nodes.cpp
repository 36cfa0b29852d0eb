#include "new_nodes.hpp"

#include <algorithm>
#include <tuple>

namespace slicewise::sim {
namespace {

using scenarios::Provisioner;

bool is_karpenter(const World& world) {
  return world.provisioner.kind == Provisioner::Kind::Karpenter;
}

}  // namespace

NewNodes::NewNodes(RunState& run, NodeLives& nodes)
    : run_(run), lives_(nodes), rooms_(nodes.rooms()), counts_(run.world.pools.size()) {}

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
  if (node.pods.empty() || on_empty == 0) return on_empty;
  rooms_.open(*place, tickets_of(pool));
  bool holds_all = true;
  for (const auto& [workload, pods] : node.pods) {
    holds_all = holds_all && rooms_.take(*place, workload, pods) == pods;
  }
  const std::int64_t left = holds_all ? rooms_.room(*place, w) : 0;
  rooms_.close(*place);
  return left;
}

// The pool of which it holds most of the pods. Karpenter takes its node pools by weight, and the
// next only where none of more weight holds a pod or may grow; those of one weight are as if they
// were the instance types of one node pool, of which it takes the cheapest that holds as many. The
// Cluster Autoscaler takes the first. Source: sigs.k8s.io/karpenter, pkg/utils/nodepool,
// OrderByWeight, and pkg/controllers/provisioning/scheduling, Scheduler.addToNewNodeClaim.
NewNodes::Fit NewNodes::best_fit(const NewNode& node, std::size_t w, const NodeChoice& choice,
                                 std::int64_t pods) const {
  Fit best;
  const auto rank = [&](const Fit& fit) {
    const PoolModel& pool = run_.world.pools[fit.pool];
    return std::tuple(pool.weight, fit.pods, Usd{} - pool.price.usd.per_hour);
  };
  for (std::size_t p = 0; p < counts_.size(); ++p) {
    if (!choice.has(p) || (node.place && node.pools[p] == 0)) continue;
    const Fit fit{p, std::min(pods, room(node, p, w))};
    if (fit.pods == 0) continue;
    if (best.pods == 0 || (is_karpenter(run_.world) && rank(fit) > rank(best))) best = fit;
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

// The Cluster Autoscaler goes by one node group at a time: its nodes stay of their pool.
std::int64_t NewNodes::place(std::size_t w, const NodeChoice& choice, std::int64_t pods) {
  for (NewNode& node : nodes_) {
    if (pods == 0) return 0;
    const Fit fit = best_fit(node, w, choice, pods);
    if (fit.pods > 0) fill(node, fit, w, choice);
    pods -= fit.pods;
  }
  while (pods > 0) {
    NewNode node;
    const Fit fit = best_fit(node, w, choice, pods);
    if (fit.pods == 0) break;
    const auto is_of_node_pool = [&](const PoolModel& pool, std::size_t p) {
      return is_karpenter(run_.world) ? pool.weight == run_.world.pools[fit.pool].weight
                                      : p == fit.pool;
    };
    for (std::size_t p = 0; p < counts_.size(); ++p) {
      node.pools.push_back(is_of_node_pool(run_.world.pools[p], p) ? 1 : 0);
    }
    fill(node, fit, w, choice);
    pods -= fit.pods;
    nodes_.push_back(std::move(node));
  }
  return pods;
}

bool NewNodes::may_open(std::size_t w, const NodeChoice& choice) const {
  return best_fit({}, w, choice, 1).pods > 0;
}

void NewNodes::start(TimePoint asked) {
  for (const NewNode& node : nodes_) lives_.start(*node.place, asked);
}

}  // namespace slicewise::sim
