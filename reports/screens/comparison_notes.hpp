#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/comparison.hpp"

// What a reader needs to judge a comparison, below every report.
namespace slicewise::reports {

// One sentence each: how many pods share and why, what was changed in the scenario, where inputs
// come from. Unless `full`, figures carried over to other GPUs and assumed inputs are counted only.
std::vector<std::string> comparison_notes(const sim::StrategyComparison& comparison, bool full);

// "seed 42 · 5 runs · ... · slicewise v0.1.0"
std::string comparison_origin(const sim::StrategyComparison& comparison, const TextStyle& style);

}  // namespace slicewise::reports
