#pragma once

#include <cstdint>

#include "slicewise/units.hpp"

namespace slicewise {

// No time that a file or a flag gives is longer: what is added up in a run, no longer than that
// either, stays inside the 292 years of a Duration.
inline constexpr Duration kLongestDuration = hours(std::int64_t{24} * 36'500);

}  // namespace slicewise
