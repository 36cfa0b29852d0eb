#pragma once

#include "slicewise/sim/device/round_robin.hpp"

namespace slicewise::sim {

// One GPU that belongs to one context at a time: requests run whole, in order of start.
// The same interface as RoundRobin; several contexts (which exclusive use does not produce, but a
// pod that ignores the device plugin does) are served first come, first served.
class Exclusive;  // (H3)

}  // namespace slicewise::sim
