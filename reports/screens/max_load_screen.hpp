#pragma once

#include <optional>
#include <string_view>

#include "slicewise/sim/max_load.hpp"

// What the screen of a highest load has in common with its documents.
namespace slicewise::reports {

// "passes", "fails", "undecided".
std::string_view verdict_word(sim::LoadVerdict verdict);

// Load over the scenario's of what is scaled; nullopt when no load passed.
std::optional<double> headroom_of(const sim::ScaledLoad& load);

}  // namespace slicewise::reports
