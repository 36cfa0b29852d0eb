#pragma once

#include <optional>
#include <vector>

#include "block_search.hpp"

// How many pods a Service has, as a decision of the plan.
namespace slicewise::sim {

// Those of the option that are not the scenario's.
ServicePods changed_pods(const PlanOption& option);

Scenario with_pods(Scenario base, const ServicePods& pods);

// As `search`, for `base`, which has these pods. REQUIRES: `base` outlives what is returned.
BlockSearch search_with_pods(const BlockSearch& search, const Scenario& base, ServicePods pods);

// The most that each Service may have with up to `more`, where that is another number than its own.
ServicePods pods_with_more(const BlockSearch& search, int more);

// The cheapest that is found where each Service may have up to `most` pods more or fewer: from the
// scenario's numbers, or the first that stand; of few Services in every combination, and one
// Service after the other while that saves.
// nullopt: nothing cheaper than `best`. REQUIRES: what is minimised is the monthly cost.
std::optional<PlanOption> best_with_other_pods(const BlockSearch& search,
                                               const std::optional<PlanOption>& best, int most);

// No fleet costs less in a month, whatever the numbers; nullopt: that is not known.
std::optional<double> least_with_other_pods(const BlockSearch& search, int most);

// The cheapest where an input is otherwise, as `search` has it; nullopt also where it varies no
// pods.
std::optional<PlanOption> cheaper_with_other_pods(const BlockSearch& search,
                                                  const std::optional<PlanOption>& best);

// What one pod more or fewer of one Service would save, where that is worth a word; without a best
// option what would stand. Cheapest first.
std::vector<PlanOption> hints_of_other_pods(const BlockSearch& search,
                                            const std::optional<PlanOption>& best);

}  // namespace slicewise::sim
