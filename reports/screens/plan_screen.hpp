#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/plan.hpp"

#include "screen.hpp"

// The parts of the screen of a plan, some of which its page and `explain` have as well.
namespace slicewise::reports {

// More and more pods on a GPU; empty without a curve.
Cells replicas_cells(const sim::Plan& plan, const TextStyle& style);

// Dollars a month against the share of its tightest limit of everything that a plan simulated, in
// twelve lines of text: options by their rank, a star beside those that nothing beats in both, a
// cross for what was rejected. "" where there are fewer than three such points, or no objectives.
std::string plan_chart(const sim::Plan& plan, const TextStyle& style);

// OVER TIME: which pools in which months, what they cost and what to pay in advance.
ScreenPart plan_over_time_part(const sim::PlanOverTime& plan, Detail detail);

// "FROM WHERE YOU ARE": the present pools, then step by step what becomes of them, what that saves
// and who restarts.
ScreenPart plan_path_part(const sim::PlanPath& path, const TextStyle& style);
// The same of one step, from 1 on.
std::vector<std::string> step_sentences(const sim::PlanPath& path, std::size_t number);

// Rejected configurations of a plan with one reason, up to the figures in it.
struct RejectedGroup {
  std::string what;    // "MIG, MIG + time-slicing on g4dn, g6.xlarge (6 configurations)"
  std::string reason;  // "MIG_UNSUPPORTED: no MIG on T4, L4"; of figures the least and the most
  std::size_t count = 0;
};

// What was simulated first: it says more than what a rule refused. `all_types` names every instance
// type, else those of a family together.
std::vector<RejectedGroup> rejected_groups(const sim::Plan& plan, bool all_types);

}  // namespace slicewise::reports
