#pragma once

#include <string>

#include "slicewise/sim/stamp.hpp"

// What the screens of a replay and of an inflation begin and end with.
namespace slicewise::reports {

// The first line of what an interrupt cut short; "" of what is whole.
std::string replay_alarm(bool interrupted);

// The last line: trace, seed, version and prices.
std::string replay_origin(const sim::Stamp& stamp);

}  // namespace slicewise::reports
