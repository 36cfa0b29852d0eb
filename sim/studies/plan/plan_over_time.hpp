#pragma once

#include "block_search.hpp"

// What the best option becomes while traffic grows, and what is paid in advance for it.
namespace slicewise::sim {

// Month by month, each with `growth` more traffic than the one before: the option stays until it
// misses something, then it is planned anew, with the pods that there are or with as many more as
// there is traffic, or with up to `vary_pods` more or fewer of each Service, whichever is cheaper.
// REQUIRES: what is minimised is the monthly cost, the scenario has traffic where growth > 0,
// months > 0.
PlanOverTime over_time(const BlockSearch& search, const PlanOption& best, double growth, int months,
                       int vary_pods);

}  // namespace slicewise::sim
