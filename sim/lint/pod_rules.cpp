#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/lookup.hpp"

#include "../world/admission.hpp"
#include "lint_rules.hpp"

// Pods against the nodes that were read: what the scheduler and the kubelet will say.
namespace slicewise::sim::lint {
namespace {

using scenarios::ContainerFile;
using scenarios::KeyValue;
using scenarios::PodFile;
using scenarios::ResourceAmount;
using scenarios::Taint;

constexpr std::string_view kSharedSuffix = "-SHARED";
constexpr std::int64_t kMillisOfCpu = 1000;

// Some types EC2 sells in Capacity Blocks alone.
bool is_sold(const LintInput& input, const NodeOffer& offer, const InstanceType& type) {
  const auto asks_on_demand = [](const scenarios::NodeRequirement& one) {
    return one.key == scenarios::kCapacityTypeLabel && one.op == "In" &&
           one.values == std::vector<std::string>{"on-demand"};
  };
  const bool is_on_demand =
      offer.group != nullptr && std::ranges::any_of(offer.group->requirements, asks_on_demand);
  return !is_on_demand ||
         !input.catalogue.prices.regions_with(type.name, models::PurchaseOption::OnDemand).empty();
}

// How many a node has of what another device plugin hands out: Nodes that are there say it, of the
// Elastic Fabric Adapter the instance type. nullopt: nobody does.
std::optional<std::int64_t> most_of(const NodeOffer& offer, const std::string& resource) {
  const scenarios::NodeGroupFile* group = offer.group;
  if (group == nullptr) return std::nullopt;
  if (group->allocatable) return scenarios::allocatable_of(*group, resource).value_or(0);
  if (resource != scenarios::kEfaResource) return std::nullopt;
  if (!group->may_have_efa) return 0;
  if (offer.types.empty() || offer.types.size() < group->types.size()) return std::nullopt;
  int most = 0;
  for (const InstanceType* type : offer.types) {
    if (!type->efa_interfaces) return std::nullopt;
    most = std::max(most, *type->efa_interfaces);
  }
  return most;
}

class PodJudge {
 public:
  PodJudge(const LintInput& input, const PodFile& pod) : input_(input), pod_(pod) {}

  void judge() {
    for (const ContainerFile& container : pod_.containers) {
      for (const ResourceAmount& amount : container.amounts) {
        if (gpu_ == nullptr && scenarios::is_plugin_resource(amount.resource)) gpu_ = &amount;
      }
    }
    judge_names();
    judge_memory();
    judge_parts();
    if (gpu_ == nullptr || pod_.scheduler == "hami-scheduler") return;
    choose_groups();
    if (groups_.empty()) return;
    for (const ContainerFile& container : pod_.containers) {
      for (const ResourceAmount& amount : container.amounts) {
        if (scenarios::is_plugin_resource(amount.resource)) judge_amount(amount);
      }
    }
    for (const auto& [resource, asked] : scenarios::reserved_amounts(pod_)) {
      if (!is_of_gpus(resource)) judge_other(resource, asked);
    }
    judge_taints();
    judge_images();
    judge_size();
    judge_product();
    judge_spread();
  }

 private:
  void choose_groups() {
    bool has_groups = false;
    for (const NodeOffer& offer : input_.offers) {
      if (offer.group == nullptr) {
        groups_.push_back(&offer);
      } else {
        has_groups = true;
        if (may_select(pod_, offer)) groups_.push_back(&offer);
      }
    }
    if (!groups_.empty()) return;
    if (!has_groups && !selects_nodes_without_gpus(pod_, input_.files, input_.catalogue)) return;
    if (may_be_among_others(pod_, input_.files, input_.catalogue, input_.offers)) return;
    tell_why_none();
  }

