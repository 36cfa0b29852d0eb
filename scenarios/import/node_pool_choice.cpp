#include "node_pool_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "../text/scalars.hpp"

namespace slicewise::scenarios {

WantedInstance wanted_by(const std::vector<NodeRequirement>& requirements) {
  WantedInstance wanted;
  for (const NodeRequirement& requirement : requirements) {
    if (requirement.op != "In" || requirement.values.empty()) continue;
    const std::string& value = requirement.values.front();
    const std::string& key = requirement.key;
    if (key == "node.kubernetes.io/instance-type") wanted.type = value;
    if (key == "karpenter.k8s.aws/instance-family") wanted.family = value;
    if (key == "karpenter.k8s.aws/instance-size") wanted.size = value;
    if (key == "karpenter.k8s.aws/instance-gpu-name") wanted.gpu = value;
    if (key == "karpenter.k8s.aws/instance-gpu-count") wanted.gpu_count = value;
    if (key != "karpenter.sh/capacity-type") continue;
    const auto has = [&](std::string_view type) {
      return std::ranges::find(requirement.values, type) != requirement.values.end();
    };
    // Of both Karpenter takes spot while there is any.
    wanted.falls_back = has("spot") && has("on-demand");
    wanted.capacity = wanted.falls_back ? "spot" : value;
  }
  return wanted;
}

std::string type_of(const WantedInstance& wanted, std::span<const InstanceGpus> instances) {
  if (!wanted.type.empty()) return wanted.type;
  if (!wanted.family.empty() && (!wanted.size.empty() || wanted.gpu_count.empty())) {
    return fmt::format("{}.{}", wanted.family, wanted.size.empty() ? "xlarge" : wanted.size);
  }
  if (wanted.family.empty() && wanted.gpu.empty()) return {};
  const auto count = whole_of(wanted.gpu_count).value_or(1);
  const InstanceGpus* best = nullptr;
  for (const InstanceGpus& type : instances) {
    if (!wanted.gpu.empty() && type.gpu != wanted.gpu) continue;
    if (!wanted.family.empty() && !type.name.starts_with(wanted.family + ".")) continue;
    const bool fits = type.count >= count;
    const bool best_fits = best != nullptr && best->count >= count;
    const bool is_better = best == nullptr || (fits && !best_fits) ||
                           (fits && type.count < best->count) ||
                           (!fits && !best_fits && type.count > best->count);
    if (is_better) best = &type;
  }
  return best == nullptr ? std::string() : best->name;
}

std::vector<std::string> choice_of(const NodeGroupFile& group,
                                   std::span<const InstanceGpus> instances) {
  std::vector<std::string> types;
  for (const auto& type : group.types) {
    if (is_gpu_type(type.value)) types.push_back(type.value);
  }
  if (!types.empty()) return types;
  const auto values = [&](std::string_view key) {
    for (const NodeRequirement& requirement : group.requirements) {
      if (requirement.key == key && requirement.op == "In") return requirement.values;
    }
    return decltype(NodeRequirement::values){};
  };
  const auto sizes = values("karpenter.k8s.aws/instance-size");
  for (const std::string& family : values("karpenter.k8s.aws/instance-family")) {
    for (const std::string& size : sizes) {
      const std::string type = fmt::format("{}.{}", family, size);
      if (std::ranges::find(instances, type, &InstanceGpus::name) != instances.end()) {
        types.push_back(type);
      }
    }
  }
  return types;
}

}  // namespace slicewise::scenarios
