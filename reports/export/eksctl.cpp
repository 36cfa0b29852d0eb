#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

#include "../document/document_text.hpp"
#include "guide.hpp"
#include "node_settings.hpp"

// Field by field against the schema of eksctl 0.230.0
// (github.com/weaveworks/eksctl pkg/apis/eksctl.io/v1alpha5/assets/schema.json).
namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::CapacityType;
using scenarios::NodePool;
using scenarios::Provisioner;

class EksctlWriter {
 public:
  EksctlWriter(const scenarios::Scenario& scenario, const ExportOptions& options)
      : scenario_(scenario), options_(options) {
    cluster_ = cluster_name(options);
  }

  json config(const std::vector<PoolNodes>& nodes) const {
    json groups = json::array();
    for (const PoolNodes& one : nodes) {
      const bool is_block = one.target.pool->capacity_type == CapacityType::CapacityBlock;
      if (!is_block) groups.push_back(group_of(one));
    }
    return {{"apiVersion", "eksctl.io/v1alpha5"},
            {"kind", "ClusterConfig"},
            {"metadata", {{"name", cluster_}, {"region", scenario_.region}}},
            {"managedNodeGroups", std::move(groups)}};
  }

  std::string remarks(const std::vector<PoolNodes>& nodes) const {
    std::string out;
    for (const PoolNodes& one : nodes) {
      const NodePool& pool = *one.target.pool;
      if (pool.spot && pool.spot->falls_back_to_on_demand) {
        out += comment(fmt::format(
            "{}: a managed node group is either spot or on-demand. The fall-back to on-demand "
            "of the scenario needs Karpenter (--to karpenter).",
            pool.name.value));
      }
      if (pool.capacity_type == CapacityType::Reserved) {
        out += comment(
            fmt::format("{}: takes any open capacity reservation of its type; name yours under "
                        "capacityReservation.capacityReservationTarget.",
                        pool.name.value));
      }
      if (pool.capacity_type == CapacityType::CapacityBlock) {
        out += comment(fmt::format(
            "{}: left out. EKS takes a node group of a Capacity Block with a launch template that "
            "names it, which --to terraform writes.",
            pool.name.value));
        continue;
      }
      if (one.target.instance->gpu_fraction < 1) {
        out += comment(fmt::format(
            "{}: the EC2 API counts 0 GPUs in {}, so eksctl may not take it for a GPU type.",
            pool.name.value, one.target.instance->name));
      }
      out += reserved_labels(pool, "Kubernetes or AWS", scenarios::kZoneLabel);
    }
    return out;
  }

 private:
  json group_of(const PoolNodes& nodes) const {
    const NodePool& pool = *nodes.target.pool;
    const bool bottlerocket = options_.image == NodeImage::Bottlerocket;
    const int most = std::max(1, pool.most_nodes.value_or(pool.nodes));
    json group = {{"name", pool.name.value},
                  {"amiFamily", bottlerocket ? "Bottlerocket" : "AmazonLinux2023"},
                  {"instanceType", nodes.target.instance->name},
                  {"desiredCapacity", pool.nodes},
                  {"minSize", pool.nodes},
                  {"maxSize", most},
                  {"volumeSize", kImageVolumeGib}};
    auto labels = node_labels(nodes);
    if (scenario_.provisioner.kind == Provisioner::Kind::ClusterAutoscaler && pool.most_nodes) {
      labels[std::string(scenarios::kAcceleratorLabel)] = accelerator_of(nodes.target);
      group["tags"] = autoscaler_tags(nodes, cluster_, scenario_.provisioner.resource_tags);
      group["propagateASGTags"] = true;
    }
    if (!labels.empty()) group["labels"] = labels;
    if (const std::string* zone = zone_of(pool)) {
      group["availabilityZones"] = json::array({*zone});
    }
    json taints = taints_of(pool.taints);
    if (!taints.empty()) group["taints"] = std::move(taints);
    if (pool.capacity_type == CapacityType::Spot) group["spot"] = true;
    if (pool.capacity_type == CapacityType::Reserved) {
      group["capacityReservation"] = {{"capacityReservationPreference", "open"}};
    }
    if (bottlerocket) group["bottlerocket"]["settings"] = bottlerocket_values(nodes.target);
    return group;
  }

  const scenarios::Scenario& scenario_;
  const ExportOptions& options_;
  std::string cluster_;
};

