#pragma once

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/load.hpp"

// What is wrong with a scenario once the catalogue is at hand.
namespace slicewise::sim {

// Every mistake of a scenario file in one list, in file order: what the loader found, and the names
// that only the catalogue can judge (instance types, regions, prices, GPUs, profiles, MIG layouts,
// resource names). Names are checked even in a file that did not load, as far as it could be read.
// Figures that are missing and strategies that are not simulated are left to build_world.
Diagnostics check_names(const scenarios::LoadedScenario& loaded,
                        const models::Catalogue& catalogue);

}  // namespace slicewise::sim
