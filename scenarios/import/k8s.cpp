#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/recorded_window.hpp"

#include "../text/flow_text.hpp"
#include "claims.hpp"
#include "import_report.hpp"
#include "importers.hpp"
#include "live_objects.hpp"
#include "manifest_workload.hpp"
#include "node_pool_choice.hpp"
#include "prometheus.hpp"
#include "scenario_draft.hpp"

// A scenario of what sets up a cluster, as `check` reads it.
namespace slicewise::scenarios {
namespace {

// Where no limit says how many nodes Karpenter may start of a type.
constexpr std::int64_t kMostNodesOfType = 100;

class ClusterImport {
 public:
  explicit ClusterImport(const ImportOptions& options)
      : options_(options), report_(options.skip_bad) {}

  Expected<Imported> import(std::span<const SourceText> sources) {
    std::vector<SourceText> files;
    std::vector<SourceText> answers;
    for (const SourceText& source : sources) {
      (is_prometheus_answer(source) ? answers : files).push_back(source);
    }
    if (!answers.empty()) {
      auto recorded = import_prometheus(answers, options_);
      if (!recorded) return recorded;
      recorded_ = std::move(*recorded);
    }
    cluster_ = read_cluster_files(files, {});
    if (!cluster_.unreadable.empty()) return tl::unexpected(std::move(cluster_.unreadable));
    report_.read(cluster_.objects);
    for (const auto& object : cluster_.left_alone) {
      report_.skipped(object.value, [&] { return object.where; });
    }
    for (const LivePods& running : pods_that_run(cluster_, report_)) {
      if (running.file.containers.empty()) continue;
      if (auto workload = workload_of(running.file, report_)) {
        if (workload->resource.empty()) {
          const auto claim = claims_.name_of(running.file);
          if (!claim) continue;
          workload->claim = *claim;
        }
        if (running.pods > 0) workload->pods = running.pods;
        if (!joins_gang(*workload, running.file)) draft_.workloads.push_back(std::move(*workload));
      }
    }
    for (const auto& told : cluster_.not_simulated) {
      report_.remark(ImportRemark::Kind::Note, "not simulated: " + told.value,
                     [&] { return told.where; });
    }
    add_nodes();
    for (const NodeGroupFile& group : cluster_.groups) add_group(group);
    remark_on_overlays();
    give_to_driver();
    if (draft_.workloads.empty()) return no_workload(sources.front());
    take_recorded();
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
    draft_.sharing = plugin_sharing(nullptr, "");
    // Of a cluster its nodes are known: what they have not, stays Pending.
    if (is_live_) {
      for (DraftWorkload& workload : draft_.workloads) workload.nodes.clear();
    }
    complete(draft_, options_);
    remark_on_larger_nodes(draft_, options_, report_);
    choose_language_models(draft_, options_, report_);
    keep_selectors_that_match();
    keep_labels_that_are_refused();
    std::vector<RecordedWorkload> recorded;
    for (auto& [number, workload] : of_workloads_) {
      workload.name = draft_.workloads[number].name;
      workload.pods_at_once = draft_.workloads[number].pods;
      recorded.push_back(std::move(workload));
    }
    return Imported{written(draft_),
                    log_in_order(files, static_cast<std::int64_t>(draft_.workloads.size())),
                    {},
                    {},
                    std::move(recorded)};
  }

  // Pods that work together and ask for the same are one gang, as the master and the workers of a
  // PyTorchJob.
  bool joins_gang(const DraftWorkload& workload, const PodFile& file) {
    if (workload.gang.empty() || draft_.workloads.empty()) return false;
    DraftWorkload& others = draft_.workloads.back();
    if (others.gang != workload.gang || others.space != workload.space ||
        others.comment != workload.comment) {
      return false;
    }
    if (std::tie(others.resource, others.gpus, others.claim, others.node_selector) !=
        std::tie(workload.resource, workload.gpus, workload.claim, workload.node_selector)) {
      report_.remark(ImportRemark::Kind::Note,
                     "pods that work together and ask for different GPUs: each kind waits for its "
                     "own, not for the others",
                     [&] { return file.object_where; });
      return false;
    }
    others.name = dns_name(workload.gang, "workload");
    others.pods += workload.pods;
    others.cpu_milli = std::max(others.cpu_milli, workload.cpu_milli);
    others.memory_bytes = std::max(others.memory_bytes, workload.memory_bytes);
    return true;
  }

