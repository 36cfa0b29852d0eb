#include "slicewise/scenarios/node_requirements.hpp"

#include <algorithm>
#include <iterator>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/cluster_files.hpp"

#include "../text/scalars.hpp"

namespace slicewise::scenarios {
namespace {

// "-nvidia-a10g-" of "NVIDIA-A10G".
std::string words_of(std::string_view text) {
  std::string words = "-";
  for (const char c : text) words += is_letter_or_digit(c) ? lower(c) : '-';
  return words + "-";
}

}  // namespace

namespace {

constexpr std::string_view kOfType = "karpenter.k8s.aws/instance-";

}  // namespace

// Sources: karpenter.sh/docs/concepts/scheduling (well-known labels); docs.aws.amazon.com/eks
// auto-node-labels and managed-node-groups; eksctl-io/eksctl pkg/apis/eksctl.io/v1alpha5/types.go.
std::optional<std::string> label_by(NodeMaker maker, std::string_view label) {
  using enum NodeMaker;
  struct Labels {
    std::string_view start;
    std::array<NodeMaker, 2> makers;
  };
  static constexpr std::string_view kOfTypeByEks = "eks.amazonaws.com/instance-";
  static constexpr Labels kLabels[] = {
      {"karpenter.sh/", {Karpenter, AutoMode}},
      {"karpenter.k8s.aws/", {Karpenter, Karpenter}},
      {kOfTypeByEks, {AutoMode, AutoMode}},
      {"eks.amazonaws.com/compute-type", {AutoMode, AutoMode}},
      {"eks.amazonaws.com/nodeclass", {AutoMode, AutoMode}},
      {kManagedGroupLabel, {ManagedGroup, ManagedGroup}},
      {"eks.amazonaws.com/capacityType", {ManagedGroup, ManagedGroup}},
      {"eks.amazonaws.com/sourceLaunchTemplate", {ManagedGroup, ManagedGroup}},
      {"alpha.eksctl.io/", {ManagedGroup, Eksctl}}};
  const auto found = std::ranges::find_if(
      kLabels, [&](const Labels& some) { return label.starts_with(some.start); });
  const bool is_written = found == std::end(kLabels) || maker == Unknown ||
                          std::ranges::find(found->makers, maker) != found->makers.end();
  if (!is_written) return std::nullopt;
  if (!label.starts_with(kOfTypeByEks)) return std::string(label);
  return std::string(kOfType).append(label.substr(kOfTypeByEks.size()));
}

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

// Source: Kubernetes pkg/apis/core/validation, ValidateNodeSelectorRequirement.
std::string_view mistake_in(const NodeRequirement& requirement) {
  const std::string& op = requirement.op;
  const std::size_t values = requirement.values.size();
  if (op == "In" || op == "NotIn") return values == 0 ? "In and NotIn want values" : "";
  if (op == "Gt" || op == "Lt") {
    return values == 1 && whole_of(requirement.values.front()) ? "" : "Gt and Lt want one integer";
  }
  return values == 0 ? "" : "Exists and DoesNotExist want no values";
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
  const auto known = labels.find(*label_by(NodeMaker::Unknown, requirement.key));
  return known == labels.end() || allows(requirement, known->second);
}

bool names_gpu(std::string_view text, const std::string& gpu) {
  return !gpu.empty() && words_of(text).find("-" + gpu + "-") != std::string::npos;
}

bool may_fulfil(const NodeLabels& known, std::span<const NodeRequirement> made_with,
                const NodeRequirement& as_written, NodeMaker maker) {
  NodeRequirement wanted = as_written;
  if (const auto key = label_by(maker, wanted.key)) {
    wanted.key = *key;
  } else {
    // What Auto Mode requires of types is called so here.
    const bool is_of_type = maker == NodeMaker::AutoMode && wanted.key.starts_with(kOfType);
    const auto own = std::ranges::find_if(made_with, [&](const NodeRequirement& one) {
      return !is_of_type && one.key == wanted.key && one.op == "In" && one.values.size() == 1;
    });
    return own == made_with.end() ? allows(wanted, std::nullopt)
                                  : allows(wanted, own->values.front());
  }
  const auto label = known.find(wanted.key);
  if (label != known.end()) return allows(wanted, label->second);
  const auto gpu = known.find(kGpuNameLabel);
  // Products of GPUs whose names have several words are written in another order.
  if (wanted.key == kProductLabel && wanted.op == "In" && gpu != known.end() && gpu->second &&
      gpu->second->find('-') == std::string::npos) {
    return std::ranges::any_of(wanted.values, [&](const std::string& product) {
      return names_gpu(product, *gpu->second);
    });
  }
  const bool is_kept_off = std::ranges::any_of(made_with, [&](const NodeRequirement& own) {
    return own.key == wanted.key && own.op == "DoesNotExist";
  });
  if (is_kept_off) return allows(wanted, std::nullopt);
  const auto may_be = [&](const std::string& value) {
    return allows(wanted, value) && std::ranges::all_of(made_with, [&](const auto& own) {
             return own.key != wanted.key || allows(own, value);
           });
  };
  const auto own = std::ranges::find_if(made_with, [&](const NodeRequirement& one) {
    return one.key == wanted.key && (one.op == "In" || wanted.op == "In");
  });
  if (own != made_with.end()) {
    return std::ranges::any_of(wanted.op == "In" ? wanted.values : own->values, may_be);
  }
  const bool is_made =
      std::ranges::find(made_with, wanted.key, &NodeRequirement::key) != made_with.end();
  return is_made || is_set_by_others(wanted.key) || allows(wanted, std::nullopt);
}

bool tolerates_any(std::span<const Toleration> tolerations, const Taint& taint) {
  return std::ranges::any_of(tolerations, [&](const Toleration& one) {
    if (!one.effect.empty() && one.effect != taint.effect) return false;
    if (one.key.empty()) return one.op == "Exists";
    return one.key == taint.key && (one.op == "Exists" || one.value == taint.value);
  });
}

const Taint* untolerated(std::span<const Taint> taints, std::span<const Toleration> tolerations) {
  return find_if_or_null(taints, [&](const Taint& taint) {
    return (taint.effect == "NoSchedule" || taint.effect == "NoExecute") &&
           !tolerates_any(tolerations, taint);
  });
}

}  // namespace slicewise::scenarios
