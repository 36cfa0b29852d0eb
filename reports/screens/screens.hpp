#pragma once

#include <optional>
#include <string>
#include <string_view>

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

// What a screen has in common with documents and the page.

// "passes", "fails", "undecided".
std::string_view verdict_word(sim::LoadVerdict verdict);

// "Every objective is met up to 53.20 requests/s (2.66 times the scenario's load); at 54.11
// requests/s one is missed."
std::string range_sentence(const sim::MaxLoad& found);

// Load over the scenario's of what is scaled; nullopt when no load passed.
std::optional<double> headroom_of(const sim::ScaledLoad& load);

// Who is hit hardest, by whom. "" where no two were measured.
std::string worst_neighbour(const sim::NeighbourMatrix& matrix);

// The first line of a replay that an interrupt cut short; "" of what is whole.
std::string replay_alarm(bool interrupted);

// The last line of a replay: trace, seed, version and prices.
std::string replay_origin(const sim::Stamp& stamp);

}  // namespace slicewise::reports
