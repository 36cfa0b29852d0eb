#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/flow_text.hpp"
#include "../text/scalars.hpp"
#include "import_report.hpp"
#include "importers.hpp"
#include "pod_record.hpp"
#include "scenario_draft.hpp"

// A scenario of what sets up a cluster, as `check` reads it.
namespace slicewise::scenarios {
namespace {

bool is_about_gpus(std::string_view variable) {
  return variable.starts_with("TF_") || variable.starts_with("XLA_") ||
         variable.starts_with("CUDA_") || variable.starts_with("PYTORCH_") ||
         variable == "NVIDIA_VISIBLE_DEVICES";
}

// The workload that the pods of one object are; nullopt when they ask for no GPU.
class WorkloadDraft {
 public:
  WorkloadDraft(const PodFile& pod, ImportReport& report) : pod_(pod), report_(report) {}

  std::optional<DraftWorkload> draft() {
    workload_.name = dns_name(pod_.name, "workload");
    if (!pod_.space.empty()) workload_.space = dns_name(pod_.space, "default");
    workload_.comment = pod_.kind;
    if (!pod_.not_quantified.empty()) {
      return without(
          fmt::format("objects with {} that is no quantity", pod_.not_quantified.substr(0, 60)));
    }
    sum_up_containers();
    choose_gpu();
    if (workload_.resource.empty()) return without(reason_for_no_gpu());
    take_annotations();
    scale();
    place();
    return std::move(workload_);
  }

 private:
  std::nullopt_t without(std::string_view reason) {
    report_.skipped(fmt::format("{} ({})", reason, pod_.kind), [&] { return pod_.object_where; });
    return std::nullopt;
  }

  void sum_up_containers() {
    std::vector<ContainerAmounts> containers;
    for (const bool is_init : {false, true}) {
      for (const ContainerFile& container : pod_.containers) {
        if (container.is_init != is_init) continue;
        ContainerAmounts& one =
            containers.emplace_back(ContainerAmounts{{}, is_init, container.restarts_always});
        for (const ResourceAmount& amount : container.amounts) {
          one.amounts[amount.resource] = amount.amount;
        }
        take_environment(container);
        workload_.is_greedy = workload_.is_greedy || (!is_init && maps_all_memory(container));
      }
    }
    amounts_ = reserved_amounts(containers);
  }

  void take_environment(const ContainerFile& container) {
    for (const KeyValue& variable : container.env) {
      const bool is_known = std::ranges::any_of(
          workload_.environment, [&](const auto& known) { return known.first == variable.key; });
      const bool is_from_elsewhere = variable.where.line == 0;
      if (is_from_elsewhere || is_known || !is_about_gpus(variable.key)) continue;
      workload_.environment.emplace_back(variable.key, variable.value);
    }
  }

  std::int64_t amount(std::string_view name) const {
    const auto found = amounts_.find(name);
    return found == amounts_.end() ? 0 : found->second;
  }

