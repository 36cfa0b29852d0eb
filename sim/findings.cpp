#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "slicewise/sim/metrics/interval.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

using Figure = scenarios::Objective::Figure;

std::string_view figure_name(Figure figure) {
  switch (figure) {
    case Figure::LatencyP50:
      return "latencyP50";
    case Figure::LatencyP95:
      return "latencyP95";
    case Figure::LatencyP99:
      return "latencyP99";
    case Figure::CompletionP95:
      return "completionP95";
    case Figure::WaitP95:
      return "waitP95";
  }
  return "latencyP99";
}

std::optional<Duration> value_of(Figure figure, const WorkloadResult& result) {
  switch (figure) {
    case Figure::LatencyP50:
      return result.latency ? std::optional(result.latency->p50) : std::nullopt;
    case Figure::LatencyP95:
      return result.latency ? std::optional(result.latency->p95) : std::nullopt;
    case Figure::LatencyP99:
      return result.latency ? std::optional(result.latency->p99) : std::nullopt;
    case Figure::CompletionP95:
      return result.job_completion ? std::optional(result.job_completion->p95) : std::nullopt;
    case Figure::WaitP95:
      return result.wait ? std::optional(result.wait->p95) : std::nullopt;
  }
  return std::nullopt;
}

double quantile_of(Figure figure) {
  if (figure == Figure::LatencyP50) return 0.5;
  return figure == Figure::LatencyP99 ? 0.99 : 0.95;
}

// Interval of a latency quantile from the replications' own quantiles.
std::optional<Duration> latency_interval(Figure figure, std::size_t workload,
                                         std::span<const Replication> replications) {
  if (figure == Figure::CompletionP95 || figure == Figure::WaitP95) return std::nullopt;
  std::vector<double> values;
  for (const Replication& r : replications) {
    const Histogram& latency = r.workloads[workload].latency;
    if (latency.count() == 0) return std::nullopt;
    values.push_back(static_cast<double>(latency.quantile(quantile_of(figure)).ns));
  }
  const auto half_width = half_width_95(values);
  if (!half_width) return std::nullopt;
  return Duration{std::llround(*half_width)};
}

void memory_finding(const World& world, const VariantResult& result, Diagnostics& found) {
  if (result.pods.oom_kills == 0) return;
  const WorkloadModel* culprit = nullptr;
  for (const WorkloadModel& model : world.workloads) {
    if (culprit == nullptr || model.greedy) culprit = &model;
  }
  found.push_back(make_diagnostic(
      Code::GpuOom, culprit->spec.gpu_memory.where,
      fmt::format("CUDA out of memory killed containers {:.4g} times: {:.4g} of {:.4g} pods failed "
                  "for good",
                  result.pods.oom_kills, result.pods.failed, result.pods.submitted),
      culprit->greedy ? "stop the process from mapping the whole GPU (GPU_MEM_GREEDY)"
                      : "fewer replicas, or less gpuMemory per pod: time-slicing limits nothing"));
}

void pending_finding(const World& world, std::span<const Replication> replications,
                     const VariantResult& result, Diagnostics& found) {
  if (result.pods.pending_max == 0) return;
  const bool for_ever =
      std::ranges::any_of(replications, [](const Replication& r) { return r.pending_at_end > 0; });
  found.push_back(make_diagnostic(
      Code::PodPending, world.workloads.front().spec.name.where,
      fmt::format("up to {} pod{} Pending{}: {}", result.pods.pending_max,
                  result.pods.pending_max == 1 ? "" : "s", for_ever ? ", some until the end" : "",
                  fmt::join(result.pods.pending_reasons, " / ")),
      for_ever ? "add nodes or replicas, or lower the requests" : ""));
}

void host_cpu_finding(const World& world, std::span<const Replication> replications,
                      Diagnostics& found) {
  constexpr double kWorthSaying = 0.01;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    double lost = 0;
    double running = 0;
    for (const Replication& r : replications) {
      lost += to_seconds(r.workloads[w].stretched_by_cpu);
      running += to_seconds(r.workloads[w].pod_running);
    }
    if (lost <= kWorthSaying * running) continue;
    const scenarios::Workload& spec = world.workloads[w].spec;
    found.push_back(make_diagnostic(
        Code::HostCpuOversubscribed, spec.pod.cpu_where,
        fmt::format("\"{}\" lost {:.1f} % of its time because its pods want more host CPU than the "
                    "node has",
                    spec.name.value, 100 * lost / running),
        "request what a pod uses (measured.cpu), so that the scheduler spreads the pods"));
  }
}

void refused_finding(const World& world, const VariantResult& result, Diagnostics& found) {
  for (std::size_t w = 0; w < result.workloads.size(); ++w) {
    const WorkloadResult& workload = result.workloads[w];
    if (workload.refused.value_or(0) == 0) continue;
    found.push_back(make_diagnostic(
        Code::RequestsRefused, world.workloads[w].spec.name.where,
        fmt::format("{:.4g} requests of \"{}\" found no ready replica and were refused",
                    *workload.refused, workload.name),
        "they are not part of the latency; a warmup longer than the start-up leaves them out"));
  }
}

}  // namespace

std::vector<ObjectiveResult> judge_objectives(const WorkloadModel& model, std::size_t workload,
                                              std::span<const Replication> replications,
                                              const WorkloadResult& result) {
  std::vector<ObjectiveResult> judged;
  for (const scenarios::Objective& objective : model.spec.objectives) {
    ObjectiveResult entry;
    entry.name = figure_name(objective.figure);
    entry.limit = objective.limit;
    const auto value = value_of(objective.figure, result);
    entry.value = value.value_or(Duration{});
    entry.ci95 = latency_interval(objective.figure, workload, replications);
    // Nothing finished: the objective was not met.
    entry.pass = value && *value <= objective.limit;
    judged.push_back(std::move(entry));
  }
  return judged;
}

Diagnostics run_findings(const World& world, std::span<const Replication> replications,
                         const VariantResult& result) {
  Diagnostics found = world.findings;
  memory_finding(world, result, found);
  pending_finding(world, replications, result, found);
  host_cpu_finding(world, replications, found);
  refused_finding(world, result, found);
  for (std::size_t w = 0; w < result.workloads.size(); ++w) {
    const auto& objectives = world.workloads[w].spec.objectives;
    for (std::size_t o = 0; o < objectives.size(); ++o) {
      const ObjectiveResult& judged = result.workloads[w].objectives[o];
      if (judged.pass) continue;
      found.push_back(make_diagnostic(
          Code::ObjectiveMissed, objectives[o].where,
          fmt::format("\"{}\" misses {}: {:.4g} ms against a limit of {:.4g} ms",
                      result.workloads[w].name, judged.name, to_seconds(judged.value) * 1e3,
                      to_seconds(judged.limit) * 1e3)));
    }
  }
  if (std::ranges::any_of(replications, [](const Replication& r) { return r.cut_off; })) {
    Diagnostic cut =
        make_diagnostic(Code::RunNeverEnds, {},
                        "the run was stopped after one simulated year: some Jobs never got to run",
                        "set spec.duration, or give the Jobs a node that nothing else fills");
    cut.severity = Severity::Warning;
    found.push_back(std::move(cut));
  }
  return found;
}

}  // namespace slicewise::sim
