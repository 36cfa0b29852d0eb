#include <algorithm>

#include "candidates.hpp"

namespace slicewise::sim {

double gpu_busy_ratio(const VariantResult& result) {
  double busy = 0;
  double gpus = 0;
  for (const GpuResult& gpu : result.gpus) busy += gpu.time_busy_ratio * gpu.gpu_share;
  for (const NodePoolResult& pool : result.node_pools) gpus += pool.nodes * pool.gpus_per_node;
  return gpus == 0 ? 0 : busy / gpus;
}

bool loses_pods(const World& world, const VariantResult& result) {
  const PodCounts& pods = result.pods;
  if (pods.failed > 0 || pods.oom_kills > 0 || pods.running_max == 0) return true;
  if (pods.pending_max == 0) return false;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const scenarios::Workload& spec = world.workloads[w].spec;
    const bool done =
        spec.kind == scenarios::WorkloadKind::Job && result.workloads[w].completed >= spec.count;
    if (spec.count > 0 && !done) return true;
  }
  return false;
}

}  // namespace slicewise::sim
