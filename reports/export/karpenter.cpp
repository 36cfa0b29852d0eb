#include "karpenter.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/lookup.hpp"
#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

#include "../document/document_text.hpp"
#include "guide.hpp"
#include "node_settings.hpp"
#include "pod_owner.hpp"

// Field by field against the CRDs of Karpenter 1.14.1 (sigs.k8s.io/karpenter pkg/apis/crds,
// github.com/aws/karpenter-provider-aws pkg/apis/crds).
namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::CapacityType;
using scenarios::NodePool;
using scenarios::Provisioner;

std::string capacity_word(CapacityType type) {
  switch (type) {
    case CapacityType::OnDemand:
      return "on-demand";
    case CapacityType::Spot:
      return "spot";
    case CapacityType::Reserved:
    case CapacityType::CapacityBlock:
      return "reserved";
  }
  return {};
}

json in_any(std::string_view key, json values) {
  return {{"key", key}, {"operator", "In"}, {"values", std::move(values)}};
}

json only_in(std::string_view key, std::string_view value) {
  return in_any(key, json::array({value}));
}

void add_new(json& values, const std::string& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

// Of several Karpenter takes the cheapest that it can have: spot, and on-demand when there is none.
void add_capacity_types(const NodePool& pool, json& types) {
  add_new(types, capacity_word(pool.capacity_type));
  if (pool.capacity_type == CapacityType::Spot && pool.spot && pool.spot->falls_back_to_on_demand) {
    add_new(types, capacity_word(CapacityType::OnDemand));
  }
}

// The instance types of a NodePool, which are pools of the scenario: one, or several with its label
// that differ in nothing else.
using TypesOfPool = std::vector<PoolNodes>;

// The label's, which pods may select; of those that differ and have one label, and where another
// pool is called so, their own.
std::string name_of(const TypesOfPool& types, const std::vector<TypesOfPool>& all) {
  const NodePool& first = *types.front().target.pool;
  const auto label = first.labels.find(std::string(scenarios::kNodePoolLabel));
  const auto has_label = [&](const TypesOfPool& other) {
    return label_of_nodes(*other.front().target.pool) == label_of_nodes(first);
  };
  const auto is_called_so = [&](const TypesOfPool& other) {
    return &other != &types && label_of_nodes(*other.front().target.pool) != label->second &&
           other.front().target.pool->name.value == label->second;
  };
  const bool is_labels = label != first.labels.end() && std::ranges::none_of(all, is_called_so) &&
                         (types.size() > 1 || std::ranges::count_if(all, has_label) == 1);
  return is_labels ? label->second : first.name.value;
}

bool is_karpenter(const Provisioner& provisioner) {
  return provisioner.kind == Provisioner::Kind::Karpenter;
}

bool writes_overlays(const Provisioner& provisioner) {
  return !is_karpenter(provisioner) || provisioner.node_overlay;
}

// Karpenter takes no part of a second.
std::string go_duration(Duration duration) {
  const std::int64_t ns = duration.ns;
  return fmt::format("{}s", ns / 1'000'000'000 + (ns % 1'000'000'000 > 0 ? 1 : 0));
}

bool moves_pods(const Provisioner& provisioner, const NodePool& pool) {
  return pool.consolidation.value_or(provisioner.consolidation) ==
         scenarios::Consolidation::WhenEmptyOrUnderutilized;
}

json disruption_of(const Provisioner& provisioner, const NodePool& pool) {
  if (!is_karpenter(provisioner)) {
    return {{"consolidationPolicy", "WhenEmpty"}, {"consolidateAfter", "10m"}};
  }
  return {{"consolidationPolicy",
           moves_pods(provisioner, pool) ? "WhenEmptyOrUnderutilized" : "WhenEmpty"},
          {"consolidateAfter",
           go_duration(pool.consolidate_after.value_or(provisioner.consolidate_after))}};
}

json discovery_terms(const std::string& cluster) {
  return json::array({{{"tags", {{"karpenter.sh/discovery", cluster}}}}});
}

// Nodes of one class start from the same image, with the same settings.
std::string class_name_of(const NodePool& pool, NodeImage image) {
  if (image == NodeImage::Bottlerocket) return "gpu-bottlerocket-" + pool.name.value;
  return scenarios::is_reserved(pool.capacity_type) ? "gpu-al2023-reserved" : "gpu-al2023";
}

// Whether they are types of one NodePool.
bool are_alike(const PoolNodes& one, const PoolNodes& other, NodeImage image) {
  const NodePool& a = *one.target.pool;
  const NodePool& b = *other.target.pool;
  return is_of_node_pool(a) && a.most_nodes && b.most_nodes && a.weight == b.weight &&
         a.consolidation == b.consolidation && a.consolidate_after == b.consolidate_after &&
         a.expire_after == b.expire_after && node_labels(one) == node_labels(other) &&
         a.labels == b.labels && taints_of(a.taints) == taints_of(b.taints) &&
         class_name_of(a, image) == class_name_of(b, image);
}

