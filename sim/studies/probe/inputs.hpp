#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/sensitivity.hpp"
#include "slicewise/sim/world.hpp"

// The inputs of a scenario, and the scenario with one of them changed.
namespace slicewise::sim {

// An input and where it stands.
struct InputPlace {
  enum class Owner : std::uint8_t { Workload, Pipeline, Pool, Scenario };
  VariedInput input;
  Owner owner = Owner::Workload;
  std::size_t index = 0;  // of the owner, in the scenario and in its world
  std::size_t field = 0;  // into the table of fields of workloads or pools; of no use for traffic
};

// `world` is what the scenario builds: it has the figures that the catalogue filled in. Without
// words all inputs; else those of the kinds and paths that are named, each once.
Expected<std::vector<InputPlace>> choose_inputs(const Scenario& scenario, const World& world,
                                                std::span<const std::string> words);

// What the input is at a factor: shares of one stay within it, whole numbers whole.
double value_at(const Scenario& scenario, const InputPlace& place, double factor);

// The world of the scenario with `factor` times the input. Errors are those of build_world.
Expected<World> world_at(const Scenario& scenario, const Catalogue& catalogue,
                         const InputPlace& place, double factor);

}  // namespace slicewise::sim
