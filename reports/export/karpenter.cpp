#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export/kinds.hpp"

#include "../yaml_text.hpp"
#include "guide.hpp"
#include "node_image.hpp"
#include "node_settings.hpp"
#include "text_block.hpp"

// Field by field against the CRDs of Karpenter 1.14.1 (sigs.k8s.io/karpenter pkg/apis/crds,
// github.com/aws/karpenter-provider-aws pkg/apis/crds).
namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::CapacityType;
using scenarios::NodePool;

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

json only_in(std::string_view key, std::string_view value) {
  return {{"key", key}, {"operator", "In"}, {"values", json::array({value})}};
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
  KarpenterWriter(const ExportOptions& options, std::string title)
      : options_(options), text_(std::move(title)) {
    cluster_ = options.cluster.empty() ? "${CLUSTER_NAME}" : options.cluster;
  }

  void add(const PoolNodes& nodes) {
    add_class(nodes);
    add_pool(nodes);
    add_overlay(nodes);
  }

  std::string take() { return std::move(text_); }

 private:
  void add_document(const std::string& remarks, const json& object) {
    text_ += "---\n" + remarks + yaml_text(object);
  }

  void add_class(const PoolNodes& nodes) {
    const NodePool& pool = *nodes.target.pool;
    const std::string name = class_name_of(pool, options_.image);
    if (std::find(classes_.begin(), classes_.end(), name) != classes_.end()) return;
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
    add_document(remarks, {{"apiVersion", "karpenter.k8s.aws/v1"},
                           {"kind", "EC2NodeClass"},
                           {"metadata", {{"name", name}}},
                           {"spec", std::move(spec)}});
  }

  void add_pool(const PoolNodes& nodes) {
    const NodePool& pool = *nodes.target.pool;
    json tmpl = {
        {"spec",
         {{"nodeClassRef",
           {{"group", "karpenter.k8s.aws"},
            {"kind", "EC2NodeClass"},
            {"name", class_name_of(pool, options_.image)}}},
          {"requirements",
           json::array(
               {only_in("node.kubernetes.io/instance-type", nodes.target.instance->name),
                only_in("karpenter.sh/capacity-type", capacity_word(pool.capacity_type))})}}}};
    json taints = taints_of(pool);
    if (!taints.empty()) tmpl["spec"]["taints"] = std::move(taints);
    const auto labels = node_labels(nodes);
    if (!labels.empty()) tmpl["metadata"]["labels"] = labels;
    add_document(
        pool_remarks(pool),
        {{"apiVersion", "karpenter.sh/v1"},
         {"kind", "NodePool"},
         {"metadata", {{"name", pool.name.value}}},
         {"spec",
          {{"template", std::move(tmpl)},
           {"limits", {{"nodes", std::to_string(pool.nodes)}}},
           {"disruption", {{"consolidationPolicy", "WhenEmpty"}, {"consolidateAfter", "10m"}}}}}});
  }

  static std::string pool_remarks(const NodePool& pool) {
    std::string out = comment(fmt::format(
        "limits.nodes is the pool of the scenario: {}. Karpenter starts nodes for pods that wait, "
        "so there may be fewer; it removes empty ones only (WhenEmpty), since moving a pod stops "
        "its work.",
        pool.nodes));
    if (pool.taints.empty()) {
      out += comment(
          "The scenario has no taint: pods without a GPU may be put here too, and keep the node "
          "from being empty.");
    }
    for (const auto& [key, value] : pool.labels) {
      if (is_reserved_label(key)) {
        out += comment(fmt::format(
            "Left out: label {}={}, which Kubernetes, AWS or Karpenter sets.", key, value));
      }
    }
    return out;
  }

  // spec.capacity overwrites what EC2 says of the type, so it is per instance type.
  void add_overlay(const PoolNodes& nodes) {
    const PoolTarget& target = nodes.target;
    const int known = target.instance->gpu_fraction < 1 ? 0 : target.instance->gpu_count;
    json capacity = json::object();
    bool as_ec2_says = true;
    for (const AdvertisedResource& resource : advertised(target)) {
      capacity[resource.name] = std::to_string(resource.count.value_or(0));
      as_ec2_says = as_ec2_says && resource.name == "nvidia.com/gpu" && resource.count == known;
    }
    if (as_ec2_says) return;
    if (!capacity.contains("nvidia.com/gpu")) capacity["nvidia.com/gpu"] = "0";
    std::string remarks = comment(fmt::format(
        "EC2 reports {} x nvidia.com/gpu for {}. Karpenter has to be told what a node will offer, "
        "or it starts nodes that do not fit: alpha, Karpenter 1.7 and newer, with "
        "settings.featureGates.nodeOverlay=true.",
        known, target.instance->name));
    if (target.instance->gpu_fraction < 1) {
      remarks += comment("The GPU is a fraction of a card (vGPU), which the EC2 API counts as 0.");
    }
    add_document(
        remarks,
        {{"apiVersion", "karpenter.sh/v1alpha1"},
         {"kind", "NodeOverlay"},
         {"metadata", {{"name", target.pool->name.value}}},
         {"spec",
          {{"requirements",
            json::array({only_in("karpenter.sh/nodepool", target.pool->name.value),
                         only_in("node.kubernetes.io/instance-type", target.instance->name)})},
           {"capacity", std::move(capacity)}}}});
  }

  const ExportOptions& options_;
  std::string cluster_;
  std::string text_;
  std::vector<std::string> classes_;
};

std::string karpenter_title(const scenarios::Scenario& scenario, const ExportOptions& options) {
  std::string out = comment(
      fmt::format("Karpenter objects of scenario variant {} (karpenter.yaml), written by slicewise",
                  yaml_scalar(scenario.name)));
  out += comment(
      "Not for EKS Auto Mode: its node classes are another kind (eks.amazonaws.com), and its "
      "device plugin cannot be configured.");
  out += comment("Roll out:");
  out += commented(
      "  helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter -n kube-system \\\n"
      "    --reuse-values --set settings.featureGates.nodeOverlay=true\n");
  return out + commented(options.cluster.empty()
                             ? "  CLUSTER_NAME=my-cluster envsubst '$CLUSTER_NAME' < "
                               "karpenter.yaml | kubectl apply -f -\n"
                             : "  kubectl apply -f karpenter.yaml\n");
}

}  // namespace

Expected<ExportFiles> render_karpenter(const scenarios::Scenario& scenario,
                                       const models::Catalogue& catalogue,
                                       const ExportOptions& options) {
  const Expected<std::vector<PoolNodes>> nodes = image_nodes(scenario, catalogue, options);
  if (!nodes) return tl::unexpected(nodes.error());
  if (Diagnostics found = unknown_counts(*nodes); !found.empty()) return tl::unexpected(found);
  KarpenterWriter writer(options, karpenter_title(scenario, options));
  for (const PoolNodes& one : *nodes) writer.add(one);
  return ExportFiles{{"karpenter.yaml", writer.take()}};
}

}  // namespace slicewise::reports
