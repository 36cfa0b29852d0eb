#include "karpenter.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

#include "../document/document_text.hpp"
#include "guide.hpp"
#include "kubernetes_object.hpp"
#include "node_settings.hpp"

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

// Of several Karpenter takes the cheapest that it can have: spot, and on-demand when there is none.
json capacity_types(const NodePool& pool) {
  json types = json::array({capacity_word(pool.capacity_type)});
  if (pool.capacity_type == CapacityType::Spot && pool.spot && pool.spot->falls_back_to_on_demand) {
    types.push_back(capacity_word(CapacityType::OnDemand));
  }
  return types;
}

bool is_karpenter(const Provisioner& provisioner) {
  return provisioner.kind == Provisioner::Kind::Karpenter;
}

bool writes_overlays(const Provisioner& provisioner) {
  return !is_karpenter(provisioner) || provisioner.node_overlay;
}

json disruption_of(const Provisioner& provisioner) {
  if (!is_karpenter(provisioner)) {
    return {{"consolidationPolicy", "WhenEmpty"}, {"consolidateAfter", "10m"}};
  }
  const bool moves_pods =
      provisioner.consolidation == Provisioner::Consolidation::WhenEmptyOrUnderutilized;
  // Karpenter takes no part of a second.
  const std::int64_t ns = provisioner.consolidate_after.ns;
  const std::int64_t seconds_after = ns / 1'000'000'000 + (ns % 1'000'000'000 > 0 ? 1 : 0);
  return {{"consolidationPolicy", moves_pods ? "WhenEmptyOrUnderutilized" : "WhenEmpty"},
          {"consolidateAfter", fmt::format("{}s", seconds_after)}};
}

json discovery_terms(const std::string& cluster) {
  return json::array({{{"tags", {{"karpenter.sh/discovery", cluster}}}}});
}

// Nodes of one class start from the same image, with the same settings.
std::string class_name_of(const NodePool& pool, NodeImage image) {
  if (image == NodeImage::Bottlerocket) return "gpu-bottlerocket-" + pool.name.value;
  return pool.capacity_type == CapacityType::Reserved ? "gpu-al2023-reserved" : "gpu-al2023";
}

class KarpenterWriter {
 public:
  KarpenterWriter(const ExportOptions& options, const Provisioner& provisioner)
      : options_(options), provisioner_(provisioner) {
    cluster_ = cluster_name(options);
  }

  void add(const PoolNodes& nodes) {
    if (options_.image != NodeImage::AutoMode) add_class(nodes);
    add_pool(nodes);
    add_overlay(nodes);
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
    if (pool.capacity_type == CapacityType::Reserved) {
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
    add_document(remarks, kubernetes_object("karpenter.k8s.aws/v1", "EC2NodeClass",
                                            {{"name", name}}, std::move(spec)));
  }

  void add_pool(const PoolNodes& nodes) {
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
          {"requirements",
           json::array({only_in(scenarios::kInstanceTypeLabel, nodes.target.instance->name),
                        only_in(scenarios::kArchitectureLabel, nodes.target.instance->architecture),
                        in_any(scenarios::kCapacityTypeLabel, capacity_types(pool))})}}}};
    json taints = taints_of(pool.taints);
    if (!taints.empty()) tmpl["spec"]["taints"] = std::move(taints);
    const auto labels = node_labels(nodes);
    if (!labels.empty()) tmpl["metadata"]["labels"] = labels;
    // Karpenter has no minimum; `import k8s` reads it.
    json metadata = {{"name", pool.name.value},
                     {"annotations", {{"slicewise.dev/nodes-min", std::to_string(pool.nodes)}}}};
    json spec = {{"template", std::move(tmpl)},
                 {"limits", {{"nodes", std::to_string(pool.most_nodes.value_or(pool.nodes))}}},
                 {"disruption", disruption_of(provisioner_)}};
    if (pool.weight > 0) spec["weight"] = pool.weight;
    add_document(pool_remarks(pool), kubernetes_object("karpenter.sh/v1", "NodePool",
                                                       std::move(metadata), std::move(spec)));
  }

  std::string pool_remarks(const NodePool& pool) const {
    std::string out;
    if (options_.image == NodeImage::AutoMode) {
      out += comment("Assumed: the NodeClass `default`, which EKS Auto Mode makes.");
    }
    out += comment(fmt::format(
        "limits.nodes is the most that the pool of the scenario has: {}. Karpenter starts nodes "
        "for pods that wait, so there may be fewer{}.",
        pool.most_nodes.value_or(pool.nodes),
        pool.most_nodes && pool.nodes > 0
            ? fmt::format(", also fewer than the {} of nodes.min", pool.nodes)
            : ""));
    const bool has_limit = std::ranges::any_of(provisioner_.limits, [&](const auto& limit) {
      return std::ranges::any_of(limit.pools,
                                 [&](const auto& name) { return name.value == pool.name.value; });
    });
    if (has_limit) {
      out += comment(
          "provisioner.limits holds several pools together; no limit of Karpenter is of several "
          "NodePools.");
    }
    if (!is_karpenter(provisioner_)) {
      out += comment(
          "The scenario does not say how Karpenter removes nodes. Assumed: empty ones only "
          "(WhenEmpty), since moving a pod stops its work.");
    } else if (provisioner_.consolidation == Provisioner::Consolidation::WhenEmptyOrUnderutilized) {
      out += comment("WhenEmptyOrUnderutilized moves pods, and with that stops their work.");
    }
    if (pool.taints.empty()) {
      out += comment(
          "The scenario has no taint: pods without a GPU may be put here too, and keep the node "
          "from being empty.");
    }
    return out + reserved_labels(pool, "Kubernetes, AWS or Karpenter");
  }

  // spec.capacity overwrites what EC2 says of the type, so it is per instance type.
  void add_overlay(const PoolNodes& nodes) {
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
                  json::array({only_in(scenarios::kNodePoolLabel, target.pool->name.value),
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

std::string karpenter_title(const scenarios::Scenario& scenario, const ExportOptions& options) {
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
  if (writes_overlays(scenario.provisioner)) {
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
  for (const PoolNodes& one : *nodes) writer.add(one);
  return writer.take();
}

Expected<ExportFiles> render_karpenter(const scenarios::Scenario& scenario,
                                       const models::Catalogue& catalogue,
                                       const ExportOptions& options) {
  const auto objects = karpenter_objects(scenario, catalogue, options);
  if (!objects) return tl::unexpected(objects.error());
  std::string text = karpenter_title(scenario, options);
  for (const KarpenterObject& object : *objects) text += "---\n" + object.text;
  return ExportFiles{{"karpenter.yaml", std::move(text)}};
}

}  // namespace slicewise::reports
