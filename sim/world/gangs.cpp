#include "gangs.hpp"

#include <algorithm>
#include <cmath>

namespace slicewise::sim {

int most_gpus(const WorkloadModel& workload) {
  int most = 1;
  for (const PoolDemand& demand : workload.on_pool) most = std::max(most, demand.gpus);
  return most;
}

Duration all_reduce_time(const PoolModel& pool, const WorkloadModel& workload, GpuMask gpus) {
  const auto& work = workload.spec.work;
  if (!work || !work->all_reduce) return {};
  const double bytes = static_cast<double>(work->all_reduce->bytes_per_step.count);
  const double seconds = bytes / pool.gpu_sets.all_reduce_bytes_per_second(gpus);
  return nanoseconds(std::llround(seconds * 1e9));
}

int gpus_of_pod(const PoolModel& pool, std::size_t offer, std::int64_t count) {
  const bool whole = std::ranges::all_of(pool.kinds, [&](const DomainKind& kind) {
    const bool offered =
        std::ranges::find(kind.tickets, offer, &Tickets::offer) != kind.tickets.end();
    return !offered ||
           (kind.partition.empty() && std::holds_alternative<models::Exclusive>(kind.sharing));
  });
  return whole ? static_cast<int>(std::min<std::int64_t>(count, GpuSets::kMostGpus)) : 1;
}

}  // namespace slicewise::sim
