#include "slicewise/scenarios/node_requirements.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "../text/scalars.hpp"

namespace slicewise::scenarios {

// Source: aws/karpenter-provider-aws @1d927085, pkg/providers/instancetype/types.go
// (computeRequirements).
NodeLabels labels_of_type(std::string_view name) {
  const auto letters =
      static_cast<std::size_t>(std::ranges::find_if(name, is_digit) - name.begin());
  const std::size_t end = std::min(name.find_first_not_of("0123456789", letters), name.size());
  const std::size_t dot = std::min(name.find('.'), name.size());
  NodeLabels labels;
  const auto set = [&](std::string_view key, std::string_view value) {
    labels.emplace(key, value.empty() ? std::nullopt : std::optional<std::string>(value));
  };
  set(kInstanceTypeLabel, name);
  set(kFamilyLabel, name.substr(0, dot));
  set(kSizeLabel, name.substr(std::min(dot + 1, name.size())));
  set("karpenter.k8s.aws/instance-category", name.substr(0, letters));
  set("karpenter.k8s.aws/instance-generation", name.substr(letters, end - letters));
  return labels;
}

// Source: kubernetes-sigs/karpenter @22664681, pkg/scheduling/requirement.go: what has no label is
// NotIn anything, and bounds are of whole numbers.
bool allows(const NodeRequirement& requirement, std::optional<std::string_view> label) {
  const std::string& op = requirement.op;
  const bool is_listed =
      label && std::ranges::find(requirement.values, *label) != requirement.values.end();
  if (op == "In") return is_listed;
  if (op == "NotIn") return !is_listed;
  if (op == "Exists") return label.has_value();
  if (op == "DoesNotExist") return !label.has_value();
  const auto bound =
      requirement.values.empty() ? std::nullopt : whole_of(requirement.values.front());
  if (!bound || (op != "Gt" && op != "Gte" && op != "Lt" && op != "Lte")) return true;
  const std::optional<std::int64_t> has = label ? whole_of(*label) : std::nullopt;
  if (!has) return false;
  if (op == "Gt") return *has > *bound;
  if (op == "Gte") return *has >= *bound;
  return op == "Lt" ? *has < *bound : *has <= *bound;
}

bool fulfils(const NodeLabels& labels, const NodeRequirement& requirement) {
  const auto known = labels.find(requirement.key);
  return known == labels.end() || allows(requirement, known->second);
}

}  // namespace slicewise::scenarios
