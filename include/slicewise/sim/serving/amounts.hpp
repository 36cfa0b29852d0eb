#pragma once

#include <cstdint>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/units.hpp"

// Draws from the laws that a scenario names. Each takes one number of the stream, none where the
// law is constant.
namespace slicewise::sim {

// How long a time of the law's shape is against the mean: mean 1.
double draw_size(const scenarios::ServiceTime& law, RandomStream& random);

// A time of the law's shape, scaled to have this mean; at least 1 ns.
Duration draw_time(const scenarios::ServiceTime& law, Duration mean, RandomStream& random);

// A time of the law, with its own mean.
inline Duration draw_time(const scenarios::ServiceTime& law, RandomStream& random) {
  return draw_time(law, law.mean, random);
}

// A whole number of the law, at least 1 (or `least`, where that is given), at most `most`. The cut
// moves the mean.
std::int64_t draw_amount(const scenarios::RandomAmount& law, RandomStream& random);

// The largest that counts: at most `most`, and what one draw of a thousand passes.
std::int64_t largest_amount(const scenarios::RandomAmount& law);

}  // namespace slicewise::sim
