#pragma once

#include <vector>

#include "slicewise/sim/calibration.hpp"

#include "law_fit.hpp"

// How much of its turns a workload uses, from pairs that took turns.
namespace slicewise::sim::profile_fit {

// c/q on this GPU.
double overhead_on(const models::GpuModel& gpu);

// Of each pair that has a row of both: the GPU's time goes by turns, so that speed x duty is to
// that of the other as the parts of a turn that they use. Those that met, directly or over others,
// have them by least squares of logarithms; the largest is 1. What has a row of one only is noted.
// REQUIRES: each was measured alone, too.
void add_turn_uses(const std::vector<Measurement>& pairs, const models::Catalogue& catalogue,
                   FittedProfiles& fitted);

}  // namespace slicewise::sim::profile_fit
