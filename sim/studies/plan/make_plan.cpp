#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "slicewise/sim/plan.hpp"

#include "../../result/merge.hpp"
#include "../../world/parts.hpp"
#include "../probe/pool_homes.hpp"
#include "../probe/probe.hpp"
#include "../probe/simulations.hpp"
#include "block_search.hpp"
#include "fleet_model.hpp"
#include "option_order.hpp"
#include "plan_sections.hpp"
#include "pod_counts.hpp"
#include "pool_split.hpp"

namespace slicewise::sim {
namespace {

// Of so many groups those whose largest pods could be kept apart are sought: of 12 that took four
// times as long as all the rest.
constexpr std::size_t kMostKeptApart = 8;

// Jobs that run once have no bill by the month to minimise.
PlanGoal goal_for(const Scenario& scenario, const PlanOptions& options) {
  if (options.goal) return *options.goal;
  if (scenario.goal_where.line > 0) return scenario.goal;
  return runs_once(scenario) ? PlanGoal::CostPerJob : PlanGoal::MonthlyCost;
}

// The scenario alone on each instance type: what is wrong with all of them is wrong with it.
std::vector<Expected<World>> worlds_alone(const Scenario& base, const PlanSpace& space,
                                          const Catalogue& catalogue) {
  std::vector<Expected<World>> worlds;
  worlds.reserve(space.types.size());
  const std::vector<std::string> workloads = workloads_with_pods(base);
  for (const InstanceType* type : space.types) {
    for (std::vector<ServingChoice>& serving :
         serving_ways(base, workloads, *type, space.serving)) {
      PoolChoice alone = unshared(*type, workloads);
      alone.serving = std::move(serving);
      worlds.push_back(probe_world(base, {.pools = {std::move(alone)}}, catalogue));
    }
  }
  return worlds;
}

// Dollars a month that nothing may cost.
std::optional<double> cap_of(const BlockSearch& search, const Plan& plan) {
  std::optional<double> cap;
  if (!plan.options.empty()) cap = plan.options.front().goal;
  if (search.space.max_monthly_cost) {
    const double most = to_dollars(*search.space.max_monthly_cost);
    cap = std::min(cap.value_or(most), most);
  }
  return cap;
}

// Workloads in pools of their own, where that is better than the best so far.
void add_split(const BlockSearch& search, Plan& plan) {
  SplitResult split = split_pools(search, cap_of(search, plan));
  plan.counts.configurations += split.configurations;
  plan.counts.exhaustive += split.exhaustive;
  plan.least_monthly = split.least_monthly;
  for (const std::string& workload : split.missed) {
    plan.nearest.push_back(fmt::format(
        "\"{}\" misses an objective in every pool of its own that was tried", workload));
  }
  if (!split.option) return;
  get_more_done(search, *split.option);
  plan.options.insert(plan.options.begin(), std::move(*split.option));
}

// As many nodes of the type on which the same happens: where each GPU has one pod only, it does not
// matter how many it could have.
bool is_same(const PlanOption& option, const PlanOption& other) {
  if (option.pools.size() != 1 || other.pools.size() != 1) return false;
  const PoolChoice& a = option.pools.front();
  const PoolChoice& b = other.pools.front();
  const OptionFigures& figures = other.figures;
  return a.instance_type == b.instance_type && a.purchase == b.purchase && a.nodes == b.nodes &&
         a.mig == b.mig && a.other_cuts == b.other_cuts && a.serving == b.serving &&
         option.figures.total == figures.total &&
         option.figures.worst_ratio == figures.worst_ratio &&
         option.figures.gpu_busy == figures.gpu_busy && figures.worst_ratio > 0;
}

// All workloads in one pool.
void add_one_pool(const BlockSearch& search, std::size_t top, Plan& plan) {
  const std::optional<double> cap = plan.options.empty() ? std::nullopt : plan.options.front().goal;
  // Beside pools of their own nobody asks how one for all fails to the end.
  const Depth depth = plan.options.empty() ? Depth::Explained : Depth::Ranked;
  BlockResult found = search_block(search, workloads_with_pods(search.base), top, cap, depth);
  for (PlanOption& option : found.options) {
    const bool known = std::ranges::any_of(plan.options, [&](const PlanOption& other) {
      return other.pools == option.pools || is_same(other, option);
    });
    if (!known) plan.options.push_back(std::move(option));
  }
  plan.rejected = std::move(found.rejected);
  plan.counts.configurations += found.configurations;
  plan.counts.refused = found.refused;
  plan.counts.bounded = found.bounded;
  plan.counts.exhaustive += found.exhaustive;
}

// Few groups: one pool first, whose price bounds every division. Many: one pool for all of them is
// slow to simulate and seldom cheap, so their division comes first and bounds it.
void rank(const BlockSearch& search, std::size_t top, Plan& plan) {
  const bool many = search.split && separable_groups(search.base).size() > kExactGroups;
  if (many) add_split(search, plan);
  if (!search.probes.interrupted()) add_one_pool(search, top, plan);
  if (search.split && !many && !search.probes.interrupted()) add_split(search, plan);
  // What costs less was tried, or closed forms rule it out.
  const bool alone = search.split && separable_groups(search.base).size() == 1;
  if (alone && !plan.options.empty() && !search.base.allow_pending &&
      !search.probes.interrupted()) {
    plan.least_monthly = std::ranges::min_element(plan.options, {}, &PlanOption::goal)->goal;
  }
  put_best_first(plan.options);
  put_unfinished_last(search.goal, plan.options);
  if (plan.options.size() > top) plan.options.resize(top);
  plan.counts.simulations = search.probes.simulations();
}

// Who waits knows what for, and that it may be left out.
void say_next(const PlanOptions& options, const char* what) {
  if (options.run.so_far) options.run.so_far(what);
}

std::optional<PlanOption> best_of(const Plan& plan) {
  return plan.options.empty() ? std::nullopt : std::optional(plan.options.front());
}

// Nothing stands with any number of pods: what is missed with the most of them in one pool.
void add_misses_with_more(const BlockSearch& search, int more, Plan& plan) {
  const ServicePods pods = pods_with_more(search, more);
  if (pods == search.pods || search.probes.interrupted()) return;
  const Scenario base = with_pods(search.base, pods);
  BlockResult found = search_block(search_with_pods(search, base, pods), workloads_with_pods(base),
                                   1, std::nullopt, Depth::Explained);
  std::erase_if(found.rejected, [](const RejectedChoice& other) { return !other.figures; });
  std::ranges::move(found.rejected, std::back_inserter(plan.rejected));
}

void vary_pods(const BlockSearch& search, const PlanOptions& options, Plan& plan) {
  plan.least_monthly = least_with_other_pods(search, options.vary_pods);
  const std::int64_t before = search.probes.simulations();
  auto best = best_with_other_pods(search, best_of(plan), options.vary_pods);
  if (!best && plan.options.empty()) {
    add_misses_with_more(search, options.vary_pods, plan);
  }
  plan.counts.simulations += search.probes.simulations() - before;
  if (!best) return;
  plan.options.insert(plan.options.begin(), std::move(*best));
  if (plan.options.size() > options.top) plan.options.resize(options.top);
}

bool keeps_apart(const PlanOption& option) {
  return std::ranges::any_of(option.pools,
                             [](const PoolChoice& pool) { return !pool.apart.empty(); });
}

// What is cheaper as the largest pods are kept to one a node: the first option, before the one
// that needs no such rule. `search`: in the space with it.
void add_kept_apart(const BlockSearch& search, std::size_t top, Plan& plan) {
  const std::optional<double> cap = cap_of(search, plan);
  const bool few = separable_groups(search.base).size() <= kExactGroups;
  std::optional<PlanOption> found;
  if (few) {
    found = cheapest_plan(search, cap);
  } else if (!plan.options.empty()) {
    found = cheaper_kept_apart(search, plan.options.front());
  }
  if (!found || !found->goal || (few && !keeps_apart(*found)) || (cap && *found->goal >= *cap))
    return;
  plan.options.insert(plan.options.begin(), std::move(*found));
  constexpr std::size_t kBoth = 2;
  if (plan.options.size() > std::max(top, kBoth)) plan.options.resize(std::max(top, kBoth));
  if (!plan.least_monthly) return;
  const FleetModel fleet(search, separable_groups(search.base));
  plan.least_monthly = few ? plan.options.front().goal : fleet.as_bound(fleet.least_worth());
}

// The three searches of a plan: without pods that are kept apart, with them, and the one that later
// parts go on with.
struct Searches {
  BlockSearch tight;
  BlockSearch kept_apart;
  BlockSearch search;

