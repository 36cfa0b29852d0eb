#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "slicewise/sim/plan.hpp"

namespace slicewise::reports {

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
