#include "nominations.hpp"

namespace slicewise::sim {

PodRoom Nominations::taken(std::uint32_t node, std::uint32_t pod,
                           const WorkloadModel& asking) const {
  const WorkloadModel& model = cluster_.model(cluster_.pods[pod]);
  const std::size_t pool = index(cluster_.nodes[node].pool);
  const bool same =
      model.resource && asking.resource && model.on_pool[pool].offer == asking.on_pool[pool].offer;
  return {1, model.spec.pod.cpu_request.count, model.spec.pod.memory_request.count,
          same ? model.tickets : 0};
}

PodRoom Nominations::room(std::uint32_t n, std::uint32_t pod) const {
  const Node& node = cluster_.nodes[n];
  const WorkloadModel& model = cluster_.model(cluster_.pods[pod]);
  const auto offer = model.on_pool[index(node.pool)].offer;
  PodRoom room{node.pods_free, node.cpu_free.count, node.memory_free.count,
               offer ? node.tickets_free[*offer] : 0};
  for (const Nominee& other : all_) {
    if (other.node == n && other.pod != pod && priority(other.pod) >= priority(pod)) {
      room -= taken(n, other.pod, model);
    }
  }
  return room;
}

}  // namespace slicewise::sim
