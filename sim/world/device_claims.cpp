#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "parts.hpp"

// Devices that NVIDIA's DRA driver hands out, by the claims that select them.
namespace slicewise::sim {
namespace {

using scenarios::ClaimSharing;
using scenarios::ResourceClaim;
using scenarios::TurnInterval;

// How many pods may use a claim at a time. Source: k8s.io/api/resource/v1 types.go,
// ResourceClaimReservedForMaxSize.
constexpr int kMostPodsOfClaim = 256;

// As NVML has it: GPU Feature Discovery writes hyphens for the blanks of the name, which keeps
// those of its own before and behind the form factor. Source: NVIDIA/k8s-device-plugin
// internal/lm/resource.go; NVML device names.
std::string product_name(std::string label) {
  const std::size_t form = label.find("-SXM");
  std::ranges::replace(label, '-', ' ');
  if (form == label.npos) return label;
  label[form] = '-';
  const std::size_t after = label.find(' ', form);
  if (after != label.npos) label[after] = '-';
  return label;
}

// How long turns are, in those of the default: NVIDIA publishes no times. Assumed.
double turns_of(TurnInterval interval) {
  switch (interval) {
    case TurnInterval::Default:
      return 1;
    case TurnInterval::Short:
      return 0.5;
    case TurnInterval::Medium:
      return 2;
    case TurnInterval::Long:
      return 4;
  }
  return 1;
}

class ClaimedPool {
 public:
  ClaimedPool(const Scenario& scenario, const NodePool& pool, PoolModel& model, Diagnostics& found)
      : scenario_(scenario), pool_(pool), model_(model), found_(found) {}

  void share() {
    model_.dra = true;
    if (pool_.dynamic_mig && !check_gate()) return;
    for (const ResourceClaim& claim : scenario_.claims) {
      const int pods = pods_of(claim);
      if (pods > 0) offer(claim, pods);
    }
    if (pool_.dynamic_mig) keep_claimed();
  }

 private:
  // Gates are the driver's on all nodes: DynamicMIG excludes MPS, and destroys what it did not
  // make. Source: dra-driver-nvidia-gpu v0.4.1, pkg/featuregates/featuregates.go,
  // ValidateFeatureGates; cmd/gpu-kubelet-plugin/nvlib.go, obliterateStaleMIGDevices.
  bool check_gate() {
    const auto refuse = [&](std::string what, std::string help) {
      add_diagnostic(found_, Code::DraGatesExclude, pool_.dynamic_mig->where, std::move(what),
                     std::move(help));
      return false;
    };
    for (const ResourceClaim& claim : scenario_.claims) {
      const bool is_mps = claim.sharing && claim.sharing->strategy == ClaimSharing::Strategy::Mps;
      if (!is_mps || pods_of(claim) == 0) continue;
      return refuse(fmt::format("dynamicMig beside the claim \"{}\", which is shared by MPS: the "
                                "driver's gates DynamicMIG and MPSSupport exclude each other",
                                claim.name.value),
                    "leave one of the two out, on all node pools");
    }
    for (const NodePool& other : scenario_.node_pools) {
      if (!other.dra || !other.mig) continue;
      return refuse(fmt::format("dynamicMig beside the layout of node pool \"{}\": under its gate "
                                "DynamicMIG the driver destroys MIG devices that it did not make",
                                other.name.value),
                    "dynamicMig there, too, in place of mig");
    }
    return true;
  }

  // Karpenter 1.15 starts nodes for claims of one pod; the Cluster Autoscaler's ways are others.
  bool check_nodes(const ResourceClaim& claim) {
    if (!pool_.most_nodes && pool_.capacity_type != CapacityType::Spot) return true;
    const bool by_karpenter = scenario_.provisioner.kind == scenarios::Provisioner::Kind::Karpenter;
    if (claim.is_template && by_karpenter) return true;
    add_diagnostic(
        found_, Code::StrategyNotModelled, claim.name.where,
        by_karpenter
            ? fmt::format("pods that share the claim \"{}\" on nodes that come and go are "
                          "not simulated",
                          claim.name.value)
            : "claims of DRA on nodes that the Cluster Autoscaler starts are not simulated",
        "write one number of nodes, without spot, or kind: ResourceClaimTemplate under "
        "Karpenter");
    return false;
  }

  // Of the devices that may be made, those that some claim selects.
  void keep_claimed() {
    const auto is_claimed = [&](const NodeLayout::Domain& domain) {
      return !model_.kinds[domain.kind].tickets.empty();
    };
    auto& domains = model_.layouts.front().domains;
    if (!std::ranges::any_of(domains, is_claimed)) return;
    std::erase_if(domains, [&](const auto& domain) { return !is_claimed(domain); });
  }

  // That name the claim, on whatever pool.
  int pods_of(const ResourceClaim& claim) const {
    int pods = 0;
    for (const Workload& workload : scenario_.workloads) {
      if (workload.pod.claim.value == claim.name.value) pods += workload.count;
    }
    return pods;
  }

  bool is_selected(const ResourceClaim& claim, const DomainKind& kind) const {
    const scenarios::DraDevice device = device_of(*model_.gpu, kind);
    return std::ranges::all_of(claim.selectors, [&](const Located<std::string>& selector) {
      return scenarios::selects(selector.value, device);
    });
  }

