#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "block_search.hpp"

// What a plan says of its best option beyond the ranking.
namespace slicewise::sim {

// Of what costs as little the search takes the first that stands. Where that is close to its
// limits, what stands without its pools that are so may be further from them: an option, the first
// then.
void add_further_from_limits(const BlockSearch& search, std::size_t top, Plan& plan);

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
void settle_headroom(const scenarios::ScenarioSet& set, const scenarios::Scenario& base,
                     const models::Catalogue& catalogue, const PlanOptions& options, Plan& plan);

bool asks_for_headroom(const std::vector<scenarios::Policy>& policies);

// The best option over runs with random numbers that no search has seen, beside the second, with
// inputs that each run draws where that is asked for; a note where that takes more requests than it
// is worth, or nothing can be drawn. REQUIRES: plan.options is not empty.
void add_risk(const scenarios::Scenario& base, const models::Catalogue& catalogue,
              const PlanOptions& options, Plan& plan);

// One sentence or none: an instance type that holds the pods where none that was tried does; else
// the cheapest that stands whatever it costs; else the limit of nodes or cost that was in the way
// of what could stand, and how far. No full stop. REQUIRES: plan.options.empty().
std::vector<std::string> nearest_to_standing(const BlockSearch& search,
                                             const std::vector<std::string>& workloads,
                                             const std::vector<RejectedChoice>& rejected);

// plan_checks.cpp: what the options ask for and the scenario does not bear.
void check_options(const scenarios::Scenario& base, const PlanOptions& options,
                   scenarios::PlanGoal goal, Diagnostics& found);

// best_world.cpp: what is known of the best option's world.
void add_provenance(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                    Plan& plan);

// own_pools.cpp: the scenario's own pools beside the options, and whether to keep them.
void add_today(const BlockSearch& search, const RunOptions& run, Plan& plan);

// plan_notes.cpp: only Jobs, and not those of a log, which come every month.
bool runs_once(const scenarios::Scenario& scenario);
// `base`: the scenario as it is judged.
void add_notes(const scenarios::Scenario& written, const scenarios::Scenario& base,
               const models::Catalogue& catalogue, Plan& plan);

// recorded_bill.cpp: nullopt without recorded jobs, or without a price of such GPUs.
std::optional<RecordedBill> recorded_bill(const scenarios::Scenario& base,
                                          const models::Catalogue& catalogue);

}  // namespace slicewise::sim
