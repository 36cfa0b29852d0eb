#include <algorithm>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/pool_choice.hpp"

#include "admission.hpp"
#include "parts.hpp"

// What a pod asks for against what the node pools offer.
namespace slicewise::sim {
namespace {

// Names that a pool advertises as far as its plugin config alone tells, for a pool whose instance
// type or layout is wrong: its workloads are not to blame.
std::vector<std::string> configured_names(const NodePool& pool) {
  if (pool.virtual_gpu) return {"k8s.amazonaws.com/vgpu"};
  std::vector<std::string> names;
  if (pool.nos) {
    for (const auto& slice : pool.nos->slices) names.push_back("nvidia.com/gpu-" + slice.value);
    return names;
  }
  const auto entry = plugin_entry(pool, kGpuResource);
  const bool renamed = entry && entry->sharing->rename_by_default;
  return {scenarios::advertised_name(kGpuResource, renamed)};
}

std::string mismatch_help(const std::string& wanted, const std::vector<std::string>& names) {
  std::string help = names.empty() ? "the node pools offer no GPU"
                                   : fmt::format("the node pools offer {}", fmt::join(names, ", "));
  if (contains(names, scenarios::advertised_name(wanted, true))) {
    help += "; renameByDefault: true replaces the name, so pods must ask for the .shared one";
  } else if (scenarios::device_name(wanted) != wanted) {
    help += "; the .shared name exists only with renameByDefault: true";
  }
  return help;
}

const ResourceOffer* find_offer(const PoolModel& pool, const std::string& name) {
  return find_or_null(pool.offers, name, &ResourceOffer::name);
}

// A MIG profile that some pool's GPU could have, under a layout that it does not.
bool is_other_mig_slice(const std::string& name, const std::vector<PoolModel>& pools,
                        const Catalogue& catalogue) {
  return std::ranges::any_of(pools, [&](const PoolModel& pool) {
    const MigGeometry* geometry = catalogue.find_mig(pool.gpu->name);
    return is_mig(pool.strategy) && geometry != nullptr &&
           contains(geometry->profiles, name, &MigProfile::resource_mixed);
  });
}

// How the pool's device plugin answers a container that asks for several of its resource.
void check_request_size(const Workload& spec, const scenarios::ExtendedRequest& request,
                        const PoolModel& pool, const ResourceOffer& offer, Diagnostics& found) {
  if (request.count == 1) return;
  const auto position = static_cast<std::size_t>(&offer - pool.offers.data());
  const int gpus = gpus_of_pod(pool, position, spec, request.count);
  if (gpus > 1 && !offer.shared) return;
  if (!offer.shared && pool.strategy == Strategy::Vgpu) {
    add_diagnostic(
        found, Code::StrategyNotModelled, request.count_where,
        fmt::format("{} vGPUs in one pod are not simulated by this version", request.count),
        fmt::format("ask for {}: 1", request.name.value));
    return;
  }
  if (!offer.shared) {
    add_diagnostic(
        found, Code::RequestNoEffect, request.count_where,
        fmt::format("a CUDA process uses one MIG device: {} of {} leaves the others idle",
                    request.count, request.name.value),
        "ask for 1, or for a larger profile");
    return;
  }
  if (offer.refuses_more_than_one) {
    add_diagnostic(
        found, Code::RequestTooLarge, request.count_where,
        fmt::format(
            "the kubelet would refuse workload \"{}\": UnexpectedAdmissionError: request for "
            "\"{}\": invalid request: maximum request size for shared resources is 1; found {}",
            spec.name.value, request.name.value, request.count),
        "ask for 1: two replicas do not give twice the compute");
    return;
  }
  // Each replica is of the GPU that has the fewest of them taken: see choose_domain().
  const bool distributed = pool.allocation == scenarios::AllocationPolicy::Distributed;
  if (gpus > 1 && distributed) {
    Diagnostic spread = make_diagnostic(
        Code::RequestNoEffect, request.count_where,
        fmt::format(
            "the device plugin takes {} replicas of {} from up to {} GPUs of a node: simulated is "
            "a process on each, in step with the others; on none of them has the pod a larger part",
            request.count, request.name.value, gpus),
        "ask for 1 where a process uses one GPU");
    spread.severity = Severity::Note;
    found.push_back(std::move(spread));
    return;
  }
  if (pool.gpus_per_node > 1 && distributed) {
    Diagnostic spread = make_diagnostic(
        Code::StrategyNotModelled, request.count_where,
        fmt::format("the device plugin takes {} replicas of {} from {} different GPUs of a node; "
                    "simulated is a pod that has them all on one",
                    request.count, request.name.value,
                    std::min<std::int64_t>(request.count, pool.gpus_per_node)),
        "ask for 1; pods that use several GPUs want a pool that does not share them");
    spread.severity = Severity::Warning;
    found.push_back(std::move(spread));
    return;
  }
  add_diagnostic(found, Code::RequestNoEffect, request.count_where,
                 fmt::format("{} replicas of {} take {} tickets and give no more GPU than one",
                             request.count, request.name.value, request.count),
                 "ask for 1 and set failRequestsGreaterThanOne: true");
}

void note_no_offer(const Workload& spec, const scenarios::ExtendedRequest& request,
                   const std::vector<PoolModel>& pools, const Offered& offered,
                   const Catalogue& catalogue, Diagnostics& found) {
  const std::string& name = request.name.value;
  if (!offered.any_pool) return;  // that is said already
  if (contains(offered.names, name)) return;
  if (offered.any_mig_name && name.starts_with(kMigPrefix)) return;
  const bool by_part =
      std::ranges::any_of(pools, [](const PoolModel& pool) { return pool.books.has_value(); });
  Diagnostic d = make_diagnostic(
      Code::ResourceNameMismatch, request.name.where,
      fmt::format("no node pool offers {}: the pods of \"{}\" stay Pending", name, spec.name.value),
      by_part ? "no GPU has such a part: ask for less" : mismatch_help(name, offered.names));
  // The name is right, the layout is not: a question about capacity, which the run answers.
  if (spec.may_stay_pending || is_other_mig_slice(name, pools, catalogue)) {
    d.severity = Severity::Warning;
  }
  found.push_back(std::move(d));
}

}  // namespace

Offered offered_names(const Scenario& scenario, const World& world) {
  Offered offered;
  offered.any_pool = !scenario.node_pools.empty();
  const auto add = [&](const std::string& name) {
    if (!contains(offered.names, name)) {
      offered.names.push_back(name);
    }
  };
  for (const NodePool& pool : scenario.node_pools) {
    const auto model = std::ranges::find(world.pools, pool.name.value, &PoolModel::name);
    if (model != world.pools.end()) {
      for (const ResourceOffer& offer : model->offers) add(offer.name);
      continue;
    }
    offered.any_mig_name = offered.any_mig_name || pool.mig.has_value();
    for (const std::string& name : configured_names(pool)) add(name);
  }
  return offered;
}

const scenarios::ExtendedRequest* gpu_request(const Workload& spec,
                                              const std::vector<PoolModel>& pools,
                                              const Offered& offered, const Catalogue& catalogue,
                                              Diagnostics& found) {
  const scenarios::ExtendedRequest* chosen = nullptr;
  for (const scenarios::ExtendedRequest& request : spec.pod.extended) {
    const std::string& name = request.name.value;
    if (name == scenarios::kHamiMemory || name == scenarios::kHamiPercentage ||
        name == scenarios::kHamiCores) {
      add_diagnostic(
          found, Code::ResourceNameMismatch, request.name.where,
          fmt::format("{} is HAMi's, and no node pool has HAMi: the pods of \"{}\" stay Pending",
                      name, spec.name.value),
          "add `hami: {}` to the node pool, or remove it");
      continue;
    }
    if (chosen != nullptr) {
      add_diagnostic(found, Code::StrategyNotModelled, request.name.where,
                     "a pod that asks for two GPU resources is not simulated by this version",
                     "one GPU resource per container: CUDA sees only one of them");
      continue;
    }
    const auto pool = std::ranges::find_if(pools, [&](const PoolModel& p) {
      return find_offer(p, request.name.value) != nullptr && admits(p, spec.pod);
    });
    if (pool != pools.end()) {
      check_request_size(spec, request, *pool, *find_offer(*pool, request.name.value), found);
    } else {
      note_no_offer(spec, request, pools, offered, catalogue, found);
    }
    chosen = &request;
  }
  return chosen;
}

}  // namespace slicewise::sim
