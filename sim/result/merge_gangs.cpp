#include <algorithm>

#include "../world/admission.hpp"
#include "merge.hpp"

namespace slicewise::sim {
namespace {

std::vector<int> gpus_in(GpuMask set) {
  std::vector<int> gpus;
  for (int gpu = 0; gpu < GpuSets::kMostGpus; ++gpu) {
    if ((set >> gpu & 1U) != 0) gpus.push_back(gpu);
  }
  return gpus;
}

}  // namespace

std::optional<GangFigures> gang_figures(const World& world, std::size_t w,
                                        std::span<const Replication> replications) {
  const WorkloadModel& model = world.workloads[w];
  if (most_gpus(model) == 1) return std::nullopt;
  GangFigures figures;
  figures.gpus = most_gpus(model);
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    for (GpuMask set = 1; set < kGpuSets; ++set) {
      const double pods = mean_over(replications, [&](const Replication& r) {
        return r.workloads[w].pods_by_gpu_set[p * kGpuSets + set];
      });
      if (pods == 0) continue;
      const PoolModel& pool = world.pools[p];
      figures.sets.push_back({pool.name, gpus_in(set), pods, pool.gpu_sets.all_linked(set),
                              all_reduce_time(pool, model, set)});
    }
  }
  double all_reduce_ns = 0;
  double working_ns = 0;
  for (const Replication& r : replications) {
    all_reduce_ns += r.workloads[w].all_reduce_ns;
    working_ns += static_cast<double>(r.workloads[w].working.ns);
  }
  if (working_ns > 0) figures.all_reduce_share = std::min(1.0, all_reduce_ns / working_ns);
  return figures;
}

}  // namespace slicewise::sim
