#pragma once

#include <span>

#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/result.hpp"

namespace slicewise::sim {

// Judges one load. `pooled` covers all replications, `singles` has a result for each of them.
// REQUIRES: two replications or more.
LoadProbe judge_probe(double factor, const VariantResult& pooled,
                      std::span<const VariantResult> singles);

// How many times the figure is what it may be, above 1 when it misses; of an availability, the
// requests that were lost. Infinite without a figure.
double objective_excess(const ObjectiveResult& objective);

// Missed without a figure that says by how much: nothing was observed, or more requests were lost
// than the figure leaves out.
bool is_missed_without_figure(const ObjectiveResult& objective);

// The objective that fails and is furthest beyond its limit, into probe.objectives.
std::optional<std::size_t> binding_objective(const LoadProbe& probe);

}  // namespace slicewise::sim
