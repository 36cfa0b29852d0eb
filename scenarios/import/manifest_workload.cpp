#include "manifest_workload.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "../text/decimal.hpp"
#include "gpu_resource.hpp"
#include "pod_record.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::array<std::string_view, 8> kKindsWithPods = {
    "Pod",       "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController",
    "DaemonSet", "Job",        "CronJob"};

// Node labels that say which machine it is, or that programs set: they choose a pool, which has no
// such label in a scenario.
bool is_well_known(std::string_view label) {
  return label.find("kubernetes.io/") != std::string_view::npos || label.starts_with("karpenter") ||
         label.starts_with("nvidia.com/") || label.starts_with("eks.amazonaws.com/") ||
         label.starts_with("k8s.amazonaws.com/") || label.starts_with("alpha.eksctl.io/");
}

bool is_about_gpus(std::string_view variable) {
  return variable.starts_with("TF_") || variable.starts_with("XLA_") ||
         variable.starts_with("CUDA_") || variable.starts_with("PYTORCH_") ||
         variable == "NVIDIA_VISIBLE_DEVICES";
}

class ManifestReader {
 public:
  ManifestReader(const Node& object, ImportReport& report)
      : object_(object), kind_(text_below(&object, {"kind"})), report_(report) {}

  std::optional<DraftWorkload> read() {
    const Node* job = kind_ == "CronJob" ? node_below(&object_, {"spec", "jobTemplate"}) : &object_;
    const Node* meta = kind_ == "Pod" ? object_.find("metadata")
                                      : node_below(job, {"spec", "template", "metadata"});
    pod_ = kind_ == "Pod" ? object_.find("spec") : node_below(job, {"spec", "template", "spec"});
    const std::string name = text_below(&object_, {"metadata", "name"});
    const std::string generated = text_below(&object_, {"metadata", "generateName"});
    workload_.name = dns_name(name.empty() ? generated : name, "workload");
    const std::string space = text_below(&object_, {"metadata", "namespace"});
    if (!space.empty()) workload_.space = dns_name(space, "default");
    workload_.comment = kind_;
    if (node_below(pod_, {"containers"}) == nullptr) {
      return without("objects without containers");
    }
    if (!read_resources() || !choose_gpu(meta)) return std::nullopt;
    read_scale(job);
    read_placement();
    return std::move(workload_);
  }

 private:
  std::nullopt_t without(std::string_view reason) {
    report_.skipped(fmt::format("{} ({})", reason, kind_), [&] { return object_.where; });
    return std::nullopt;
  }

  bool read_resources() {
    read_containers("containers", [&](const Amounts& amounts) { add_amounts(amounts_, amounts); });
    Amounts most;
    read_containers("initContainers",
                    [&](const Amounts& amounts) { raise_amounts(most, amounts); });
    raise_amounts(amounts_, most);
    if (!bad_.empty()) without(bad_);
    return bad_.empty();
  }

