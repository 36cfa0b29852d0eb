#pragma once

#include <optional>
#include <vector>

#include "block_search.hpp"

// Scaling down at night: pods that go while the load allows it, on nodes that come and go with
// them.
namespace slicewise::sim {

// What a month costs by whom pods are scaled, simulated over whole days.
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

}  // namespace slicewise::sim
