#pragma once

#include "slicewise/sim/plan.hpp"

#include "screen.hpp"

namespace slicewise::reports {

// OVER TIME: which pools in which months, what they cost and what to pay in advance.
ScreenPart plan_over_time_part(const sim::PlanOverTime& plan, Detail detail);

}  // namespace slicewise::reports
