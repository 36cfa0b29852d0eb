#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/pool_choice.hpp"
#include "slicewise/sim/world.hpp"

// Which nodes are for which workloads, as people label and taint them, in today's pools and others.
namespace slicewise::sim {

// Whether pods of the workload may run on nodes of the pool.
bool is_home(const Scenario& base, const NodePool& pool, const Workload& workload);

// Labels that say which pool a node is of, which GPU it has and how that is shared: each
// configuration has others.
bool names_the_node(std::string_view label);

// Why the pods of one of the workloads run on no node of the scenario's pools, whatever its type.
std::optional<Reason> why_homeless(const Scenario& base, const std::vector<std::string>& workloads);

// Whose claim of DRA selects nothing of what the world's pools have, as far as it says which GPUs;
// how they are shared or cut (type, profile) is a choice.
std::optional<Reason> why_unclaimed(const Scenario& base, const World& world,
                                    const Catalogue& catalogue);

// Labels and taints of the nodes that workloads have today go with them, to any type: of the labels
// those that they select, of the taints those that all of them tolerate, or without which one of
// them has no node today.
void take_nodes_of(const Scenario& base, const PoolChoice& choice, NodePool& pool);

// Pods tolerate a taint that is named as what they ask for. Where they ask for something else from
// now on, they have to say it.
void keep_tolerated(const Scenario& base, const PodTemplate& before, PodTemplate& pod);

// Quotas of Kueue are of today's pools: where others are looked at, or one pod of each workload, no
// workload is in a queue, in today's pools neither. Pods without a GPU are left to today's nodes,
// too.
Scenario without_queues(Scenario scenario);
// Policies of severity Require as those of Deny: what the best configuration alone has, or none
// that is looked at, such as headroom, is not asked of each.
Scenario with_denials(Scenario scenario);
// Says so of queues, where there are any: "plans are".
void tell_of_queues(const Scenario& scenario, std::string_view what_is, Diagnostics& notes);

}  // namespace slicewise::sim
