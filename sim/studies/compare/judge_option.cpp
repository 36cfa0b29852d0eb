#include <algorithm>

#include "candidates.hpp"

namespace slicewise::sim {

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
