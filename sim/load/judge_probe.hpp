#pragma once

#include <span>

#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/result.hpp"

namespace slicewise::sim {

// Judges one load. `pooled` covers all replications, `singles` has a result for each of them.
// REQUIRES: two replications or more.
LoadProbe judge_probe(double factor, const VariantResult& pooled,
                      std::span<const VariantResult> singles);

// The objective that fails and is furthest beyond its limit, into probe.objectives.
std::optional<std::size_t> binding_objective(const LoadProbe& probe);

}  // namespace slicewise::sim
