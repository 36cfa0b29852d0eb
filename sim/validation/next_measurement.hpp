#pragma once

#include <optional>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/sim/calibration.hpp"

#include "law_fit.hpp"

// What is worth measuring next.
namespace slicewise::sim::profile_fit {

// Of what could be measured of a batch and was not that of which least is known; nullopt where all
// of it is known well enough. `like`: a row of the batch.
std::optional<NextMeasurement> next_measurement(const Company& company, const Ignorance& ignorance,
                                                const models::Catalogue& catalogue,
                                                const Measurement& like,
                                                const FittedProfile& fitted);

}  // namespace slicewise::sim::profile_fit
