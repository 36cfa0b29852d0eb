#pragma once

#include "pool_choices.hpp"

namespace slicewise::sim {

// What the options and the scenario's planning section leave to choose from; unknown names are
// errors, all of them at once.
Expected<PlanSpace> plan_space(const scenarios::Scenario& scenario,
                               const models::Catalogue& catalogue, const PlanOptions& options);

}  // namespace slicewise::sim
