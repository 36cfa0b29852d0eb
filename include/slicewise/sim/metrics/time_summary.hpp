#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "slicewise/sim/metrics/histogram.hpp"
#include "slicewise/sim/result.hpp"

namespace slicewise::sim {

// Quantile of Student's t law. REQUIRES: 0 < p < 1, degrees of freedom > 0.
double student_t(double p, double degrees_of_freedom);
// Half of a 95 % interval in standard errors.
double student_t_975(double degrees_of_freedom);

// Half width of the 95 % confidence interval of the mean of independent replications
// (Student's t). nullopt with fewer than two values.
std::optional<double> half_width_95(std::span<const double> means);

// With fewer values the 99.9th percentile is one of the ten largest: a figure with a caveat.
inline constexpr std::int64_t kPlentyForP999 = 10'000;

// Quantiles (nearest rank) of samples pooled over replications, with the 95 % intervals of the
// mean, from the replications' own, and of the quantiles. nullopt when there is no sample at all.
std::optional<TimeSummary> summarize(std::span<const std::vector<Duration>> by_replication);
std::optional<TimeSummary> summarize(std::span<const Histogram> by_replication);

// Half width of the 95 % interval of a quantile, from the replications' own quantiles and, in the
// tail, from how unevenly they share what is above it: slow requests come in bursts. nullopt with
// fewer than two replications, and when one has so few values that its quantile is its largest
// value: the spread of maxima says little of the pooled quantile. REQUIRES: 0 < q < 1.
std::optional<Duration> quantile_half_width(double q,
                                            std::span<const Histogram* const> by_replication);

}  // namespace slicewise::sim
