#include <algorithm>
#include <utility>

#include "../probe/probe.hpp"
#include "plan_sections.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

OptionFigures figures_after(const OptionFigures& whole, std::optional<OptionFigures> left) {
  OptionFigures figures = whole;
  if (left) figures = std::move(*left);
  figures.monthly = whole.monthly;
  if (!left) {
    figures.verdict.reasons = {{Verdict::Cause::PodsPending, "", "cannot run",
                                "what is left of the pools cannot run the pods"}};
  }
  for (Verdict::Reason& why : figures.verdict.reasons) why.brief += " after the loss";
  return figures;
}

}  // namespace

std::vector<PoolChoice> left_after(Outage loss, std::vector<PoolChoice> pools) {
  for (PoolChoice& pool : pools) {
    if (pool.elastic) continue;
    pool.nodes = survivors(loss, pool.nodes);
    pool.on_demand = std::min(pool.on_demand, pool.nodes);
  }
  return pools;
}

std::optional<OptionFigures> fails_after_outage(const BlockSearch& search, const PlanProbe& whole,
                                                const OptionFigures& figures) {
  if (search.space.survive == Outage::None) return std::nullopt;
  PlanProbe left = whole;
  left.pools = left_after(search.space.survive, std::move(left.pools));
  const bool none = std::ranges::any_of(
      left.pools, [](const PoolChoice& pool) { return pool.nodes == 0 && !pool.elastic; });
  PlanAnswer answer = none ? PlanAnswer{} : search.probes.ask_one(left);
  if (search.probes.interrupted()) return std::nullopt;
  if (stands(answer)) {
    auto against = fails_again(search, left, *answer.figures);
    if (!against) return std::nullopt;
    answer.figures = std::move(against);
  }
  return figures_after(figures, std::move(answer.figures));
}

AfterOutage own_pools_after_outage(const BlockSearch& search, const RunOptions& run,
                                   const OptionFigures& figures) {
  Scenario left = search.base;
  for (NodePool& pool : left.node_pools) {
    const InstanceType* type = search.catalogue.find_instance(pool.instance_type.value);
    const bool has_gpus = type != nullptr && type->gpu_count > 0;
    if (has_gpus && !pool.most_nodes) pool.nodes = survivors(search.space.survive, pool.nodes);
  }
  ProbeBatch probes(probe_threads(left, search.catalogue, run));
  PlanAnswer answer = probes.ask_one({.replications = search.base.replications});
  if (probes.interrupted()) return {.interrupted = true};
  if (stands(answer)) return {};
  return {.fails = figures_after(figures, std::move(answer.figures))};
}

}  // namespace slicewise::sim
