#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/pool_choice.hpp"

#include "../../world/parts.hpp"
#include "../compare/candidates.hpp"
#include "../probe/pool_homes.hpp"
#include "../probe/probe.hpp"
#include "option_order.hpp"
#include "plan_sections.hpp"

// What a scenario has, in the words of a plan.
namespace slicewise::sim {
namespace {

// The cuts of a node's GPUs, neighbours alike together; empty without MIG, nullopt: some GPUs are
// whole, or they are cut anew over time.
std::optional<std::vector<MigCut>> cuts_in(const PoolModel& pool) {
  std::map<int, std::map<std::string, int>> of_gpu;
  if (pool.layouts.size() > 1) return std::nullopt;
  for (const NodeLayout::Domain& domain : pool.layouts.front().domains) {
    const std::string& profile = pool.kinds[domain.kind].partition;
    if (!profile.empty()) ++of_gpu[domain.gpu][profile];
  }
  std::vector<MigCut> cuts;
  if (of_gpu.empty()) return cuts;
  if (of_gpu.size() != static_cast<std::size_t>(pool.healthy_gpus())) return std::nullopt;
  for (const auto& [gpu, instances] : of_gpu) {
    MigCut cut;
    for (const auto& [profile, count] : instances) cut.mig.push_back({profile, count});
    if (!cuts.empty() && cuts.back().mig == cut.mig) {
      ++cuts.back().gpus;
    } else {
      cuts.push_back(std::move(cut));
    }
  }
  return cuts;
}

std::string purchase_of(const Scenario& scenario, const NodePool& pool, const PoolModel& model) {
  if (pool.capacity_type == CapacityType::Spot) {
    return pool.spot && pool.spot->falls_back_to_on_demand ? std::string(kSpotFallback) : "spot";
  }
  if (scenarios::is_reserved(pool.capacity_type)) return model.purchase_option;
  for (const auto& plan : scenario.price_plans) {
    if (plan.instance_type.value == model.instance_type) return plan.name;
  }
  return "on-demand";
}

// Of mixed layouts: what the pods of the workload ask for, "3g.20gb" of nvidia.com/mig-3g.20gb.
std::string profile_of(const PoolModel& pool, const WorkloadModel& workload, std::size_t p) {
  const PoolDemand& demand = workload.on_pool[p];
  for (const DomainKind& kind : pool.kinds) {
    for (const auto& tickets : kind.tickets) {
      if (demand.offer && tickets.offer == *demand.offer) return kind.partition;
    }
  }
  return "";
}

// Of several pools those that have nodes; where nodes only come, the cheapest, as Karpenter has it.
void leave_where_nodes_are(const World& world, std::vector<std::size_t>& homes) {
  const auto has_nodes = [&](std::size_t p) { return world.pools[p].nodes > 0; };
  if (std::ranges::any_of(homes, has_nodes)) {
    std::erase_if(homes, [&](std::size_t p) { return !has_nodes(p); });
  } else if (!homes.empty()) {
    homes = {*std::ranges::min_element(homes, {},
                                       [&](std::size_t p) { return world.pools[p].price.usd; })};
  }
}

Diagnostic no_words_for(const NodePool& pool, const std::string& what) {
  return make_diagnostic(
      Code::StrategyNotModelled, pool.where,
      fmt::format("a plan has no words for pool \"{}\": {}", pool.name.value, what),
      "give --from a plan, or a scenario with other pools");
}

}  // namespace

Expected<std::vector<PoolChoice>> pools_as_they_stand(const Scenario& scenario,
                                                      const Catalogue& catalogue) {
  // Plans are of the pods that use GPUs.
  const Expected<World> world = build_world(without_queues(scenario), catalogue);
  if (!world) return tl::unexpected(world.error());
  Diagnostics found;
  std::vector<std::vector<std::size_t>> lives(world->pools.size());  // workloads by pool
  for (std::size_t w = 0; w < world->workloads.size(); ++w) {
    const WorkloadModel& workload = world->workloads[w];
    if (workload.spec.count == 0) continue;
    std::vector<std::size_t> homes;
    for (std::size_t p = 0; p < world->pools.size(); ++p) {
      if (workload.on_pool[p].schedulable) homes.push_back(p);
    }
    leave_where_nodes_are(*world, homes);
    if (homes.size() == 1) {
      lives[homes.front()].push_back(w);
      continue;
    }
    add_diagnostic(found, Code::SettingConflict, workload.spec.name.where,
                   fmt::format("the pods of \"{}\" run on {} of the present pools", workload.name,
                               homes.empty() ? "none" : "several"),
                   "a path starts where each workload has one pool: pin it with a nodeSelector");
  }
  std::vector<PoolChoice> pools;
  for (std::size_t p = 0; p < world->pools.size(); ++p) {
    const NodePool& pool = scenario.node_pools[p];
    const PoolModel& model = world->pools[p];
    if (lives[p].empty() && pool.nodes == 0) continue;
    const auto cuts = cuts_in(model);
    if (lives[p].empty()) {
      found.push_back(no_words_for(pool, "no workload runs there"));
    } else if (pool.virtual_gpu || pool.nos || pool.hami || pool.kai || pool.dra ||
               !is_planned(model.strategy)) {
      found.push_back(no_words_for(pool, "its GPUs are shared by another plugin"));
    } else if (pool.mig && pool.mig->nos) {
      found.push_back(no_words_for(pool, "nos cuts its GPUs anew"));
    } else if (!cuts) {
      found.push_back(no_words_for(pool, "some of its GPUs are whole, or are cut anew"));
    } else if (cuts->size() > 1 &&
               (model.strategy != Strategy::Mig || model.healthy_gpus() < model.gpus_per_node)) {
      found.push_back(
          no_words_for(pool, "its GPUs are cut in different ways, and shared or not all healthy"));
    } else {
      World own;
      own.pools = {model};
      for (const std::size_t w : lives[p]) own.workloads.push_back(world->workloads[w]);
      PoolChoice choice = own_choice(pool, own);
      choice.purchase = purchase_of(scenario, pool, model);
      if (!cuts->empty()) {
        choice.mig = cuts->front().mig;
        choice.other_cuts.assign(std::next(cuts->begin()), cuts->end());
      }
      for (const std::size_t w : lives[p]) {
        if (cuts->size() > 1 || choice.mig.size() > 1)
          choice.mig_profiles.push_back(profile_of(model, world->workloads[w], p));
      }
      pools.push_back(std::move(choice));
    }
  }
  if (has_errors(found)) return tl::unexpected(std::move(found));
  return pools;
}

namespace {

// The option whose pools are those that there are; nullptr: none.
const PlanOption* same_as_own(const BlockSearch& search, const Plan& plan) {
  const auto own = pools_as_they_stand(search.base, search.catalogue);
  if (!own) return nullptr;
  return find_if_or_null(plan.options, [&](const PlanOption& option) {
    return std::is_permutation(option.pools.begin(), option.pools.end(), own->begin(), own->end());
  });
}

}  // namespace

void add_today(const BlockSearch& search, const ScenarioSet& set, const RunOptions& run,
               Plan& plan) {
  // The same pools have one verdict, of as many runs.
  if (const PlanOption* const same = same_as_own(search, plan)) {
    plan.today = PlanOption{{}, same->figures, same->goal, false};
    plan.keep_as_is = same == &plan.options.front();
    if (!plan.keep_as_is) settle_today(set, search.base, search.catalogue, run, plan);
    return;
  }
  const PlanProbe probe{.replications = search.base.replications};
  PlanAnswer answer = search.probes.ask_one(probe);
  if (!answer.figures) return;
  if (search.space.survive != Outage::None && answer.figures->stands()) {
    const AfterOutage after = own_pools_after_outage(search, run, *answer.figures);
    plan.interrupted = plan.interrupted || after.interrupted;
    if (after.interrupted) return;
    if (after.fails) answer.figures = after.fails;
  }
  const auto goal = goal_of(search.goal, *answer.figures);
  plan.today = PlanOption{{}, std::move(*answer.figures), goal, false};
  settle_today(set, search.base, search.catalogue, run, plan);
  if (!goal || plan.options.empty() || !plan.today->figures.stands()) return;
  plan.keep_as_is = !is_better(plan.options.front(), *plan.today) &&
                    stands_again(search, probe, plan.today->figures);
  // What no plan offers may be cheaper than all of them.
  if (plan.keep_as_is && plan.least_monthly && *goal < *plan.least_monthly) {
    plan.least_monthly.reset();
  }
}

}  // namespace slicewise::sim
