#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

// Inputs that were measured are known within an interval. A run whose replications draw them from
// it shows what that ignorance does to the answer.
namespace slicewise::sim {

// A profile as it may be in truth: soloMs and normP lognormal, the others normal, together as they
// are correlated, none beyond what it can be. Same seed, replication and name, same draw.
models::WorkloadProfile drawn_profile(models::WorkloadProfile profile, std::uint64_t seed,
                                      std::uint32_t replication);

// The same of a language model: the times of its step, lognormal.
models::LlmModel drawn_model(models::LlmModel model, std::uint64_t seed, std::uint32_t replication);

// Whether run_sampled() has anything to draw. `world`: of the scenario.
bool has_uncertain_inputs(const scenarios::Scenario& scenario, const World& world,
                          const models::Catalogue& catalogue);

// What to say where it has not.
inline constexpr std::string_view kNothingToDraw =
    "there is nothing to draw: no workload names a profile or a language model whose figures have "
    "intervals, and no gpuBusy, capacityShare, kernelTime or normP on which sharing hangs is known "
    "by its bounds alone";

// What the scenario says itself stays; of the rest each profile says what was drawn. What a profile
// bears may be refused at the ends of its intervals. `world`: of the scenario as it is; `models`:
// see with_drawn_models().
Expected<World> drawn_world(scenarios::Scenario scenario, const World& world,
                            const models::Catalogue& models, std::size_t replication);
// A world takes language models from the catalogue: one with those of the scenario as they were
// drawn; nullopt where none is uncertain.
std::optional<models::Catalogue> with_drawn_models(const scenarios::Scenario& scenario,
                                                   const models::Catalogue& catalogue,
                                                   std::uint32_t replication);

// Worlds with all their replications, for each of which the inputs are drawn anew; `scenarios`:
// theirs. nullopt: none was finished. INPUT_MISSING when there is nothing to draw.
Expected<std::vector<std::optional<VariantResult>>> simulate_drawn(
    std::span<const scenarios::Scenario> scenarios, std::span<const World* const> worlds,
    const models::Catalogue& catalogue, const RunOptions& options = {});

// run_scenario() with the profiles and language models of each replication drawn anew, and the
// gpuBusy of batch work that shares GPUs, where nobody gives it, from the least to the most of
// scenarios::busy_range() over the replications, and the capacityShare of what shares them under
// MPS from smActive to 1.4 times that; p, where nobody gives it, from 1 to 6; figures that the
// scenario gives stay. Results have `ranges`:
// where another replication lies, and where one of both is not given from the least to the most of
// them. INPUT_MISSING when there is nothing of either.
Expected<Result> run_sampled(const scenarios::ScenarioSet& set, const models::Catalogue& catalogue,
                             const RunOptions& options = {});

}  // namespace slicewise::sim
