#pragma once

#include <optional>
#include <vector>

#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/world.hpp"

#include "../probe/probe.hpp"

// What compare_strategies puts side by side on one instance type.
namespace slicewise::sim {

// nodes 0.
struct Candidate {
  PoolChoice choice;
  bool forced = false;
  std::optional<Refusal> refusal;  // where it is known before a world is built
};

// `asked`: pods per shared GPU, where somebody says so.
ReplicaChoice choose_replicas(const Scenario& base, const World& exclusive,
                              std::optional<int> asked);

// What the configuration of the scenario is in the words of a choice; of a MIG layout that is not
// the same on all GPUs, or a plugin of another kind, as near as that comes.
PoolChoice own_choice(const NodePool& pool, const World& own);

// Every strategy at least once on one instance type, in the order of kStrategies. `exclusive`: the
// base scenario on that type, unshared.
std::vector<Candidate> candidates_on(const InstanceType& type, const World& exclusive,
                                     const ReplicaChoice& choice, const Catalogue& catalogue,
                                     const ComparisonOptions& options);

}  // namespace slicewise::sim
