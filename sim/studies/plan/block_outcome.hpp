#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "block_candidates.hpp"

// What becomes of a block's candidates once it is known how many of their nodes stand.
namespace slicewise::sim {

// Whether nodes for the workloads may come and go, as the pods of some do.
bool may_come_and_go(const BlockSearch& search, const std::vector<std::string>& names);

// Whether the workload needs its nodes at any time, where those of others come and go.
bool is_always_there(const Scenario& base, const std::string& name);

// Whether all of them need nodes at any time: of where nodes may come and go, those some of whose
// pods are always there.
bool need_nodes_always(const BlockSearch& search, const std::vector<std::string>& names);

// The same nodes and GPUs, whatever batches their workloads take.
bool same_nodes(const PoolChoice& a, PoolChoice b);

// Where spot alone does not stand, so many of the nodes that stand as on-demand stay on-demand,
// as few as will do.
std::vector<BlockCandidate> mixed_candidates(const std::vector<BlockCandidate>& candidates);

// Where pods come and go nodes may do so with them, but where as many as there may be of the kind
// do not stand either. What is too dear as nodes that stay may be cheapest by the hour.
std::vector<BlockCandidate> elastic_candidates(const BlockSearch& search,
                                               const std::vector<BlockCandidate>& candidates);

// What said no of those that never stood is known; the rest of their figures is for people.
void complete_rejected(const BlockSearch& search, std::vector<BlockCandidate>& candidates);

// The best `top` options of those that stand, and why the others do not.
void sort_out(std::vector<BlockCandidate> candidates, PlanGoal goal, std::size_t top,
              BlockResult& result);

}  // namespace slicewise::sim
