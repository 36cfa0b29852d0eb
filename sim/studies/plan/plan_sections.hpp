#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "block_search.hpp"

// What a plan says of its best option beyond the ranking.
namespace slicewise::sim {

// What the nodes of the pool cost; nullopt: they are bought in two ways, or come and go.
std::optional<double> monthly_of(const BlockSearch& search, const PoolChoice& pool);

struct ReplicasCurve {
  std::vector<ReplicasPoint> points;
  std::optional<std::size_t> knee;
  std::string binding;
};

// More and more pods on each GPU of the option's first pool. Empty for several pools, for nodes
// that are bought in two ways and for what does not share whole GPUs.
ReplicasCurve replicas_curve(const BlockSearch& search, const PlanOption& best, ProbeBatch& probes);

bool has_one_of(const PoolChoice& pool, const std::vector<std::string>& workloads);

// What the pools of an option may cost that are planned anew.
struct PoolCap {
  bool cheaper = false;                       // each less than it does
  std::optional<double> only = std::nullopt;  // dollars a month, of an option's only pool
};

// The best option with the pools of these workloads planned anew as `search` has it, and then the
// pools of whoever misses something beside them. nullopt: that does not stand.
std::optional<PlanOption> pools_anew(const BlockSearch& search, const PlanOption& best,
                                     const std::vector<std::string>& workloads, const PoolCap& cap,
                                     ProbeBatch& probes);

// The best option with every pool that the input concerns planned anew where that is `factor` times
// what it is; where few workloads are divided, everything is. `cap`: dollars a month; what costs as
// much or more need not be found.
std::optional<PlanOption> planned_anew(const BlockSearch& search, const PlanOption& best,
                                       const std::string& input, double factor,
                                       std::optional<double> cap, ProbeBatch& probes);

// Whether the option stands where the input is `factor` times what it is, by the rules by which one
// is chosen.
bool bears(const BlockSearch& search, const PlanOption& option, const std::string& input,
           double factor, ProbeBatch& probes);

// Every workload of which it misses an objective there, or does not clearly hold it.
std::vector<std::string> missed_with(const BlockSearch& search, const PlanOption& option,
                                     const std::string& input, double factor, ProbeBatch& probes);

struct Flips {
  std::vector<Flip> found;
  std::size_t left_out = 0;  // changes, as each simulation is dear
};

// At which changes of its inputs the first of `options` stops being the best.
Flips find_flips(const BlockSearch& search, const std::vector<PlanOption>& options,
                 ProbeBatch& probes);

// Whether the first of `options` stays the best whatever measured.smActive is, where it is not
// given and some type's GPU is not the one that was measured; nullopt: then it does not matter.
std::optional<SmActiveRange> find_sm_active_range(const BlockSearch& search,
                                                  const std::vector<PlanOption>& options,
                                                  ProbeBatch& probes);

// No other option is both cheaper and uses less of its limits.
void mark_pareto(std::vector<PlanOption>& options);

// How much more load a plan's option bears.
struct Headroom {
  std::optional<double> passed;  // times the load that is borne
  std::optional<double> failed;  // ... at which an objective breaks
  std::string binding;           // which
  bool interrupted = false;
};

// All empty when nothing can be scaled, or nothing has an objective.
Headroom headroom_of(const scenarios::ScenarioSet& set, const scenarios::Scenario& base,
                     const models::Catalogue& catalogue, const RunOptions& run,
                     const PlanOption& option);

bool asks_for_headroom(const std::vector<scenarios::Policy>& policies);

// The policies once the headroom is known: those of `option.figures` are judged anew.
void judge_with_headroom(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                         const RunOptions& run, const Headroom& headroom, PlanOption& option);

// One sentence or none: an instance type that holds the pods where none that was tried does; else
// the limit of nodes or cost that was in the way of what could stand, and how far. No full stop.
// REQUIRES: plan.options.empty().
std::vector<std::string> nearest_to_standing(const BlockSearch& search,
                                             const std::vector<std::string>& workloads,
                                             const std::vector<RejectedChoice>& rejected);

// recorded_bill.cpp: nullopt without recorded jobs, or without a price of such GPUs.
std::optional<RecordedBill> recorded_bill(const scenarios::Scenario& base,
                                          const models::Catalogue& catalogue);

}  // namespace slicewise::sim
