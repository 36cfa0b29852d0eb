#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/lookup.hpp"

#include "../probe/probe.hpp"
#include "pool_split.hpp"

namespace slicewise::sim {

std::vector<std::vector<std::string>> separable_groups(const Scenario& scenario) {
  using Group = std::vector<std::string>;
  std::vector<Group> groups;
  // Recorded jobs of one trace: those that take several GPUs, and the others by how many of them
  // fit a GPU.
  std::map<std::pair<std::string, int>, std::size_t> of_traces;
  const auto size_of = [](const Workload& workload) {
    if (has_several_gpus(workload)) return 0;
    const Bytes memory = workload.gpu_memory.resident;
    return memory <= gibibytes(8) ? 1 : memory <= gibibytes(16) ? 2 : 3;
  };
  for (const auto& workload : scenario.workloads) {
    if (workload.count == 0) continue;
    if (workload.trace) {
      const auto [at, is_new] =
          of_traces.try_emplace({workload.trace->workload, size_of(workload)}, groups.size());
      if (!is_new) {
        groups[at->second].push_back(workload.name.value);
        continue;
      }
    }
    groups.push_back({workload.name.value});
  }
  for (const auto& pipeline : scenario.pipelines) {
    Group together;
    std::vector<Group> apart;
    for (Group& group : groups) {
      const bool part = std::ranges::any_of(pipeline.stages, [&](const auto& stage) {
        return contains(group, stage.workload.value);
      });
      if (part) {
        together.insert(together.end(), group.begin(), group.end());
      } else {
        apart.push_back(std::move(group));
      }
    }
    if (!together.empty()) apart.push_back(std::move(together));
    groups = std::move(apart);
  }
  return groups;
}

}  // namespace slicewise::sim
