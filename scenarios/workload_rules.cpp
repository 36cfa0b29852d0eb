#include "workload_rules.hpp"

#include <fmt/format.h>

#include "node_values.hpp"

namespace slicewise::scenarios {
namespace {

// The kind is known only when its word is; rules about a misspelt kind would be noise.
bool kind_is_known(const Node& node) {
  const Node* kind = node.find("kind");
  return kind == nullptr || kind->text == "Job" || kind->text == "Deployment" ||
         kind->text == "Service";
}

class WorkloadRules {
 public:
  WorkloadRules(const Node& node, const Workload& workload, Findings& findings)
      : node_(node), workload_(workload), findings_(findings) {}

  void check() {
    check_memory();
    check_utilisation();
    if (!kind_is_known(node_)) return;
    check_replication();
    check_restart_policy();
    workload_.kind == WorkloadKind::Service ? check_service() : check_batch();
    check_objectives();
  }

 private:
  std::string what() const {
    const std::string_view article = "a ";
    return fmt::format("{}{}", article, kind_name(workload_.kind));
  }

  void conflict(const Node& parent, std::string_view key, std::string message, std::string help) {
    if (parent.entry(key) == nullptr) return;
    findings_.add(Code::SettingConflict, key_place(parent, key), std::move(message),
                  std::move(help));
  }

  void refuse(std::string_view key, std::string help) {
    conflict(node_, key, fmt::format("{} on {}", key, what()), std::move(help));
  }

  void missing(std::string_view key, const SourceLocation& where, std::string_view example) {
    findings_.add(Code::FieldMissing, where,
                  fmt::format("\"{}\" is missing: {} needs it", key, what()),
                  fmt::format("add `{}`, or name a `profile`", example));
  }

  SourceLocation name_place() const { return value_place(node_, "name"); }

  void check_memory() {
    const GpuMemory& memory = workload_.gpu_memory;
    if (!memory.peak || *memory.peak >= memory.resident) return;
    findings_.add(Code::SettingConflict, value_place(*block(&node_, "gpuMemory"), "peak"),
                  "peak is below resident", "peak is the most the process ever holds");
  }

  void check_utilisation() {
    if (!workload_.measured) return;
    const Measured& measured = *workload_.measured;
    const Node& node = *block(&node_, "measured");
    if (measured.gpu_busy && measured.gpu_util) {
      findings_.add(Code::SettingConflict, key_place(node, "gpuUtil"),
                    "gpuBusy and gpuUtil are both set",
                    "gpuUtil is what to give when gpuBusy was not measured: remove it",
                    fmt::format("gpuBusy is on line {}", key_place(node, "gpuBusy").line));
    }
    // gpuUtil overstates the share of the time in which a kernel runs, so it is a limit as well.
    const std::string_view busy_key = measured.gpu_busy ? "gpuBusy" : "gpuUtil";
    if (measured.sm_active && measured.gpu_busy && *measured.sm_active > *measured.gpu_busy) {
      findings_.add(Code::SettingConflict, value_place(node, "smActive"),
                    "smActive is above gpuBusy",
                    "no SM is busy while no kernel runs: both are shares of the same time");
    }
    const auto busy = measured.gpu_busy ? measured.gpu_busy : measured.gpu_util;
    if (!busy || !measured.capacity_share || *measured.capacity_share <= *busy) return;
    findings_.add(Code::SettingConflict, value_place(node, "capacityShare"),
                  fmt::format("capacityShare is above {}", busy_key),
                  "a pod takes none of the GPU while no kernel of it runs",
                  fmt::format("{} is on line {}", busy_key, key_place(node, busy_key).line));
  }

  void check_replication() {
    if (workload_.kind == WorkloadKind::Job) {
      refuse("replicas", "a Job has a count: write `count` instead");
      return;
    }
    refuse("count", fmt::format("{} has replicas: write `replicas` instead", what()));
    refuse("backoffLimit", "only a Job gives up; the others are restarted for ever");
  }

  void check_restart_policy() {
    if (node_.entry("restartPolicy") == nullptr) return;
    const bool always = workload_.restart_policy == RestartPolicy::Always;
    if (always == (workload_.kind != WorkloadKind::Job)) return;
    findings_.add(Code::SettingConflict, value_place(node_, "restartPolicy"),
                  fmt::format("restartPolicy {} on {}",
                              text_at(&node_, "restartPolicy").value_or(""), what()),
                  workload_.kind == WorkloadKind::Job
                      ? "Kubernetes lets a Job have Never or OnFailure"
                      : "Kubernetes lets a Deployment have Always only; use a Job");
  }

  void check_batch() {
    refuse("traffic", "only a Service answers requests; give a Job `work`");
    const Node* measured = block(&node_, "measured");
    if (measured != nullptr) {
      conflict(*measured, "requestGpuTime", fmt::format("requestGpuTime on {}", what()),
               "only a Service answers requests; give unitTime");
    }
    if (!workload_.profile.value.empty()) return;
    if (node_.entry("work") == nullptr) missing("work", name_place(), "work: {units: 100}");
    if (node_.entry("measured") == nullptr) {
      missing("measured", name_place(), "measured: {unitTime: 18s, gpuBusy: 38%}");
    } else if (measured != nullptr && measured->entry("unitTime") == nullptr) {
      missing("unitTime", key_place(node_, "measured"), "unitTime: 18s");
    }
  }

  void check_service() {
    refuse("work", "a Service answers requests: give it `traffic`, or make it a Job");
    const Node* measured = block(&node_, "measured");
    if (measured != nullptr) {
      conflict(*measured, "unitTime", "unitTime on a Service",
               "a Service has no work units; give requestGpuTime");
    }
    if (node_.entry("traffic") == nullptr) {
      findings_.add(Code::FieldMissing, name_place(), "\"traffic\" is missing: a Service needs it",
                    "add `traffic: {shape: Poisson, mean: 12/s}`");
    }
    if (!workload_.profile.value.empty()) return;
    if (node_.entry("measured") == nullptr) {
      missing("measured", name_place(), "measured: {requestGpuTime: {p50: 31ms, p99: 44ms}}");
    } else if (measured != nullptr && measured->entry("requestGpuTime") == nullptr) {
      missing("requestGpuTime", key_place(node_, "measured"),
              "requestGpuTime: {p50: 31ms, p99: 44ms}");
    }
  }

  void check_objectives() {
    const Node* slo = block(&node_, "slo");
    if (slo == nullptr) return;
    if (workload_.kind != WorkloadKind::Service) {
      for (const std::string_view key : {"latencyP50", "latencyP95", "latencyP99"}) {
        conflict(*slo, key, fmt::format("{} on {}", key, what()),
                 "only a Service has request latency; use completionP95 or waitP95");
      }
      return;
    }
    conflict(*slo, "completionP95", "completionP95 on a Service",
             "a Service does not complete; use latencyP95 or latencyP99");
  }

  const Node& node_;
  const Workload& workload_;
  Findings& findings_;
};

}  // namespace

void check_workload(const Node& node, const Workload& workload, Findings& findings) {
  WorkloadRules(node, workload, findings).check();
}

}  // namespace slicewise::scenarios