  void tell_why_none() {
    bool is_told = false;
    for (const KeyValue& wanted : pod_.node_selector) {
      const bool somebody_has = std::ranges::any_of(input_.offers, [&](const NodeOffer& offer) {
        return offer.group != nullptr && label_of(*offer.group, wanted.key) != nullptr;
      });
      const bool matches = std::ranges::any_of(input_.offers, [&](const NodeOffer& offer) {
        return offer.group != nullptr && meets(offer, {wanted.key, "In", {wanted.value}, {}});
      });
      if (matches) continue;
      is_told = true;
      input_.tell_as(somebody_has ? Severity::Error : Severity::Warning, Code::NodeSelectorUnmet,
                     wanted.where,
                     fmt::format("no GPU nodes among these files have {}={}: the pod stays Pending",
                                 wanted.key.substr(0, 60), wanted.value.substr(0, 60)),
                     "label the node group, or correct the selector");
    }
    const bool any = std::ranges::any_of(input_.offers, [&](const NodeOffer& offer) {
      return offer.group != nullptr && meets_affinity(pod_, offer);
    });
    if (any && is_told) return;
    const SourceLocation where = pod_.affinity.empty() || pod_.affinity.front().empty()
                                     ? pod_.where
                                     : pod_.affinity.front().front().where;
    input_.tell_as(
        Severity::Warning, Code::NodeSelectorUnmet, where,
        any ? "no GPU nodes among these files meet all that the pod selects, each meet a part: the "
              "pod stays Pending"
            : "no GPU nodes among these files meet the node affinity: the pod stays Pending",
        any ? "give one node group all the labels, or correct the selector and affinity"
            : "label the node group, or correct the affinity");
  }

  void judge_amount(const ResourceAmount& amount) {
    bool offered = false;
    bool open = false;  // some nodes may have it
    const NodeOffer* shared = nullptr;
    bool all_shared = true;
    for (const NodeOffer* offer : groups_) {
      const bool is_mig = amount.resource.starts_with(scenarios::kMigPrefix);
      open = open || (is_mig ? (!offer->is_known() || offer->may_have_mig) &&
                                   may_be_cut_so(*offer, amount.resource)
                             : !offer->is_known());
      const OfferedResource* resource = offer->find(amount.resource);
      if (resource == nullptr) continue;
      offered = true;
      if (resource->replicas > 1) {
        shared = offer;
      } else {
        all_shared = false;
      }
    }
    if (!offered && !open) return mismatch(amount);
    if (shared != nullptr && all_shared && !open && amount.amount > 1) several(amount, *shared);
  }

  static bool is_of_gpus(std::string_view resource) {
    return resource.find('/') == resource.npos || resource.starts_with("nvidia.com/") ||
           scenarios::gpu_resource(resource).has_value();
  }

  // What the containers of a pod ask for together.
  void judge_other(const std::string& resource, std::int64_t asked) const {
    std::int64_t most = 0;
    for (const NodeOffer* offer : groups_) {
      const auto has = most_of(*offer, resource);
      if (!has) return;
      most = std::max(most, *has);
    }
    if (asked <= most) return;
    const std::string name = resource.substr(0, 60);
    const bool is_efa = resource == scenarios::kEfaResource;
    input_.tell(Code::ResourceNameMismatch, largest(resource).where,
                most == 0 ? fmt::format("Pending for ever: no nodes offer {}", name)
                          : fmt::format("Pending for ever: Insufficient {}: the pod asks for {}, "
                                        "the most that one of these nodes has is {}",
                                        name, asked, most),
                is_efa && most == 0
                    ? "efaEnabled: true on the node group, of a type with EFA; with Karpenter a "
                      "NodePool of such types"
                : is_efa ? "ask for as many as the instance type has, or for less"
                         : "does its device plugin run there?");
  }

  // Whether GPUs of the catalogue have instances of that name; of one of its boards alone.
  bool is_profile(std::string_view resource, const std::string* gpu_model) const {
    resource = scenarios::device_name(resource);
    return std::ranges::any_of(input_.catalogue.mig, [&](const MigGeometry& geometry) {
      return (gpu_model == nullptr || geometry.gpu_model == *gpu_model) &&
             contains(geometry.profiles, resource, &MigProfile::resource_mixed);
    });
  }

  // Names of other drivers and boards are nothing to go by.
  bool may_be_cut_so(const NodeOffer& offer, std::string_view resource) const {
    if (offer.types.empty() || !is_profile(resource, nullptr)) return true;
    return std::ranges::any_of(offer.types, [&](const InstanceType* type) {
      return is_profile(resource, &type->gpu_model);
    });
  }

