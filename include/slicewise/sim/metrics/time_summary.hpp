#pragma once

#include <optional>
#include <span>
#include <vector>

#include "slicewise/sim/metrics/histogram.hpp"
#include "slicewise/sim/result.hpp"

namespace slicewise::sim {

// Quantiles (nearest rank) of samples pooled over replications, with the 95 % interval of the mean
// from the replications' own means. nullopt when there is no sample at all.
std::optional<TimeSummary> summarize(std::span<const std::vector<Duration>> by_replication);
std::optional<TimeSummary> summarize(std::span<const Histogram> by_replication);

}  // namespace slicewise::sim