  void offer(const ResourceClaim& claim, int pods) {
    std::vector<DomainKind*> kinds;
    for (DomainKind& kind : model_.kinds) {
      if (is_selected(claim, kind)) kinds.push_back(&kind);
    }
    if (kinds.empty() || !check_nodes(claim)) return;
    if (!claim.is_template && pods > kMostPodsOfClaim) {
      add_diagnostic(found_, Code::ValueRange, claim.name.where,
                     fmt::format("{} pods name the claim \"{}\": {} may use one at a time", pods,
                                 claim.name.value, kMostPodsOfClaim),
                     "give them several claims");
      return;
    }
    ResourceOffer named{claim.name.value, {}, !claim.is_template, false};
    named.claim =
        claim.is_template ? ResourceOffer::Claim::OfEachPod : ResourceOffer::Claim::Shared;
    model_.offers.push_back(named);
    for (DomainKind* kind : kinds) add_tickets(claim, claim.is_template ? 1 : pods, *kind);
  }

  void add_tickets(const ResourceClaim& claim, int pods, DomainKind& kind) {
    Tickets tickets{model_.offers.size() - 1, pods, std::nullopt};
    // A pod that is alone on its device takes turns with nobody.
    const bool is_mps = claim.sharing && claim.sharing->strategy == ClaimSharing::Strategy::Mps;
    if (is_mps) tickets.memory_limit = claim.sharing->memory_limit;
    kind.tickets.push_back(tickets);
    if (claim.is_template && !is_mps) {
      if (std::holds_alternative<models::Mps>(kind.sharing)) refuse_mixture(claim);
      return;
    }
    const models::Sharing sharing = sharing_of(claim, pods, kind);
    const ResourceClaim*& first = first_[&kind];
    if (first == nullptr) {
      const bool has_alone = kind.tickets.size() > 1;
      if (is_mps && has_alone) refuse_mixture(claim);
      first = &claim;
      kind.sharing = sharing;
    } else if (!is_same(*first, claim)) {
      refuse_mixture(claim);
    } else if (auto* mps = std::get_if<models::Mps>(&kind.sharing)) {
      mps->replicas = std::max(mps->replicas, pods);
    }
  }

  static bool is_same(const ResourceClaim& a, const ResourceClaim& b) {
    return is_same_sharing(a.sharing.value_or(ClaimSharing{}), b.sharing.value_or(ClaimSharing{}));
  }

  void refuse_mixture(const ResourceClaim& claim) {
    add_diagnostic(found_, Code::StrategyNotModelled, claim.name.where,
                   fmt::format("claims share the devices of node pool \"{}\" in different ways, "
                               "\"{}\" in another than those before it",
                               pool_.name.value, claim.name.value),
                   "of one pool all claims share in one way here: give the others a pool of their "
                   "own, and selectors for its product");
  }

  models::Sharing sharing_of(const ResourceClaim& claim, int pods, const DomainKind& kind) {
    const ClaimSharing sharing = claim.sharing.value_or(ClaimSharing{});
    if (sharing.strategy == ClaimSharing::Strategy::Mps) {
      models::Mps mps;
      mps.replicas = pods;
      mps.client_limit = mps_clients_in(kind, model_.gpu->mps_max_clients);
      mps.server_memory = scenarios::MpsSettings{}.server_memory;
      mps.memory_limit = sharing.memory_limit;
      if (sharing.active_threads) {
        mps.active_threads = whole_sms(*sharing.active_threads / 100.0, *model_.gpu, kind.share);
      }
      if (pods > mps.client_limit) {
        add_diagnostic(
            found_, Code::MpsTooManyClients, claim.name.where,
            fmt::format(
                "{} pods of the claim \"{}\" are {} clients on one GPU or instance; MPS takes {}",
                pods, claim.name.value, pods, mps.client_limit),
            "give them several claims");
      }
      return mps;
    }
    models::TimeSlice slice = model_.driver_slice;
    // Of a MIG device the driver takes the setting and does nothing; what was measured holds.
    if (kind.partition.empty() && !pool_.gpu.time_slice) {
      slice.turn = {std::llround(static_cast<double>(slice.turn.ns) * turns_of(sharing.interval))};
    }
    return models::TimeSlicing{pods, slice};
  }

  const Scenario& scenario_;
  const NodePool& pool_;
  PoolModel& model_;
  Diagnostics& found_;
  std::map<const DomainKind*, const ResourceClaim*> first_;  // that shares the kind
};

}  // namespace

scenarios::DraDevice device_of(const GpuModel& gpu, const DomainKind& kind) {
  const bool is_whole = kind.partition.empty() && kind.owned_time == 1;
  return {product_name(gpu.kubernetes_product), gpu.architecture, gpu.compute_capability,
          kind.partition, is_whole ? gpu.memory_total : kind.memory};
}

void share_by_claims(const Scenario& scenario, const NodePool& pool, PoolModel& model,
                     Diagnostics& found) {
  ClaimedPool(scenario, pool, model, found).share();
}

void match_claim(const Scenario& scenario, World& world, WorkloadModel& model, Diagnostics& found) {
  const Located<std::string>& named = model.spec.pod.claim;
  const ResourceClaim* claim = scenario.claim_of(model.spec);
  if (claim == nullptr) return;  // the loader has said so
  scenarios::ExtendedRequest request{named, claim->count, named.where};
  match_offers(&request, world, model);
  model.by_claim = true;
  const bool is_offered = std::ranges::any_of(
      model.on_pool, [](const PoolDemand& demand) { return demand.schedulable; });
  if (is_offered || model.spec.count == 0) return;
  const bool any_driver = std::ranges::any_of(world.pools, &PoolModel::dra);
  Diagnostic unmet = make_diagnostic(
      Code::ResourceNameMismatch, named.where,
      fmt::format("no node pool has a device for the claim \"{}\": the pods of \"{}\" stay Pending",
                  named.value, model.name),
      any_driver ? "its selectors match no device of a pool with `dra: true` that takes the pods"
                 : "set `dra: true` on the node pool with the DRA driver");
  if (model.spec.may_stay_pending) unmet.severity = Severity::Warning;
  found.push_back(std::move(unmet));
}

}  // namespace slicewise::sim