  void mismatch(const ResourceAmount& amount) const {
    std::vector<std::string> names;
    for (const NodeOffer* offer : groups_) {
      for (const OfferedResource& resource : offer->resources) {
        if (!contains(names, resource.name)) names.push_back(resource.name);
      }
    }
    std::string list;
    for (const std::string& name : names) {
      if (list.size() < 200) list += (list.empty() ? "" : ", ") + name;
    }
    input_.tell(Code::ResourceNameMismatch, amount.where,
                fmt::format("Pending for ever: no nodes offer {}", amount.resource.substr(0, 60)),
                list.empty() ? "they offer no GPU: does the device plugin run there?"
                             : fmt::format("they offer {}", list));
  }

  // Names of NVIDIA's that nothing advertises, unless a file says that something does.
  void judge_names() const {
    for (const ContainerFile& container : pod_.containers) {
      for (const ResourceAmount& amount : container.amounts) {
        const bool is_mig = amount.resource.starts_with(scenarios::kMigPrefix);
        if (is_mig && !is_profile(amount.resource, nullptr) && !is_offered(amount.resource)) {
          input_.tell_as(Severity::Warning, Code::ResourceNameMismatch, amount.where,
                         fmt::format("no GPU of the catalogue has {}: Pending until one does",
                                     amount.resource.substr(0, 60)),
                         "slicewise get mig-profiles lists the profiles of each GPU");
          continue;
        }
        if (!is_unheard_of(amount.resource)) continue;
        input_.tell_as(
            Severity::Warning, Code::ResourceNameMismatch, amount.where,
            fmt::format(
                "no device plugin of NVIDIA's advertises {}: Pending until another one does",
                amount.resource.substr(0, 60)),
            "GPUs are nvidia.com/gpu, nvidia.com/gpu.shared or nvidia.com/mig-PROFILE; none is a "
            "part of its memory");
      }
    }
  }

  // `m` is a thousandth, of a byte here, and no container starts in a few bytes.
  void judge_memory() const {
    constexpr Bytes kFew = mebibytes(1);
    for (const ContainerFile& container : pod_.containers) {
      for (const ResourceAmount& amount : container.amounts) {
        if (amount.resource != "memory" || amount.amount >= kFew.count) continue;
        input_.tell_as(
            Severity::Warning, Code::ValueRange, amount.where,
            fmt::format("{} bytes of memory: the container cannot start there", amount.amount),
            "Mi or Gi; m is a thousandth of a byte");
      }
    }
  }

  // Parts that HAMi's webhook refuses, or takes for less. Source: HAMi 2.10
  // pkg/device/nvidia/device.go, validateMemoryPercentage and Fit.
  void judge_parts() const {
    for (const ContainerFile& container : pod_.containers) {
      for (const ResourceAmount& amount : container.amounts) {
        if (amount.amount <= 100) continue;
        if (amount.resource == scenarios::kHamiPercentage) {
          input_.tell(
              Code::ValueRange, amount.where,
              fmt::format(
                  "invalid {} value {} in container {}: must be an integer between 0 and 100",
                  amount.resource, amount.amount, container.name.substr(0, 60)),
              "HAMi refuses the pod; nvidia.com/gpumem is in MiB");
        } else if (amount.resource == scenarios::kHamiCores) {
          input_.tell_as(Severity::Warning, Code::ValueRange, amount.where,
                         fmt::format("HAMi takes {} {} for 100: percent of one GPU",
                                     amount.resource, amount.amount),
                         "100 is the whole GPU; nvidia.com/gpu says how many");
        }
      }
    }
  }

