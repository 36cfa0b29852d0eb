#include "nominations.hpp"

namespace slicewise::sim {

PodRoom Nominations::taken(std::uint32_t node, std::uint32_t pod,
                           const WorkloadModel& asking) const {
  const WorkloadModel& model = cluster_.model(cluster_.pods[pod]);
  const std::size_t pool = index(cluster_.nodes[node].pool);
  // Claims and parts are not told by their number, and nobody is stopped for them.
  const bool counts = !model.by_claim && !cluster_.world->pools[pool].books;
  const bool same =
      model.resource && asking.resource && model.on_pool[pool].offer == asking.on_pool[pool].offer;
  return {1, model.spec.pod.cpu_request.count, model.spec.pod.memory_request.count,
          same && counts ? model.tickets : 0};
}

PodRoom Nominations::kept(std::uint32_t n, std::uint32_t pod) const {
  const WorkloadModel& model = cluster_.model(cluster_.pods[pod]);
  PodRoom kept;
  for_each_kept(n, pod, [&](std::uint32_t other) { kept += taken(n, other, model); });
  return kept;
}

}  // namespace slicewise::sim
