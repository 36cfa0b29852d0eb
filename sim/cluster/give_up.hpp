#pragma once

#include <functional>

#include "slicewise/sim/metrics/replication.hpp"

namespace slicewise::sim {

// Asked every few thousand events, always at the same ones: true ends the replication.
using GiveUp = std::function<bool(const Replication& so_far)>;

}  // namespace slicewise::sim
