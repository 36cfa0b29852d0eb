#pragma once

#include <optional>
#include <vector>

#include "block_search.hpp"

// What a plan says of its best option beyond the ranking.
namespace slicewise::sim {

struct ReplicasCurve {
  std::vector<ReplicasPoint> points;
  std::optional<std::size_t> knee;
  std::string binding;
};

// More and more pods on each GPU of the option's first pool. Empty for several pools and for what
// does not share whole GPUs.
ReplicasCurve replicas_curve(const BlockSearch& search, const PlanOption& best, ProbeBatch& probes);

// At which changes of its inputs the first of `options` stops being the best.
std::vector<Flip> find_flips(const BlockSearch& search, const std::vector<PlanOption>& options,
                             ProbeBatch& probes);

// No other option is both cheaper and uses less of its limits.
void mark_pareto(std::vector<PlanOption>& options);

}  // namespace slicewise::sim