  // What Prometheus recorded of the workloads that are here.
  void take_recorded() {
    if (!recorded_) return;
    const auto nowhere = [] { return SourceLocation{}; };
    const auto number_of = [&](const std::string& name, const std::string& space) {
      const auto same = std::ranges::find_if(draft_.workloads, [&](const DraftWorkload& workload) {
        return workload.name == name && (workload.space.empty() || workload.space == space);
      });
      return static_cast<std::size_t>(same - draft_.workloads.begin());
    };
    for (const DraftWorkload& seen : workloads_seen(*recorded_)) {
      const std::size_t number = number_of(seen.name, seen.space);
      if (number == draft_.workloads.size()) {
        report_.skipped("workloads that Prometheus recorded and that are not here", nowhere);
      } else {
        take_figures(seen, draft_.workloads[number]);
      }
    }
    for (RecordedWorkload& workload : recorded_->recorded) {
      const std::size_t number = number_of(workload.name, workload.space);
      if (number < draft_.workloads.size()) of_workloads_.emplace_back(number, std::move(workload));
    }
    report_.remark(ImportRemark::Kind::Note, "workloads with figures of Prometheus", nowhere,
                   static_cast<std::int64_t>(of_workloads_.size()));
  }

  // What somebody wrote down holds.
  static void take_figures(const DraftWorkload& seen, DraftWorkload& workload) {
    if (!workload.gpu_permille) {
      workload.gpu_permille = seen.gpu_permille;
      workload.sm_permille = seen.sm_permille;
    }
    if (!workload.gpu_memory) {
      workload.gpu_memory = seen.gpu_memory;
      workload.memory_is_measured = seen.memory_is_measured;
    }
    if (workload.traffic.empty()) {
      workload.traffic = seen.traffic;
      workload.traffic_from = seen.traffic_from;
    }
    if (!workload.run_time) workload.run_time = seen.run_time;
    workload.is_greedy = workload.is_greedy || seen.is_greedy;
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

  void add_nodes() {
    std::set<std::pair<std::string, std::string>> selected;
    for (const DraftWorkload& workload : draft_.workloads) {
      selected.insert(workload.node_selector.begin(), workload.node_selector.end());
    }
    is_live_ = std::ranges::any_of(cluster_.groups, [](const NodeGroupFile& group) {
      return group.kind == NodeGroupFile::Kind::Node;
    });
    for (LiveNodes& alike : nodes_that_are_there(cluster_, selected, options_, report_)) {
      const NodeGroupFile& node = *alike.first;
      const KeyValue* layout = label_of(node, kMigLabel);
      alike.pool.sharing =
          plugin_sharing(label_of(node, kConfigLabel), layout == nullptr ? "" : layout->value);
      if (alike.pool.sharing.empty()) alike.pool.sharing = labelled_sharing(node);
      if (alike.pool.sharing.empty()) {
        alike.pool.sharing = offered_sharing(node, gpus_of(alike.pool.instance_type, options_));
        if (!alike.pool.sharing.empty()) {
          report_.guessed(
              "sharing of nodes, by how many GPUs they offer: time-slicing, or MIG by "
              "its names",
              [&] { return node.object_where; });
        }
      }
      const KeyValue* region = label_of(node, "topology.kubernetes.io/region");
      if (cluster_.region.empty() && region != nullptr) cluster_.region = region->value;
      if (!alike.node_pool.empty()) started_.insert(alike.node_pool);
      draft_.pools.push_back(std::move(alike.pool));
    }
  }

  // Where pods have their GPUs by claim and none of the device plugin, the nodes have the driver.
  void give_to_driver() {
    draft_.claims = claims_.claims();
    const bool by_claim = std::ranges::all_of(
        draft_.workloads, [](const DraftWorkload& workload) { return !workload.claim.empty(); });
    if (draft_.workloads.empty() || !by_claim) return;
    for (DraftPool& pool : draft_.pools) {
      if (!pool.sharing.empty() && !pool.sharing.starts_with("mig:")) continue;
      if (pool.sharing.find("devicePlugin:") != std::string::npos) continue;
      pool.sharing += fmt::format("{}{}", pool.sharing.empty() ? "" : "\n    ", kDraSharing);
      if (!pool.most_nodes) continue;
      pool.nodes = 1;
      pool.most_nodes.reset();
      pool.nodes_are_assumed = true;
      report_.guessed("nodes that come and go, with claims on their GPUs: a fixed number of them",
                      [] { return SourceLocation{}; });
    }
  }

  void add_group(const NodeGroupFile& group) {
    const auto where = [&] { return group.object_where; };
    if (group.kind == NodeGroupFile::Kind::Node) return;
    if (group.kind == NodeGroupFile::Kind::NodePool && started_.contains(group.name)) {
      return report_.remark(ImportRemark::Kind::Note,
                            "NodePools that have nodes: taken as these, as many as there are",
                            where);
    }
    if (group.kind == NodeGroupFile::Kind::NodePool && is_live_ && !group.fewest) {
      NodeGroupFile empty = group;  // what it may start, of which there is none now
      empty.fewest = 0;
      return add_pools_of(empty);
    }
    add_pools_of(group);
  }

  void add_pools_of(const NodeGroupFile& group) {
    const auto where = [&] { return group.object_where; };
    DraftPool pool;
    for (const KeyValue& label : group.labels) pool.labels.emplace_back(label.key, label.value);
    for (const Taint& taint : group.taints) {
      if (!taint.key.empty() && !taint.effect.empty()) pool.taints.push_back(taint);
    }
    const bool is_node_pool = group.kind == NodeGroupFile::Kind::NodePool;
    if (is_node_pool && !may_have_gpus(group, options_.instances)) {
      return report_.skipped("node pools without GPUs", where);
    }
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
      const KeyValue* layout = label_of(group, kMigLabel);
      pool.sharing =
          plugin_sharing(label_of(group, kConfigLabel), layout == nullptr ? "" : layout->value);
    }
    std::vector<std::string> choice;
    if (is_node_pool) choice = types_to_start(draft_, group, pool, options_);
    if (choice.size() < 2) {
      if (!choice.empty()) start_of_type(group, choice.front(), pool);
      return draft_.pools.push_back(std::move(pool));
    }
    report_.remark(ImportRemark::Kind::Note,
                   "NodePools of several instance types: a pool for each, and each may have all "
                   "of their nodes",
                   where);
    if (!pool.most_nodes) grow_by_karpenter(group, group.most.value_or(kMostNodesOfType), pool);
    pool.type_is_assumed = group.types.empty();
    for (const std::string& type : choice) {
      draft_.pools.push_back(pool);
      start_of_type(group, type, draft_.pools.back());
      draft_.pools.back().name = dns_name(fmt::format("{}-{}", pool.name, type), "pool");
    }
  }

