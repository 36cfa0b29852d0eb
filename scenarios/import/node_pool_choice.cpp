#include "node_pool_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "../text/scalars.hpp"

namespace slicewise::scenarios {

namespace {

constexpr std::string_view kFamily = "karpenter.k8s.aws/instance-family";
constexpr std::string_view kSize = "karpenter.k8s.aws/instance-size";
constexpr std::string_view kGpuName = "karpenter.k8s.aws/instance-gpu-name";
constexpr std::string_view kGpuCount = "karpenter.k8s.aws/instance-gpu-count";
constexpr std::string_view kProduct = "nvidia.com/gpu.product";

// The first value that nodes may have of a label; "" when it is left open.
std::string first_of(std::span<const NodeRequirement> required, std::string_view label) {
  for (const NodeRequirement& one : required) {
    if (one.key == label && one.op == "In" && !one.values.empty()) return one.values.front();
  }
  return {};
}

// True of labels that types do not decide, and of their number of GPUs: pods have as many or fewer.
bool has_label(const InstanceGpus& type, std::string_view label, const std::string& value) {
  const std::size_t dot = std::min(type.name.find('.'), type.name.size());
  if (label == kInstanceTypeLabel) return type.name == value;
  if (label == kFamily) return type.name.substr(0, dot) == value;
  if (label == kSize) return type.name.substr(dot) == "." + value;
  if (label == kGpuName) return type.gpu == value;
  return label != kProduct || names_gpu(value, type.gpu);
}

// "-nvidia-a10g-" of "NVIDIA-A10G".
std::string words_of(std::string_view text) {
  std::string words = "-";
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool stands = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
    words += upper ? static_cast<char>(c + 32) : stands ? c : '-';
  }
  return words + "-";
}

}  // namespace

bool names_gpu(std::string_view text, const std::string& gpu) {
  return !gpu.empty() && words_of(text).find("-" + gpu + "-") != std::string::npos;
}

bool has_labels(const InstanceGpus& type, std::span<const NodeRequirement> required) {
  return std::ranges::all_of(required, [&](const NodeRequirement& one) {
    return one.op != "In" || std::ranges::any_of(one.values, [&](const std::string& value) {
             return has_label(type, one.key, value);
           });
  });
}

InstanceGpus instance_called(const std::string& type, std::span<const InstanceGpus> instances) {
  const auto known = std::ranges::find(instances, type, &InstanceGpus::name);
  return known == instances.end() ? InstanceGpus{type, {}, 1} : *known;
}

std::string type_asked_for(std::span<const NodeRequirement> required, std::int64_t gpus,
                           std::span<const InstanceGpus> instances) {
  std::string named = first_of(required, kInstanceTypeLabel);
  if (!named.empty()) return named;
  const std::string family = first_of(required, kFamily);
  const std::string size = first_of(required, kSize);
  if (!family.empty() && !size.empty()) return fmt::format("{}.{}", family, size);
  if (family.empty() && first_of(required, kGpuName).empty() &&
      first_of(required, kProduct).empty()) {
    return {};
  }
  gpus = std::max(gpus, whole_of(first_of(required, kGpuCount)).value_or(1));
  const InstanceGpus* best = nullptr;
  for (const InstanceGpus& type : instances) {
    if (!has_labels(type, required)) continue;
    const bool fits = type.count >= gpus;
    const bool best_fits = best != nullptr && best->count >= gpus;
    const bool is_better = best == nullptr || (fits && !best_fits) ||
                           (fits && type.count < best->count) ||
                           (!fits && !best_fits && type.count > best->count);
    if (is_better) best = &type;
  }
  return best == nullptr ? std::string() : best->name;
}

CapacityChoice capacity_of(std::span<const NodeRequirement> required) {
  const auto capacity =
      std::ranges::find(required, "karpenter.sh/capacity-type", &NodeRequirement::key);
  if (capacity == required.end() || capacity->op != "In" || capacity->values.empty()) return {};
  const auto has = [&](std::string_view type) {
    return std::ranges::find(capacity->values, type) != capacity->values.end();
  };
  if (has("spot") && has("on-demand")) return {"spot", true};
  return {capacity->values.front(), false};
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
  const auto sizes = values(kSize);
  for (const std::string& family : values(kFamily)) {
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