  void choose_gpu() {
    const auto gpu = std::ranges::find_if(amounts_, [](const auto& one) {
      return one.second != 0 && gpu_resource(one.first).has_value();
    });
    if (gpu == amounts_.end()) return;
    workload_.resource = gpu->first;
    workload_.gpus = gpu->second;
    workload_.cpu_milli = amount("cpu");
    workload_.memory_bytes = amount("memory");
    const std::int64_t mebi = amount("nvidia.com/gpumem");
    if (mebi <= 0) return;
    workload_.gpu_memory = mebibytes(std::min<std::int64_t>(mebi, 1'000'000'000));
    report_.remark(ImportRemark::Kind::Note, "limits of HAMi (gpumem, gpucores): not simulated",
                   [&] { return pod_.object_where; });
  }

  // The text of an annotation of ours that reads as the field that it stands for; "" otherwise.
  template <class Parse>
  std::string figure(std::string_view key, const Parse& parse) {
    const KeyValue* given = annotation_of(pod_, key);
    if (given == nullptr) return {};
    if (parse(given->value)) return given->value;
    report_.skipped(fmt::format("annotations {} that are no such figure", key),
                    [&] { return given->where; });
    return {};
  }

  void take_annotations() {
    const std::string memory = figure(kMemoryAnnotation, parse_bytes);
    if (!memory.empty()) workload_.gpu_memory = *parse_bytes(memory);
    const std::string util = figure(kUtilAnnotation, parse_percent);
    if (!util.empty()) {
      workload_.gpu_permille = static_cast<std::int32_t>(*parse_percent(util) * 1'000 + 0.5);
    }
    workload_.gpu_time = figure(kGpuTimeAnnotation, parse_duration);
    workload_.traffic = figure(kTrafficAnnotation, parse_rate);
    if (const KeyValue* profile = annotation_of(pod_, kProfileAnnotation)) {
      workload_.profile = profile->value;
    }
  }

  std::string reason_for_no_gpu() const {
    for (const std::string_view fraction :
         {"gpu-fraction", "gpu-memory", "alibabacloud.com/gpu-milli"}) {
      if (std::ranges::find(pod_.annotations, fraction, &KeyValue::key) == pod_.annotations.end()) {
        continue;
      }
      return fmt::format("parts of a GPU by annotation ({}), which only a replay of a trace knows",
                         fraction);
    }
    if (!pod_.claims.empty()) return "GPUs by resource claim (DRA), which is not simulated";
    for (const auto& [name, amount] : amounts_) {
      if (is_other_accelerator(name)) {
        return fmt::format("accelerators that are not simulated: {}", name);
      }
    }
    return "objects that ask for no GPU";
  }

  void scale() {
    if (pod_.kind == "Job" || pod_.kind == "CronJob") {
      workload_.kind = DraftWorkload::Kind::Job;
      workload_.pods = std::max(pod_.completions, pod_.copies);
      if (pod_.kind == "CronJob") {
        report_.remark(ImportRemark::Kind::Note,
                       "CronJobs: one run of each, their schedule is not read",
                       [&] { return pod_.object_where; });
      }
    } else if (pod_.kind == "Notebook") {
      workload_.kind = DraftWorkload::Kind::Notebook;
      return;
    } else if (pod_.kind == "Pod") {
      const bool ends = pod_.restart_policy == "Never" || pod_.restart_policy == "OnFailure";
      workload_.kind = ends ? DraftWorkload::Kind::Job : DraftWorkload::Kind::Deployment;
    } else {
      workload_.pods = pod_.copies;
      // Written by `slicewise export`: Kubernetes has one kind for batch loops and for services.
      const KeyValue* kind = annotation_of(pod_, "slicewise.dev/kind");
      if (kind != nullptr && kind->value == "Deployment") {
        workload_.kind = DraftWorkload::Kind::Deployment;
      }
      if (pod_.kind == "DaemonSet") {
        report_.guessed("DaemonSets: one pod", [&] { return pod_.object_where; });
      }
      return;
    }
    if (pod_.restart_policy == "Never") workload_.restart_policy = pod_.restart_policy;
  }

  void place() {
    workload_.priority = pod_.priority;
    for (const Toleration& toleration : pod_.tolerations) {
      std::string text;
      for (const auto& [key, value] :
           {std::pair("key", &toleration.key), std::pair("operator", &toleration.op),
            std::pair("value", &toleration.value), std::pair("effect", &toleration.effect)}) {
        if (value->empty()) continue;
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, in_quotes(*value));
      }
      if (!text.empty()) workload_.tolerations.push_back("{" + text + "}");
    }
    // Labels that programs set choose a pool, which has no such label in a scenario.
    for (const KeyValue& label : pod_.node_selector) {
      if (!is_set_by_others(label.key))
        workload_.node_selector.emplace_back(label.key, label.value);
    }
  }

  const PodFile& pod_;
  ImportReport& report_;
  Amounts amounts_;
  DraftWorkload workload_;
};

// What Karpenter may choose from: the first value of each requirement that counts.
struct WantedInstance {
  std::string type;
  std::string family;
  std::string size;
  std::string gpu;
  std::string gpu_count = "1";
  std::string capacity;
  bool falls_back = false;
};

WantedInstance wanted_by(const std::vector<NodeRequirement>& requirements) {
  WantedInstance wanted;
  for (const NodeRequirement& requirement : requirements) {
    if (requirement.op != "In" || requirement.values.empty()) continue;
    const std::string& value = requirement.values.front();
    const std::string& key = requirement.key;
    if (key == "node.kubernetes.io/instance-type") wanted.type = value;
    if (key == "karpenter.k8s.aws/instance-family") wanted.family = value;
    if (key == "karpenter.k8s.aws/instance-size") wanted.size = value;
    if (key == "karpenter.k8s.aws/instance-gpu-name") wanted.gpu = value;
    if (key == "karpenter.k8s.aws/instance-gpu-count") wanted.gpu_count = value;
    if (key != "karpenter.sh/capacity-type") continue;
    const auto has = [&](std::string_view type) {
      return std::ranges::find(requirement.values, type) != requirement.values.end();
    };
    // Of both Karpenter takes spot while there is any.
    wanted.falls_back = has("spot") && has("on-demand");
    wanted.capacity = wanted.falls_back ? "spot" : value;
  }
  return wanted;
}

class ClusterImport {
 public:
  explicit ClusterImport(const ImportOptions& options)
      : options_(options), report_(options.skip_bad) {}

  Expected<Imported> import(std::span<const SourceText> files) {
    cluster_ = read_cluster_files(files, {});
    if (!cluster_.unreadable.empty()) return tl::unexpected(std::move(cluster_.unreadable));
    report_.read(cluster_.objects);
    for (const auto& object : cluster_.left_alone) {
      report_.skipped(object.value, [&] { return object.where; });
    }
    for (const PodFile& pod : cluster_.pods) {
      if (pod.containers.empty()) continue;
      if (auto workload = WorkloadDraft(pod, report_).draft()) {
        draft_.workloads.push_back(std::move(*workload));
      }
    }
    for (const NodeGroupFile& group : cluster_.groups) add_group(group);
    remark_on_overlays();
    if (draft_.workloads.empty()) return no_workload(files.front());
    return made(files);
  }

 private:
  Expected<Imported> made(std::span<const SourceText> files) {
    draft_.name =
        dns_name(options_.name.empty() ? draft_.workloads.front().name : options_.name, "imported");
    draft_.made_by = "import k8s";
    draft_.region = cluster_.region;
    draft_.provisioner = provisioner();
    for (const NodeClassFile& node_class : cluster_.node_classes) {
      if (node_class.is_used) continue;
      report_.skipped(
          fmt::format("EC2NodeClass {}: no NodePool here uses it", node_class.name.substr(0, 60)),
          [] { return SourceLocation{}; });
    }
    share_assumed_pool();
    complete(draft_, options_);
    keep_selectors_that_match();
    WrittenDraft text = written(draft_);
    if (!text.missing.empty()) report_.note(text.missing, {});
    return Imported{ScenarioText{std::move(text.yaml)},
                    log_in_order(files, static_cast<std::int64_t>(draft_.workloads.size()))};
  }

  // Remarks in the order in which the files give rise to them, those without a place at the end.
  ImportLog log_in_order(std::span<const SourceText> files, std::int64_t imported) {
    ImportLog log = report_.take_log(imported);
    std::ranges::stable_sort(log.remarks, {}, [&](const ImportRemark& remark) {
      const auto file = std::ranges::find(files, remark.first.file, &SourceText::name);
      return std::tuple(file - files.begin(), remark.first.line);
    });
    return log;
  }

  // Without workloads there is nothing to simulate: says what was found instead.
  Expected<Imported> no_workload(const SourceText& file) {
    const ImportLog log = log_in_order({&file, 1}, 0);
    std::string found;
    for (const ImportRemark& remark : log.remarks) {
      found += fmt::format("{}{} {}", found.empty() ? ": " : ", ", remark.count, remark.what);
    }
    return not_the_format(
        {file.name, 1, 1}, "no workload that asks for a GPU" + found,
        "add Deployments, StatefulSets, Jobs or Pods, in the same file or with another "
        "-f: kubectl get deploy,sts,jobs -A -o yaml");
  }

  void remark_on_overlays() {
    for (const NodeOverlayFile& overlay : cluster_.overlays) {
      report_.remark(ImportRemark::Kind::Note,
                     "NodeOverlay: what Karpenter believes of a node, not needed here",
                     [&] { return overlay.object_where; });
    }
  }

  void add_group(const NodeGroupFile& group) {
    const auto where = [&] { return group.object_where; };
    if (group.kind == NodeGroupFile::Kind::Node) {
      return report_.skipped("objects of kind Node", where);
    }
    DraftPool pool;
    for (const KeyValue& label : group.labels) pool.labels.emplace_back(label.key, label.value);
    for (const Taint& taint : group.taints) {
      if (taint.key.empty() || taint.effect.empty()) continue;
      pool.taints.push_back(fmt::format("{{key: {}, value: {}, effect: {}}}", in_quotes(taint.key),
                                        in_quotes(taint.value), in_quotes(taint.effect)));
    }
    const bool is_node_pool = group.kind == NodeGroupFile::Kind::NodePool;
    pool.name = dns_name(group.name, is_node_pool ? "pool" : "group");
    if (is_node_pool) {
      take_node_pool(group, pool);
    } else {
      if (!group.types.empty()) pool.instance_type = group.types.front().value;
      if (!is_gpu_type(pool.instance_type)) {
        return report_.skipped("node groups without GPUs", where);
      }
      take_node_group(group, pool);
    }
    pool.sharing = bottlerocket_sharing(group);
    if (pool.sharing.empty()) {
      const KeyValue* layout = label_of(group, "nvidia.com/mig.config");
      pool.sharing = plugin_sharing(label_of(group, "nvidia.com/device-plugin.config"),
                                    layout == nullptr ? "" : layout->value);
    }
    draft_.pools.push_back(std::move(pool));
  }

  static void grow(DraftPool& pool, std::int64_t fewest, std::optional<std::int64_t> most) {
    pool.nodes = fewest;
    pool.most_nodes = most;
    pool.nodes_are_assumed = false;
  }

  void take_node_pool(const NodeGroupFile& group, DraftPool& pool) {
    const auto where = [&] { return group.object_where; };
    if (group.most && *group.most > 0 && group.fewest && *group.fewest >= 0) {
      grow(pool, *group.fewest, group.most);
      if (disruption_.empty()) disruption_ = disruption_of(group);
    } else if (group.most && *group.most > 0) {
      grow(pool, *group.most, {});
      report_.remark(ImportRemark::Kind::Note, "limits.nodes of node pools: taken as their nodes",
                     where);
    }
    const WantedInstance wanted = wanted_by(group.requirements);
    pool.instance_type = type_of(wanted);
    pool.type_is_assumed = wanted.type.empty();
    if (wanted.capacity == "spot" || wanted.capacity == "reserved") {
      pool.capacity_type = wanted.capacity;
      pool.falls_back = wanted.falls_back;
    }
    if (pool.instance_type.empty()) {
      pool.instance_type = "g5.xlarge";
      report_.guessed("node pools that name no instance type: g5.xlarge", where);
    } else if (wanted.type.empty()) {
      report_.guessed("instance types of node pools, from their requirements", where);
    }
  }

  // The smallest type that has the GPUs.
  std::string type_of(const WantedInstance& wanted) const {
    if (!wanted.type.empty()) return wanted.type;
    if (!wanted.family.empty()) {
      return fmt::format("{}.{}", wanted.family, wanted.size.empty() ? "xlarge" : wanted.size);
    }
    const auto count = whole_of(wanted.gpu_count).value_or(1);
    const InstanceGpus* best = nullptr;
    for (const InstanceGpus& type : options_.instances) {
      if (type.gpu != wanted.gpu) continue;
      const bool fits = type.count >= count;
      const bool best_fits = best != nullptr && best->count >= count;
      const bool is_better = best == nullptr || (fits && !best_fits) ||
                             (fits && type.count < best->count) ||
                             (!fits && !best_fits && type.count > best->count);
      if (is_better) best = &type;
    }
    return best == nullptr ? std::string() : best->name;
  }

  void take_node_group(const NodeGroupFile& group, DraftPool& pool) {
    if (group.nodes && *group.nodes > 0) grow(pool, *group.nodes, {});
    if (group.scales && group.fewest && group.most && *group.fewest >= 0 &&
        *group.fewest < *group.most) {
      grow(pool, *group.fewest, group.most);
      autoscales_ = true;
    }
    if (group.is_spot) pool.capacity_type = "spot";
  }

  static std::string disruption_of(const NodeGroupFile& group) {
    const std::string& after = group.consolidates_after;
    const bool is_time = !after.empty() && after != "Never" &&
                         after.find_first_not_of("0123456789hms") == std::string::npos;
    return fmt::format(
        "consolidationPolicy: {}{}{}",
        group.consolidation == "WhenEmpty" ? group.consolidation : "WhenEmptyOrUnderutilized",
        is_time ? ", consolidateAfter: " : "", is_time ? after : "");
  }

  // Who adds nodes to the pools that grow, as a flow mapping; "" when none does.
  std::string provisioner() const {
    if (!disruption_.empty()) {
      return fmt::format("{{kind: Karpenter, nodeOverlay: {}, {}}}", !cluster_.overlays.empty(),
                         disruption_);
    }
    return autoscales_ ? "{kind: ClusterAutoscaler}" : "";
  }

  static std::string bottlerocket_sharing(const NodeGroupFile& group) {
    if (group.bottlerocket_partitions && !group.bottlerocket_mig.empty()) {
      return fmt::format("mig: {{strategy: single, config: {}}}",
                         in_quotes("all-" + group.bottlerocket_mig.front().value));
    }
    if (!group.bottlerocket || group.bottlerocket->resources.empty()) return {};
    const PluginConfigFile& config = *group.bottlerocket;
    return fmt::format(
        "devicePlugin: {{version: v1, sharing: {{{}: {{{}{}resources: [{{name: nvidia.com/gpu, "
        "replicas: {}}}]}}}}}}",
        config.sharing == FileSharing::Mps ? "mps" : "timeSlicing",
        config.renames ? "renameByDefault: true, " : "",
        config.refuses_several.value_or(true) ? "failRequestsGreaterThanOne: true, " : "",
        config.resources.front().replicas);
  }

  // The `sharing` lines of a pool whose nodes carry these labels; "" when the plugin shares
  // nothing.
  std::string plugin_sharing(const KeyValue* config_label, std::string_view mig_label) const {
    const PluginConfigFile* config = chosen_config(cluster_, config_label).config;
    std::string shared = config == nullptr || config->sharing == FileSharing::None
                             ? std::string()
                             : "devicePlugin: " + flow_text(*config->document);
    if (mig_label.empty() || mig_label == "all-disabled") return shared;
    std::string_view strategy = config == nullptr ? std::string_view() : config->strategy;
    for (const ChartValues& chart : cluster_.charts) {
      if (strategy.empty() || strategy == "none") strategy = chart.strategy;
    }
    std::string text =
        fmt::format("mig: {{strategy: {}, config: {}", strategy == "single" ? "single" : "mixed",
                    in_quotes(std::string(mig_label)));
    const auto layout = std::ranges::find(cluster_.mig_configs, mig_label, &MigConfigFile::name);
    // Layouts called all-... are built in.
    if (layout != cluster_.mig_configs.end() && !mig_label.starts_with("all-")) {
      text += fmt::format(", configs: {{{}: {}}}", in_quotes(layout->name),
                          flow_text(*layout->document));
    }
    return text + "}" + (shared.empty() ? "" : "\n    " + shared);
  }

  // Plugin settings without node pools: the nodes are assumed, their sharing is not.
  void share_assumed_pool() {
    if (!draft_.pools.empty()) return;
    const std::string sharing = plugin_sharing(nullptr, "");
    if (sharing.empty()) return;
    DraftPool pool = assumed_pool(std::string(kGpuResource), draft_.workloads.front().gpus, {});
    pool.sharing = sharing;
    pool.sharing_is_assumed = false;
    draft_.pools.push_back(std::move(pool));
  }

  void keep_selectors_that_match() {
    for (DraftWorkload& workload : draft_.workloads) {
      std::erase_if(workload.node_selector, [&](const auto& label) {
        const bool is_known = std::ranges::any_of(draft_.pools, [&](const DraftPool& pool) {
          return std::ranges::find(pool.labels, label) != pool.labels.end();
        });
        if (!is_known) {
          report_.guessed(fmt::format("node selectors that no node pool here has, left out: {}",
                                      label.first.substr(0, 60)),
                          [] { return SourceLocation{}; });
        }
        return !is_known;
      });
    }
  }

  const ImportOptions& options_;
  ImportReport report_;
  ClusterFiles cluster_;
  ScenarioDraft draft_;
  std::string disruption_;   // of the first NodePool that grows
  bool autoscales_ = false;  // a node group is the Cluster Autoscaler's
};

}  // namespace

Expected<Imported> import_k8s(std::span<const SourceText> files, const ImportOptions& options) {
  return ClusterImport(options).import(files);
}

}  // namespace slicewise::scenarios
