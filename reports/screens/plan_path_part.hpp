#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "slicewise/sim/plan.hpp"

#include "screen.hpp"

namespace slicewise::reports {

// "FROM WHERE YOU ARE": the present pools, then step by step what becomes of them, what that saves
// and who restarts.
ScreenPart plan_path_part(const sim::PlanPath& path, const TextStyle& style);
// The same of one step, from 1 on.
std::vector<std::string> step_sentences(const sim::PlanPath& path, std::size_t number);

}  // namespace slicewise::reports
