#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

// The steps of compare_strategies.
namespace slicewise::sim {

// What the pods of a scenario take of a GPU's memory, with their CUDA contexts.
struct GpuMemoryNeeds {
  std::vector<Bytes> pods;  // largest first
  Bytes largest_process;

  // How many pods, any of them, fit in `memory` together.
  int pods_in(Bytes memory) const;
};
GpuMemoryNeeds gpu_memory_needs(const World& world);

// How many processes MPS has memory for in the pool: its daemon divides what nvidia-smi prints by
// the replicas.
int equal_shares(const PoolModel& pool, const GpuMemoryNeeds& needs);

// Labels that say which GPU a node has and how it is shared: each configuration has others.
bool names_the_node(std::string_view label);

// The base scenario in a given configuration, without the workloads that have no pods.
scenarios::Scenario in_configuration(const scenarios::Scenario& base,
                                     const Configuration& configuration,
                                     const models::Catalogue& catalogue);

// Says what in_configuration() leaves out of `base`.
Diagnostics changes_of(const scenarios::Scenario& base);

ReplicaChoice choose_replicas(const scenarios::Scenario& base, const World& exclusive,
                              const ComparisonOptions& options);

// Every strategy at least once on one instance type, in the order of kStrategies; refused where it
// is known before a world is built. `exclusive`: the base scenario on that type, unshared.
using Candidate = std::variant<Configuration, RefusedOption>;
std::vector<Candidate> candidates_on(const models::InstanceType& type, const World& exclusive,
                                     const ReplicaChoice& choice,
                                     const models::Catalogue& catalogue, bool force);

// Adds a type once; nullptr is ignored.
void add_type(const models::InstanceType* type, std::vector<const models::InstanceType*>& types);
// Adds the type of that name, or those of the family that are still sold; false: there is none.
bool add_types_named(const std::string& name, const models::Catalogue& catalogue,
                     std::vector<const models::InstanceType*>& types);

// Refuses pods that ask for several GPU resources, and a scenario without pods. `what`: "strategies
// are compared", for the message.
void check_pods(const scenarios::Scenario& scenario, std::string_view what, Diagnostics& found);

// What is wrong with the scenario itself: the errors that it has on every instance type. REQUIRES:
// one world or more.
Diagnostics errors_everywhere(std::span<const Expected<World>> worlds);

// REQUIRES: has_errors(found).
const Diagnostic& first_error(const Diagnostics& found);

// As few nodes as hold all pods at once, spread as the scheduler spreads them; nullopt: more than
// `most`. REQUIRES: one pool.
std::optional<int> smallest_node_count(const World& world, int most);

// Why not even an empty node holds a pod; nullopt when one does.
std::optional<std::string> too_large_for_a_node(const World& world);

}  // namespace slicewise::sim
