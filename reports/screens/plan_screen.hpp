#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/sim/plan.hpp"

#include "screen.hpp"

// What the screen of a plan has in common with its page and its documents.
namespace slicewise::reports {

// "2 x g4dn.xlarge, MPS x4 (asr) + 1 x g5.xlarge, exclusive (tts)"; of one pool without names.
std::string pools_text(const std::vector<sim::PoolChoice>& pools);
// More and more pods on a GPU; empty without a curve.
Cells replicas_cells(const sim::Plan& plan, const TextStyle& style);
// How many pods per GPU the recommendation has, and how that goes with where the cost stops
// falling;
// "" without a curve.
std::string replicas_sentence(const sim::Plan& plan);
// "pods on one GPU share GPU memory, fatal faults"; "" when they share nothing that matters.
std::string isolation_risk(const sim::PlanOption& option);
// "Recommended: ...", why, risk, what flips it.
std::vector<std::string> plan_answer(const sim::Plan& plan, const TextStyle& style);

}  // namespace slicewise::reports
