#include "cluster_pools.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/kubernetes_names.hpp"
#include "../text/scalars.hpp"
#include "live_objects.hpp"
#include "node_clocks.hpp"
#include "node_limits.hpp"
#include "node_pool_choice.hpp"
#include "slice_devices.hpp"

namespace slicewise::scenarios {
namespace {

// Where no limit says how many nodes Karpenter may start of a type.
constexpr std::int64_t kMostNodesOfType = 100;

constexpr Duration kNever = hours(24) * 365;  // longer than any run

constexpr std::string_view kRegionLabel = "topology.kubernetes.io/region";

// "us-gov-west-1" of the zone "us-gov-west-1a", and "us-west-2" of "us-west-2-lax-1a"; "" of what
// is no zone of AWS.
std::string region_of_zone(std::string_view zone) {
  const std::size_t number = zone.find_first_of("0123456789");
  if (number == zone.npos || std::ranges::count(zone.substr(0, number), '-') < 2) return {};
  return std::string(zone.substr(0, zone.find_first_not_of("0123456789", number)));
}

std::string region_by(std::string_view label, const std::string& value) {
  return label == kRegionLabel ? value : label == kZoneLabel ? region_of_zone(value) : "";
}

std::string region_by(const std::vector<KeyValue>& labels) {
  for (const KeyValue& label : labels) {
    if (std::string region = region_by(label.key, label.value); !region.empty()) return region;
  }
  return {};
}

std::string region_by(const std::vector<NodeRequirement>& required) {
  for (const NodeRequirement& one : required) {
    if (one.op != "In" || one.values.empty()) continue;
    std::string region = region_by(one.key, one.values.front());
    if (!region.empty()) return region;
  }
  return {};
}

void grow(DraftPool& pool, std::int64_t fewest, std::optional<std::int64_t> most) {
  pool.nodes = fewest;
  pool.most_nodes = most;
  pool.nodes_are_assumed = false;
}

Provisioner karpenter_of(const NodeGroupFile& group, bool has_overlays) {
  Provisioner karpenter;
  karpenter.kind = Provisioner::Kind::Karpenter;
  karpenter.node_overlay = has_overlays;
  if (group.consolidation == "WhenEmpty") {
    karpenter.consolidation = Provisioner::Consolidation::WhenEmpty;
  }
  const bool is_never = group.consolidates_after == "Never" || group.is_kept;
  karpenter.consolidate_after =
      is_never ? kNever : parse_duration(group.consolidates_after).value_or(Duration{});
  return karpenter;
}

// Whether a node group makes the nodes of the NodePool as well: of exported ones both have the
// range of nodes of their pool, where a group has room for one node at least.
bool is_other_way(const ClusterFiles& cluster, const NodeGroupFile& pool) {
  if (pool.kind != NodeGroupFile::Kind::NodePool || !pool.most) return false;
  return std::ranges::any_of(cluster.groups, [&](const NodeGroupFile& group) {
    const bool is_as_large = pool.fewest ? group.fewest == pool.fewest &&
                                               group.most == std::max<std::int64_t>(1, *pool.most)
                                         : group.nodes == pool.most;
    return group.kind == NodeGroupFile::Kind::NodeGroup && group.name == pool.name && is_as_large &&
           group.types.size() == 1 && pool.types.size() == 1 &&
           group.types.front().value == pool.types.front().value;
  });
}

// So exported NodePools say that their pool's nodes neither come nor go.
bool is_fixed(const NodeGroupFile& group) { return group.fewest && group.fewest == group.most; }

}  // namespace

std::string region_of(const ClusterFiles& cluster) {
  std::string region = cluster.region;
  for (const NodeGroupFile& group : cluster.groups) {
    if (region.empty()) region = region_by(group.labels);
  }
  for (const NodeGroupFile& group : cluster.groups) {
    if (region.empty()) region = region_by(group.requirements);
  }
  for (const PodFile& pod : cluster.pods) {
    if (region.empty()) region = region_by(pod.node_selector);
    for (const auto& term : pod.affinity) {
      if (region.empty()) region = region_by(term);
    }
  }
  return region;
}

void ClusterPools::add() {
  add_nodes();
  for (const NodeGroupFile& group : cluster_.groups) add_group(group);
  std::map<std::string, NodeGroupFile::Kind> names;
  for (const NodeGroupFile& group : cluster_.groups) {
    if (group.kind == NodeGroupFile::Kind::Node || is_other_way(cluster_, group)) continue;
    if (names.try_emplace(group.name, group.kind).first->second == group.kind) continue;
    report_.noted("NodePools and node groups of one name: all are taken", group.object_where);
  }
  for (const NodeOverlayFile& overlay : cluster_.overlays) {
    report_.noted("NodeOverlay: what Karpenter believes of a node, not needed here",
                  overlay.object_where);
  }
  give_to_driver();
}

void ClusterPools::add_nodes() {
  SelectedLabels selected;
  const auto choose_by = [&](const std::vector<NodeRequirement>& required) {
    for (const NodeRequirement& one : required) selected[one.key];
  };
  for (const DraftWorkload& workload : draft_.workloads) {
    for (const auto& [key, value] : workload.node_selector) selected[key].insert(value);
    choose_by(workload.nodes);
    for (const std::vector<NodeRequirement>& term : workload.either) choose_by(term);
    for (const PreferredNodes& nodes : workload.preferences.nodes) choose_by(nodes.requirements);
  }
  for (const ResourceFlavor& flavor : draft_.flavors) {
    for (const auto& [key, value] : flavor.node_labels) selected[key].insert(value);
  }
  is_live_ = std::ranges::any_of(cluster_.groups, [](const NodeGroupFile& group) {
    return group.kind == NodeGroupFile::Kind::Node;
  });
  for (LiveNodes& alike : nodes_that_are_there(cluster_, selected, options_, report_)) {
    const NodeGroupFile& node = *alike.first;
    sharing_.take_live(node, alike.pool);
    alike.pool.sharing.makes_mig = makes_mig(cluster_, node.name);
    take_slices(gpus_in_slices(cluster_, node.name), options_, alike.pool);
    alike.pool.is_told = node.allocatable.has_value();
    if (!alike.node_pool.empty()) started_.insert(alike.node_pool);
    draft_.pools.push_back(std::move(alike.pool));
  }
}

void ClusterPools::give_to_driver() {
  draft_.driver_makes_mig = std::ranges::any_of(cluster_.charts, [](const ChartValues& chart) {
    const auto gate = chart.gates.find("DynamicMIG");
    return gate != chart.gates.end() && gate->second;
  });
  const bool by_claim = std::ranges::all_of(
      draft_.workloads, [](const DraftWorkload& workload) { return !workload.claim.empty(); });
  if (draft_.workloads.empty() || !by_claim) return;
  const bool any_shared = std::ranges::any_of(
      draft_.claims, [](const ResourceClaim& claim) { return !claim.is_template; });
  for (DraftPool& pool : draft_.pools) {
    if (pool.sharing.plugin || pool.sharing.virtual_gpus > 0 || !pool.sharing.nos_slices.empty() ||
        pool.sharing.driver != DraftSharing::Driver::Nvidia) {
      continue;
    }
    pool.sharing.driver = DraftSharing::Driver::Dra;
    // The driver destroys what it did not make.
    if (draft_.driver_makes_mig && options_.mig_layouts.contains(pool.instance_type))
      pool.sharing.makes_mig = true;
    if (pool.sharing.makes_mig) pool.sharing.mig.reset();
    if (!pool.most_nodes || (karpenter_ && !any_shared && !pool.sharing.makes_mig)) continue;
    pool.nodes = 1;
    pool.most_nodes.reset();
    pool.nodes_are_assumed = true;
    report_.guessed("nodes that come and go, with claims on their GPUs: a fixed number of them");
  }
}

void ClusterPools::add_group(const NodeGroupFile& group) {
  if (group.kind == NodeGroupFile::Kind::Node) return;
  if (is_other_way(cluster_, group)) {
    return report_.noted(
        "NodePools beside a node group of their name, type and size: two ways to the same nodes, "
        "as an exported bundle has them; taken once",
        group.object_where);
  }
  if (group.kind == NodeGroupFile::Kind::NodePool && started_.contains(group.name)) {
    return report_.noted("NodePools that have nodes: taken as these, as many as there are",
                         group.object_where);
  }
  if (group.kind == NodeGroupFile::Kind::NodePool && is_live_ &&
      (!group.fewest || is_fixed(group))) {
    NodeGroupFile empty = group;  // what it may start, of which there is none now
    empty.fewest = 0;
    return add_pools_of(empty);
  }
  add_pools_of(group);
}

void ClusterPools::add_pools_of(const NodeGroupFile& group) {
  DraftPool pool;
  pool.maker = group.maker;
  for (const KeyValue& label : group.labels) pool.labels.emplace_back(label.key, label.value);
  pool.made_with = group.requirements;
  for (const Taint& taint : group.taints) {
    if (!taint.key.empty() && !taint.effect.empty()) pool.taints.push_back(taint);
  }
  const bool is_node_pool = group.kind == NodeGroupFile::Kind::NodePool;
  const bool has_part = std::ranges::any_of(options_.fractions, [&](const InstanceGpus& type) {
    return has_labels(type, group.requirements);
  });
  if (is_node_pool && !has_part && !may_have_gpus(group, options_.instances)) {
    return report_.skipped("node pools without GPUs", group.object_where);
  }
  if (is_node_pool && group.nodes && *group.nodes < 1) {
    return report_.skipped("static node pools of no node (replicas: 0)", group.object_where);
  }
  pool.name = dns_name(group.name, is_node_pool ? "pool" : "group");
  if (is_node_pool) {
    // As its nodes beside those that are there would have it, by which exports find them.
    if (is_live_ && label_by(group.maker, kNodePoolLabel)) {
      pool.labels.emplace_back(kNodePoolLabel, group.name);
    }
    take_node_pool(group, pool);
  } else {
    if (!group.types.empty()) pool.instance_type = group.types.front().value;
    if (!is_gpu_type(pool.instance_type)) {
      return report_.skipped("node groups without GPUs", group.object_where);
    }
    pool.type_is_assumed = group.types.size() > 1;
    if (pool.type_is_assumed) {
      report_.guessed(
          fmt::format("node groups of several instance types: their first, {}", pool.instance_type),
          group.object_where);
    }
    take_node_group(group, pool);
  }
  pool.sharing = sharing_.of(group);
  pool.is_told = chosen_config(cluster_, label_of(group, kConfigLabel)).is_known;
  if (!is_node_pool) return draft_.pools.push_back(std::move(pool));
  add_choices(group, std::move(pool));
}

void ClusterPools::add_choices(const NodeGroupFile& group, DraftPool pool) {
  std::vector<std::string> types = types_to_start(draft_, group, pool, options_);
  std::vector<CapacityChoice> purchases = capacities_of(group, pods_choose_purchase());
  if (group.nodes) {  // as many as are written, which are started in one way
    types.resize(std::min<std::size_t>(types.size(), 1));
    purchases.resize(1);
  }
  if (types.size() > 1) {
    report_.noted("NodePools of several instance types: a pool for each", group.object_where);
    pool.type_is_assumed = group.types.empty();
  }
  if (purchases.size() > 1) {
    report_.noted("NodePools of several capacity types, of which pods select some: a pool for each",
                  group.object_where);
  }
  if (const auto others = families_without(types, group); !types.empty() && !others.empty()) {
    report_.noted(fmt::format("instance families of node pools that are dearer, or of which no "
                              "price is known in the region, left out: {}",
                              fmt::join(others, ", ")),
                  group.object_where);
  }
  NodeLimit limit = limit_of(group);
  if (limit.gpus)
    limit.gpus =
        std::max<std::int64_t>(1, *limit.gpus / shares_told(cluster_, group, types, options_));
  const bool is_limited = limit.nodes || limit.gpus || limit.cpu || limit.memory;
  const bool are_several = types.size() > 1 || purchases.size() > 1;
  if (are_several && !pool.most_nodes) {
    grow_by_karpenter(group, group.most.value_or(kMostNodesOfType), pool);
  }
  if (are_several && is_limited && karpenter_) pool.limit = karpenter_->limits.size();
  const auto is_node_pool = [](const auto& label) { return label.first == kNodePoolLabel; };
  if (are_several && label_by(group.maker, kNodePoolLabel) &&
      std::ranges::none_of(pool.labels, is_node_pool)) {
    pool.labels.emplace_back(kNodePoolLabel, group.name);  // they are its instance types
  }
  const bool has_types = types.size() > 1;
  if (types.empty()) types.push_back(pool.instance_type);
  for (const std::string& type : types) {
    for (const CapacityChoice& purchase : purchases) {
      DraftPool& one = draft_.pools.emplace_back(pool);
      start_of_type(group, type, one);
      one.capacity_type = purchase.type;
      one.falls_back = purchase.falls_back;
      if (has_types) one.name += "-" + type;
      if (purchases.size() > 1) {
        one.name += "-" + (purchase.type.empty() ? "on-demand" : purchase.type);
      }
      if (are_several) one.name = dns_name(one.name, "pool");
    }
  }
  if (pool.limit) karpenter_->limits.push_back(std::move(limit));
}

// Whether pods ask for nodes that are bought in one way, or prefer them.
bool ClusterPools::pods_choose_purchase() const {
  const auto names_it = [](const std::vector<NodeRequirement>& all) {
    return std::ranges::find(all, kCapacityTypeLabel, &NodeRequirement::key) != all.end();
  };
  return std::ranges::any_of(draft_.workloads, [&](const DraftWorkload& workload) {
    return names_it(workload.nodes) || std::ranges::any_of(workload.either, names_it) ||
           std::ranges::any_of(workload.preferences.nodes, names_it, &PreferredNodes::requirements);
  });
}

void ClusterPools::start_of_type(const NodeGroupFile& group, const std::string& type,
                                 DraftPool& pool) const {
  pool.instance_type = type;
  const auto most = most_by_limits(cluster_, group, type, options_, report_);
  if (pool.most_nodes && most) pool.most_nodes = std::min(*pool.most_nodes, *most);
}

void ClusterPools::grow_by_karpenter(const NodeGroupFile& group, std::int64_t most,
                                     DraftPool& pool) {
  grow(pool, group.fewest.value_or(0), most);
  pool.weight = group.weight.value_or(0);
  const Provisioner own = karpenter_of(group, !cluster_.overlays.empty());
  if (!karpenter_) karpenter_ = own;
  if (own.consolidation != karpenter_->consolidation) pool.consolidation = own.consolidation;
  if (own.consolidate_after != karpenter_->consolidate_after) {
    pool.consolidate_after = own.consolidate_after;
  }
  if (const auto life = parse_duration(group.expires_after)) pool.expire_after = *life;
  if (group.has_budgets) {
    report_.noted(
        "disruption budgets of NodePools: those of 0 nodes at all times are simulated, else the "
        "default",
        group.object_where);
  }
}

void ClusterPools::take_node_pool(const NodeGroupFile& group, DraftPool& pool) {
  const std::int64_t most = group.most.value_or(0);
  if (group.nodes) {
    grow(pool, most > 0 ? std::min(most, *group.nodes) : *group.nodes, {});
  } else if (most > 0 && is_fixed(group)) {
    grow(pool, most, {});
  } else if (most > 0) {
    grow_by_karpenter(group, most, pool);
  }
  pool.instance_type = type_asked_for(group.requirements, {}, options_.instances);
  if (pool.instance_type.empty()) {  // of nodes with parts of GPUs alone none will be started
    pool.instance_type = type_asked_for(group.requirements, {}, options_.fractions);
  }
  pool.type_is_assumed = group.types.empty();
  if (pool.instance_type.empty()) {
    pool.instance_type = "g5.xlarge";
    const bool names_some = std::ranges::any_of(group.requirements, [](const auto& one) {
      return one.op == "In" && one.key.starts_with("karpenter.k8s.aws/instance-");
    });
    report_.guessed(names_some
                        ? "node pools whose requirements no type of the catalogue meets: g5.xlarge"
                        : "node pools that name no instance type: g5.xlarge",
                    group.object_where);
  } else if (pool.type_is_assumed) {
    report_.guessed("instance types of node pools, from their requirements", group.object_where);
  }
  const auto by_limits = most_by_limits(cluster_, group, pool.instance_type, options_, report_);
  if (pool.nodes_are_assumed) {
    grow_by_karpenter(group, by_limits.value_or(kMostNodesOfType), pool);
  } else if (pool.most_nodes && by_limits) {
    pool.most_nodes = std::max(pool.nodes, std::min(*pool.most_nodes, *by_limits));
  }
}

void ClusterPools::take_node_group(const NodeGroupFile& group, DraftPool& pool) {
  if (group.nodes && *group.nodes > 0) grow(pool, *group.nodes, {});
  if (group.scales && group.fewest && group.most && *group.fewest >= 0 &&
      *group.fewest < *group.most) {
    grow(pool, *group.fewest, group.most);
    autoscales_ = true;
  }
  if (group.is_spot) pool.capacity_type = "spot";
}

std::optional<Provisioner> ClusterPools::provisioner() const {
  if (!karpenter_ && !autoscales_) return std::nullopt;
  Provisioner provisioner = karpenter_.value_or(Provisioner{});
  if (!karpenter_) provisioner.kind = Provisioner::Kind::ClusterAutoscaler;
  take_clocks(cluster_, provisioner);
  return provisioner;
}

}  // namespace slicewise::scenarios
