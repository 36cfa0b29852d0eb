#include <cmath>

#include <fmt/format.h>

#include "node_values.hpp"
#include "read_scenario.hpp"
#include "workload_rules.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::pair<std::string_view, WorkloadKind> kKinds[] = {
    {"Job", WorkloadKind::Job},
    {"Deployment", WorkloadKind::Deployment},
    {"Service", WorkloadKind::Service},
};
constexpr std::pair<std::string_view, RestartPolicy> kRestartPolicies[] = {
    {"Never", RestartPolicy::Never},
    {"OnFailure", RestartPolicy::OnFailure},
    {"Always", RestartPolicy::Always},
};
constexpr std::pair<std::string_view, Allocator> kAllocators[] = {
    {"OnDemand", Allocator::OnDemand},
    {"Greedy", Allocator::Greedy},
    {"Capped", Allocator::Capped},
};
constexpr std::pair<std::string_view, Provenance> kProvenances[] = {
    {"Measured", Provenance::Measured},
    {"Catalog", Provenance::Catalog},
    {"Assumed", Provenance::Assumed},
};
constexpr std::pair<std::string_view, Work::HostPhase> kHostPhases[] = {
    {"Overlapped", Work::HostPhase::Overlapped},
    {"Serial", Work::HostPhase::Serial},
};
constexpr std::pair<std::string_view, ServiceTime::Law> kLaws[] = {
    {"Deterministic", ServiceTime::Law::Deterministic},
    {"Exponential", ServiceTime::Law::Exponential},
};
constexpr std::pair<std::string_view, Traffic::Gaps> kShapes[] = {
    {"Poisson", Traffic::Gaps::Poisson},
    {"Constant", Traffic::Gaps::Constant},
};
constexpr std::pair<std::string_view, Figure> kFigures[] = {
    {"latencyP50", Figure::LatencyP50}, {"latencyP95", Figure::LatencyP95},
    {"latencyP99", Figure::LatencyP99}, {"completionP95", Figure::CompletionP95},
    {"waitP95", Figure::WaitP95},
};

GpuMemory read_gpu_memory(const Node& workload) {
  const Node* node = block(&workload, "gpuMemory");
  GpuMemory memory;
  if (node == nullptr) return memory;
  memory.where = key_place(workload, "gpuMemory");
  memory.allocator = word_at(node, "allocator", kAllocators).value_or(memory.allocator);
  memory.resident = bytes_at(node, "resident").value_or(memory.resident);
  memory.peak = bytes_at(node, "peak");
  return memory;
}

std::optional<Work> read_work(const Node& workload) {
  const Node* node = block(&workload, "work");
  if (node == nullptr) return std::nullopt;
  Work work;
  work.units = integer_at(node, "units").value_or(work.units);
  work.unit_name = text_at(node, "unitName").value_or(work.unit_name);
  work.steps_per_unit = integer_at(node, "stepsPerUnit");
  work.host_phase = word_at(node, "hostPhase", kHostPhases).value_or(work.host_phase);
  return work;
}

std::optional<ServiceTime> read_service_time(const Node* measured, Findings& findings) {
  if (const auto plain = duration_at(measured, "requestGpuTime")) {
    return ServiceTime{ServiceTime::Law::Deterministic, *plain};
  }
  const Node* node = block(measured, "requestGpuTime");
  if (const auto mean = duration_at(node, "mean")) {
    return ServiceTime{word_at(node, "distribution", kLaws).value_or(ServiceTime{}.law), *mean};
  }
  const auto p50 = duration_at(node, "p50");
  const auto p99 = duration_at(node, "p99");
  if (!p50 || !p99 || p50->ns <= 0) return std::nullopt;
  if (*p99 <= *p50) {
    findings.add(Code::SettingConflict, value_place(*node, "p99"), "p99 is not above p50",
                 "for a time that does not vary write `requestGpuTime: 31ms`");
    return std::nullopt;
  }
  return log_normal(*p50, *p99);
}