class KarpenterWriter {
 public:
  KarpenterWriter(const ExportOptions& options, const Provisioner& provisioner)
      : options_(options), provisioner_(provisioner) {
    cluster_ = cluster_name(options);
  }

  void add(const TypesOfPool& types, const std::string& name) {
    if (options_.image != NodeImage::AutoMode) add_class(types.front());
    add_pool(types, name);
    for (const PoolNodes& nodes : types) add_overlay(nodes, name);
  }

  std::vector<KarpenterObject> take() { return std::move(objects_); }

 private:
  void add_document(const std::string& remarks, const json& object) {
    objects_.push_back({object["kind"], object["metadata"]["name"], remarks + yaml_text(object)});
  }

  void add_class(const PoolNodes& nodes) {
    const NodePool& pool = *nodes.target.pool;
    const std::string name = class_name_of(pool, options_.image);
    if (std::ranges::find(classes_, name) != classes_.end()) return;
    classes_.push_back(name);
    const bool bottlerocket = options_.image == NodeImage::Bottlerocket;
    json spec = {{"role", "KarpenterNodeRole-" + cluster_},
                 {"subnetSelectorTerms", discovery_terms(cluster_)},
                 {"securityGroupSelectorTerms", discovery_terms(cluster_)}};
    spec["amiSelectorTerms"] =
        json::array({{{"alias", bottlerocket ? "bottlerocket@latest" : "al2023@latest"}}});
    const auto volume = [](const char* device, const char* size) {
      return json{{"deviceName", device},
                  {"ebs", {{"volumeSize", size}, {"volumeType", "gp3"}, {"encrypted", true}}}};
    };
    spec["blockDeviceMappings"] =
        bottlerocket ? json::array({volume("/dev/xvda", "4Gi"), volume("/dev/xvdb", "200Gi")})
                     : json::array({volume("/dev/xvda", "200Gi")});
    if (scenarios::is_reserved(pool.capacity_type)) {
      spec["capacityReservationSelectorTerms"] = discovery_terms(cluster_);
    }
    if (bottlerocket) spec["userData"] = bottlerocket_settings(nodes.target);
    std::string remarks = comment(
        bottlerocket
            ? "The image brings the device plugin and takes its settings from userData. Pin a "
              "version in place of @latest before production."
            : "The image for instance types with NVIDIA GPUs has driver and container toolkit, no "
              "device plugin. Pin a version in place of @latest before production.");
    remarks += comment("Assumed: role, discovery tags and a disk of 200 GiB for images.");
    if (scenarios::is_reserved(pool.capacity_type)) {
      remarks += comment(fmt::format(
          "No node starts before there is {} with the tag karpenter.sh/discovery={}, or named by "
          "its id in capacityReservationSelectorTerms; Karpenter before 1.6 needs "
          "settings.featureGates.reservedCapacity=true, too.",
          pool.capacity_type == CapacityType::CapacityBlock ? "a Capacity Block that has begun,"
                                                            : "a capacity reservation",
          cluster_));
    }
    add_document(remarks, kubernetes_object("karpenter.k8s.aws/v1", "EC2NodeClass",
                                            {{"name", name}}, std::move(spec)));
  }

  json requirements_of(const TypesOfPool& types) const {
    json names = json::array();
    json architectures = json::array();
    json purchases = json::array();
    for (const PoolNodes& nodes : types) {
      add_new(names, nodes.target.instance->name);
      add_new(architectures, nodes.target.instance->architecture);
      add_capacity_types(*nodes.target.pool, purchases);
    }
    json all = json::array({in_any(scenarios::kInstanceTypeLabel, std::move(names)),
                            in_any(scenarios::kArchitectureLabel, std::move(architectures)),
                            in_any(scenarios::kCapacityTypeLabel, std::move(purchases))});
    const std::string* zone = zone_of(*types.front().target.pool);
    if (zone != nullptr) all.push_back(in_any(scenarios::kZoneLabel, json::array({*zone})));
    return all;
  }

  // What nodes of the pool may have together with others; nullptr: nothing says it.
  const scenarios::NodeLimit* shared_limit(const NodePool& pool) const {
    return find_if_or_null(provisioner_.limits, [&](const scenarios::NodeLimit& limit) {
      return std::ranges::any_of(limit.pools,
                                 [&](const auto& name) { return name.value == pool.name.value; });
    });
  }

