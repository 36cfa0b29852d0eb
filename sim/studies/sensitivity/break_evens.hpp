#pragma once

#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/sensitivity.hpp"
#include "slicewise/sim/world.hpp"

#include "../probe/inputs.hpp"
#include "outcomes.hpp"

namespace slicewise::sim {

// One end of an effect that was simulated.
struct VariedWorld {
  std::size_t place = 0;  // into SensitivitySubject::places
  double factor = 1;
  std::optional<Simulated> result;
};

// What is varied, and what came of it.
struct SensitivitySubject {
  Scenario base;
  World world;
  const Catalogue* catalogue = nullptr;
  std::vector<InputPlace> places;
  Simulated as_is;
  std::vector<VariedWorld> varied;
};

// For the `most` inputs that move an objective furthest: bisection between the factors at which all
// objectives pass and one fails, within a factor of 8 up or down and with few simulations of each,
// side by side. BreakEven::effect is the place.
std::vector<BreakEven> find_break_evens(const SensitivitySubject& subject, int most,
                                        Simulations& simulations);

}  // namespace slicewise::sim
