#pragma once

#include <cstdint>

#include "node_table.hpp"

namespace slicewise::sim {

// kube-scheduler's NodeResourcesFit with its default resources: the mean over CPU and memory of the
// percentage that would be free with the job on the node, or used. Resources that the node does not
// have are left out; GPUs count on nodes that are known by their GPUs alone.
// Source: Kubernetes pkg/scheduler/framework/plugins/noderesources, least_allocated.go and
// most_allocated.go. Not modelled: 100 m and 200 MB for containers without a request, because a
// trace does not say whether nothing was asked for or nothing was recorded.
template <class Percentage>
std::uint8_t kube_score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node,
                        const Percentage& percentage) {
  const NodeFree& all = nodes.capacity(node);
  const NodeFree& free = nodes.free(node);
  std::int64_t sum = 0;
  std::int64_t resources = 0;
  const auto count = [&](std::int64_t capacity, std::int64_t left) {
    if (capacity == 0) return;
    sum += percentage(capacity, left);
    ++resources;
  };
  count(all.cpu, free.cpu - demand.cpu);
  count(all.memory >> 20, (free.memory - demand.memory) >> 20);
  if (resources == 0) count(all.gpu_milli, free.gpu_milli - demand.total_milli());
  return static_cast<std::uint8_t>(resources == 0 ? 0 : sum / resources);
}

struct LeastAllocated {
  static std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) {
    return kube_score(nodes, demand, node, [](std::int64_t capacity, std::int64_t left) {
      return left * 100 / capacity;
    });
  }
};

struct MostAllocated {
  static std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) {
    return kube_score(nodes, demand, node, [](std::int64_t capacity, std::int64_t left) {
      return (capacity - left) * 100 / capacity;
    });
  }
};

}  // namespace slicewise::sim
