#include "layout_changes.hpp"

#include <algorithm>

namespace slicewise::sim {
namespace {

// After which somebody will have looked at a drain that a budget holds. Assumed.
constexpr Duration kLongestDrain = hours(24);

}  // namespace

LayoutChanges::LayoutChanges(RunState& run, Scheduler& scheduler, SteadyBatch& batch,
                             OpenJobs& jobs, PodLife& pods)
    : run_(run),
      batch_(batch),
      jobs_(jobs),
      pods_(pods),
      progress_(run.world.pools.size()),
      nos_(run, scheduler) {
  for (std::size_t pool = 0; pool < run.world.pools.size(); ++pool) {
    if (run.world.pools[pool].layout_changes.empty()) continue;
    run.timers.set(TimerKind::Layout, pool, run.world.pools[pool].layout_changes.front().at);
  }
}

// mig-manager: cordon and drain, destroy the instances, create the new ones, restart the device
// plugin; then the node offers its new resources.
void LayoutChanges::on_timer(std::size_t pool) {
  if (progress_[pool].stage == Stage::Changes) return offer(pool);
  if (progress_[pool].stage == Stage::Rests) {
    for (Node& node : run_.cluster.nodes) {
      if (index(node.pool) == pool) node.schedulable = false;
    }
    progress_[pool].drains_since = run_.now;
  }
  drain(pool);
}

// As kubectl drain: who is kept by a budget is asked again. Who may never go is not, and the change
// never comes.
void LayoutChanges::drain(std::size_t pool) {
  bool asks_again = false;
  bool ever = true;
  for (std::uint32_t p = 0; p < run_.cluster.pods.size(); ++p) {
    const Pod& pod = run_.cluster.pods[p];
    if (!is_bound(pod.phase) || index(run_.cluster.nodes[index(pod.node)].pool) != pool) continue;
    const bool goes = pods_.endings().budgets().lets_go(p);
    if (goes) pods_.evict(p, Eviction::Drained);
    const bool never = !goes && pods_.endings().budgets().never_lets_go(p);
    asks_again = asks_again || (!goes && !never);
    ever = ever && !never;
  }
  const bool too_long = asks_again && run_.now - progress_[pool].drains_since >= kLongestDrain;
  if (ever && too_long) ++run_.record.pools[pool].layouts_given_up;
  if (!ever || too_long) give_up(pool);
  const bool all = ever && !asks_again;
  if (!all && (!asks_again || too_long)) return;
  progress_[pool].stage = all ? Stage::Changes : Stage::Drains;
  const scenarios::MigChangeTimes& times = run_.world.pools[pool].change_times;
  run_.timers.set(
      TimerKind::Layout, pool,
      run_.now + (all ? times.drain + times.destroy + times.create + times.plugin_restart
                      : kEvictionRetry));
}

// No Job waits for the nodes, which stay cordoned.
void LayoutChanges::give_up(std::size_t pool) {
  for (Node& node : run_.cluster.nodes) {
    if (index(node.pool) == pool) node.next_change = run_.world.pools[pool].layout_changes.size();
  }
  jobs_.count();
  jobs_.end_run_without_any();
}

void LayoutChanges::offer(std::size_t pool_index) {
  const PoolModel& pool = run_.world.pools[pool_index];
  Progress& progress = progress_[pool_index];
  progress.stage = Stage::Rests;
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    Node& node = run_.cluster.nodes[n];
    if (index(node.pool) != pool_index) continue;
    node.schedulable = true;
    batch_.settle(make_id<NodeId>(n));
    node.layout = pool.layout_changes[progress.next].layout;
    node.next_change = progress.next + 1;
    for (std::size_t o = 0; o < pool.offers.size(); ++o) {
      node.tickets_free[o] = pool.tickets_per_node(o, node.layout);
    }
  }
  pods_.nodes_changed();
  jobs_.count();
  jobs_.end_run_without_any();
  if (++progress.next == pool.layout_changes.size()) return;
  run_.timers.set(TimerKind::Layout, pool_index,
                  std::max(run_.now, pool.layout_changes[progress.next].at));
}

}  // namespace slicewise::sim
