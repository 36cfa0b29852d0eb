#pragma once

#include <optional>
#include <string>

#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/world.hpp"

// How many nodes a pool needs at the very least, without simulating it. Every bound is a necessary
// condition with a margin for chance, so that nothing which could stand is pruned.
namespace slicewise::sim {

struct NodeBound {
  int least = 1;   // no fewer can do
  int most = 1;    // more change nothing: every pod has a node of its own
  Reason why;      // what asks for `least`: "GPU tickets", "host CPU", ...
  Reason refused;  // why no number of nodes can do, half a sentence; empty if some may
};

// REQUIRES: one pool.
NodeBound node_bound(const World& world);

}  // namespace slicewise::sim