// awslabs/eksdemo pkg/resource/nodegroup/options.go: it taints nodes with GPUs unless told not to,
// and knows no other taint and no label.
std::string eksdemo_line(const PoolNodes& nodes, const std::string& cluster) {
  const NodePool& pool = *nodes.target.pool;
  const auto is_its_own = [](const scenarios::Taint& taint) {
    return taint.key == scenarios::kGpuTaint && taint.value.empty() && taint.effect == "NoSchedule";
  };
  const bool fits = pool.capacity_type == CapacityType::OnDemand && pool.taints.size() < 2 &&
                    std::ranges::all_of(pool.taints, is_its_own);
  if (!fits) return {};
  const int most = std::max(1, pool.most_nodes.value_or(pool.nodes));
  std::string out =
      fmt::format("  eksdemo create nodegroup {} --cluster {} --instance {} --nodes {}",
                  pool.name.value, cluster, nodes.target.instance->name, pool.nodes);
  if (pool.nodes > 0 && pool.nodes < most) out += fmt::format(" --min {}", pool.nodes);
  return out + fmt::format(" --max {}{}\n", most, pool.taints.empty() ? " --no-taints" : "");
}

// Of the image that both make.
std::string eksdemo_comment(const std::vector<PoolNodes>& nodes, const ExportOptions& options) {
  if (options.image != NodeImage::Al2023) return {};
  std::string lines;
  for (const PoolNodes& one : nodes) {
    lines += eksdemo_line(one, options.cluster.empty() ? "my-cluster" : options.cluster);
  }
  if (lines.empty()) return {};
  return comment(
             "On-demand groups with eksdemo instead; it sets no labels, which apply.sh of a bundle "
             "does:") +
         commented(lines);
}

std::string eksctl_title(const scenarios::Scenario& scenario, const ExportOptions& options) {
  std::string out = comment(
      fmt::format("eksctl node groups of scenario variant {} (eksctl.yaml), written by slicewise",
                  yaml_scalar(scenario.name)));
  out += comment(
      "Not for EKS Auto Mode, which has node pools of its own, nor for nodes that Karpenter "
      "starts (--to karpenter).");
  out += comment("Roll out, to a cluster that is there:");
  const std::string flag =
      options.image == NodeImage::Al2023 ? " --install-nvidia-plugin=false" : "";
  out += commented(
      options.cluster.empty()
          ? fmt::format("  CLUSTER_NAME=my-cluster envsubst '$CLUSTER_NAME' < eksctl.yaml |\n"
                        "    eksctl create nodegroup -f -{}\n",
                        flag)
          : fmt::format("  eksctl create nodegroup -f eksctl.yaml{}\n", flag));
  if (options.image == NodeImage::Al2023) {
    out += comment(
        "The flag matters: without it eksctl installs a device plugin of its own, which shares "
        "nothing, beside the one of --to helm-values.");
  } else {
    out += comment("The image brings the device plugin and takes its settings from the group.");
  }
  out += comment(
      "Groups whose names are taken are left as they are, whatever their type: for another type "
      "take another name.");
  out += comment("Roll back:");
  for (const NodePool& pool : scenario.node_pools) {
    if (pool.capacity_type == CapacityType::CapacityBlock) continue;
    out += commented(fmt::format("  eksctl delete nodegroup --cluster {} --name {} --approve\n",
                                 options.cluster.empty() ? "my-cluster" : options.cluster,
                                 pool.name.value));
  }
  out += comment(fmt::format(
      "Assumed: a disk of {} GiB for images. The cluster needs other nodes for pods of the system "
      "where these have a taint.",
      kImageVolumeGib));
  if (scenario.provisioner.kind == Provisioner::Kind::ClusterAutoscaler) {
    out += comment("The Cluster Autoscaler itself is not installed by this file.");
  }
  return out;
}

}  // namespace

Expected<ExportFiles> render_eksctl(const scenarios::Scenario& scenario,
                                    const models::Catalogue& catalogue,
                                    const ExportOptions& options) {
  if (Diagnostics found = check_ec2(scenario); !found.empty()) return tl::unexpected(found);
  if (options.image == NodeImage::AutoMode) return no_groups_of_auto_mode(scenario);
  const bool has_groups = std::ranges::any_of(scenario.node_pools, [](const NodePool& pool) {
    return pool.capacity_type != CapacityType::CapacityBlock;
  });
  if (!has_groups) {
    return failure(Code::ExportUnfit, scenario.where,
                   "eksctl makes no node group of a Capacity Block, and there is no other pool",
                   "--to terraform writes one, with a launch template that names the block");
  }
  const Expected<std::vector<PoolNodes>> nodes = image_nodes(scenario, catalogue, options);
  if (!nodes) return tl::unexpected(nodes.error());
  const EksctlWriter writer(scenario, options);
  return ExportFiles{{"eksctl.yaml", eksctl_title(scenario, options) +
                                         eksdemo_comment(*nodes, options) + writer.remarks(*nodes) +
                                         yaml_text(writer.config(*nodes))}};
}

}  // namespace slicewise::reports
