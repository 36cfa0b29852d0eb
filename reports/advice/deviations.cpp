#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "slicewise/reports/advice.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../document/stored_fields.hpp"

namespace slicewise::reports {
namespace {

std::optional<double> in_seconds(const std::optional<Duration>& time) {
  return time ? std::optional(to_seconds(*time)) : std::nullopt;
}

std::optional<double> part_of(const std::optional<sim::TimeSummary>& times,
                              Duration sim::TimeSummary::*part) {
  return times ? std::optional(to_seconds((*times).*part)) : std::nullopt;
}

// GPUs that a pod keeps in use, as the recorded figure is: of all GPU time, over its pods.
std::optional<double> use_of_a_pod(const sim::WorkloadResult& workload,
                                   const sim::VariantResult& variant, std::int64_t pods) {
  if (pods <= 0) return std::nullopt;
  double gpus = 0;
  for (const sim::GpuResult& gpu : variant.gpus) gpus += gpu.gpu_share * gpu.up_ratio;
  return workload.gpu_busy_share * gpus / static_cast<double>(pods);
}

std::optional<sim::VariantResult> variant_of(std::string_view result) {
  Expected<StoredDocument> document = StoredDocument::read({"", std::string(result)});
  if (!document) return std::nullopt;
  auto read = stored_value<sim::Result>(*document, "", Absent::Older);
  if (read.variants.empty()) return std::nullopt;
  return std::move(read.variants.front());
}

}  // namespace

double Deviation::off() const {
  return recorded == 0 ? simulated : (simulated - recorded) / recorded;
}

std::vector<Deviation> deviations(const std::vector<scenarios::RecordedWorkload>& recorded,
                                  std::string_view result) {
  using T = sim::TimeSummary;
  std::vector<Deviation> found;
  const auto variant = variant_of(result);
  if (!variant) return found;
  for (const sim::WorkloadResult& workload : variant->workloads) {
    for (const scenarios::RecordedWorkload& of : recorded) {
      if (workload.name != of.name) continue;
      const auto add = [&](const char* figure, std::optional<double> seen,
                           std::optional<double> simulated, bool is_time) {
        if (!seen || !simulated) return;
        found.push_back({of.name, of.space, figure, *seen, *simulated, is_time});
      };
      add("gpuUse", of.gpu_use, use_of_a_pod(workload, *variant, of.pods_at_once), false);
      // Pods that are there when the run begins wait for nothing in it.
      const bool starts_pods = workload.has_jobs() || (workload.wait && workload.wait->mean.ns > 0);
      if (starts_pods) add("wait", in_seconds(of.wait), part_of(workload.wait, &T::mean), true);
      add("latencyP50", in_seconds(of.latency_p50), part_of(workload.latency, &T::p50), true);
      add("latencyP95", in_seconds(of.latency_p95), part_of(workload.latency, &T::p95), true);
      add("latencyP99", in_seconds(of.latency_p99), part_of(workload.latency, &T::p99), true);
    }
  }
  return found;
}

std::string unplaced_pods(const std::map<std::string, std::int64_t>& on_nodes,
                          std::string_view result) {
  std::string text;
  const auto variant = variant_of(result);
  if (!variant) return text;
  for (const sim::Verdict::Reason& reason : variant->verdict.reasons) {
    const auto known = on_nodes.find(reason.workload);
    if (reason.cause != sim::Verdict::Cause::PodsPending || known == on_nodes.end()) continue;
    text += fmt::format(
        "{} in the simulation, which places all pods anew; in the cluster {} of them have a node. "
        "What today's pools leave undone for want of them is no saving.\n",
        reason.text, known->second);
  }
  return text;
}

}  // namespace slicewise::reports
