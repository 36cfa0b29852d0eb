#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../world/parts.hpp"
#include "lint_rules.hpp"

// What Karpenter believes of the nodes that it starts.
// Source: github.com/kubernetes-sigs/karpenter pkg/cloudprovider/types.go (ApplyCapacityOverlay):
// an overlay's capacity replaces the instance type's.
namespace slicewise::sim::lint {
namespace {

using scenarios::NodeGroupFile;
using scenarios::NodeOverlayFile;
using scenarios::NodeRequirement;
using scenarios::ResourceAmount;

bool is_gpu_name(std::string_view resource) { return resource.starts_with("nvidia.com/"); }

// What the requirements of an overlay say about the GPUs of its nodes.
struct PinnedGpus {
  bool is_pinned = false;              // to one number, as far as the catalogue knows
  std::optional<std::int64_t> number;  // absent where it does not know
};

// Of the types that it names, or that NodePools which it names may start; empty: any.
std::vector<std::string> types_of(const LintInput& input, const NodeRequirement& requirement) {
  if (requirement.key == scenarios::kInstanceTypeLabel) return requirement.values;
  std::vector<std::string> types;
  if (requirement.key != scenarios::kNodePoolLabel) return types;
  for (const std::string& name : requirement.values) {
    const NodeGroupFile* pool = find_or_null(input.files.groups, name, &NodeGroupFile::name);
    if (pool == nullptr || pool->types.empty()) return {};
    for (const auto& type : pool->types) types.push_back(type.value);
  }
  return types;
}

PinnedGpus pinned_gpus(const LintInput& input, const NodeOverlayFile& overlay) {
  for (const NodeRequirement& requirement : overlay.requirements) {
    if (requirement.op != "In" || requirement.values.empty()) continue;
    if (requirement.key == scenarios::kGpuCountLabel && requirement.values.size() == 1) {
      const auto thousandths = scenarios::quantity_in_thousandths(requirement.values.front());
      if (thousandths && *thousandths % 1'000 == 0) return {true, *thousandths / 1'000};
    }
    const std::vector<std::string> types = types_of(input, requirement);
    if (types.empty()) continue;
    std::set<std::int64_t> counts;
    bool all_known = true;
    for (const std::string& name : types) {
      const auto* type = input.catalogue.find_instance(name);
      all_known = all_known && type != nullptr;
      if (type != nullptr) counts.insert(type->gpu_count);
    }
    // A type that is not in the catalogue may have any number.
    if (!all_known) return {counts.size() < 2, std::nullopt};
    if (counts.size() == 1) return {true, *counts.begin()};
  }
  return {};
}

// Whether Karpenter applies the overlay to any of the types that the pool may start.
bool is_for_pool(const NodeOverlayFile& overlay, const NodeOffer& offer) {
  const NodeGroupFile& pool = *offer.group;
  const bool all_known = !offer.types.empty() && offer.types.size() >= pool.types.size();
  if (all_known) {
    return std::ranges::any_of(offer.types, [&](const InstanceType* type) {
      return scenarios::is_for(overlay, pool, type_labels(*type));
    });
  }
  // Of types that the catalogue does not have only the name is known.
  return (pool.types.empty() && scenarios::is_for(overlay, pool, {})) ||
         std::ranges::any_of(pool.types, [&](const auto& type) {
           return scenarios::is_for(overlay, pool, scenarios::labels_of_type(type.value));
         });
}

const ResourceAmount* capacity_of(const LintInput& input, const NodeOffer& offer,
                                  std::string_view resource, const NodeOverlayFile** overlay) {
  for (const NodeOverlayFile& candidate : input.files.overlays) {
    if (!is_for_pool(candidate, offer)) continue;
    for (const ResourceAmount& amount : candidate.capacity) {
      if (amount.resource != resource) continue;
      *overlay = &candidate;
      return &amount;
    }
  }
  return nullptr;
}

void judge_overlay(const LintInput& input, const NodeOverlayFile& overlay) {
  const bool of_gpus = std::ranges::any_of(overlay.capacity, [](const ResourceAmount& amount) {
    return is_gpu_name(amount.resource) && amount.amount > 0;
  });
  if (!of_gpus || pinned_gpus(input, overlay).is_pinned) return;
  input.tell(
      Code::OverlayNotPinned, overlay.where,
      "the capacity is absolute, and the requirements match types with other GPU counts",
      fmt::format("add {{key: {}, operator: In, values: [\"1\"]}}", scenarios::kGpuCountLabel));
}

// What the pool's nodes offer against what Karpenter takes them to offer.
void judge_knowledge(const LintInput& input, const NodeOffer& offer,
                     const OfferedResource& resource) {
  const NodeGroupFile& pool = *offer.group;
  const NodeOverlayFile* overlay = nullptr;
  const ResourceAmount* told = capacity_of(input, offer, resource.name, &overlay);
  if (told == nullptr && resource.name != kGpuResource) {
    input.tell(
        Code::NodesNeverLaunched, pool.where,
        fmt::format(
            "Karpenter knows no instance type with {}: it starts nothing for pods that ask for it",
            resource.name.substr(0, 60)),
        "add a NodeOverlay with this capacity, or keep the name nvidia.com/gpu");
  } else if (told == nullptr && resource.replicas > 1) {
    input.tell(
        Code::KarpenterOverprovisions, pool.where,
        fmt::format("Karpenter counts GPUs, not their {} replicas: one GPU for each pending pod",
                    resource.replicas),
        fmt::format("NodeOverlay with capacity nvidia.com/gpu: GPUs x {}", resource.replicas));
  } else if (told != nullptr) {
    const auto gpus = pinned_gpus(input, *overlay).number;
    const bool plain =
        resource.name == kGpuResource || resource.name == scenarios::kSharedGpuResource;
    if (!gpus || !plain || !offer.layouts.empty() || offer.group->bottlerocket_partitions) return;
    const std::int64_t right = *gpus * resource.replicas;
    if (told->amount == right) return;
    input.tell(Code::KarpenterOverprovisions, told->where,
               fmt::format("the overlay says {}, the nodes will offer {} ({} x {} replicas)",
                           told->amount, right, counted(*gpus, "GPU"), resource.replicas),
               fmt::format("{}: \"{}\"", resource.name, right));
  }
}

void judge_limits(const LintInput& input, const NodeOffer& offer) {
  for (const ResourceAmount& limit : offer.group->limits) {
    if (!is_gpu_name(limit.resource)) continue;
    const NodeOverlayFile* overlay = nullptr;
    const ResourceAmount* told = capacity_of(input, offer, limit.resource, &overlay);
    std::int64_t one = told == nullptr ? 0 : told->amount;
    if (told == nullptr && limit.resource == kGpuResource && !offer.types.empty()) {
      one = offer.types.front()->gpu_count;
      for (const auto* type : offer.types) one = std::min<std::int64_t>(one, type->gpu_count);
    }
    if (one <= 0 || limit.amount >= one) continue;
    input.tell(Code::NodePoolLimitUnits, limit.where,
               fmt::format("the limit is below one node, which counts as {} {}", one,
                           limit.resource.substr(0, 60)),
               "limits count advertised units: GPUs x replicas with a NodeOverlay");
  }
}

// Pods that whoever removes nodes waits for, and that need none of theirs. Sources:
// karpenter.sh/docs/concepts/disruption; kubernetes/autoscaler, cluster-autoscaler/FAQ.md.
void judge_cpu_pods(const LintInput& input, const NodeOffer& offer) {
  const NodeGroupFile& group = *offer.group;
  const bool is_pool = group.kind == NodeGroupFile::Kind::NodePool;
  if (group.is_kept || group.nodes || !(is_pool || group.scales)) return;
  std::set<std::string> names;
  const std::set<const scenarios::PodFile*> made = scenarios::made_by_others(input.files);
  for (const scenarios::PodFile& pod : input.files.pods) {
    if (scenarios::asks_for_gpu(pod) || scenarios::goes_with_node(pod) || pod.has_ended) continue;
    if (made.contains(&pod)) continue;
    if (!pod.containers.empty() && may_run_on(pod, offer)) names.insert(pod.name.substr(0, 60));
  }
  if (names.empty()) return;
  const bool is_empty_only = group.consolidation == "WhenEmpty";
  input.tell(
      Code::CpuPodsOnGpuNodes, group.where,
      fmt::format("pods without a GPU may get these nodes ({}{}): {} keeps a node {}",
                  *names.begin(),
                  names.size() == 1 ? "" : fmt::format(" and {} more", names.size() - 1),
                  is_pool ? "Karpenter" : "the cluster-autoscaler",
                  is_empty_only ? "as long as one of them runs there (WhenEmpty)"
                                : "where one of them runs that fits nowhere else"),
      "a taint nvidia.com/gpu, NoSchedule: EKS adds the toleration to pods that ask for a GPU");
}

// Whether Karpenter takes the nodes for such that have all that the pod asks for: an overlay may
// say that they have none of it.
bool is_known_to_hold(const LintInput& input, const NodeOffer& offer,
                      const scenarios::PodFile& pod) {
  return std::ranges::none_of(pod.containers, [&](const scenarios::ContainerFile& container) {
    return std::ranges::any_of(container.amounts, [&](const ResourceAmount& asked) {
      const NodeOverlayFile* overlay = nullptr;
      const ResourceAmount* told = capacity_of(input, offer, asked.resource, &overlay);
      return told != nullptr && told->amount < asked.amount;
    });
  });
}

// Pods that two NodePools of one weight may start nodes for.
void judge_ties(const LintInput& input, const NodeOffer& offer) {
  if (!is_node_pool_that_grows(offer)) return;
  const std::int64_t weight = offer.group->weight.value_or(0);
  for (const NodeOffer& other : input.offers) {
    if (&other == &offer) return;  // each pair once
    if (!is_node_pool_that_grows(other) || other.group->weight.value_or(0) != weight) continue;
    const scenarios::PodFile* pod =
        find_if_or_null(input.files.pods, [&](const scenarios::PodFile& one) {
          return scenarios::asks_for_gpu(one) && !one.has_ended && may_run_on(one, offer) &&
                 may_run_on(one, other) && is_known_to_hold(input, offer, one) &&
                 is_known_to_hold(input, other, one);
        });
    if (pod == nullptr) continue;
    input.tell(Code::NodePoolsTie, offer.group->where,
               node_pools_tie(pod->name.substr(0, 60), other.group->name.substr(0, 60),
                              offer.group->name.substr(0, 60)),
               "give the one that is to come first a higher weight");
  }
}

// What the NodePools do not say of their nodes, Karpenter takes for absent from nodes to come.
// Source: kubernetes-sigs/karpenter pkg/scheduling/requirements.go (Compatible).
void judge_late_labels(const LintInput& input, const scenarios::PodFile& pod) {
  if (!scenarios::asks_for_gpu(pod) || scenarios::goes_with_node(pod) || pod.has_ended) return;
  std::vector<NodeRequirement> wanted;
  for (const scenarios::KeyValue& label : pod.node_selector) {
    wanted.push_back({label.key, "In", {label.value}, label.where});
  }
  if (pod.affinity.size() == 1) {
    wanted.insert(wanted.end(), pod.affinity.front().begin(), pod.affinity.front().end());
  }
  for (const NodeRequirement& one : wanted) {
    if (!scenarios::is_late_label(one.key) || scenarios::allows(one, std::nullopt)) continue;
    bool any = false;
    const bool may_have_it = std::ranges::any_of(input.offers, [&](const NodeOffer& offer) {
      if (offer.group == nullptr) return true;
      if (!may_select(pod, offer)) return false;
      any = true;
      return !is_node_pool_that_grows(offer) || label_of(*offer.group, one.key) != nullptr ||
             contains(offer.group->requirements, one.key, &NodeRequirement::key);
    });
    if (!any || may_have_it) continue;
    if (may_be_among_others(pod, input.files, input.catalogue, input.offers)) continue;
    return input.tell(Code::NodesNeverLaunched, one.where,
                      fmt::format("no node is started for these pods: nodes get {} once they have "
                                  "joined, and Karpenter does not know it before",
                                  one.key.substr(0, 60)),
                      fmt::format("{}, or the label in spec.template.metadata.labels of the "
                                  "NodePool",
                                  scenarios::kGpuNameLabel));
  }
}

bool is_wanted(const LintInput& input, std::string_view resource) {
  return std::ranges::any_of(input.files.pods, [&](const auto& pod) {
    return std::ranges::any_of(pod.containers, [&](const auto& container) {
      return contains(container.amounts, resource, &ResourceAmount::resource);
    });
  });
}

}  // namespace

void lint_karpenter(const LintInput& input) {
  for (const scenarios::PodFile& pod : input.files.pods) {
    if (!pod.is_system) judge_late_labels(input, pod);
  }
  for (const NodeOverlayFile& overlay : input.files.overlays) judge_overlay(input, overlay);
  for (const NodeOffer& offer : input.offers) {
    if (offer.group != nullptr) judge_cpu_pods(input, offer);
    judge_ties(input, offer);
    if (offer.group == nullptr || offer.group->kind != NodeGroupFile::Kind::NodePool) continue;
    judge_limits(input, offer);
    if (!offer.is_known()) continue;
    // Pods decide which of several names matters; without pods every name does.
    const bool any_pods = !input.files.pods.empty();
    for (const OfferedResource& resource : offer.resources) {
      if (!any_pods || is_wanted(input, resource.name)) judge_knowledge(input, offer, resource);
    }
  }
}

}  // namespace slicewise::sim::lint
