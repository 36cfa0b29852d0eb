#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cluster_metrics.hpp"
#include "gpu_metrics.hpp"
#include "importers.hpp"

namespace slicewise::scenarios {

Expected<Imported> import_prometheus(std::span<const SourceText> files,
                                     const ImportOptions& options) {
  ImportReport report(options.skip_bad);
  ClusterMetrics cluster;
  GpuMetrics gpus;
  Diagnostics problems;
  const SeriesVisitor visit = [&](const Labels& labels, const std::vector<Sample>& samples,
                                  const SourceLocation& where) {
    if (cluster.add(labels, samples, where) || gpus.add(labels, samples, where)) return;
    report.skipped(fmt::format("series of {}, which is not used", labels.metric().substr(0, 60)),
                   [&] { return where; });
  };
  for (const SourceText& file : files) {
    for (Diagnostic& problem : read_answers(file, visit, report)) {
      problems.push_back(std::move(problem));
    }
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  if (report.has_failed()) return tl::unexpected(report.errors());
  if (cluster.empty() && gpus.empty()) {
    return not_the_format(
        {files.front().name, 1, 1},
        "no series of kube-state-metrics (kube_pod_...) or DCGM exporter (DCGM_FI_...)",
        "query kube_pod_created, kube_pod_container_resource_requests, "
        "DCGM_FI_DEV_GPU_UTIL, ...");
  }
  std::vector<PodRecord> pods = cluster.pods(cluster.latest(), report);
  if (!gpus.empty()) gpus.credit(pods, options, report);
  std::erase_if(pods, [&](const PodRecord& pod) {
    if (pod.arrival) return false;
    report.skipped("pods without a time of creation or start: query kube_pod_created",
                   [&] { return pod.where; });
    return true;
  });
  JobTrace trace = trace_of_pods(std::move(pods), options, report);
  const auto jobs = static_cast<std::int64_t>(trace.size());
  return Imported{std::move(trace), report.take_log(jobs)};
}

}  // namespace slicewise::scenarios
