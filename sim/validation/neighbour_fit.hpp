#pragma once

#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/measurements.hpp"
#include "slicewise/sim/calibration.hpp"

// How workloads fare beside each other, from what was measured of each alone and of both together.
namespace slicewise::sim::profile_fit {

// The fitted profile that has what was measured beside a neighbour alone; nullptr without one.
FittedProfile* alone_of(FittedProfiles& fitted, const models::Measurement& m);

// What was measured beside a neighbour says how much slower that is only where the time alone is
// known, and the batch of the neighbour.
Diagnostics unclear_pairs(FittedProfiles& fitted, const std::vector<models::Measurement>& pairs);

// Gives the profiles their sensitivity and pressure, GPU by GPU, and notes what comes of them to
// nothing. `leave_out`: what the other pairs say of each as well. REQUIRES: unclear_pairs() finds
// nothing.
void add_neighbours(const std::vector<models::Measurement>& pairs, bool leave_out,
                    FittedProfiles& fitted);

}  // namespace slicewise::sim::profile_fit
