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
  return {
      {std::string(kInstanceTypeLabel), std::string(name)},
      {std::string(kFamilyLabel), std::string(name.substr(0, dot))},
      {std::string(kSizeLabel), std::string(name.substr(std::min(dot + 1, name.size())))},
      {"karpenter.k8s.aws/instance-category", std::string(name.substr(0, letters))},
      {"karpenter.k8s.aws/instance-generation", std::string(name.substr(letters, end - letters))}};
}

// Source: kubernetes-sigs/karpenter @22664681, pkg/scheduling/requirement.go: what has no label is
// NotIn anything, and bounds are of whole numbers.
bool allows(const NodeRequirement& requirement, std::string_view label) {
  const std::string& op = requirement.op;
  const bool is_listed =
      std::ranges::find(requirement.values, label) != requirement.values.end() && !label.empty();
  if (op == "In") return is_listed;
  if (op == "NotIn") return !is_listed;
  if (op == "Exists") return !label.empty();
  if (op == "DoesNotExist") return label.empty();
  const auto bound =
      requirement.values.empty() ? std::nullopt : whole_of(requirement.values.front());
  if (!bound || (op != "Gt" && op != "Gte" && op != "Lt" && op != "Lte")) return true;
  const std::optional<std::int64_t> has = whole_of(label);
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
