#pragma once

#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/neighbours.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/replay/replay.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/sensitivity.hpp"
#include "slicewise/sim/validation.hpp"

#include "screen.hpp"

// What people read of what a verb found, wherever they read it.
namespace slicewise::reports {

Screen screen_of(const sim::Result& result, const TextStyle& style, Detail detail);
Screen screen_of(const sim::StrategyComparison& comparison, const TextStyle& style, Detail detail);
Screen screen_of(const sim::MaxLoad& found, const TextStyle& style, Detail detail);
// One row per figure of a workload, one column per neighbour and one for all of them together, and
// who is hit hardest.
Screen screen_of(const sim::NeighbourMatrix& matrix, const TextStyle& style, Detail detail);
Screen screen_of(const sim::SensitivityStudy& study, const TextStyle& style, Detail detail);
Screen screen_of(const sim::ReplayStudy& study, const TextStyle& style, Detail detail);
Screen screen_of(const sim::InflationStudy& study, const TextStyle& style, Detail detail);
// Studies side by side, what they add up to, and what each was fitted on.
Screen screen_of(const sim::ValidationResult& result, const TextStyle& style, Detail detail);
Screen screen_of(const sim::Plan& plan, const TextStyle& style, Detail detail);

}  // namespace slicewise::reports
