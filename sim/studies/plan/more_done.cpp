#include <algorithm>
#include <utility>

#include "option_order.hpp"
#include "plan_sections.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

bool has_free_work(const Scenario& base, const PoolChoice& pool) {
  return std::ranges::any_of(base.workloads, [&](const Workload& workload) {
    using Kind = WorkloadKind;
    const bool works = workload.kind == Kind::Job || workload.kind == Kind::Deployment;
    return works && workload.objectives.empty() && has_one_of(pool, {workload.name.value});
  });
}

// Whoever has a GPU for itself gets no more done on another of the same price.
bool may_get_more(const BlockSearch& search, const PoolChoice& pool) {
  const bool shares = pool.strategy != Strategy::Exclusive && pool.strategy != Strategy::Vgpu;
  return shares && has_free_work(search.base, pool);
}

}  // namespace

void get_more_done(const BlockSearch& search, PlanOption& option) {
  for (std::size_t p = 0; p < option.pools.size() && !search.probes.interrupted(); ++p) {
    const PoolChoice& pool = option.pools[p];
    const auto monthly = monthly_of(search, pool);
    if (!monthly || !may_get_more(search, pool)) continue;
    BlockResult found = search_block(search, pool.workloads, 1, monthly, Depth::Ranked);
    if (found.options.empty() || found.options.front().pools.front() == pool) continue;
    PlanOption other = option;
    other.pools[p] = std::move(found.options.front().pools.front());
    const PlanProbe probe = search.about(other.pools);
    PlanAnswer answer = search.probes.ask_one(probe);
    if (!stands(answer) || !stands_again(search, probe, *answer.figures)) continue;
    other.goal = goal_of(search.goal, *answer.figures);
    other.figures = std::move(*answer.figures);
    if (is_better(other, option)) option = std::move(other);
  }
}

}  // namespace slicewise::sim