  // Of GPUs: network cards are called as their owner likes.
  bool is_unheard_of(const std::string& resource) const {
    // HAMi's: github.com/Project-HAMi/HAMi, charts/hami/values.yaml.
    constexpr std::array<std::string_view, 5> kOfHami = {
        scenarios::kHamiMemory, scenarios::kHamiPercentage, scenarios::kHamiCores,
        "nvidia.com/gpu-priority", "nvidia.com/priority"};
    const bool names_gpus =
        resource.starts_with("nvidia.com/gpu") || resource.starts_with("nvidia/") ||
        resource.starts_with("nvidia.com/mig") || resource.starts_with("nvidia.com/vgpu");
    if (!names_gpus || scenarios::gpu_resource(resource) ||
        resource.starts_with(scenarios::kMigPrefix) || contains(kOfHami, resource)) {
      return false;
    }
    return !is_offered(resource);
  }

  // By a file of a live node, or an overlay.
  bool is_offered(const std::string& resource) const {
    const auto names_it = [&](const auto& amount) { return amount.resource == resource; };
    return std::ranges::any_of(input_.files.groups,
                               [&](const scenarios::NodeGroupFile& group) {
                                 return group.allocatable &&
                                        std::ranges::any_of(*group.allocatable, names_it);
                               }) ||
           std::ranges::any_of(input_.files.overlays, [&](const auto& overlay) {
             return std::ranges::any_of(overlay.capacity, names_it);
           });
  }

  // The kubelet's words when the plugin refuses, by its version.
  void several(const ResourceAmount& amount, const NodeOffer& offer) const {
    if (offer.config == nullptr) return;  // a node that shares: whether it refuses is in no file
    const scenarios::PluginConfigFile& config = *offer.config;
    const bool mps = config.sharing == scenarios::FileSharing::Mps;
    const bool always = mps && input_.version < scenarios::PluginVersion{0, 20};
    const bool refuses = always || config.refuses_several.value_or(mps);
    if (!refuses) {
      const bool has_several = std::ranges::any_of(
          offer.types, [](const InstanceType* type) { return type->gpu_count > 1; });
      const std::string what =
          has_several ? fmt::format(
                            "{} replicas are parts of different GPUs, which others share, and give "
                            "no more of one GPU than one replica",
                            amount.amount)
                      : fmt::format("{} replicas give no more of the GPU than one", amount.amount);
      return input_.tell(Code::RequestNoEffect, amount.where, what,
                         has_several
                             ? "ask for 1, or for whole GPUs of a node that does not share them"
                             : "ask for 1");
    }
    const std::string reason =
        input_.version < scenarios::PluginVersion{0, 15}
            ? fmt::format(
                  "request for '{}: {}' too large: maximum request size for shared resources is 1",
                  amount.resource.substr(0, 60), amount.amount)
            : fmt::format(
                  "invalid request: maximum request size for shared resources is 1; found {}",
                  amount.amount);
    input_.tell(Code::RequestTooLarge, amount.where,
                fmt::format("UnexpectedAdmissionError: Allocate failed due to rpc error: code = "
                            "Unknown desc = {}, which is unexpected",
                            reason),
                "ask for 1: replicas are tickets, not parts of a GPU");
  }

  bool has_gpu(const NodeOffer& offer) const {
    return !offer.is_known() || offer.may_have_mig || offer.offers(gpu_->resource);
  }

  void judge_taints() const {
    if (pod_.lacks_template) return;
    const Taint* first = nullptr;
    const Taint* by_eks = nullptr;
    const scenarios::NodeGroupFile* where = nullptr;
    for (const NodeOffer* offer : groups_) {
      if (offer->group == nullptr) return;
      if (!has_gpu(*offer)) continue;
      const Taint* own = scenarios::untolerated(offer->group->taints, pod_.tolerations);
      if (own == nullptr) return;
      const Taint* taint = untolerated(pod_, *offer->group);
      if (taint == nullptr && by_eks == nullptr) by_eks = own;
      if (first == nullptr) {
        first = taint;
        where = offer->group;
      }
    }
    if (by_eks != nullptr) {
      return input_.tell_as(
          Severity::Note, Code::TaintNotTolerated, pod_.where,
          fmt::format("the taint {{{}: {}}} is tolerated on EKS only, whose API server adds that "
                      "to pods that ask for the resource of this name",
                      by_eks->key.substr(0, 60), by_eks->value.substr(0, 60)),
          "elsewhere the pod stays Pending without the toleration of its own");
    }
    if (first == nullptr) return;
    input_.tell(
        Code::TaintNotTolerated, pod_.where,
        fmt::format("Pending: {}: {{{}: {}}} ({})", kHasUntoleratedTaint, first->key.substr(0, 60),
                    first->value.substr(0, 60), where->name.substr(0, 60)),
        fmt::format("tolerations: [{{key: {}, operator: Exists, effect: {}}}]",
                    first->key.substr(0, 60), first->effect.substr(0, 20)));
  }

