#include <algorithm>

#include "slicewise/sim/metrics/time_summary.hpp"

#include "merge.hpp"

namespace slicewise::sim {

ScalingFigures scaling_figures(std::size_t workload, std::span<const Replication> replications) {
  ScalingFigures figures;
  const auto count = static_cast<double>(replications.size());
  std::vector<Histogram> start_ups;
  for (const Replication& replication : replications) {
    const ScalingRecord& record = replication.workloads[workload].scaling;
    const auto length_ns = static_cast<double>(std::max<std::int64_t>(1, replication.length.ns));
    figures.mean_replicas += record.replica_ns / length_ns / count;
    figures.max_replicas = std::max(figures.max_replicas, record.most);
    figures.scale_ups += static_cast<double>(record.ups) / count;
    figures.scale_downs += static_cast<double>(record.downs) / count;
    start_ups.push_back(record.start_up);
  }
  figures.start_up = summarize(start_ups);
  return figures;
}

}  // namespace slicewise::sim
