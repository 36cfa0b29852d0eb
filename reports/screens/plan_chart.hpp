#pragma once

#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/plan.hpp"

namespace slicewise::reports {

// Dollars a month against the share of its tightest limit of everything that a plan simulated, in
// twelve lines of text: options by their rank, a star beside those that nothing beats in both, a
// cross for what was rejected. "" where there are fewer than three such points, or no objectives.
std::string plan_chart(const sim::Plan& plan, const TextStyle& style);

}  // namespace slicewise::reports