  void refute(const PoolChoice& pool) {
    for (BlockSearch* each : {&tight, &kept_apart, &search}) each->refuted.push_back(pool);
  }
};

void find_options(const Searches& searches, const PlanOptions& options, Plan& plan) {
  const auto& [tight, kept_apart, search] = searches;
  const ProbeBatch& probes = tight.probes;
  rank(tight, options.top, plan);
  if (kept_apart.space.keeps_apart && !probes.interrupted()) {
    add_kept_apart(kept_apart, options.top, plan);
  }
  if (!probes.interrupted() && std::ranges::none_of(plan.options, keeps_apart)) {
    add_further_from_limits(tight, options.top, plan);
  }
  const bool may_vary = search.goal == PlanGoal::MonthlyCost && !probes.interrupted();
  if (may_vary && options.vary_pods > 0) vary_pods(search, options, plan);
}

// Of many options some hold by the random numbers that they were found by: what is first must hold
// with others. Divisions into pools are held to it where they are chosen: chosen anew they are held
// to all that stood by then.
void find_confirmed(Searches& searches, const PlanOptions& options, Plan& plan) {
  constexpr int kMostRefuted = 8;
  const Plan begun = plan;
  std::optional<Plan> doubted;  // the first that misses nothing, for where none is confirmed
  std::vector<PoolChoice> last;
  for (int n = 0; n <= kMostRefuted; ++n) {
    const std::optional<double> least = plan.least_monthly;
    plan = begun;
    find_options(searches, options, plan);
    if (plan.least_monthly) plan.least_monthly = std::max(plan.least_monthly, least);
    if (plan.options.empty() || searches.search.probes.interrupted()) break;
    const std::vector<PoolChoice>& pools = plan.options.front().pools;
    const auto look = confirmation(searches.search, pools);
    if (!look) return;
    plan.confirmed = look->found;
    if (look->found.holds) return;
    if (!doubted && !look->figures.verdict.fails()) doubted = plan;
    if (pools == last) break;
    last = pools;
    if (pools.size() == 1) searches.refute(pools.front());
  }
  if (doubted) plan = std::move(*doubted);
}

// What the best option hangs on, with the pods that it has.
void explain_best(const BlockSearch& search, const PlanOptions& options, Plan& plan) {
  const ServicePods pods = changed_pods(plan.options.front());
  const Scenario base = with_pods(search.base, pods);
  BlockSearch chosen = search_with_pods(search, base, pods);
  if (search.vary_pods > 0) chosen.varied = &search;
  chosen.refuted.clear();  // with less of an input they may hold
  ReplicasCurve curve = replicas_curve(chosen, plan.options.front());
  plan.replicas = std::move(curve.points);
  plan.knee = curve.knee;
  plan.binding = std::move(curve.binding);
  if (!options.flips || options.survive != Outage::None) return;
  say_next(
      options,
      "the answer is known, and shown when it is stopped; what flips it is sought (--no-flips)");
  Flips flips = find_flips(chosen, plan.options);
  plan.flips = std::move(flips.found);
  if (flips.left_out > 0) {
    add_note(
        plan.notes, Code::RunTooLarge, base.where,
        fmt::format("a simulation answers {:.3g} million requests: {} more changes of inputs were "
                    "not planned anew; with a shorter duration or fewer --replications they are",
                    requests_of_a_simulation(chosen) / 1e6, flips.left_out));
  }
  plan.sm_active = find_sm_active_range(chosen, plan.options);
}

// Where nothing stands they may be why.
void tell_late_starts(const BlockSearch& search, Plan& plan) {
  Diagnostics late = late_starts(search.base);
  if (plan.options.empty() && !plan.interrupted) {
    const std::int64_t before = search.probes.simulations();
    std::ranges::move(nearest_to_standing(search, workloads_with_pods(search.base), plan.rejected),
                      std::back_inserter(plan.nearest));
    plan.counts.simulations += search.probes.simulations() - before;
    for (Diagnostic& note : late) plan.nearest.push_back(std::move(note.message));
  } else {
    plan.nearest.clear();
    for (Diagnostic& note : late) plan.notes.push_back(std::move(note));
  }
}

Plan begun_plan(const ScenarioSet& set, std::size_t variant, const Catalogue& catalogue,
                const PlanOptions& options, const BlockSearch& search) {
  Plan plan;
  plan.stamp = stamp_of(set, variant, search.base, catalogue);
  plan.goal = search.goal;
  for (const InstanceType* type : search.space.types) {
    plan.instance_types.push_back(type->name);
  }
  plan.purchases = search.space.purchases;
  for (const Workload& workload : search.base.workloads) {
    if (workload.placeholder) plan.placeholders.push_back(workload.given_name());
  }
  if (options.vary_pods > 0) plan.vary_pods = options.vary_pods;
  if (options.survive != Outage::None) plan.survives = outage_name(options.survive);
  return plan;
}

void add_scaled_down(const BlockSearch& search, const PlanOptions& options, Plan& plan) {
  auto found = scaled_down(search, plan.options, options.run, plan.notes);
  plan.interrupted = plan.interrupted || (found && found->interrupted);
  if (!found || found->interrupted || search.probes.interrupted()) return;
  plan.over_days = std::move(found->fixed);
  plan.scheduled = std::move(found->by_clock);
  plan.by_load = std::move(found->by_load);
}

// What other numbers of pods, a schedule, or no selectors would save.
void add_hints(const BlockSearch& search, const PlanOptions& options, Plan& plan) {
  if (options.vary_pods == 0 && !search.probes.interrupted()) {
    plan.other_pods = hints_of_other_pods(search, best_of(plan));
  }
  if (!search.probes.interrupted()) add_scaled_down(search, options, plan);
  if (!search.probes.interrupted()) {
    plan.unselected = without_selectors(search, best_of(plan), options.run);
  }
}

}  // namespace

Expected<Plan> make_plan(const ScenarioSet& set, std::size_t variant, const Catalogue& catalogue,
                         const PlanOptions& options) {
  const Scenario base = as_judged(set.variants[variant]);
  Diagnostics found;
  check_pods(base, "plans are", found);
  const PlanGoal goal = goal_for(base, options);
  check_options(base, options, goal, found);
  const std::vector<std::string> regions = regions_named(options.regions, base, catalogue, found);
  auto space = plan_space(base, catalogue, options);
  if (!space) found.insert(found.end(), space.error().begin(), space.error().end());
  if (space) check_serving(base, space->serving, found);
  if (has_errors(found)) return tl::unexpected(std::move(found));
  Diagnostics errors = errors_everywhere(worlds_alone(base, *space, catalogue));
  if (!errors.empty()) return tl::unexpected(std::move(errors));

  ProbeBatch probes(options.probes ? options.probes : probe_threads(base, catalogue, options.run),
                    options.journal, KnownFailures(base));
  BlockSearch tight{base, catalogue, *space, probes, goal, base.replications, options.run.so_far};
  tight.split = options.split.value_or(base.planning.split) && goal == PlanGoal::MonthlyCost;
  const std::size_t groups = separable_groups(base).size();
  PlanSpace further = *space;
  further.keeps_apart = goal == PlanGoal::MonthlyCost && groups <= kMostKeptApart;
  const std::optional<Scenario> busiest = busiest_minutes(base);
  std::optional<ProbeBatch> glances;
  if (busiest && goal == PlanGoal::MonthlyCost && requests_of_a_simulation(tight) > kWorthAGlance) {
    RunOptions quiet = options.run;
    quiet.progress = nullptr;
    glances.emplace(probe_threads(*busiest, catalogue, quiet), std::nullopt);
  }
  const BlockSearch kept_apart = search_within(tight, base, further);
  Searches searches{tight, kept_apart, groups <= kExactGroups ? kept_apart : tight};
  if (glances) {
    searches.tight.busiest = &*busiest;
    searches.tight.glances = &*glances;
  }
  const BlockSearch& search = searches.search;
  searches.search.vary_pods = options.vary_pods;
  Plan plan = begun_plan(set, variant, catalogue, options, search);
  find_confirmed(searches, options, plan);
  if (glances) plan.counts.simulations += glances->simulations();
  const bool may_vary = search.goal == PlanGoal::MonthlyCost && !probes.interrupted();
  if (!probes.interrupted()) settle_headroom(set, base, catalogue, options, plan);
  if (!plan.confirmed && !plan.options.empty() && !probes.interrupted()) {
    const auto look = confirmation(search, plan.options.front().pools);  // of what is first now
    if (look) plan.confirmed = look->found;
  }
  mark_pareto(plan.options);
  plan.regions = other_regions(regions, plan.options, base, catalogue);
  plan.control_plane_monthly = cost_of(control_plane_fee(base.control_plane), kMonth);
  plan.as_run = recorded_bill(base, catalogue);
  if (!probes.interrupted()) add_today(search, set, options.run, plan);
  if (!options.from.empty() && !probes.interrupted()) {
    plan.path = path_from(search, options.from, best_of(plan), options.max_changes);
    if (!probes.interrupted()) add_disruption(base, catalogue, options.run, *plan.path);
  }
  if (options.horizon > 0 && !plan.options.empty() && !probes.interrupted()) {
    auto months = best_over_time(search, plan.options, options.growth, options.horizon,
                                 may_vary ? options.vary_pods : 0);
    // Half a search says a month too early that something is missed.
    if (!probes.interrupted()) plan.over_time = std::move(months);
  }
  if (!plan.options.empty() && !probes.interrupted()) {
    explain_best(search, options, plan);
    add_provenance(base, catalogue, options.run, plan);
  }
  if (options.risk && !plan.options.empty() && !probes.interrupted()) {
    add_risk(base, catalogue, options, plan);
  }
  if (may_vary && options.flips) add_hints(search, options, plan);
  tell_late_starts(search, plan);
  plan.interrupted = plan.interrupted || probes.interrupted();
  add_notes(set.variants[variant], base, catalogue, options.dra, plan);
  tell_idle_ways(base, space->serving, plan.notes);
  const auto apart = std::ranges::find_if(plan.options, keeps_apart);
  if (apart != plan.options.end()) plan.kept_apart = *apart;
  plan.counts.replications = probes.replications() + (glances ? glances->replications() : 0);
  return plan;
}

}  // namespace slicewise::sim
