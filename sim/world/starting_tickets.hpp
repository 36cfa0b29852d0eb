#pragma once

#include <cstddef>
#include <cstdint>

#include "slicewise/sim/world.hpp"

namespace slicewise::sim {

// What a node offers when it starts: nos offers others later.
std::int64_t tickets_at_start(const PoolModel& pool, std::size_t offer);

}  // namespace slicewise::sim
