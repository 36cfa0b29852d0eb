#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "block_search.hpp"

// The parts of a plan: what else is searched, and what it says of its best option.
namespace slicewise::sim {

// Of what costs as little the search takes the first that stands. Where that is close to its
// limits, what stands without its pools that are so may be further from them: an option, the first
// then.
void add_further_from_limits(const BlockSearch& search, std::size_t top, Plan& plan);

// kept_apart.cpp
// Where not every division is tried: the option with pools that cost less as the largest pods are
// kept to one a node, each in the place of up to three. nullopt: those do not stand together.
// `search`: in the space with that.
std::optional<PlanOption> cheaper_kept_apart(const BlockSearch& search, const PlanOption& best);

struct ReplicasCurve {
  std::vector<ReplicasPoint> points;
  std::optional<std::size_t> knee;
  std::string binding;
};

// More and more pods on each GPU of the option's first pool. Empty for several pools, for nodes
// that are bought in two ways, for what does not share whole GPUs and for what survives an outage.
ReplicasCurve replicas_curve(const BlockSearch& search, const PlanOption& best);

struct Flips {
  std::vector<Flip> found;
  std::size_t left_out = 0;  // changes, as each simulation is dear
};

// At which changes of its inputs the first of `options` stops being the best.
Flips find_flips(const BlockSearch& search, const std::vector<PlanOption>& options);

// Whether the first of `options` stays the best whatever measured.smActive is, where it is not
// given and some type's GPU is not the one that was measured; nullopt: then it does not matter.
std::optional<SmActiveRange> find_sm_active_range(const BlockSearch& search,
                                                  const std::vector<PlanOption>& options);

// Of the times of workloads the one that may be off by the most against what the flips bear.
// `world`: of the best option. nullopt: the answer hangs on none that is in doubt.
std::optional<TellingMeasurement> telling_measurement(const World& world,
                                                      const std::vector<Flip>& flips);

// How much more load the best option bears. What a policy says of headroom can be judged only once
// it is known: the best option that all policies let pass is the answer.
void settle_headroom(const ScenarioSet& set, const Scenario& base, const Catalogue& catalogue,
                     const PlanOptions& options, Plan& plan);
// Of the scenario's own pools, which no option has to be like. REQUIRES: plan.today.
void settle_today(const ScenarioSet& set, const Scenario& base, const Catalogue& catalogue,
                  const RunOptions& run, Plan& plan);

bool asks_for_headroom(const std::vector<scenarios::Policy>& policies);

// The best option over runs with random numbers that no search has seen, beside the second, with
// inputs that each run draws where that is asked for; a note where that takes more requests than it
// is worth, or nothing can be drawn. REQUIRES: plan.options is not empty.
void add_risk(const Scenario& base, const Catalogue& catalogue, const PlanOptions& options,
              Plan& plan);

// One sentence or none: an instance type that holds the pods where none that was tried does; else
// the cheapest that stands whatever it costs; else the limit of nodes or cost that was in the way
// of what could stand, and how far. No full stop. REQUIRES: plan.options.empty().
std::vector<std::string> nearest_to_standing(const BlockSearch& search,
                                             const std::vector<std::string>& workloads,
                                             const std::vector<RejectedChoice>& rejected);

// plan_checks.cpp: what the options ask for and the scenario does not bear.
void check_options(const Scenario& base, const PlanOptions& options, PlanGoal goal,
                   Diagnostics& found);

// best_world.cpp: what is known of the best option's world, and what interruptions of its spot
// nodes cost.
void add_provenance(const Scenario& base, const Catalogue& catalogue, const RunOptions& run,
                    Plan& plan);

// own_pools.cpp: the scenario's own pools beside the options, and whether to keep them.
void add_today(const BlockSearch& search, const ScenarioSet& set, const RunOptions& run,
               Plan& plan);

// plan_notes.cpp: only Jobs, and not those of a log, which come every month.
bool runs_once(const Scenario& scenario);
// `base`: the scenario as it is judged; `dra`: what NVIDIA's DRA driver sets up was asked for.
void add_notes(const Scenario& written, const Scenario& base, const Catalogue& catalogue, bool dra,
               Plan& plan);

// recorded_bill.cpp: nullopt without recorded jobs, or without a price of such GPUs.
std::optional<RecordedBill> recorded_bill(const Scenario& base, const Catalogue& catalogue);

// after_outage.cpp: --survive: whether what stands still does without the nodes that may be lost.
// What an outage leaves of the pools.
std::vector<PoolChoice> left_after(Outage loss, std::vector<PoolChoice> pools);

// Of pools that stand with all their nodes: the figures of what is left of them, at the price of
// all, where that does not stand; else nullopt.
std::optional<OptionFigures> fails_after_outage(const BlockSearch& search, const PlanProbe& whole,
                                                const OptionFigures& figures);

struct AfterOutage {
  std::optional<OptionFigures> fails = {};  // as fails_after_outage() has it
  bool interrupted = false;
};

// The same of the scenario's own pools, whether a plan has words for them or not. Nodes that a
// provisioner starts are started anew.
AfterOutage own_pools_after_outage(const BlockSearch& search, const RunOptions& run,
                                   const OptionFigures& figures);

// busiest_minutes.cpp
// The busiest minutes of a long scenario, once: what stands in them is worth the whole, and is
// looked at first. nullopt: no minutes stand for the rest, as where jobs run or traffic is
// recorded, or it is not much longer than they are.
std::optional<Scenario> busiest_minutes(const Scenario& scenario);

// more_done.cpp
// The option with other ways to share the GPUs of its pools, where that costs no more and ranks
// before it: pools were searched for the first way that stands, and the work in them that has no
// objective may get more done with another.
void get_more_done(const BlockSearch& search, PlanOption& option);

// other_regions.cpp: what the options of a plan cost in other regions: the same nodes do the same
// there. Each once, without the scenario's own; "all": of the price book. Unknown ones are added to
// `found`.
std::vector<std::string> regions_named(const std::vector<std::string>& names, const Scenario& base,
                                       const Catalogue& catalogue, Diagnostics& found);

// Of the options the cheapest in each region.
std::vector<PlannedRegion> other_regions(const std::vector<std::string>& regions,
                                         const std::vector<PlanOption>& options,
                                         const Scenario& base, const Catalogue& catalogue);

// plan_over_time.cpp: what options become while traffic grows, and what is paid in advance for
// them. Month by month, each with `growth` more traffic than the one before: an option stays until
// it misses something, then it is planned anew, with the pods that there are or with as many more
// as there is traffic, or with up to `vary_pods` more or fewer of each Service, whichever is
// cheaper. Of all that which stands longest, and of those what costs least over all months: a
// dearer one may bear more, or be sold at a larger discount. REQUIRES: there is one, what is
// minimised is the monthly cost, the scenario has traffic where growth > 0, months > 0.
PlanOverTime best_over_time(const BlockSearch& search, const std::vector<PlanOption>& options,
                            double growth, int months, int vary_pods);

// plan_path.cpp: from the present pools to cheaper ones, one step after the other.
// The steps to the cheapest pools of which no more than `most` change in all, each pool once, what
// saves most for each pool that changes first (cheapest_exchanges). Where there are too many ways
// to look at, or numbers of pods vary, the steps that save most one after the other: a pool is
// planned anew, two become one, workloads move, or what belongs together becomes as the best option
// has it. After each step all pools are simulated together. Where the present pools miss something,
// what mends it comes first, whatever it costs. REQUIRES: the goal is the monthly cost, each
// workload with pods is in one of the pools.
PlanPath path_from(const BlockSearch& search, std::vector<PoolChoice> now,
                   const std::optional<PlanOption>& best, std::optional<int> most);

// What became of requests in a run, mean of its replications.
RestartLoss fate_of(const RequestCounts& requests);
// What happened more often with something than without.
RestartLoss loss_of(const RestartLoss& with, const RestartLoss& without);

// Simulates what requests each step costs where all its pods restart at once, and one by one.
void add_disruption(const Scenario& base, const Catalogue& catalogue, const RunOptions& run,
                    PlanPath& path);

// What happens to pods and nodes where the pools of `from` become those of `to`; savings not set.
PathStep step_between(const Scenario& base, std::vector<PoolChoice> from,
                      std::vector<PoolChoice> to);

// Pods of the workload that do not go on then.
int pods_restarted(const Scenario& base, const std::vector<PoolChoice>& from,
                   const std::vector<PoolChoice>& to, const std::string& name);

// scaled_down.cpp: scaling down at night: pods that go while the load allows it, on nodes that come
// and go with them. What a month costs by whom pods are scaled, simulated over whole days.
struct ScaledDown {
  PlanOption fixed;  // the first option as it is
  // The cheapest of the options that stands with a schedule (KEDA's cron scaler) for each Service
  // whose load falls every day: what shares its nodes may need those that stay, and the dearer
  // option be the cheaper. Outside of its window a Service has as few pods as bear no more each
  // than in its busiest hour; where that is too few, some more. nullopt: none saves more than next
  // to nothing.
  std::optional<PlanOption> by_clock;
  // The first with an autoscaler for each of them by which a pod has as many requests as in the
  // busiest hour; where that is too late, fewer; or with the scenario's own autoscalers. It may not
  // stand.
  std::optional<PlanOption> by_load;
  bool interrupted = false;  // before all of it was known
};

// nullopt: no load falls every day, nobody knows that of whole days, the first option cannot run
// them, or they take too many requests, which a note says.
std::optional<ScaledDown> scaled_down(const BlockSearch& search,
                                      const std::vector<PlanOption>& options, const RunOptions& run,
                                      Diagnostics& notes);

// unselected_nodes.cpp: what it costs that pods select nodes.
// The cheapest plan without the nodeSelectors of labels that the scenario's pools have, where it
// costs less than `best`: a label that says of which pool or type a node is, or its architecture,
// is none of them. nullopt: there are none, it does not, or of so many workloads or requests nobody
// looked.
std::optional<UnselectedNodes> without_selectors(const BlockSearch& search,
                                                 const std::optional<PlanOption>& best,
                                                 const RunOptions& run);

}  // namespace slicewise::sim
