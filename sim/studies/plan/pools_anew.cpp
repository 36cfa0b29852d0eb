#include "pools_anew.hpp"

#include <algorithm>
#include <utility>

#include "slicewise/lookup.hpp"

#include "../../result/merge.hpp"
#include "../probe/probe.hpp"
#include "../probe/scaled_input.hpp"
#include "pod_counts.hpp"
#include "pool_split.hpp"

namespace slicewise::sim {

PlanProbe probe_of(const BlockSearch& search, const PlanOption& option, const std::string& input,
                   double factor) {
  return search.with_input(input, factor).about(option.pools);
}

bool stands(const PlanAnswer& answer) {
  return answer.figures && !answer.partial && answer.figures->stands();
}

PlanAnswer whole_answer(const BlockSearch& search, PlanProbe probe) {
  PlanAnswer answer = search.probes.ask_one(probe);
  if (!answer.partial) return answer;
  probe.until_clear = false;
  return search.probes.ask_one(probe);
}

OptionFigures at_cost_of(const OptionFigures& whole, OptionFigures figures) {
  figures.monthly = whole.monthly;
  figures.total = whole.total;
  return figures;
}

double monthly_price(const World& world) {
  return to_dollars(cost_of(world.pools.front().price.usd, kMonth));
}

std::optional<double> monthly_of(const BlockSearch& search, const PoolChoice& pool) {
  const auto world = world_on_one_node(search, pool);
  if (!world || pool.on_demand + pool.unshared > 0 || pool.elastic) return std::nullopt;
  return pool.nodes * monthly_price(*world);
}

namespace {

// Times that pools are planned anew because of what they miss together.
constexpr int kMostAnew = 8;

std::vector<std::string> concerned_by(const std::string& input, const Scenario& base) {
  std::vector<std::string> names = workloads_with_pods(base);
  std::erase_if(names, [&](const std::string& name) {
    return !concerns(input, {base.find_workload(name)->given_name()});
  });
  return names;
}

// All that miss something: an answer that stops at the first miss names one of them.
std::vector<std::string> all_missed(const BlockSearch& search, PlanProbe probe,
                                    const OptionFigures& first) {
  std::vector<std::string> names = missed_by(first);
  probe.until_clear = false;
  const PlanAnswer whole = search.probes.ask_one(probe);
  if (!whole.figures) return names;
  for (std::string& name : missed_by(*whole.figures)) {
    if (!contains(names, name)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

bool bears(const BlockSearch& search, const PlanOption& option, const std::string& input,
           double factor) {
  return stands(search.probes.ask_one(probe_of(search, option, input, factor)));
}

OptionFigures figures_with(const BlockSearch& search, const PlanOption& option,
                           const std::string& input, double factor) {
  const PlanAnswer answer = whole_answer(search, probe_of(search, option, input, factor));
  return answer.figures ? *answer.figures : option.figures;
}

std::vector<std::string> missed_with(const BlockSearch& search, const PlanOption& option,
                                     const std::string& input, double factor) {
  const PlanProbe probe = probe_of(search, option, input, factor);
  const PlanAnswer answer = search.probes.ask_one(probe);
  if (!answer.figures || stands(answer)) return {};
  return all_missed(search, probe, *answer.figures);
}

bool has_one_of(const PoolChoice& pool, const std::vector<std::string>& workloads) {
  return std::ranges::any_of(
      workloads, [&](const std::string& name) { return contains(pool.workloads, name); });
}

std::optional<PlanOption> pools_anew(const BlockSearch& search, const PlanOption& best,
                                     const std::vector<std::string>& workloads,
                                     const PoolCap& cap) {
  BlockSearch there = search;
  PlanProbe probe = there.about(best.pools);
  std::vector<std::string> concerned = workloads;
  for (int round = 0; round < kMostAnew && !concerned.empty(); ++round) {
    for (PoolChoice& pool : probe.pools) {
      if (!has_one_of(pool, concerned)) continue;
      std::optional<double> most;
      if (cap.cheaper) most = monthly_of(there, pool);
      if (probe.pools.size() == 1 && cap.only) most = std::min(*cap.only, most.value_or(*cap.only));
      if (round > 0) there.refuted.push_back(pool);
      BlockResult found = search_block(there, pool.workloads, 1, most, Depth::First);
      if (found.options.empty()) return std::nullopt;
      pool = std::move(found.options.front().pools.front());
    }
    const PlanAnswer answer = search.probes.ask_one(probe);
    if (!answer.figures) return std::nullopt;
    const std::optional<OptionFigures> against =
        stands(answer) ? fails_again(there, probe, *answer.figures) : answer.figures;
    if (!against) {
      return PlanOption{probe.pools, *answer.figures, goal_of(there.goal, *answer.figures), false};
    }
    concerned = all_missed(search, probe, *against);
  }
  return std::nullopt;
}

namespace {

// `search`: with the input as it is then.
std::optional<PlanOption> anew_with_its_pods(const BlockSearch& search, const PlanOption& best,
                                             std::optional<double> cap) {
  std::optional<PlanOption> then =
      pools_anew(search, best, concerned_by(search.input, search.base), {.only = cap});
  if (!search.split || separable_groups(search.base).size() > kExactGroups) return then;
  std::optional<PlanOption> split = split_pools(search, then ? then->goal : cap).option;
  return split ? split : then;
}

}  // namespace

std::optional<PlanOption> planned_anew(const BlockSearch& search, const PlanOption& best,
                                       const std::string& input, double factor,
                                       std::optional<double> cap) {
  const BlockSearch there = search.with_input(input, factor);
  std::optional<PlanOption> then = anew_with_its_pods(there, best, cap);
  if (search.varied == nullptr) return then;
  if (!then && !cap) {  // as few pods as the scenario has may not be what fails
    then = anew_with_its_pods(search.varied->with_input(input, factor), best, cap);
  }
  std::optional<PlanOption> known = then;
  if (!known && cap) known = PlanOption{best.pools, best.figures, cap, false};
  std::optional<PlanOption> other = cheaper_with_other_pods(there, known);
  return other ? other : then;
}

}  // namespace slicewise::sim
