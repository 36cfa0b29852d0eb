#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/result.hpp"
#include "slicewise/sim/sensitivity.hpp"

#include "../probe/simulations.hpp"

// Which figures of the results are followed, and how they change.
namespace slicewise::sim {

// A figure and where it stands in a result.
struct OutcomePlace {
  enum class Kind : std::uint8_t {
    Monthly,
    Per1kInSlo,
    PerJob,
    Objective,
    LatencyP99,
    JobCompletionP95,
  };
  Kind kind = Kind::Monthly;
  std::size_t workload = 0;
  std::size_t objective = 0;
};

// The bill, the cost of useful work, and of each workload the objective that is nearest to its
// limit; without objectives its p99, or the time its jobs take.
std::vector<OutcomePlace> choose_outcomes(const VariantResult& base);

// Of each replication, where it has one.
std::vector<double> single_values(const OutcomePlace& place, const Simulated& base);

OutcomeFigure outcome_figure(const OutcomePlace& place, const Simulated& base);

// nullopt where one of the two has no value. The interval is that of the differences between
// replications of one index: they have the same random numbers.
std::optional<OutcomeChange> outcome_change(const OutcomePlace& place, const Simulated& base,
                                            const Simulated& changed);

std::vector<ObjectiveFlip> objective_flips(const VariantResult& base, const VariantResult& changed);

// The largest excess over a limit of all objectives; 0 without any.
double worst_excess(const VariantResult& result);

}  // namespace slicewise::sim