  json limits_of(const TypesOfPool& types) const {
    std::int64_t nodes = 0;
    for (const PoolNodes& one : types) {
      nodes += one.target.pool->most_nodes.value_or(one.target.pool->nodes);
    }
    const scenarios::NodeLimit* shared = shared_limit(*types.front().target.pool);
    if (types.size() == 1 || shared == nullptr) return {{"nodes", std::to_string(nodes)}};
    json limits = json::object();
    if (shared->nodes) limits["nodes"] = std::to_string(*shared->nodes);
    if (shared->gpus) limits[std::string(scenarios::kGpuResource)] = std::to_string(*shared->gpus);
    if (shared->cpu) limits["cpu"] = fmt::format("{}m", shared->cpu->count);
    if (shared->memory) limits["memory"] = std::to_string(shared->memory->count);
    return limits;
  }

  void add_pool(const TypesOfPool& types, const std::string& name) {
    const PoolNodes& nodes = types.front();
    const NodePool& pool = *nodes.target.pool;
    const bool is_auto_mode = options_.image == NodeImage::AutoMode;
    json tmpl = {
        {"spec",
         {{"nodeClassRef",
           is_auto_mode
               ? json{{"group", "eks.amazonaws.com"}, {"kind", "NodeClass"}, {"name", "default"}}
               : json{{"group", "karpenter.k8s.aws"},
                      {"kind", "EC2NodeClass"},
                      {"name", class_name_of(pool, options_.image)}}},
          {"requirements", requirements_of(types)}}}};
    json taints = taints_of(pool.taints);
    if (!taints.empty()) tmpl["spec"]["taints"] = std::move(taints);
    const auto labels = node_labels(nodes);
    if (!labels.empty()) tmpl["metadata"]["labels"] = labels;
    // Karpenter has no minimum; `import k8s` reads it.
    int fewest = 0;
    for (const PoolNodes& one : types) fewest += one.target.pool->nodes;
    json metadata = {{"name", name},
                     {"annotations", {{"slicewise.dev/nodes-min", std::to_string(fewest)}}}};
    json spec = {{"template", std::move(tmpl)},
                 {"limits", limits_of(types)},
                 {"disruption", disruption_of(provisioner_, pool)}};
    if (pool.expire_after) {
      spec["template"]["spec"]["expireAfter"] = go_duration(*pool.expire_after);
    }
    if (pool.weight > 0) spec["weight"] = pool.weight;
    add_document(pool_remarks(types), kubernetes_object("karpenter.sh/v1", "NodePool",
                                                        std::move(metadata), std::move(spec)));
  }

  std::string pool_remarks(const TypesOfPool& types) const {
    const NodePool& pool = *types.front().target.pool;
    std::string out;
    if (options_.image == NodeImage::AutoMode) {
      out += comment("Assumed: the NodeClass `default`, which EKS Auto Mode makes.");
    }
    if (types.size() > 1) {
      out +=
          comment(fmt::format("{} pools of the scenario are its instance types: Karpenter takes "
                              "the cheapest that holds "
                              "the pods. limits is what they may have together.",
                              types.size()));
    } else {
      out += nodes_remark(pool);
    }
    if (!is_karpenter(provisioner_)) {
      out += comment(
          "The scenario does not say how Karpenter removes nodes. Assumed: empty ones only "
          "(WhenEmpty), since moving a pod stops its work.");
    } else if (moves_pods(provisioner_, pool)) {
      out += comment("WhenEmptyOrUnderutilized moves pods, and with that stops their work.");
    }
    if (pool.taints.empty()) {
      out += comment(
          "The scenario has no taint: pods without a GPU may be put here too, and keep the node "
          "from being empty.");
    }
    return out + reserved_labels(pool, "Kubernetes, AWS or Karpenter", scenarios::kZoneLabel);
  }

  std::string nodes_remark(const NodePool& pool) const {
    std::string out = comment(fmt::format(
        "limits.nodes is the most that the pool of the scenario has: {}. Karpenter starts nodes "
        "for pods that wait, so there may be fewer{}.",
        pool.most_nodes.value_or(pool.nodes),
        pool.most_nodes && pool.nodes > 0
            ? fmt::format(", also fewer than the {} of nodes.min", pool.nodes)
            : ""));
    if (shared_limit(pool) != nullptr) {
      out += comment(
          "provisioner.limits holds several pools together; no limit of Karpenter is of several "
          "NodePools.");
    }
    return out;
  }

