#pragma once

#include <cstdint>
#include <vector>

namespace slicewise::sim {

// Groups of pods and configurations that could hold them.
struct FlowProblem {
  std::vector<int> pods;                        // of each group
  std::vector<int> capacity;                    // pods that each configuration can hold in all
  std::vector<std::vector<std::int64_t>> cost;  // of a pod of a group there; < 0: it cannot go
};

// For each group the configuration that most of its pods go to when all are placed as cheaply as
// possible: a min-cost flow with pods as units (Boost.Graph, successive shortest paths). A group
// that nothing can hold gets the index capacity.size().
std::vector<std::size_t> assign_by_flow(const FlowProblem& problem);

}  // namespace slicewise::sim
