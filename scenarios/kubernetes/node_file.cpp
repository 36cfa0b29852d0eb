#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"

// What makes nodes: Karpenter's NodePool, EC2NodeClass and NodeOverlay, eksctl's ClusterConfig, and
// Nodes themselves.
namespace slicewise::scenarios::manifests {
namespace {

// What eksctl installs is a flag of its command, which has no field in the file: a comment there
// says with which it is called.
bool says_no_plugin(const Context& context) {
  const std::string_view text = context.source->text;
  const std::size_t flag = text.find("--install-nvidia-plugin=false");
  if (flag == text.npos) return false;
  const std::size_t line = text.rfind('\n', flag);
  return text.find('#', line == text.npos ? 0 : line) < flag;
}

std::string family_of(const Node& group) { return lower_case(text_below(&group, {"amiFamily"})); }

NodeGroupFile named_group(NodeGroupFile::Kind kind, const Located<std::string>& name,
                          const Node& object) {
  NodeGroupFile group;
  group.kind = kind;
  group.name = name.value;
  group.where = name.where.line > 0 ? name.where : object.where;
  group.object_where = object.where;
  return group;
}

// Of a Node, by the labels of its makers, which one of a cluster has. EKS Auto Mode's have
// Karpenter's name of the NodePool as well.
NodeMaker maker_by_labels(const NodeGroupFile& node) {
  const auto has = [&](std::string_view label) { return label_of(node, label) != nullptr; };
  if (has("eks.amazonaws.com/compute-type")) return NodeMaker::AutoMode;
  if (has(kNodePoolLabel)) return NodeMaker::Karpenter;
  if (has(kManagedGroupLabel)) return NodeMaker::ManagedGroup;
  if (has(kEksctlGroupLabel)) return NodeMaker::Eksctl;
  return node.allocatable ? NodeMaker::Other : NodeMaker::Unknown;
}

void read_budgets(const Node* budgets, NodeGroupFile& group) {
  for (const Node* budget : items_of(budgets)) {
    const std::string nodes = text_below(budget, {"nodes"});
    const bool is_whole =
        node_below(budget, {"schedule"}) == nullptr && node_below(budget, {"reasons"}) == nullptr;
    const bool keeps_all = is_whole && (nodes == "0" || nodes == "0%");
    (keeps_all ? group.is_kept : group.has_budgets) = true;
  }
}

// Whoever makes nodes labels them with its name.
void add_name(NodeGroupFile& group, std::string_view label) {
  group.requirements.push_back({std::string(label), "In", {group.name}, group.where});
}

// Labels that its owner gives a group in the place of other makers of nodes.
void add_labels_of_others(NodeGroupFile& group) {
  for (const KeyValue& label : group.labels) {
    if (label_by(group.maker, label.key)) continue;
    group.requirements.push_back({label.key, "In", {label.value}, label.where});
  }
}

void read_node_pool(Context& context, const Node& object) {
  NodeGroupFile group = named_group(NodeGroupFile::Kind::NodePool,
                                    located_below(&object, {"metadata", "name"}), object);
  const Node* made = node_below(&object, {"spec", "template"});
  group.labels = pairs_of(node_below(made, {"metadata", "labels"}));
  group.taints = taints_of(node_below(made, {"spec", "taints"}));
  group.requirements = requirements_of(node_below(made, {"spec", "requirements"}));
  group.limits = whole_amounts_of(node_below(&object, {"spec", "limits"}));
  group.node_class = text_below(made, {"spec", "nodeClassRef", "name"});
  const bool is_auto_mode =
      text_below(made, {"spec", "nodeClassRef", "group"}) == "eks.amazonaws.com";
  group.maker = is_auto_mode ? NodeMaker::AutoMode : NodeMaker::Karpenter;
  group.most = whole_of(text_below(&object, {"spec", "limits", "nodes"}));
  // A NodePool has no minimum; exported ones carry that of their scenario, which is the most, too,
  // where its nodes stay.
  group.fewest =
      whole_of(text_below(&object, {"metadata", "annotations", "slicewise.dev/nodes-min"}));
  group.nodes = whole_of(text_below(&object, {"spec", "replicas"}));
  group.weight = whole_of(text_below(&object, {"spec", "weight"}));
  const Node* disruption = node_below(&object, {"spec", "disruption"});
  group.consolidation = text_below(disruption, {"consolidationPolicy"});
  group.consolidates_after = text_below(disruption, {"consolidateAfter"});
  group.expires_after = text_below(made, {"spec", "expireAfter"});
  read_budgets(node_below(disruption, {"budgets"}), group);
  for (NodeRequirement& requirement : group.requirements) {
    requirement.key = label_by(group.maker, requirement.key).value_or(requirement.key);
    if (requirement.key != kInstanceTypeLabel || requirement.op != "In") continue;
    for (const std::string& type : requirement.values) {
      group.types.push_back({type, requirement.where});
    }
  }
  add_name(group, kNodePoolLabel);
  add_labels_of_others(group);
  context.files.groups.push_back(std::move(group));
}

// A list of mappings, or the older mapping of "value:effect" by key.
std::vector<Taint> eksctl_taints(const Node* taints) {
  if (!is_map(taints)) return taints_of(taints);
  std::vector<Taint> result;
  for (const Entry& entry : taints->entries) {
    if (entry.value == nullptr) continue;
    const std::string& text = entry.value->text;
    const std::size_t colon = text.rfind(':');
    result.push_back({entry.key, colon == text.npos ? "" : text.substr(0, colon),
                      colon == text.npos ? text : text.substr(colon + 1)});
  }
  return result;
}

// What eksctl refuses. Source: eksctl-io/eksctl pkg/apis/eksctl.io/v1alpha5/validation.go.
void judge_node_group(Context& context, const Node& item, const NodeGroupFile& group) {
  const auto refuse = [&](const Node* at, const std::string& what) {
    report(context, Code::ValueRange, at == nullptr ? item.where : at->where, what,
           "eksctl refuses the file");
  };
  const auto is_above = [](const auto& a, const auto& b) { return a && b && *a > *b; };
  if (is_above(group.nodes, group.most)) {
    refuse(item.find("desiredCapacity"),
           fmt::format("desiredCapacity {} is above maxSize {}", *group.nodes, *group.most));
  } else if (is_above(group.fewest, group.most)) {
    refuse(item.find("minSize"),
           fmt::format("minSize {} is above maxSize {}", *group.fewest, *group.most));
  } else if (is_above(group.fewest, group.nodes)) {
    refuse(item.find("desiredCapacity"),
           fmt::format("desiredCapacity {} is below minSize {}", *group.nodes, *group.fewest));
  }
  const Node* types = item.find("instanceTypes");
  if (types != nullptr && !text_below(&item, {"instanceType"}).empty()) {
    refuse(types, "instanceType and instanceTypes: a group has one of the two");
  }
  const Node* share =
      node_below(&item, {"instancesDistribution", "onDemandPercentageAboveBaseCapacity"});
  const auto percent = share == nullptr ? std::nullopt : whole_of(share->text);
  if (percent && (*percent < 0 || *percent > 100)) {
    refuse(share, "onDemandPercentageAboveBaseCapacity is from 0 to 100");
  }
}

// Source: docs.aws.amazon.com/eks, kubernetes-versions-extended, "Kubernetes 1.33".
constexpr std::int64_t kNoAmazonLinux2From = 33;

void judge_amazon_linux_2(Context& context, const Node& item, std::int64_t minor) {
  const bool has_own = item.find("ami") != nullptr || item.find("launchTemplate") != nullptr;
  if (minor < kNoAmazonLinux2From || has_own) return;
  report(
      context,
      make_diagnostic(
          Code::ValueRange, item.find("amiFamily")->where,
          fmt::format(
              "AWS has no image of Amazon Linux 2 for Kubernetes 1.{}: no node of the group starts",
              minor),
          "amiFamily: AmazonLinux2023, or Bottlerocket"));
}

// Zones of another region than the cluster's; what a template is still to fill in is left alone.
void judge_zones(Context& context, const Node* zones) {
  const std::string& region = context.files.region;
  for (const Node* zone : items_of(zones)) {
    const bool is_name =
        !region.empty() && (region + zone->text).find_first_of("${<") == region.npos;
    if (!is_name || zone->text.starts_with(region)) continue;
    report(
        context, Code::ValueRange, zone->where,
        fmt::format("{} is no zone of region {}", zone->text.substr(0, 40), region.substr(0, 40)),
        "zones begin with the name of their region: " + region.substr(0, 40) + "a");
  }
}

// Nodes are in these zones alone, where no subnets are named beside them: eksctl takes both.
void add_zones(const Node& item, NodeGroupFile& group) {
  NodeRequirement zones{std::string(kZoneLabel), "In", {}, item.where};
  for (const std::string_view key : {"availabilityZones", "localZones"}) {
    const Node* list = item.find(key);
    if (!is_list(list)) continue;
    zones.where = list->where;
    for (const NodePtr& zone : list->items) zones.values.push_back(zone->text);
  }
  if (zones.values.empty() || item.find("subnets") != nullptr) return;
  group.requirements.push_back(std::move(zones));
}

void read_node_group(Context& context, const Node& item, std::string_view cluster_version,
                     bool is_managed) {
  NodeGroupFile group =
      named_group(NodeGroupFile::Kind::NodeGroup, located_below(&item, {"name"}), item);
  group.labels = pairs_of(item.find("labels"));
  group.taints = eksctl_taints(item.find("taints"));
  const Located<std::string> type = located_below(&item, {"instanceType"});
  if (!type.value.empty() && type.value != "mixed") group.types.push_back(type);
  for (const Node* types : {item.find("instanceTypes"),
                            node_below(&item, {"instancesDistribution", "instanceTypes"})}) {
    for (const Node* one : items_of(types)) group.types.push_back({one->text, one->where});
  }
  group.nodes = whole_of(text_below(&item, {"desiredCapacity"}));
  group.fewest = whole_of(text_below(&item, {"minSize"}));
  group.most = whole_of(text_below(&item, {"maxSize"}));
  group.is_spot = is_true(item.find("spot"));
  group.may_have_efa = is_true(item.find("efaEnabled")) || item.find("launchTemplate") != nullptr;
  // What else may give its pods room.
  constexpr std::string_view kOthers[] = {"preBootstrapCommands", "overrideBootstrapCommand",
                                          "launchTemplate", "additionalVolumes", "ami"};
  const bool has_more =
      std::ranges::any_of(kOthers, [&](std::string_view key) { return item.find(key) != nullptr; });
  constexpr std::int64_t kLargestVolume = 65'536;  // GiB, of EBS
  const auto volume = whole_of(text_below(&item, {"volumeSize"}));
  const bool is_volume = volume && *volume > 0 && *volume <= kLargestVolume;
  if (is_volume && !has_more) group.disk = gibibytes(*volume);
  group.maker = is_managed ? NodeMaker::ManagedGroup : NodeMaker::Eksctl;
  add_name(group, kEksctlGroupLabel);
  add_zones(item, group);
  judge_zones(context, item.find("availabilityZones"));
  add_labels_of_others(group);
  if (is_managed) {
    add_name(group, kManagedGroupLabel);
    group.requirements.push_back({std::string(kManagedCapacityLabel),
                                  "In",
                                  {group.is_spot ? "SPOT" : "ON_DEMAND"},
                                  group.where});
  }
  judge_node_group(context, item, group);
  const std::string family = family_of(item);
  const Node* tags = item.find("tags");
  group.scales = is_map(tags) && tags->entry("k8s.io/cluster-autoscaler/enabled") != nullptr;
  // nodeadm labels GPU nodes from Kubernetes 1.35 on.
  const std::size_t dot = cluster_version.find('.');
  const auto minor =
      dot == cluster_version.npos ? std::nullopt : whole_of(cluster_version.substr(dot + 1));
  if (family == "amazonlinux2" && minor) judge_amazon_linux_2(context, item, *minor);
  constexpr std::int64_t kLabelsFrom = 35;
  group.labels_gpus = family != "bottlerocket" && minor && *minor >= kLabelsFrom;
  if (family == "bottlerocket") {
    read_bottlerocket(context, node_below(&item, {"bottlerocket", "settings"}), group);
  } else if (std::ranges::any_of(group.types, [](const auto& t) { return is_gpu_type(t.value); })) {
    const bool is_first = !context.files.eksctl_installs;
    if (is_first && !says_no_plugin(context)) context.files.eksctl_installs = group.where;
  }
  context.files.groups.push_back(std::move(group));
}

void read_cluster_config(Context& context, const Node& object) {
  const std::string version = text_below(&object, {"metadata", "version"});
  context.files.region = text_below(&object, {"metadata", "region"});
  judge_zones(context, object.find("availabilityZones"));
  std::set<std::string> names;
  for (const std::string_view list : {"managedNodeGroups", "nodeGroups"}) {
    const Node* groups = object.find(list);
    for (const Node* item : items_of(groups)) {
      read_node_group(context, *item, version, list == "managedNodeGroups");
      const NodeGroupFile& group = context.files.groups.back();
      if (group.name.empty() || names.insert(group.name).second) continue;
      report(context, Code::NameInvalid, group.where,
             fmt::format("two node groups are called {}", group.name.substr(0, 60)),
             "eksctl refuses the file: names must be unique");
    }
  }
}

void read_node(Context& context, const Node& object) {
  NodeGroupFile group =
      named_group(NodeGroupFile::Kind::Node, located_below(&object, {"metadata", "name"}), object);
  group.labels = pairs_of(node_below(&object, {"metadata", "labels"}));
  group.taints = taints_of(node_below(&object, {"spec", "taints"}));
  if (const Node* allocatable = node_below(&object, {"status", "allocatable"});
      is_map(allocatable)) {
    group.allocatable = whole_amounts_of(allocatable);
    std::erase_if(*group.allocatable, [](const auto& amount) { return amount.resource == "cpu"; });
    const Located<std::string> cpu = located_below(allocatable, {"cpu"});
    if (const auto milli = quantity_in_thousandths(cpu.value)) {
      group.allocatable->push_back({"cpu", *milli, cpu.where});
    }
  }
  group.is_bottlerocket =
      text_below(&object, {"status", "nodeInfo", "osImage"}).starts_with("Bottlerocket");
  group.maker = maker_by_labels(group);
  add_labels_of_others(group);
  for (const KeyValue& label : group.labels) {
    if (label.key == kInstanceTypeLabel) group.types.push_back({label.value, label.where});
  }
  context.files.groups.push_back(std::move(group));
}

// The version of the cluster is in none of Karpenter's files.
void judge_alias(Context& context, const Node& node_class) {
  const Node* terms = node_below(&node_class, {"spec", "amiSelectorTerms"});
  for (const Node* term : items_of(terms)) {
    const Located<std::string> alias = located_below(term, {"alias"});
    if (!alias.value.starts_with("al2@")) continue;
    warn(context, Code::ValueRange, alias.where,
         fmt::format("AWS has no image of Amazon Linux 2 for Kubernetes 1.{} and later: no node "
                     "starts there",
                     kNoAmazonLinux2From),
         "alias: al2023@latest, or bottlerocket@latest");
  }
}

// What of it pods may have at the most: none of its volumes is larger. Sources:
// karpenter.sh/docs/concepts/nodeclasses, blockDeviceMappings. EKS Auto Mode takes the disks of an
// instance where it has any.
std::optional<Bytes> disk_of(const Node& node_class) {
  const auto bytes_of = [](const Node* size) -> std::optional<Bytes> {
    const auto thousandths = quantity_in_thousandths(text_below(size, {}));
    return thousandths ? std::optional(Bytes{*thousandths / 1'000}) : std::nullopt;
  };
  const Node* spec = node_class.find("spec");
  // Disks of the instance take the place of a volume, and images of one's own bring theirs.
  if (!text_below(spec, {"instanceStorePolicy"}).empty()) return std::nullopt;
  std::optional<Bytes> largest;
  for (const Node* mapping : items_of(node_below(spec, {"blockDeviceMappings"}))) {
    const auto size = bytes_of(node_below(mapping, {"ebs", "volumeSize"}));
    if (!size) return std::nullopt;
    largest = std::max(largest.value_or(Bytes{}), *size);
  }
  return largest;
}

bool uses_bottlerocket(const Node& node_class) {
  if (text_below(&node_class, {"spec", "amiFamily"}) == "Bottlerocket") return true;
  const Node* terms = node_below(&node_class, {"spec", "amiSelectorTerms"});
  return is_list(terms) && std::ranges::any_of(terms->items, [](const NodePtr& term) {
           return text_below(term.get(), {"alias"}).starts_with("bottlerocket");
         });
}

}  // namespace

bool read_nodes(Context& context, const NodePtr& object, std::string_view kind) {
  if (kind == "NodePool") {
    read_node_pool(context, *object);
  } else if (kind == "EC2NodeClass" || kind == "NodeClass") {
    context.classes.emplace_back(object, context.source);
  } else if (kind == "NodeOverlay") {
    const Located<std::string> name = located_below(object.get(), {"metadata", "name"});
    context.files.overlays.push_back(
        {name.value, name.where.line > 0 ? name.where : object->where, object->where,
         requirements_of(node_below(object.get(), {"spec", "requirements"})),
         whole_amounts_of(node_below(object.get(), {"spec", "capacity"}))});
  } else if (kind == "ClusterConfig") {
    read_cluster_config(context, *object);
  } else if (kind == "Node") {
    read_node(context, *object);
  } else {
    return false;
  }
  return true;
}

void apply_node_classes(Context& context) {
  for (const auto& [node_class, source] : context.classes) {
    context.source = source;
    judge_alias(context, *node_class);
    NodeClassFile file{text_below(node_class.get(), {"metadata", "name"})};
    NodeGroupFile image;
    const Node* user_data = node_below(node_class.get(), {"spec", "userData"});
    const Node* reserved =
        node_below(node_class.get(), {"spec", "capacityReservationSelectorTerms"});
    image.has_reservations = is_list(reserved) && !reserved->items.empty();
    image.disk = disk_of(*node_class);
    const auto toml = user_data == nullptr ? std::nullopt : embedded_text(context, *user_data);
    if (uses_bottlerocket(*node_class)) {
      toml ? read_bottlerocket(context, *toml, image) : read_bottlerocket(context, nullptr, image);
    }
    for (NodeGroupFile& group : context.files.groups) {
      if (group.kind != NodeGroupFile::Kind::NodePool || group.node_class != file.name) continue;
      file.is_used = true;
      group.has_reservations = image.has_reservations;
      group.disk = image.disk;
      group.is_bottlerocket = image.is_bottlerocket;
      group.bottlerocket = image.bottlerocket;
      group.bottlerocket_mig = image.bottlerocket_mig;
      group.bottlerocket_partitions = image.bottlerocket_partitions;
      group.bottlerocket_where = image.bottlerocket_where;
    }
    context.files.node_classes.push_back(std::move(file));
  }
}

}  // namespace slicewise::scenarios::manifests

namespace slicewise::scenarios {

bool is_for(const NodeOverlayFile& overlay, const NodeGroupFile& group, const NodeLabels& of_type) {
  NodeLabels labels = of_type;
  for (const KeyValue& own : group.labels) labels[own.key] = own.value;
  return std::ranges::all_of(overlay.requirements, [&](const NodeRequirement& one) {
    return may_fulfil(labels, group.requirements, one, group.maker);
  });
}

bool overlay_gives_gpus(const ClusterFiles& files, const NodeGroupFile& group,
                        const NodeLabels& of_type) {
  return std::ranges::any_of(files.overlays, [&](const NodeOverlayFile& overlay) {
    return is_for(overlay, group, of_type) &&
           std::ranges::any_of(overlay.capacity, [](const ResourceAmount& amount) {
             return amount.resource == kGpuResource && amount.amount > 0;
           });
  });
}

bool is_set_by_others(std::string_view label) {
  if (label.starts_with("node.kubernetes.io/")) {  // kubelet's and the cloud's
    return label == kInstanceTypeLabel || label == "node.kubernetes.io/windows-build";
  }
  return label.find("kubernetes.io/") != label.npos || label.starts_with("karpenter") ||
         label.starts_with("nvidia.com/") || label.starts_with("feature.node") ||
         label.starts_with("eks.amazonaws.com/") || label.starts_with("alpha.eksctl.io/") ||
         label.find(".amazonaws.com/") != label.npos;
}

bool is_late_label(std::string_view label) {
  return label.starts_with("nvidia.com/") && label != kMigLabel;
}

bool is_gpu_type(std::string_view type) {
  const std::size_t digit = type.find_first_of("0123456789");
  const bool is_amd = type.starts_with("g4ad");
  const bool family = (type.starts_with("g") || type.starts_with("p")) && !is_amd;
  return family && digit != type.npos && digit <= 2 && (digit == 1 || type[1] == 'r');
}

}  // namespace slicewise::scenarios