  // spec.capacity overwrites what EC2 says of the type, so it is per instance type.
  void add_overlay(const PoolNodes& nodes, const std::string& node_pool) {
    const PoolTarget& target = nodes.target;
    const int known = target.instance->gpu_fraction < 1 ? 0 : target.instance->gpu_count;
    json capacity = json::object();
    bool as_ec2_says = true;
    for (const AdvertisedResource& resource : advertised(target)) {
      capacity[resource.name] = std::to_string(resource.count.value_or(0));
      as_ec2_says =
          as_ec2_says && resource.name == scenarios::kGpuResource && resource.count == known;
    }
    if (as_ec2_says) return;
    if (!writes_overlays(provisioner_)) return add_unknown(target);
    if (!capacity.contains(scenarios::kGpuResource)) capacity[scenarios::kGpuResource] = "0";
    std::string remarks = comment(fmt::format(
        "EC2 reports {} x nvidia.com/gpu for {}. Karpenter has to be told what a node will offer, "
        "or it starts nodes that do not fit: alpha, Karpenter 1.7 and newer, with "
        "settings.featureGates.nodeOverlay=true.",
        known, target.instance->name));
    if (target.instance->gpu_fraction < 1) {
      remarks += comment("The GPU is a fraction of a card (vGPU), which the EC2 API counts as 0.");
    }
    json spec = {{"requirements",
                  json::array({only_in(scenarios::kNodePoolLabel, node_pool),
                               only_in(scenarios::kInstanceTypeLabel, target.instance->name)})},
                 {"capacity", std::move(capacity)}};
    add_document(remarks, kubernetes_object("karpenter.sh/v1alpha1", "NodeOverlay",
                                            {{"name", target.pool->name.value}}, std::move(spec)));
  }

  // nodeOverlay: false was simulated, so it is what is put in place.
  void add_unknown(const PoolTarget& target) {
    objects_.back().text += comment(fmt::format(
        "No NodeOverlay for {}: the scenario has nodeOverlay: false. Karpenter goes by what EC2 "
        "says of {}, and starts nothing for resources that EC2 does not know.",
        target.pool->name.value, target.instance->name));
  }

  const ExportOptions& options_;
  const Provisioner& provisioner_;
  std::string cluster_;
  std::vector<KarpenterObject> objects_;
  std::vector<std::string> classes_;
};

std::string karpenter_title(const scenarios::Scenario& scenario, const ExportOptions& options,
                            bool has_overlays) {
  std::string out = comment(
      fmt::format("Karpenter objects of scenario variant {} (karpenter.yaml), written by slicewise",
                  yaml_scalar(scenario.name)));
  const bool is_auto_mode = options.image == NodeImage::AutoMode;
  out += comment(is_auto_mode
                     ? "For EKS Auto Mode, whose nodes bring a device plugin: install no other."
                     : "Not for EKS Auto Mode: its node classes are another kind "
                       "(eks.amazonaws.com), and its device plugin cannot be configured.");
  out += comment("Roll out:");
  if (is_auto_mode) return out + commented("  kubectl apply -f karpenter.yaml\n");
  if (has_overlays) {
    out += commented(
        "  helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter -n kube-system \\\n"
        "    --reuse-values --set settings.featureGates.nodeOverlay=true\n");
  }
  return out + commented(options.cluster.empty()
                             ? "  CLUSTER_NAME=my-cluster envsubst '$CLUSTER_NAME' < "
                               "karpenter.yaml | kubectl apply -f -\n"
                             : "  kubectl apply -f karpenter.yaml\n");
}

}  // namespace

Expected<std::vector<KarpenterObject>> karpenter_objects(const scenarios::Scenario& scenario,
                                                         const models::Catalogue& catalogue,
                                                         const ExportOptions& options) {
  if (Diagnostics found = check_ec2(scenario); !found.empty()) return tl::unexpected(found);
  const Expected<std::vector<PoolNodes>> nodes = image_nodes(scenario, catalogue, options);
  if (!nodes) return tl::unexpected(nodes.error());
  if (Diagnostics found = unknown_counts(*nodes); !found.empty()) return tl::unexpected(found);
  KarpenterWriter writer(options, scenario.provisioner);
  std::vector<TypesOfPool> pools;
  for (const PoolNodes& one : *nodes) {
    const auto same = std::ranges::find_if(pools, [&](const TypesOfPool& types) {
      return are_alike(types.front(), one, options.image);
    });
    same == pools.end() ? pools.push_back({one}) : same->push_back(one);
  }
  for (const TypesOfPool& types : pools) writer.add(types, name_of(types, pools));
  return writer.take();
}

Expected<ExportFiles> render_karpenter(const scenarios::Scenario& scenario,
                                       const models::Catalogue& catalogue,
                                       const ExportOptions& options) {
  const auto objects = karpenter_objects(scenario, catalogue, options);
  if (!objects) return tl::unexpected(objects.error());
  const bool has_overlays = contains(*objects, "NodeOverlay", &KarpenterObject::kind);
  std::string text = karpenter_title(scenario, options, has_overlays);
  for (const KarpenterObject& object : *objects) text += "---\n" + object.text;
  return ExportFiles{{"karpenter.yaml", std::move(text)}};
}

}  // namespace slicewise::reports
