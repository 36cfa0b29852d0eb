#pragma once

#include "slicewise/sim/plan.hpp"

#include "screen.hpp"

namespace slicewise::reports {

// "FROM WHERE YOU ARE": the present pools, then step by step what becomes of them, what that saves
// and who restarts.
ScreenPart plan_path_part(const sim::PlanPath& path, const TextStyle& style);

}  // namespace slicewise::reports
