#pragma once

#include <optional>
#include <string>
#include <vector>

#include "block_search.hpp"

// An option where something is otherwise than the scenario says: whether it still stands, and what
// its pools become if they are planned anew.
namespace slicewise::sim {

// Whether the option stands where the input is `factor` times what it is.
PlanProbe probe_of(const BlockSearch& search, const PlanOption& option, const std::string& input,
                   double factor);
bool stands(const PlanAnswer& answer);

// The answer with what the pools cost, which nobody reckons where it is soon clear that they do not
// stand.
PlanAnswer whole_answer(const BlockSearch& search, PlanProbe probe);

// The figures, of a part of the run maybe, at what `whole` costs.
OptionFigures at_cost_of(const OptionFigures& whole, OptionFigures figures);

// Dollars of one node of the first pool.
double monthly_price(const World& world);

// What the nodes of the pool cost; nullopt: they are bought in two ways, or come and go.
std::optional<double> monthly_of(const BlockSearch& search, const PoolChoice& pool);

// Whether the option stands where the input is `factor` times what it is, by the rules by which one
// is chosen.
bool bears(const BlockSearch& search, const PlanOption& option, const std::string& input,
           double factor);

// Its figures there: where its nodes come and go it costs another sum.
OptionFigures figures_with(const BlockSearch& search, const PlanOption& option,
                           const std::string& input, double factor);

// Every workload of which it misses an objective there, or does not clearly hold it.
std::vector<std::string> missed_with(const BlockSearch& search, const PlanOption& option,
                                     const std::string& input, double factor);

bool has_one_of(const PoolChoice& pool, const std::vector<std::string>& workloads);

// What the pools of an option may cost that are planned anew.
struct PoolCap {
  bool cheaper = false;                       // each less than it does
  std::optional<double> only = std::nullopt;  // dollars a month, of an option's only pool
};

// The best option with the pools of these workloads planned anew as `search` has it, and then the
// pools of whoever misses something beside them. nullopt: that does not stand.
std::optional<PlanOption> pools_anew(const BlockSearch& search, const PlanOption& best,
                                     const std::vector<std::string>& workloads, const PoolCap& cap);

// The best option with every pool that the input concerns planned anew where that is `factor` times
// what it is; where few workloads are divided, everything is, and where the plan chooses the
// numbers of pods, it does so anew. `cap`: dollars a month; what costs as much or more need not be
// found.
std::optional<PlanOption> planned_anew(const BlockSearch& search, const PlanOption& best,
                                       const std::string& input, double factor,
                                       std::optional<double> cap);

}  // namespace slicewise::sim
