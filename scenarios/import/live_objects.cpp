#include "live_objects.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

#include "../text/kubernetes_names.hpp"
#include "../text/scalars.hpp"
#include "node_pool_choice.hpp"
#include "offered_layout.hpp"
#include "slice_devices.hpp"

namespace slicewise::scenarios {
namespace {

std::string_view text_of(const NodeGroupFile& node, std::string_view label) {
  const KeyValue* found = label_of(node, label);
  return found == nullptr ? std::string_view() : std::string_view(found->value);
}

std::string_view group_of(const NodeGroupFile& node) {
  for (const std::string_view label : kGroupLabels) {
    if (const std::string_view text = text_of(node, label); !text.empty()) return text;
  }
  return {};
}

bool is_spot(const NodeGroupFile& node) {
  return text_of(node, kCapacityTypeLabel) == "spot" ||
         text_of(node, kManagedCapacityLabel) == "SPOT";
}

// Taints of the life of a node are not those of its pool.
bool is_of_its_life(const Taint& taint) {
  return taint.key.starts_with("node.kubernetes.io/") || taint.key.starts_with("karpenter.sh/") ||
         taint.key.starts_with("node.cloudprovider.kubernetes.io/");
}

bool takes_pods(const NodeGroupFile& node) {
  return std::ranges::none_of(node.taints, [](const Taint& taint) {
    return is_of_its_life(taint) && taint.effect != "PreferNoSchedule";
  });
}

// What differs from the type's: kubelets that are set up to keep more back.
Allocatable own_allocatable(const NodeGroupFile& node, const Allocatable& of_type) {
  Allocatable own;
  constexpr std::int64_t kMostPods = 10'000;
  const auto cpu = allocatable_of(node, "cpu");
  const auto memory = allocatable_of(node, "memory");
  const auto pods = allocatable_of(node, "pods");
  if (cpu > 0 && of_type.cpu != Millicores{*cpu}) own.cpu = {*cpu};
  if (memory > 0 && of_type.memory != Bytes{*memory}) own.memory = {*memory};
  if (pods > 0 && pods <= kMostPods && of_type.pods != *pods) own.pods = static_cast<int>(*pods);
  return own;
}

// In one order: pods that tolerate those of one node need not tolerate those of another.
std::set<std::string> taints_of(const NodeGroupFile& node) {
  std::set<std::string> texts;
  for (const Taint& taint : node.taints) {
    if (is_of_its_life(taint)) continue;
    texts.insert(fmt::format("{}={}:{}", taint.key, taint.value, taint.effect));
  }
  return texts;
}

bool is_gpu(const ResourceAmount& amount) {
  return amount.amount > 0 && gpu_resource(amount.resource).has_value();
}

// Of all of its GPUs.
std::string offered_gpus(const NodeGroupFile& node) {
  if (!node.allocatable) return {};
  std::map<std::string, std::int64_t> offered;
  for (const ResourceAmount& amount : *node.allocatable) {
    if (is_gpu(amount)) offered[amount.resource] = amount.amount;
  }
  return fmt::format("{}", offered);
}

// Settings of the device plugin that what a node offers shows, which has so many GPUs.
DraftSharing offered_sharing(const NodeGroupFile& node, std::int64_t gpus) {
  if (!node.allocatable || gpus < 1) return {};
  std::string profile;
  for (const ResourceAmount& amount : *node.allocatable) {
    const bool renames = amount.resource == kSharedGpuResource;
    const std::int64_t replicas = std::min<std::int64_t>(amount.amount / gpus, 1'000);
    if ((renames || amount.resource == kGpuResource) && replicas > 1) {
      return shared_by_plugin(FileSharing::TimeSlicing, renames, replicas);
    }
    if (amount.amount < 1 || !amount.resource.starts_with(kMigPrefix)) continue;
    if (!profile.empty()) return {};  // of several layouts none is known to be meant
    profile = amount.resource.substr(kMigPrefix.size());
  }
  return profile.empty() ? DraftSharing{} : cut_by_mig("all-" + profile);
}

// How many of its GPUs a node offers that shares them so; nullopt: it offers something else.
std::optional<std::int64_t> gpus_by(const NodeGroupFile& node, const DraftSharing& sharing,
                                    const std::string& type, const ImportOptions& options) {
  const std::int64_t gpus = gpus_of(type, options);
  std::int64_t offering = gpus;
  for (const ResourceAmount& amount : *node.allocatable) {
    if (!is_gpu(amount)) continue;
    const std::int64_t each = units_per_gpu(sharing, type, amount.resource, options);
    if (each < 1) return std::nullopt;
    const bool is_uneven = amount.amount % each != 0 || amount.amount / each > gpus;
    // Layouts may differ from GPU to GPU.
    if (sharing.mig && (!sharing.mig->configs.empty() || is_uneven)) continue;
    if (is_uneven) return std::nullopt;
    offering = std::min(offering, amount.amount / each);
  }
  return offering;
}

// How often the plugin offers each instance of MIG, which it shares by time alone: as GPU Feature
// Discovery says (nvidia.com/mig-1g.10gb.replicas), else as often as the node offers them.
std::optional<DraftPlugin> replicated_instances(const NodeGroupFile& node, const DraftSharing& cut,
                                                const std::string& type,
                                                const ImportOptions& options) {
  std::vector<ReplicatedResource> resources;
  bool renames = false;
  for (const ResourceAmount& amount : node.allocatable.value_or(std::vector<ResourceAmount>())) {
    const std::string device(device_name(amount.resource));
    if (!is_gpu(amount) || (cut.mig->is_mixed && device == kGpuResource)) continue;
    const std::int64_t once = units_per_gpu(cut, type, device, options) * gpus_of(type, options);
    const bool divides =
        once > 0 && is_counted_layout(*cut.mig, type, options) && amount.amount % once == 0;
    const std::int64_t replicas =
        whole_of(text_of(node, device + ".replicas")).value_or(divides ? amount.amount / once : 1);
    if (replicas < 2 || replicas > 1'000) continue;
    resources.push_back({device, replicas, {}, {}});
    renames = renames || amount.resource != device;
  }
  if (resources.empty()) return std::nullopt;
  return shared_by_plugin(FileSharing::TimeSlicing, renames, false, std::move(resources)).plugin;
}

DraftPool pool_of(const NodeGroupFile& node) {
  DraftPool pool;
  const std::string type = node.types.front().value;
  const std::string_view group = group_of(node);
  pool.name = dns_name(group.empty() ? type : std::string(group), "gpu");
  pool.maker = node.maker;
  pool.instance_type = type;
  pool.nodes = 0;
  pool.nodes_are_assumed = false;
  if (is_spot(node)) pool.capacity_type = "spot";
  if (text_of(node, kManagedCapacityLabel) == "CAPACITY_BLOCK") {
    pool.capacity_type = "capacity-block";
  }
  for (const Taint& taint : node.taints) {
    if (!is_of_its_life(taint)) pool.taints.push_back(taint);
  }
  return pool;
}

// How many pods run of those that an object of an operator makes, whose manifest only says between
// which numbers: as many as its Deployments have, else its pods; 0: none is here, or the object
// makes pods of several kinds with GPUs.
class RunningCounts {
 public:
  explicit RunningCounts(const ClusterFiles& cluster) {
    for (const PodFile& pod : cluster.pods) {
      const Object own = object_of(pod);
      if (!pod.owner.empty()) owners_.try_emplace(own, Object{namespace_of(pod.space), pod.owner});
      if (asks_for_gpu(pod) && !is_one_pod(pod)) ++sets_[own];
    }
    for (const PodFile& pod : cluster.pods) {
      if (pod.owner.empty() || pod.has_ended || !asks_for_gpu(pod)) continue;
      if (pod.kind == "Deployment") deployed_[first_maker(object_of(pod))] += pod.copies;
      if (is_one_pod(pod)) ++pods_[first_maker(object_of(pod))];
    }
  }

  std::int64_t of(const PodFile& pod) const {
    const Object own = object_of(pod);
    const auto sets = sets_.find(own);
    if (sets == sets_.end() || sets->second != 1 || !asks_for_gpu(pod)) return 0;
    const auto deployed = deployed_.find(own);
    if (deployed != deployed_.end() && deployed->second > 0) return deployed->second;
    const auto pods = pods_.find(own);
    return pods == pods_.end() ? 0 : pods->second;
  }

 private:
  using Object = std::pair<std::string_view, std::string>;  // namespace, "Deployment/asr"

  static bool is_one_pod(const PodFile& pod) { return pod.kind == "Pod"; }
  static Object object_of(const PodFile& pod) {
    return {namespace_of(pod.space), pod.kind + "/" + pod.object};
  }

  Object first_maker(Object object) const {
    constexpr int kDeepest = 8;
    for (int level = 0; level < kDeepest; ++level) {
      const auto owner = owners_.find(object);
      if (owner == owners_.end()) break;
      object = owner->second;
    }
    return object;
  }

  std::map<Object, Object> owners_;
  std::map<Object, int> sets_;  // of pods with GPUs
  std::map<Object, std::int64_t> deployed_;
  std::map<Object, std::int64_t> pods_;
};

// What the API server keeps up to date itself: `replicas` of Kubernetes' own kinds.
bool says_between_which_numbers(const PodFile& pod) {
  const bool is_kept_up = pod.purpose == PodPurpose::Serves || pod.purpose == PodPurpose::Works;
  return is_kept_up && !pod.works_together;
}

}  // namespace

std::vector<LivePods> pods_that_run(const ClusterFiles& cluster, ImportReport& report) {
  const std::set<const PodFile*> made = made_by_others(cluster);
  const RunningCounts counts(cluster);
  std::vector<LivePods> running;
  std::map<std::pair<std::string_view, std::string>, std::size_t> of_controllers;
  for (const PodFile& pod : cluster.pods) {
    if (pod.has_ended) {
      report.skipped(fmt::format("objects of kind {} that have ended", pod.kind), pod.object_where);
    } else if (made.contains(&pod)) {
      report.noted(fmt::format("objects of kind {} that others here make: counted there", pod.kind),
                   pod.object_where);
    } else if (pod.owner.empty() || pod.kind != "Pod") {
      running.push_back({pod, 0});
      const std::int64_t now = says_between_which_numbers(pod) ? counts.of(pod) : 0;
      if (now == 0 || now == pod.copies) continue;
      running.back().file.copies = now;
      report.noted(
          fmt::format("objects of kind {} with as many pods as run now, not as are written",
                      pod.kind),
          pod.object_where);
    } else if (const auto [known, is_new] =
                   of_controllers.try_emplace({namespace_of(pod.space), pod.owner}, running.size());
               !is_new) {
      ++running[known->second].pods;
    } else {
      LivePods& first = running.emplace_back(LivePods{pod, 1});
      const std::size_t slash = pod.owner.find('/');
      const std::string kind = pod.owner.substr(0, slash);
      first.file.name = pod.owner.substr(slash + 1);
      // What serves; all else runs to its end, or is restarted, as its pods say.
      if (kind == "Deployment" || kind == "ReplicaSet" || kind == "StatefulSet") {
        first.file.kind = kind;
      } else if (kind != "Job") {
        first.file.purpose = purpose_of_kind(kind);
      }
    }
  }
  return running;
}

std::vector<LiveNodes> nodes_that_are_there(const ClusterFiles& cluster,
                                            const SelectedLabels& selected,
                                            const ImportOptions& options, ImportReport& report) {
  std::vector<LiveNodes> pools;
  std::map<std::tuple<std::string, std::string, bool, std::string, std::string>, std::size_t> known;
  for (const NodeGroupFile& node : cluster.groups) {
    if (node.kind != NodeGroupFile::Kind::Node) continue;
    if (node.types.empty() || !is_gpu_type(node.types.front().value)) {
      report.skipped("nodes without GPUs", node.object_where);
      continue;
    }
    if (!takes_pods(node)) {
      report.skipped("nodes that take no pods now: cordoned, not ready, or on their way out",
                     node.object_where);
      continue;
    }
    std::string told_apart;
    for (const auto& [key, values] : selected) {
      if (key == kHostname) continue;  // each node has its own
      told_apart += fmt::format(" {}={}", key, text_of(node, key));
    }
    for (const std::string& taint : taints_of(node)) told_apart += " " + taint;
    const auto [position, is_new] = known.try_emplace(
        {std::string(group_of(node)), node.types.front().value, is_spot(node),
         std::string(text_of(node, kConfigLabel)),
         fmt::format("{} {} {} {} {}/{}{}", text_of(node, kMigLabel),
                     labelled_sharing(node).entries(), offered_gpus(node),
                     gpus_in_slices(cluster, node.name), allocatable_of(node, "cpu").value_or(0),
                     allocatable_of(node, "pods").value_or(0), told_apart)},
        pools.size());
    const Allocatable allocatable = own_allocatable(
        node, instance_called(node.types.front().value, options.instances).allocatable);
    if (is_new) {
      pools.push_back({pool_of(node), &node, std::string(text_of(node, kNodePoolLabel))});
      pools.back().pool.made_with = node.requirements;
      pools.back().pool.allocatable = allocatable;
      for (const KeyValue& label : node.labels) {
        const auto values = selected.find(label.key);
        const bool is_selected = values != selected.end() && values->second.contains(label.value);
        const bool is_own = !is_set_by_others(label.key) || label.key == kNodePoolLabel;
        if (is_own || is_selected) {
          pools.back().pool.labels.emplace_back(label.key, label.value);
        }
        pools.back().pool.made_with.push_back({label.key, "In", {label.value}, label.where});
      }
    }
    LiveNodes& alike = pools[position->second];
    ++alike.pool.nodes;
    alike.pool.node_names.push_back(node.name);
    // Kibibytes apart they are alike all the same.
    auto& memory = alike.pool.allocatable.memory;
    if (memory && allocatable.memory) memory = std::min(*memory, *allocatable.memory);
    // A pool has the labels that all of its nodes have.
    std::erase_if(alike.pool.labels,
                  [&](const auto& label) { return text_of(node, label.first) != label.second; });
    std::erase_if(alike.pool.made_with, [&](const NodeRequirement& label) {
      return label.op == "In" && text_of(node, label.key) != label.values.front();
    });
  }
  return pools;
}

DraftSharing labelled_sharing(const NodeGroupFile& node) {
  const auto replicas = whole_of(text_of(node, kReplicasLabel));
  if (!replicas || *replicas < 2 || *replicas > 1'000) return {};
  // A product without -SHARED has its resource renamed instead.
  const bool renames = !text_of(node, kProductLabel).ends_with("-SHARED");
  const bool is_mps = text_of(node, kSharingStrategyLabel) == "mps";
  return shared_by_plugin(is_mps ? FileSharing::Mps : FileSharing::TimeSlicing, renames, *replicas);
}

bool offers_no_gpu(const NodeGroupFile& node) {
  return node.allocatable && std::ranges::none_of(*node.allocatable, is_gpu);
}

LiveSharing sharing_of(const NodeGroupFile& node, DraftSharing files, const std::string& type,
                       const ImportOptions& options) {
  LiveSharing live;
  DraftSharing said = files.is_none() ? labelled_sharing(node) : std::move(files);
  const std::int64_t gpus = gpus_of(type, options);
  const bool is_their_own = said.mig && said.mig->configs.empty() &&
                            !said.mig->layout.starts_with("all-") &&
                            !is_counted_layout(*said.mig, type, options);
  const bool is_made_up = node.allocatable && is_their_own &&
                          write_out_layout(*node.allocatable, type, options, *said.mig);
  if (said.mig && !said.plugin) said.plugin = replicated_instances(node, said, type, options);
  const bool is_told = node.allocatable && !offers_no_gpu(node);
  const auto as_said = is_told ? gpus_by(node, said, type, options) : gpus;
  const auto whole = is_told ? gpus_by(node, {}, type, options) : std::nullopt;
  // GPUs that are not there now are less likely than settings that no plugin has read.
  const bool holds = as_said && (*as_said == gpus || whole != gpus);
  const auto offering = holds ? as_said : whole;
  if (offering && *offering < gpus) live.gpus = offering;
  if (!holds && !whole && !said.mig) {
    live.sharing = offered_sharing(node, gpus);
    live.is_guessed = !live.sharing.is_none();
  }
  live.is_other = !holds && !said.is_none() && (whole || live.is_guessed);
  if (!live.is_other && !live.is_guessed) live.sharing = std::move(said);
  live.is_guessed = live.is_guessed || is_made_up;
  return live;
}

}  // namespace slicewise::scenarios
