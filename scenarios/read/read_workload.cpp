#include "node_values.hpp"
#include "random_values.hpp"
#include "read_scenario.hpp"
#include "workload_rules.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::pair<std::string_view, WorkloadKind> kWorkloadKinds[] = {
    {"Job", WorkloadKind::Job},
    {"Deployment", WorkloadKind::Deployment},
    {"Service", WorkloadKind::Service},
    {"Notebook", WorkloadKind::Notebook},
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
  if (const Node* all_reduce = block(node, "allReduce")) {
    work.all_reduce = AllReduce{bytes_at(all_reduce, "bytesPerStep").value_or(Bytes{}),
                                key_place(*node, "allReduce")};
  }
  return work;
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
  measured.request_gpu_time = random_time_at(node, "requestGpuTime", findings);
  measured.extra_per_item = duration_at(node, "extraPerItem");
  measured.longest_kernel = duration_at(node, "longestKernel");
  measured.capacity_share = percent_at(node, "capacityShare");
  measured.bandwidth_share = percent_at(node, "bandwidthShare");
  measured.batch = int_at(node, "batch");
  measured.norm_p = number_at(node, "normP");
  measured.sensitivity = number_at(node, "sensitivity");
  measured.pressure = number_at(node, "pressure");
  measured.provenance = word_at(node, "provenance", kProvenances).value_or(measured.provenance);
  return measured;
}

void read_placement(const Node& node, Workload& workload) {
  workload.namespace_name = text_at(&node, "namespace").value_or(workload.namespace_name);
  const bool job = workload.kind == WorkloadKind::Job;
  workload.count = int_at(&node, job ? "count" : "replicas").value_or(workload.count);
  workload.restart_policy = word_at(&node, "restartPolicy", kRestartPolicies)
                                .value_or(job ? RestartPolicy::OnFailure : RestartPolicy::Always);
  workload.backoff_limit = int_at(&node, "backoffLimit").value_or(workload.backoff_limit);
  workload.priority = int_at(&node, "priority").value_or(workload.priority);
  workload.batch = int_at(&node, "batch");
  workload.processes_per_pod = int_at(&node, "processesPerPod").value_or(1);
  // 0/h, as a sweep may have it, is no faults at all.
  workload.faults = rate_at(&node, "faults");
  if (workload.faults && workload.faults->per_second <= 0) workload.faults.reset();
  workload.submit_at = duration_at(&node, "submitAt").value_or(workload.submit_at);
  workload.submit_interval = duration_at(&node, "submitInterval").value_or(Duration{});
}

}  // namespace

Workload read_workload(const Node& node, Findings& findings, TraceFiles& traces) {
  Workload workload;
  workload.where = node.where;
  workload.name = located_text_at(&node, "name");
  workload.kind = word_at(&node, "kind", kWorkloadKinds).value_or(workload.kind);
  read_placement(node, workload);
  workload.profile = located_text_at(&node, "profile");
  workload.pod = read_pod_template(node, findings);
  workload.gpu_memory = read_gpu_memory(node);
  const Node* startup = block(&node, "startup");
  workload.startup.image_pull = duration_at(startup, "imagePull").value_or(Duration{});
  workload.startup.model_load = duration_at(startup, "modelLoad").value_or(Duration{});
  workload.work = read_work(node);
  workload.measured = read_measured(node, findings);
  workload.traffic = read_traffic(node, findings, traces);
  workload.serving = read_serving(node);
  workload.llm = read_llm(node, findings);
  workload.autoscaling = read_autoscaling(node, findings);
  if (workload.autoscaling) workload.count = workload.autoscaling->max_replicas;
  workload.notebooks = read_notebooks(node, findings);
  if (workload.notebooks) workload.count = workload.notebooks->users;
  workload.objectives = read_objectives(node);
  check_workload(node, workload, findings);
  return workload;
}

}  // namespace slicewise::scenarios