  // The container that asks for most of it.
  const ResourceAmount& largest(std::string_view resource) const {
    const ResourceAmount* most = nullptr;
    for (const ContainerFile& container : pod_.containers) {
      for (const ResourceAmount& amount : container.amounts) {
        const bool is_more = most == nullptr || amount.amount > most->amount;
        if (amount.resource == resource && is_more) most = &amount;
      }
    }
    return *most;
  }

  // The request against the largest node.
  void judge_size() const {
    std::int64_t most_cpu = 0;
    std::int64_t most_memory = 0;
    std::int64_t most_gpus = 0;
    bool may_share = false;  // nobody says whether the nodes give out more than they have
    for (const NodeOffer* offer : groups_) {
      if (offer->types.empty() || offer->types.size() < offer->group->types.size()) return;
      const auto own_cpu = allocatable_of(*offer->group, "cpu");
      const auto own_memory = allocatable_of(*offer->group, "memory");
      for (const InstanceType* type : offer->types) {
        most_cpu = std::max(
            most_cpu, own_cpu.value_or(type->allocatable_cpu.count) - offer->daemon_cpu_milli);
        most_memory = std::max(most_memory, own_memory.value_or(type->allocatable_memory.count) -
                                                offer->daemon_memory_bytes);
      }
      const OfferedResource* gpu = offer->find(gpu_->resource);
      const bool may_share_here = !offer->is_known() || offer->may_have_mig;
      may_share = may_share || may_share_here;
      if (gpu == nullptr && may_share_here) {
        most_gpus = scenarios::kMostAmount;
      } else if (gpu != nullptr) {
        most_gpus = std::max(most_gpus, gpu->devices * gpu->replicas);
      }
    }
    const scenarios::Amounts wanted = scenarios::reserved_amounts(pod_);
    const auto judge = [&](const std::string& resource, std::int64_t most, std::string_view what,
                           std::int64_t shown) {
      const auto asked = wanted.find(resource);
      if (asked == wanted.end() || asked->second <= most) return;
      input_.tell(
          Code::PodTooLarge, largest(resource).where,
          fmt::format(
              "Pending for ever: Insufficient {}: pods can have {} of the largest of these nodes",
              what, shown),
          "ask for less, or use a larger instance type");
    };
    judge("cpu", most_cpu, "cpu", most_cpu / kMillisOfCpu);
    judge("memory", most_memory, "memory (GiB)", most_memory >> 30);
    if (most_gpus == 0) return;
    if (!may_share) return judge(gpu_->resource, most_gpus, gpu_->resource, most_gpus);
    if (const auto asked = wanted.find(gpu_->resource);
        asked != wanted.end() && asked->second > most_gpus) {
      input_.tell_as(
          Severity::Warning, Code::PodTooLarge, largest(gpu_->resource).where,
          fmt::format("{} {}, and the largest of these nodes has {}: Pending for ever, "
                      "unless GPUs are shared",
                      asked->second, gpu_->resource.substr(0, 60), counted(most_gpus, "GPU")),
          "ask for less, use a larger instance type, or spread the work over pods");
    }
  }

  bool requires_cpus() const {
    const auto is_of_cpus = [](const auto& one) {
      return one.key == scenarios::kArchitectureLabel;
    };
    return std::ranges::any_of(pod_.node_selector, is_of_cpus) ||
           std::ranges::any_of(pod_.affinity, [&](const auto& term) {
             return std::ranges::any_of(term, is_of_cpus);
           });
  }