  void start_of_type(const NodeGroupFile& group, const std::string& type, DraftPool& pool) const {
    pool.instance_type = type;
    const auto most = most_by_gpus(group, type);
    if (pool.most_nodes && most) pool.most_nodes = std::min(*pool.most_nodes, *most);
  }

  // Nodes of a type that a NodePool's limit of GPUs allows.
  std::optional<std::int64_t> most_by_gpus(const NodeGroupFile& group,
                                           const std::string& type) const {
    const auto limit =
        std::ranges::find(group.limits, std::string_view(kGpuResource), &ResourceAmount::resource);
    if (limit == group.limits.end()) return std::nullopt;
    return std::max<std::int64_t>(1, limit->amount / gpus_of(type, options_));
  }

  void grow_by_karpenter(const NodeGroupFile& group, std::int64_t most, DraftPool& pool) {
    grow(pool, group.fewest.value_or(0), most);
    pool.weight = group.weight.value_or(0);
    if (disruption_.empty()) disruption_ = disruption_of(group);
  }

  static void grow(DraftPool& pool, std::int64_t fewest, std::optional<std::int64_t> most) {
    pool.nodes = fewest;
    pool.most_nodes = most;
    pool.nodes_are_assumed = false;
  }

  void take_node_pool(const NodeGroupFile& group, DraftPool& pool) {
    const auto where = [&] { return group.object_where; };
    if (group.most && *group.most > 0 && group.fewest && *group.fewest >= 0) {
      grow_by_karpenter(group, *group.most, pool);
    } else if (group.most && *group.most > 0) {
      grow(pool, *group.most, {});
      report_.remark(ImportRemark::Kind::Note, "limits.nodes of node pools: taken as their nodes",
                     where);
    }
    pool.instance_type = type_asked_for(group.requirements, {}, options_.instances);
    pool.type_is_assumed = group.types.empty();
    const CapacityChoice capacity = capacity_of(group.requirements);
    if (capacity.type == "spot" || capacity.type == "reserved") {
      pool.capacity_type = capacity.type;
      pool.falls_back = capacity.falls_back;
    }
    if (pool.instance_type.empty()) {
      pool.instance_type = "g5.xlarge";
      report_.guessed("node pools that name no instance type: g5.xlarge", where);
    } else if (pool.type_is_assumed) {
      report_.guessed("instance types of node pools, from their requirements", where);
    }
    // A limit of nodes alone is how exported pools say how many there are.
    const auto by_gpus = most_by_gpus(group, pool.instance_type);
    const bool comes_and_goes = by_gpus || !group.consolidation.empty();
    if (pool.nodes_are_assumed && comes_and_goes) {
      grow_by_karpenter(group, by_gpus.value_or(kMostNodesOfType), pool);
    } else if (pool.most_nodes && by_gpus) {
      pool.most_nodes = std::max(pool.nodes, std::min(*pool.most_nodes, *by_gpus));
    }
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
    return shared_by_plugin(config.sharing, config.renames, config.resources.front().replicas,
                            config.refuses_several.value_or(true));
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

  void keep_selectors_that_match() {
    for (DraftWorkload& workload : draft_.workloads) {
      std::erase_if(workload.node_selector, [&](const auto& label) {
        const bool is_known = std::ranges::any_of(draft_.pools, [&](const DraftPool& pool) {
          return std::ranges::find(pool.labels, label) != pool.labels.end() ||
                 (label.first == kInstanceTypeLabel && label.second == pool.instance_type);
        });
        // Labels that programs set choose a pool, which need not have them in a scenario.
        if (!is_known && !is_set_by_others(label.first)) {
          report_.guessed(fmt::format("node selectors that no node pool here has, left out: {}",
                                      label.first.substr(0, 60)),
                          [] { return SourceLocation{}; });
        }
        return !is_known;
      });
    }
  }

  // Of labels of pods only those change a run.
  void keep_labels_that_are_refused() {
    std::set<std::string> refused;
    for (const DraftWorkload& workload : draft_.workloads) {
      for (const PodAffinityTerm& term : workload.anti_affinity) {
        for (const auto& [key, value] : term.match_labels) refused.insert(key);
      }
    }
    for (DraftWorkload& workload : draft_.workloads) {
      std::erase_if(workload.labels,
                    [&](const auto& label) { return refused.count(label.first) == 0; });
    }
  }

  const ImportOptions& options_;
  ImportReport report_;
  ClusterFiles cluster_;
  ClaimImport claims_{cluster_, report_};
  ScenarioDraft draft_;
  std::optional<Imported> recorded_;                                    // by Prometheus
  std::vector<std::pair<std::size_t, RecordedWorkload>> of_workloads_;  // by their number
  bool is_live_ = false;                                                // its nodes are here
  std::set<std::string> started_;                                       // NodePools that have nodes
  std::string disruption_;   // of the first NodePool that grows
  bool autoscales_ = false;  // a node group is the Cluster Autoscaler's
};

}  // namespace

Expected<Imported> import_k8s(std::span<const SourceText> files, const ImportOptions& options) {
  return ClusterImport(options).import(files);
}

}  // namespace slicewise::scenarios