std::optional<Measured> read_measured(const Node& workload, Findings& findings) {
  const Node* node = block(&workload, "measured");
  if (node == nullptr) return std::nullopt;
  Measured measured;
  measured.where = key_place(workload, "measured");
  measured.device = located_text_at(node, "device");
  measured.unit_time = duration_at(node, "unitTime");
  measured.unit_time_cv = percent_at(node, "unitTimeVariation").value_or(0);
  measured.gpu_busy = percent_at(node, "gpuBusy");
  measured.gpu_util = percent_at(node, "gpuUtil");
  measured.sm_active = percent_at(node, "smActive");
  measured.cpu = cpu_at(node, "cpu");
  measured.request_gpu_time = read_service_time(node, findings);
  measured.capacity_share = percent_at(node, "capacityShare");
  measured.bandwidth_share = percent_at(node, "bandwidthShare");
  if (const auto batch = integer_at(node, "batch")) measured.batch = static_cast<int>(*batch);
  measured.norm_p = number_at(node, "normP");
  measured.sensitivity = number_at(node, "sensitivity");
  measured.pressure = number_at(node, "pressure");
  measured.provenance = word_at(node, "provenance", kProvenances).value_or(measured.provenance);
  return measured;
}

std::optional<Traffic> read_traffic(const Node& workload) {
  const Node* node = block(&workload, "traffic");
  if (node == nullptr) return std::nullopt;
  Traffic traffic;
  traffic.where = key_place(workload, "traffic");
  traffic.gaps = word_at(node, "shape", kShapes).value_or(traffic.gaps);
  traffic.mean = rate_at(node, "mean").value_or(traffic.mean);
  return traffic;
}

std::vector<Objective> read_objectives(const Node& workload) {
  std::vector<Objective> objectives;
  const Node* node = block(&workload, "slo");
  for (const auto& [name, figure] : kFigures) {
    if (const auto limit = duration_at(node, name)) {
      objectives.push_back({figure, *limit, value_place(*node, name)});
    }
  }
  return objectives;
}

void read_placement(const Node& node, Workload& workload) {
  workload.namespace_name = text_at(&node, "namespace").value_or(workload.namespace_name);
  const bool job = workload.kind == WorkloadKind::Job;
  if (const auto count = integer_at(&node, job ? "count" : "replicas")) {
    workload.count = static_cast<int>(*count);
  }
  workload.restart_policy = word_at(&node, "restartPolicy", kRestartPolicies)
                                .value_or(job ? RestartPolicy::OnFailure : RestartPolicy::Always);
  if (const auto limit = integer_at(&node, "backoffLimit")) {
    workload.backoff_limit = static_cast<int>(*limit);
  }
  if (const auto priority = integer_at(&node, "priority")) {
    workload.priority = static_cast<int>(*priority);
  }
  if (const auto batch = integer_at(&node, "batch")) workload.batch = static_cast<int>(*batch);
  if (const auto processes = integer_at(&node, "processesPerPod")) {
    workload.processes_per_pod = static_cast<int>(*processes);
  }
  // 0/h, as a sweep may have it, is no faults at all.
  workload.faults = rate_at(&node, "faults");
  if (workload.faults && workload.faults->per_second <= 0) workload.faults.reset();
  workload.submit_at = duration_at(&node, "submitAt").value_or(workload.submit_at);
  workload.submit_interval = duration_at(&node, "submitInterval").value_or(Duration{});
}

}  // namespace

Workload read_workload(const Node& node, Findings& findings) {
  Workload workload;
  workload.where = node.where;
  workload.name = located_text_at(&node, "name");
  workload.kind = word_at(&node, "kind", kKinds).value_or(workload.kind);
  read_placement(node, workload);
  workload.profile = located_text_at(&node, "profile");
  workload.pod = read_pod_template(node, findings);
  workload.gpu_memory = read_gpu_memory(node);
  const Node* startup = block(&node, "startup");
  workload.startup.image_pull = duration_at(startup, "imagePull").value_or(Duration{});
  workload.startup.model_load = duration_at(startup, "modelLoad").value_or(Duration{});
  workload.work = read_work(node);
  workload.measured = read_measured(node, findings);
  workload.traffic = read_traffic(node);
  workload.objectives = read_objectives(node);
  check_workload(node, workload, findings);
  return workload;
}

}  // namespace slicewise::scenarios
