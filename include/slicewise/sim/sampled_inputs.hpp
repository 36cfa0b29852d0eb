#pragma once

#include <cstdint>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/run.hpp"

// Inputs that were measured are known within an interval. A run whose replications draw them from
// it shows what that ignorance does to the answer.
namespace slicewise::sim {

// A profile as it may be in truth: soloMs and normP lognormal, the others normal, together as they
// are correlated, none beyond what it can be. Same seed, replication and name, same draw.
models::WorkloadProfile drawn_profile(models::WorkloadProfile profile, std::uint64_t seed,
                                      std::uint32_t replication);

// run_scenario() with the profiles of each replication drawn anew; figures that the scenario gives
// stay. Results have `ranges`. INPUT_MISSING when no workload names a profile with uncertainty.
Expected<Result> run_sampled(const scenarios::ScenarioSet& set, const models::Catalogue& catalogue,
                             const RunOptions& options = {});

}  // namespace slicewise::sim
