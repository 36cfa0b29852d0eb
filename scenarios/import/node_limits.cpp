#include "node_limits.hpp"

#include <algorithm>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

#include "../text/scalars.hpp"
#include "node_pool_choice.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {
namespace {

// What Karpenter takes the GPUs of a node for, by the NodeOverlay that it applies.
std::optional<std::int64_t> overlay_gpus(const ClusterFiles& cluster, const NodeGroupFile& group,
                                         const NodeLabels& labels) {
  for (const NodeOverlayFile& overlay : cluster.overlays) {
    const auto gpus = std::ranges::find(overlay.capacity, std::string_view(kGpuResource),
                                        &ResourceAmount::resource);
    if (is_for(overlay, group, labels) && gpus != overlay.capacity.end()) return gpus->amount;
  }
  return std::nullopt;
}

}  // namespace

NodeLimit limit_of(const NodeGroupFile& group) {
  constexpr std::int64_t kMost = 1'000'000'000;  // of CPUs and GPUs
  NodeLimit limit;
  if (group.most) limit.nodes = static_cast<int>(std::clamp<std::int64_t>(*group.most, 1, kMost));
  for (const ResourceAmount& amount : group.limits) {
    const std::int64_t most = std::clamp<std::int64_t>(amount.amount, 0, kMost);
    if (amount.resource == kGpuResource) limit.gpus = most;
    if (amount.resource == "cpu") limit.cpu = {most * 1'000};
    if (amount.resource == "memory") limit.memory = {std::max<std::int64_t>(0, amount.amount)};
  }
  return limit;
}

std::int64_t shares_told(const ClusterFiles& cluster, const NodeGroupFile& group,
                         const std::vector<std::string>& types, const ImportOptions& options) {
  std::int64_t most = 1;
  for (const std::string& type : types) {
    const NodeLabels labels = labels_of(instance_called(type, options.instances));
    const auto told = overlay_gpus(cluster, group, labels);
    if (told) most = std::max(most, *told / std::max<std::int64_t>(1, gpus_of(type, options)));
  }
  return most;
}

std::optional<std::int64_t> most_by_limits(const ClusterFiles& cluster, const NodeGroupFile& group,
                                           const std::string& type, const ImportOptions& options,
                                           ImportReport& report) {
  const NodeLabels labels = labels_of(instance_called(type, options.instances));
  const auto labelled = [&](std::string_view key, std::int64_t unit) {
    const auto label = labels.find(key);
    const auto number =
        label == labels.end() || !label->second ? std::nullopt : whole_of(*label->second);
    return number.value_or(0) * unit;
  };
  std::optional<std::int64_t> most;
  for (const ResourceAmount& limit : group.limits) {
    std::int64_t each = 0;
    if (limit.resource == kGpuResource) {
      each = overlay_gpus(cluster, group, labels).value_or(gpus_of(type, options));
    } else if (limit.resource == "cpu") {
      each = labelled("karpenter.k8s.aws/instance-cpu", 1);
    } else if (limit.resource == "memory") {
      each = labelled("karpenter.k8s.aws/instance-memory", std::int64_t{1} << 20U);
    }
    if (each < 1) continue;
    if (limit.amount < each) {
      report.guessed(
          "limits of NodePools that no node of their type is within: Karpenter starts none; here "
          "one",
          group.object_where);
    }
    const std::int64_t nodes = std::max<std::int64_t>(1, limit.amount / each);
    most = std::min(most.value_or(nodes), nodes);
  }
  return most;
}

}  // namespace slicewise::scenarios