  template <class Take>
  void read_containers(std::string_view list, Take take) {
    const Node* containers = node_below(pod_, {list});
    if (containers == nullptr) return;
    for (const NodePtr& container : containers->items) {
      Amounts amounts;
      for (const std::string_view part : {"requests", "limits"}) {
        const Node* resources = node_below(container.get(), {"resources", part});
        if (resources == nullptr || resources->kind != Node::Kind::Map) continue;
        for (const Entry& entry : resources->entries) {
          const bool extended = entry.key.find('/') != std::string::npos;
          if (part == "limits" && !extended && amounts.contains(entry.key)) continue;
          const auto amount =
              entry.value == nullptr ? std::nullopt : quantity_in_thousandths(entry.value->text);
          if (amount && (!extended || *amount % 1'000 == 0)) {
            amounts[entry.key] = *amount;
          } else if (extended || entry.key == "cpu" || entry.key == "memory") {
            bad_ = fmt::format("objects with {} that is no quantity", entry.key.substr(0, 60));
          }
        }
      }
      take(amounts);
      read_environment(container.get());
    }
  }

  void read_environment(const Node* container) {
    const Node* variables = node_below(container, {"env"});
    if (variables == nullptr) return;
    for (const NodePtr& variable : variables->items) {
      const std::string name = text_below(variable.get(), {"name"});
      const Node* value = node_below(variable.get(), {"value"});
      const bool is_known = std::ranges::any_of(
          workload_.environment, [&](const auto& known) { return known.first == name; });
      if (value == nullptr || !value->is_scalar() || is_known || !is_about_gpus(name)) continue;
      workload_.environment.emplace_back(name, value->text);
    }
  }

  bool choose_gpu(const Node* meta) {
    const auto amount = [&](std::string_view name) {
      const auto found = amounts_.find(name);
      return found == amounts_.end() ? std::int64_t{0} : found->second;
    };
    for (const auto& [name, thousandths] : amounts_) {
      const auto gpu = gpu_resource(name);
      if (!gpu || thousandths == 0 || !workload_.resource.empty()) continue;
      workload_.resource = name;
      workload_.gpus = thousandths / 1'000;
    }
    if (workload_.resource.empty()) {
      without_gpu(meta);
      return false;
    }
    workload_.cpu_milli = amount("cpu");
    workload_.memory_bytes = amount("memory") / 1'000;
    if (const std::int64_t mebi = amount("nvidia.com/gpumem") / 1'000; mebi > 0) {
      workload_.gpu_memory = mebibytes(std::min<std::int64_t>(mebi, 1'000'000'000));
      report_.remark(ImportRemark::Kind::Note, "limits of HAMi (gpumem, gpucores): not simulated",
                     [&] { return object_.where; });
    }
    return true;
  }

  // Says why there is none.
  void without_gpu(const Node* meta) {
    const Node* annotations = node_below(meta, {"annotations"});
    for (const std::string_view fraction :
         {"gpu-fraction", "gpu-memory", "alibabacloud.com/gpu-milli"}) {
      if (node_below(annotations, {fraction}) == nullptr) continue;
      without(fmt::format("parts of a GPU by annotation ({}), which only a replay of a trace knows",
                          fraction));
      return;
    }
    if (node_below(pod_, {"resourceClaims"}) != nullptr) {
      without("GPUs by resource claim (DRA), which is not simulated");
      return;
    }
    for (const auto& [name, amount] : amounts_) {
      if (!is_other_accelerator(name)) continue;
      without(fmt::format("accelerators that are not simulated: {}", name));
      return;
    }
    without("objects that ask for no GPU");
  }

  void read_scale(const Node* job) {
    const auto number = [](const Node* node, std::initializer_list<std::string_view> path) {
      const auto value = whole_of(text_below(node, path));
      return std::clamp<std::int64_t>(value.value_or(1), 0, 1'000'000);
    };
    const std::string restarts = text_below(pod_, {"restartPolicy"});
    if (kind_ == "Job" || kind_ == "CronJob") {
      workload_.kind = DraftWorkload::Kind::Job;
      workload_.pods =
          std::max(number(job, {"spec", "completions"}), number(job, {"spec", "parallelism"}));
      if (restarts == "Never") workload_.restart_policy = restarts;
      if (kind_ == "CronJob") {
        report_.remark(ImportRemark::Kind::Note,
                       "CronJobs: one run of each, their schedule is not read",
                       [&] { return object_.where; });
      }
    } else if (kind_ == "Pod") {
      const bool ends = restarts == "Never" || restarts == "OnFailure";
      workload_.kind = ends ? DraftWorkload::Kind::Job : DraftWorkload::Kind::Deployment;
      if (restarts == "Never") workload_.restart_policy = restarts;
    } else {
      workload_.pods = number(&object_, {"spec", "replicas"});
      // Written by `slicewise export`: Kubernetes has one kind for batch loops and for services.
      const bool is_batch = text_below(object_.find("metadata"),
                                       {"annotations", "slicewise.dev/kind"}) == "Deployment";
      if (is_batch) workload_.kind = DraftWorkload::Kind::Deployment;
    }
    if (kind_ == "DaemonSet") {
      report_.guessed("DaemonSets: one pod", [&] { return object_.where; });
    }
  }

  void read_placement() {
    workload_.priority = std::clamp<std::int64_t>(
        whole_of(text_below(pod_, {"priority"})).value_or(0), -2'147'483'648, 1'000'000'000);
    if (const Node* tolerations = node_below(pod_, {"tolerations"})) {
      for (const NodePtr& toleration : tolerations->items) add_toleration(toleration.get());
    }
    const Node* selector = node_below(pod_, {"nodeSelector"});
    if (selector == nullptr || selector->kind != Node::Kind::Map) return;
    for (const Entry& entry : selector->entries) {
      if (entry.value == nullptr || !entry.value->is_scalar() || is_well_known(entry.key)) continue;
      workload_.node_selector.emplace_back(entry.key, entry.value->text);
    }
  }

  void add_toleration(const Node* toleration) {
    std::string text;
    for (const std::string_view key : {"key", "operator", "value", "effect"}) {
      const std::string value = text_below(toleration, {key});
      if (value.empty()) continue;
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, in_quotes(value));
    }
    if (!text.empty()) workload_.tolerations.push_back("{" + text + "}");
  }

  const Node& object_;
  std::string kind_;
  ImportReport& report_;
  const Node* pod_ = nullptr;
  Amounts amounts_;
  std::string bad_;
  DraftWorkload workload_;
};

}  // namespace

bool has_pods(std::string_view kind) {
  return std::ranges::find(kKindsWithPods, kind) != kKindsWithPods.end();
}

std::optional<DraftWorkload> manifest_workload(const Node& object, ImportReport& report) {
  return ManifestReader(object, report).read();
}

}  // namespace slicewise::scenarios