  // Of nodes for which nobody says what their CPUs are the scheduler takes any, and Karpenter the
  // cheapest.
  void judge_images() const {
    const InstanceType* other = nullptr;
    bool any_usual = false;
    for (const NodeOffer* offer : groups_) {
      for (const InstanceType* type : offer->types) {
        if (!is_sold(input_, *offer, *type)) continue;
        const bool is_usual = type->architecture == scenarios::kArchitectures.front();
        any_usual = any_usual || is_usual;
        if (!is_usual && other == nullptr) other = type;
      }
    }
    if (other == nullptr || !any_usual || requires_cpus()) return;
    input_.tell_as(
        Severity::Warning, Code::ImageArchitecture, pod_.where,
        fmt::format("these pods may be put on nodes of {} ({}) and of {}: an image for one of them "
                    "crashes on the other",
                    other->architecture, other->name, scenarios::kArchitectures.front()),
        fmt::format(
            "nodeSelector {}: {}, the same requirement in the NodePool, or an image for both",
            scenarios::kArchitectureLabel, scenarios::kArchitectures.front()));
  }

  // GFD appends -SHARED while GPUs are shared under their own name.
  void judge_product() const {
    for (const KeyValue& wanted : pod_.node_selector) {
      if (wanted.key == scenarios::kProductLabel) judge_product_value(wanted.value, wanted.where);
    }
    for (const auto& term : pod_.affinity) {
      for (const scenarios::NodeRequirement& requirement : term) {
        const bool one = requirement.op == "In" && requirement.values.size() == 1;
        if (one && requirement.key == scenarios::kProductLabel) {
          judge_product_value(requirement.values.front(), requirement.where);
        }
      }
    }
  }

  void judge_product_value(std::string_view product, const SourceLocation& where) const {
    const bool wants_shared = product.ends_with(kSharedSuffix);
    for (const NodeOffer* offer : groups_) {
      const OfferedResource* gpu = offer->find(gpu_->resource);
      if (!offer->is_known() || gpu == nullptr) return;
      const bool renames = offer->config != nullptr && offer->config->renames;
      const bool has_suffix = gpu->replicas > 1 && !renames;
      if (has_suffix == wants_shared) return;
    }
    input_.tell(Code::ProductLabelShared, where,
                wants_shared ? "no nodes have a product label with -SHARED"
                             : "the product label of shared GPUs ends in -SHARED",
                "GFD appends it while GPUs are shared and not renamed");
  }

  void judge_spread() const {
    const bool shared = std::ranges::any_of(groups_, [&](const NodeOffer* offer) {
      const OfferedResource* gpu = offer->find(gpu_->resource);
      return gpu != nullptr && gpu->replicas > 1 && gpu->devices != 1;
    });
    if (!shared || pod_.copies < 2 || !pod_.spread || are_apart(pod_, pod_)) return;
    input_.tell(Code::ReplicasOneGpu, *pod_.spread,
                "spreading over nodes does not spread over the GPUs of a node",
                "one GPU per node, or whole GPUs for pods that must not share");
  }

  const LintInput& input_;
  const PodFile& pod_;
  const ResourceAmount* gpu_ = nullptr;   // the first
  std::vector<const NodeOffer*> groups_;  // that the pod may go to
};

}  // namespace

bool are_apart(const PodFile& a, const PodFile& b) {
  const bool any_rule = !a.anti_affinity.empty() || !b.anti_affinity.empty();
  if (!any_rule && (a.host_ports.empty() || b.host_ports.empty())) return false;
  const auto of = [](const PodFile& pod) {
    Workload workload;
    workload.namespace_name = scenarios::namespace_of(pod.space);
    for (const KeyValue& label : pod.labels) workload.pod.labels[label.key] = label.value;
    workload.pod.anti_affinity = pod.anti_affinity;
    workload.pod.host_ports = pod.host_ports;
    return workload;
  };
  return refuses(of(a), of(b)) || refuses(of(b), of(a));
}

void lint_pods(const LintInput& input) {
  for (const PodFile& pod : input.files.pods) {
    if (!pod.is_system) PodJudge(input, pod).judge();
  }
}

}  // namespace slicewise::sim::lint
