#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/jobs_apart.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/recorded_window.hpp"

#include "../text/kubernetes_names.hpp"
#include "claims.hpp"
#include "cluster_pools.hpp"
#include "gpu_software.hpp"
#include "import_report.hpp"
#include "importers.hpp"
#include "live_objects.hpp"
#include "manifest_workload.hpp"
#include "pods_without_gpu.hpp"
#include "prometheus.hpp"
#include "queues.hpp"
#include "scenario_draft.hpp"

// A scenario of what sets up a cluster, as `check` reads it.
namespace slicewise::scenarios {
namespace {

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
      report_.skipped(object.value, object.where);
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
        queues_.take(running.file, *workload);
        const bool joins =
            joins_gang(*workload, running.file) || joins_jobs(*workload, running.file);
        if (!joins) draft_.workloads.push_back(std::move(*workload));
      }
    }
    // They are on their nodes before the pods of others.
    std::stable_partition(draft_.workloads.begin(), draft_.workloads.end(), is_agent);
    for (const auto& told : cluster_.not_simulated) {
      report_.noted("not simulated: " + told.value, told.where);
    }
    draft_.claims = claims_.claims();
    tell_of_missing_steps();
    queues_.add_to(draft_);
    know_types();
    make_room_for_daemon_sets();
    pools_.add();
    if (draft_.workloads.empty()) return no_workload(sources.front());
    take_recorded();
    return made(files);
  }

 private:
  Expected<Imported> made(std::span<const SourceText> files) {
    draft_.name =
        dns_name(options_.name.empty() ? draft_.workloads.front().name : options_.name, "imported");
    draft_.made_by = "import k8s";
    draft_.provisioner = pools_.provisioner();
    draft_.software = gpu_software_of(cluster_, report_);
    for (const NodeClassFile& node_class : cluster_.node_classes) {
      const std::string name = node_class.name.substr(0, 60);
      if (node_class.is_used) {
        report_.noted(
            fmt::format("EC2NodeClass {}: role, AMI, subnets and disks are not of a scenario, and "
                        "exports assume them",
                        name));
      } else {
        report_.skipped(fmt::format("EC2NodeClass {}: no NodePool here uses it", name));
      }
    }
    draft_.sharing = pools_.sharing().by_plugin(nullptr, "", "");
    // Of a cluster its nodes are known: what they have not, stays Pending.
    draft_.has_all_nodes = pools_.are_live();
    for (const NodeGroupFile& group : cluster_.groups) {
      if (!group.allocatable) continue;
      for (const ResourceAmount& amount : *group.allocatable) {
        if (amount.amount > 0) draft_.offered.insert(amount.resource);
      }
    }
    complete(draft_, options_);
    tolerate_for_runtimes();
    remark_on_larger_nodes(draft_, options_, report_);
    choose_language_models(draft_, options_, report_);
    keep_on_pools(draft_, options_, report_);
    put_agents_on_nodes();
    give_daemon_sets();
    const std::vector<DraftWorkload> on_gpu_nodes = pods_without_gpu(cluster_, report_);
    draft_.workloads.insert(draft_.workloads.end(), on_gpu_nodes.begin(), on_gpu_nodes.end());
    tell_of_cpu_pods();
    keep_labels_that_are_selected();
    std::vector<RecordedWorkload> recorded;
    for (auto& [number, workload] : of_workloads_) {
      workload.name = draft_.workloads[number].name;
      workload.pods_at_once = draft_.workloads[number].pods;
      recorded.push_back(std::move(workload));
    }
    put_choosiest_first(draft_, options_);
    const std::map<std::string, std::int64_t> on_nodes = put_pods_where_they_are();
    return Imported{written(draft_),
                    log_in_order(files, static_cast<std::int64_t>(draft_.workloads.size())),
                    {},
                    {},
                    std::move(recorded),
                    node_groups(draft_.pools, cluster_.groups),
                    on_nodes};
  }

  // Tells how many pods of each workload there are on nodes.
  std::map<std::string, std::int64_t> put_pods_where_they_are() {
    std::map<std::pair<std::string, std::string>, DraftWorkload*>
        workloads;  // by what makes their pods
    for (DraftWorkload& workload : draft_.workloads) {
      workloads[{std::string(namespace_of(workload.space)),
                 fmt::format("{}/{}", workload.object_kind, workload.object_name)}] = &workload;
    }
    std::map<std::string, std::int64_t> found;
    for (const PodFile& pod : cluster_.pods) {
      if (pod.node.empty() || pod.has_ended) continue;
      const std::string maker = pod.owner.empty() ? "Pod/" + pod.object : pod.owner;
      const auto workload = workloads.find({std::string(namespace_of(pod.space)), maker});
      if (workload == workloads.end()) continue;
      ++found[workload->second->name];
      put_on_node(pod.node, *workload->second);
    }
    return found;
  }

  // Pods of DaemonSets go with the nodes, those of CronJobs and sessions come at their times.
  void put_on_node(const std::string& node, DraftWorkload& workload) {
    const bool comes_later = workload.cron || !workload.starts_after.empty() ||
                             workload.kind == DraftWorkload::Kind::Notebook;
    if (is_agent(workload) || comes_later) return;
    for (const DraftPool& pool : draft_.pools) {
      const auto known = std::ranges::find(pool.node_names, node);
      if (known == pool.node_names.end()) continue;
      const int number = static_cast<int>(known - pool.node_names.begin()) + 1;
      const auto there = std::ranges::find_if(workload.starts_on, [&](const StartPlace& place) {
        return place.pool.value == pool.name && place.node == number;
      });
      if (there != workload.starts_on.end()) {
        ++there->pods;
      } else {
        workload.starts_on.push_back({{pool.name, {}}, number, 1, {}});
      }
    }
  }

  // What pods tolerate whose template no file has: what its author had them run on.
  void tolerate_for_runtimes() {
    const bool has_taints = std::ranges::any_of(
        draft_.pools, [](const DraftPool& pool) { return !pool.taints.empty(); });
    for (DraftWorkload& workload : draft_.workloads) {
      if (!has_taints || !workload.lacks_template) continue;
      workload.tolerations.push_back({"", "Exists", "", ""});
      report_.guessed(fmt::format("{}s whose runtime is not here: taken to tolerate all taints",
                                  workload.object_kind));
    }
  }

  void tell_of_missing_steps() {
    for (const DraftWorkload& workload : draft_.workloads) {
      for (const StartDependency& wanted : workload.starts_after) {
        if (step_of(draft_, workload, wanted.name.value) != nullptr) continue;
        report_.noted(
            "Jobs of JobSets that start after others without a GPU, which are not simulated: they "
            "are there from the start",
            wanted.where);
      }
    }
  }

  // A DaemonSet that asks for GPUs.
  static bool is_agent(const DraftWorkload& workload) {
    return workload.object_kind == "DaemonSet";
  }

  // One pod of each node that it may be on.
  void put_agents_on_nodes() {
    for (DraftWorkload& agent : draft_.workloads) {
      if (!is_agent(agent)) continue;
      std::int64_t nodes = 0;
      bool is_fixed = true;
      for (const DraftPool& pool : draft_.pools) {
        const bool is_there = untolerated(pool.taints, agent.tolerations) == nullptr &&
                              may_run_on(agent, pool, options_) && offers(pool, agent, options_);
        if (!is_there) continue;
        nodes += pool.nodes;
        // Nodes that are assumed are as many as the pods need, of these one.
        is_fixed = is_fixed && !pool.most_nodes && !pool.nodes_are_assumed;
      }
      if (!is_fixed || nodes < 1) {
        report_.guessed(
            nodes < 1
                ? "DaemonSets that ask for GPUs that no node offers: one pod"
                : "DaemonSets that ask for GPUs of nodes that come and go or are assumed: one pod");
        continue;
      }
      agent.pods = nodes;
      if (agent.labels.empty()) agent.labels.emplace_back("daemonset", agent.name);
      agent.anti_affinity.push_back(
          {{agent.labels.begin(), agent.labels.end()}, {}, std::string(kHostname), {}});
      report_.noted("DaemonSets that ask for GPUs: a pod on each node that offers them");
    }
  }

  // Whoever removes nodes keeps those where such pods run.
  void tell_of_cpu_pods() {
    // Of pods that are there it is known which nodes they keep.
    const auto is_somewhere = [](const PodFile& pod) { return !pod.node.empty(); };
    if (std::ranges::any_of(cluster_.pods, is_somewhere)) return;
    const std::set<const PodFile*> made = made_by_others(cluster_);
    for (const PodFile& pod : cluster_.pods) {
      const bool runs = !pod.has_ended && !pod.containers.empty();
      if (!runs || asks_for_gpu(pod) || goes_with_node(pod) || made.contains(&pod)) continue;
      DraftWorkload required;
      take_required_nodes(pod, required);
      const bool may_keep = std::ranges::any_of(draft_.pools, [&](const DraftPool& pool) {
        return pool.most_nodes && untolerated(pool.taints, pod.tolerations) == nullptr &&
               may_run_on(required, pool, options_);
      });
      if (!may_keep) continue;
      report_.noted(
          "pods without a GPU that may get nodes with one: simulated nodes go as if no such pod "
          "kept them",
          [&] { return pod.object_where; });
    }
  }

  // Those that ask for GPUs are workloads.
  bool is_workload(const std::string& daemon) const {
    return std::ranges::any_of(draft_.workloads, [&](const DraftWorkload& workload) {
      return workload.object_kind == "DaemonSet" && workload.object_name == daemon;
    });
  }

  // Of the pool's nodes; nothing where they are the usual ones.
  std::vector<DaemonSet> daemon_sets_on(const DraftPool& pool) {
    std::vector<DaemonSet> all = daemon_sets_of(cluster_, [&](const PodFile& pod) {
      DraftWorkload required;
      take_required_nodes(pod, required);
      return untolerated(pool.taints, pod.tolerations) == nullptr &&
             may_run_on(required, pool, options_);
    });
    std::erase_if(all, [&](const DaemonSet& daemon) { return is_workload(daemon.name); });
    const bool usual =
        std::ranges::equal(all, usual_daemon_sets(), [](const DaemonSet& a, const DaemonSet& b) {
          return a.name == b.name && a.cpu_request == b.cpu_request &&
                 a.memory_request == b.memory_request;
        });
    return usual ? std::vector<DaemonSet>() : std::move(all);
  }

  // Types have room for the usual ones: nodes that are made up have others as well.
  void make_room_for_daemon_sets() {
    const std::vector<DaemonSet> all = daemon_sets_on({});
    if (all.empty()) return;
    const auto amounts = [](const std::vector<DaemonSet>& sets) {
      std::pair<std::int64_t, std::int64_t> sum;
      for (const DaemonSet& one : sets) {
        sum.first += one.cpu_request.count;
        sum.second += one.memory_request.count;
      }
      return sum;
    };
    const auto all_of = amounts(all);
    const auto usual_of = amounts(usual_daemon_sets());
    const auto less = [](std::int64_t& count, std::int64_t more) {
      if (count > 0) count = std::max<std::int64_t>(1, count - more);
    };
    for (InstanceGpus& type : options_.instances) {
      less(type.cpu.count, all_of.first - usual_of.first);
      less(type.memory.count, all_of.second - usual_of.second);
    }
  }

  void give_daemon_sets() {
    std::set<std::string> placed;
    for (const DaemonSet& usual : usual_daemon_sets()) placed.insert(usual.name);
    for (DraftPool& pool : draft_.pools) {
      pool.daemon_sets = daemon_sets_on(pool);
      for (const DaemonSet& daemon : pool.daemon_sets) placed.insert(daemon.name);
    }
    for (const PodFile& pod : cluster_.pods) {
      if (pod.kind != "DaemonSet" || is_workload(pod.object)) continue;
      const bool is_there =
          placed.contains(pod.object) || placed.contains(pod.space + "-" + pod.object);
      report_.remark(is_there ? ImportRemark::Kind::Note : ImportRemark::Kind::Skipped,
                     is_there ? "DaemonSets: a pod on each node that they tolerate and select"
                              : "DaemonSets that tolerate or select no node pool here",
                     pod.object_where);
    }
  }

  // Types cost what they do where the nodes are; of those with a part of a GPU Karpenter knows none
  // to have one, unless a NodeOverlay says it.
  void know_types() {
    draft_.region = options_.region.empty() ? region_of(cluster_) : options_.region;
    for (const InstanceGpus& type : options_.fractions) {
      const bool is_known = std::ranges::any_of(cluster_.groups, [&](const NodeGroupFile& group) {
        return overlay_gives_gpus(cluster_, group, type.labels);
      });
      if (is_known) options_.instances.push_back(type);
    }
    if (draft_.region.empty()) return;
    const auto price_of = [&](const InstanceGpus& type) -> std::optional<UsdPerHour> {
      const auto price = type.prices.find(draft_.region);
      return price == type.prices.end() ? std::nullopt : std::optional(price->second);
    };
    const auto is_sold = [&](const InstanceGpus& type) { return price_of(type).has_value(); };
    if (std::ranges::any_of(options_.instances, is_sold)) {
      for (InstanceGpus& type : options_.instances) type.price = price_of(type);
    } else if (!options_.instances.empty()) {
      report_.guessed(
          fmt::format("instance types, by prices of another region: none is known in {}",
                      draft_.region.substr(0, 40)));
    }
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
      report_.noted(
          "pods that work together and ask for different GPUs: each kind waits for its own, not "
          "for the others",
          file.object_where);
      return false;
    }
    others.name = dns_name(workload.gang, "workload");
    others.pods += workload.pods;
    others.cpu_milli = std::max(others.cpu_milli, workload.cpu_milli);
    others.memory_bytes = std::max(others.memory_bytes, workload.memory_bytes);
    return true;
  }

  // What a scenario says of the workload, whatever it is called.
  static std::string text_of(DraftWorkload workload) {
    workload.name = workload.object_name = "one";
    workload.pods = 1;
    ScenarioDraft draft;
    draft.workloads.push_back(std::move(workload));
    return written(draft).yaml;
  }

  // Jobs that `slicewise export` wrote one by one, as long as they are alike.
  bool joins_jobs(const DraftWorkload& workload, const PodFile& file) {
    const KeyValue* whole = annotation_of(file, kJobsAnnotation);
    if (whole == nullptr || workload.kind != DraftWorkload::Kind::Job || workload.pods != 1) {
      return false;
    }
    const std::string name = dns_name(whole->value, "workload");
    std::vector<std::size_t>& known = jobs_of_[{workload.space, name}];
    for (const std::size_t number : known) {
      DraftWorkload& others = draft_.workloads[number];
      if (text_of(others) != text_of(workload)) continue;
      const bool is_taken = std::ranges::any_of(draft_.workloads, [&](const DraftWorkload& one) {
        return &one != &others && one.space == others.space && one.name == name;
      });
      if (is_taken) break;
      joined_[{workload.space, others.name}] = joined_[{workload.space, workload.name}] = name;
      others.name = others.object_name = name;
      ++others.pods;
      return true;
    }
    known.push_back(draft_.workloads.size());  // its place
    return false;
  }

  // What Prometheus recorded of the workloads that are here.
  void take_recorded() {
    if (!recorded_) return;
    const auto number_of = [&](const std::string& own_name, const std::string& space) {
      auto joined = joined_.find({space, own_name});
      if (joined == joined_.end()) joined = joined_.find({"", own_name});
      const std::string& name = joined == joined_.end() ? own_name : joined->second;
      const auto same = std::ranges::find_if(draft_.workloads, [&](const DraftWorkload& workload) {
        return workload.name == name && (workload.space.empty() || workload.space == space);
      });
      return static_cast<std::size_t>(same - draft_.workloads.begin());
    };
    for (const DraftWorkload& seen : workloads_seen(*recorded_)) {
      const std::size_t number = number_of(seen.name, seen.space);
      if (number == draft_.workloads.size()) {
        report_.skipped("workloads that Prometheus recorded and that are not here");
      } else {
        take_figures(seen, draft_.workloads[number]);
      }
    }
    bool has_latency = options_.latency.empty();
    for (RecordedWorkload& workload : recorded_->recorded) {
      const std::size_t number = number_of(workload.name, workload.space);
      if (number == draft_.workloads.size()) continue;
      if (contains(of_workloads_, number, &std::pair<std::size_t, RecordedWorkload>::first))
        continue;
      has_latency = has_latency || workload.latency_p50;
      draft_.workloads[number].startup = workload.startup;
      of_workloads_.emplace_back(number, std::move(workload));
    }
    if (!has_latency) {
      report_.note(
          fmt::format("no requests in series of {}_bucket with the label pod of a workload here: "
                      "no latency is compared",
                      histogram_of(options_.latency).substr(0, 60)));
    }
    report_.noted("workloads with figures of Prometheus", SourceLocation{},
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
    return not_the_format({file.name, 1, 1}, "no workload that asks for a GPU" + found,
                          "add Deployments, StatefulSets, Jobs or Pods, in the same file or with "
                          "another -f: kubectl get deploy,sts,jobs -A -o yaml");
  }

  // Of labels of pods only those change a run.
  void keep_labels_that_are_selected() {
    std::set<std::string> selected;
    for (const DraftWorkload& workload : draft_.workloads) {
      selected.merge(
          selected_labels(workload.pod_affinity, workload.anti_affinity, workload.preferences));
    }
    for (DraftWorkload& workload : draft_.workloads) {
      std::erase_if(workload.labels,
                    [&](const auto& label) { return !selected.contains(label.first); });
    }
  }

  ImportOptions options_;
  ImportReport report_;
  ClusterFiles cluster_;
  ClaimImport claims_{cluster_, report_};
  QueueImport queues_{cluster_, report_};
  ScenarioDraft draft_;
  ClusterPools pools_{cluster_, options_, report_, draft_};
  std::optional<Imported> recorded_;                                    // by Prometheus
  std::vector<std::pair<std::size_t, RecordedWorkload>> of_workloads_;  // by their number
  using InSpace = std::pair<std::string, std::string>;                  // namespace, name
  std::map<InSpace, std::vector<std::size_t>> jobs_of_;  // of joins_jobs(): what may be alike
  std::map<InSpace, std::string> joined_;                // ... the workload of a Job
};

}  // namespace

Expected<Imported> import_k8s(std::span<const SourceText> files, const ImportOptions& options) {
  return ClusterImport(options).import(files);
}

}  // namespace slicewise::scenarios
