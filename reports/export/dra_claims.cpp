#include "dra_claims.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/counted.hpp"
#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "../text/text_table.hpp"
#include "guide.hpp"
#include "pod_owner.hpp"

namespace slicewise::reports {

bool uses_mps(const PoolTarget& target) {
  return target.pool->device_plugin && target.pool->device_plugin->mps;
}

namespace {

using scenarios::MigStrategy;
using scenarios::NodePool;
using scenarios::Workload;

constexpr int kMostClaims = 1000;  // of a node pool

// The devices behind a resource of the device plugin, whatever it was renamed to.
const MigDevices* mig_behind(const PoolTarget& target, const std::string& resource) {
  const std::string_view name = scenarios::device_name(resource);
  const bool single = mig_strategy_of(*target.pool) == MigStrategy::Single;
  const auto found = std::ranges::find_if(target.mig_devices, [&](const MigDevices& devices) {
    return !devices.profile.empty() && (single || devices.resource == name);
  });
  return found == target.mig_devices.end() ? nullptr : &*found;
}

class DraPlanner {
 public:
  explicit DraPlanner(const std::vector<PoolTarget>& targets) : targets_(targets) {}

  Expected<DraPlan> plan(const scenarios::Scenario& scenario) {
    for (const PoolTarget& target : targets_) check_pool(target);
    for (const Workload& workload : scenario.workloads) {
      for (const scenarios::ExtendedRequest& request : workload.pod.extended) {
        add(workload, request);
      }
    }
    if (devices_.empty() && found_.empty()) {
      unfit(scenario.where, "no pod of this variant asks for a GPU", "nothing to write");
    }
    std::vector<std::vector<SharedClaim>> shared = share();
    if (!found_.empty()) return tl::unexpected(std::move(found_));
    return DraPlan{std::move(devices_), std::move(shared)};
  }

 private:
  void unfit(const SourceLocation& where, std::string what, std::string help) {
    found_.push_back(make_diagnostic(Code::ExportUnfit, where, std::move(what), std::move(help)));
  }

  void check_pool(const PoolTarget& target) {
    const NodePool& pool = *target.pool;
    const bool by_nos = pool.nos || (pool.mig && pool.mig->nos);
    if (pool.virtual_gpu || by_nos || pool.hami || pool.kai) {
      unfit(
          pool.where,
          fmt::format("node pool \"{}\" is shared by another plugin or scheduler", pool.name.value),
          "export a variant in which devicePlugin or mig shares the GPUs");
    }
    const bool cut = mig_strategy_of(pool) != MigStrategy::None;
    if (cut && sharing_of(pool) != nullptr && !uses_mps(target)) {
      unfit(pool.where,
            fmt::format("time-slicing of MIG devices (node pool \"{}\"): the DRA driver takes the "
                        "setting and does nothing",
                        pool.name.value),
            "use --to helm-values or gpu-operator");
    }
    if (cut && target.mig_devices.empty()) {
      unfit(pool.where, fmt::format("the MIG layout of \"{}\" is not given", pool.name.value),
            "add mig.config");
    }
  }

  void add(const Workload& workload, const scenarios::ExtendedRequest& request) {
    for (const PoolTarget& target : targets_) {
      const auto offers = advertised(target);
      const bool has_it =
          std::ranges::find(offers, request.name.value, &AdvertisedResource::name) != offers.end();
      if (!has_it || !selects(workload, *target.pool)) continue;
      ClaimedDevice device{&workload, &target, request.count, sharing_of(*target.pool)};
      device.mig = mig_behind(target, request.name.value);
      const scenarios::SharedResource* shared =
          device.sharing ? device.sharing->find(scenarios::device_name(request.name.value))
                         : nullptr;
      device.replicas = shared ? shared->replicas : 1;
      if (device.replicas < 2) device.sharing = nullptr;
      return check(device, request);
    }
    unfit(request.name.where,
          fmt::format("no node pool offers {} to \"{}\"", request.name.value, workload.name.value),
          "slicewise explain RESOURCE_NAME_MISMATCH");
  }

  static bool selects(const Workload& workload, const NodePool& pool) {
    return std::ranges::all_of(workload.pod.node_selector, [&](const auto& wanted) {
      const auto label = pool.labels.find(wanted.first);
      return label == pool.labels.end() || label->second == wanted.second;
    });
  }

  void check(const ClaimedDevice& device, const scenarios::ExtendedRequest& request) {
    if (device.sharing != nullptr && device.count > 1) {
      return unfit(request.count_where,
                   fmt::format("\"{}\" asks for {} shares of a GPU, and a claim has no shares",
                               device.workload->name.value, device.count),
                   "ask for 1");
    }
    devices_.push_back(device);
  }

  // Who shares the devices of one pool, in the order of the scenario.
  using Sharers = std::vector<const ClaimedDevice*>;

  std::vector<std::vector<SharedClaim>> share() {
    std::vector<Sharers> pools;
    for (const ClaimedDevice& device : devices_) {
      if (device.sharing == nullptr) continue;
      const auto same = [&](const Sharers& others) {
        return others.front()->target == device.target && others.front()->mig == device.mig;
      };
      const auto known = std::ranges::find_if(pools, same);
      (known == pools.end() ? pools.emplace_back() : *known).push_back(&device);
    }
    std::vector<std::vector<SharedClaim>> out;
    out.reserve(pools.size());
    for (const Sharers& sharers : pools) out.push_back(claims_of(sharers));
    return out;
  }

  // As the device plugin was simulated: pods go where the fewest are, or under the policy packed
  // where the most are. Nodes that a provisioner starts are filled one after the other.
  std::vector<SharedClaim> claims_of(const Sharers& sharers) {
    const ClaimedDevice& first = *sharers.front();
    const NodePool& pool = *first.target->pool;
    const int of_a_node = first.mig ? first.mig->count : first.target->instance->gpu_count;
    const std::int64_t most = std::int64_t{of_a_node} * pool.most_nodes.value_or(pool.nodes);
    std::int64_t pods = 0;
    for (const ClaimedDevice* device : sharers) pods += device->workload->count;
    if (pods > most * first.replicas) {
      unfit(first.workload->where,
            fmt::format("{} pods share {} of \"{}\", {} at a time: the others would wait "
                        "for a place, and a claim has no places",
                        pods, counted(most, "device"), pool.name.value, first.replicas),
            "use --to helm-values, where the device plugin counts places");
      return {};
    }
    const bool packs = pool.most_nodes ||
                       pool.device_plugin->allocation_policy == scenarios::AllocationPolicy::Packed;
    const std::int64_t needed =
        packs ? (pods + first.replicas - 1) / first.replicas : std::min(most, pods);
    if (needed > kMostClaims) {
      unfit(first.workload->where,
            fmt::format("the pods of \"{}\" need more than {} claims, one for each shared device",
                        pool.name.value, kMostClaims),
            "pods share a GPU by naming one claim; use the device plugin for so many");
      return {};
    }
    std::vector<SharedClaim> claims(static_cast<std::size_t>(needed));
    std::size_t pod = 0;
    for (const ClaimedDevice* device : sharers) {
      for (int n = 0; n < device->workload->count; ++n, ++pod) {
        const auto at =
            packs ? pod / static_cast<std::size_t>(first.replicas) : pod % claims.size();
        auto& members = claims[at].pods;
        if (members.empty() || members.back().first != device) members.emplace_back(device, 0);
        ++members.back().second;
      }
    }
    check_claims(claims, sharers);
    return claims;
  }

  // What pods of one claim, and the claims of one workload, cannot be.
  void check_claims(const std::vector<SharedClaim>& claims, const Sharers& sharers) {
    for (const SharedClaim& claim : claims) {
      const Workload& first = *claim.pods.front().first->workload;
      for (const auto& [device, pods] : claim.pods) {
        const Workload& other = *device->workload;
        if (other.namespace_name == first.namespace_name) continue;
        return unfit(other.where,
                     fmt::format("\"{}\" of namespace {} and \"{}\" of {} share a device, and a "
                                 "claim is of one namespace",
                                 first.name.value, first.namespace_name, other.name.value,
                                 other.namespace_name),
                     "put them into one namespace, or on node pools of their own");
      }
    }
    for (const SharedClaim& claim : claims) {
      const bool is_shared = claim.pods.size() > 1 || claim.pods.front().second > 1;
      const auto apart = std::ranges::find_if(claim.pods, [](const auto& of) {
        return !of.first->workload->pod.anti_affinity.empty();
      });
      if (!is_shared || apart == claim.pods.end()) continue;
      const Workload& workload = *apart->first->workload;
      return unfit(workload.where,
                   fmt::format("\"{}\" has podAntiAffinity, and pods of one claim are on one node",
                               workload.name.value),
                   "use --to helm-values, or as many GPUs as pods");
    }
    for (const ClaimedDevice* device : sharers) {
      const Workload& workload = *device->workload;
      const auto named = std::ranges::count_if(claims, [&](const SharedClaim& claim) {
        return std::ranges::any_of(claim.pods, [&](const auto& of) { return of.first == device; });
      });
      if (!workload.autoscaling || named < 2) continue;
      unfit(workload.where,
            fmt::format("the pods of \"{}\" share {} devices, and those of one Deployment, which "
                        "is what an autoscaler scales, name one claim",
                        workload.name.value, named),
            "use --to helm-values, where pods share whatever device has a place");
    }
  }

  const std::vector<PoolTarget>& targets_;
  std::vector<ClaimedDevice> devices_;
  Diagnostics found_;
};

}  // namespace

Expected<DraPlan> plan_claims(const scenarios::Scenario& scenario,
                              const std::vector<PoolTarget>& targets) {
  return DraPlanner(targets).plan(scenario);
}

std::string shared_name(const ClaimedDevice& device) {
  const std::string& pool = device.target->pool->name.value;
  std::string name = device.mig ? fmt::format("{}.{}", pool, device.mig->profile) : pool;
  std::ranges::replace(name, '+', '.');
  return name;
}

std::string template_name(const ClaimedDevice& device) {
  return device.workload->name.value + "-gpu";
}

std::string claim_name(const std::vector<SharedClaim>& claims, std::size_t n) {
  const ClaimedDevice& first = *claims.front().pods.front().first;
  const bool is_alone = std::ranges::all_of(claims, [&](const SharedClaim& claim) {
    return claim.pods.size() == 1 && claim.pods.front().first == &first;
  });
  const std::string name = (is_alone ? first.workload->name.value : shared_name(first)) + "-gpu";
  return claims.size() == 1 ? name : fmt::format("{}-{}", name, n + 1);
}

// Against the types of NVIDIA's DRA driver (sigs.k8s.io/dra-driver-nvidia-gpu v0.4.1
// api/nvidia.com/resource/v1beta1), which decodes strictly.

namespace {

using nlohmann::json;
using scenarios::ClaimSharing;
using scenarios::ResourceClaim;
using scenarios::Workload;

// One that comes with the driver: by its selector, else by what the claim's say of MIG.
std::string class_of(const ResourceClaim& claim) {
  for (const Located<std::string>& selector : claim.selectors) {
    const std::string& text = selector.value;
    if (text.find(".profile") != text.npos || text.find("'mig'") != text.npos) {
      return "mig.nvidia.com";
    }
  }
  return "gpu.nvidia.com";
}

json object_of(const ResourceClaim& claim, const std::string& space) {
  const std::string device_class = class_of(claim);
  std::vector<std::string> selectors;
  for (const Located<std::string>& selector : claim.selectors) {
    if (selector.value == scenarios::selector_of_class(device_class)) continue;
    selectors.push_back(selector.value);
  }
  json spec = claim_spec(device_class, claim.count, selectors);
  if (claim.sharing) {
    spec["devices"]["config"] = driver_config(*claim.sharing, device_class != kDraDriver);
  }
  return claim_object(claim.name.value, space, claim.is_template, std::move(spec));
}

std::vector<const Workload*> who_names(const scenarios::Scenario& scenario,
                                       const ResourceClaim& claim) {
  std::vector<const Workload*> named;
  for (const Workload& workload : scenario.workloads) {
    if (workload.pod.claim.value == claim.name.value) named.push_back(&workload);
  }
  return named;
}

std::string remark_on(const ResourceClaim& claim, const std::vector<const Workload*>& named) {
  std::string pods;
  for (const Workload* workload : named) {
    add_name(pods, fmt::format("{} of {}", counted(workload->count, "pod"), workload->name.value));
  }
  return comment(claim.is_template ? fmt::format("Devices of its own for each of {}.", pods)
                                   : fmt::format("One device for {}.", pods));
}

}  // namespace

bool claims_devices(const scenarios::Scenario& scenario) {
  return std::ranges::any_of(scenario.workloads, [](const Workload& workload) {
    return !workload.pod.claim.value.empty();
  });
}

bool makes_mig_devices(const scenarios::Scenario& scenario) {
  return std::ranges::any_of(scenario.node_pools,
                             [](const auto& pool) { return pool.dynamic_mig.has_value(); });
}

json driver_config(const ClaimSharing& sharing, bool is_mig) {
  constexpr std::array<const char*, 4> kIntervals = {"Default", "Short", "Medium", "Long"};
  json written;
  if (sharing.strategy == ClaimSharing::Strategy::Mps) {
    json mps = json::object();
    if (sharing.active_threads) mps["defaultActiveThreadPercentage"] = *sharing.active_threads;
    if (sharing.memory_limit) {
      mps["defaultPinnedDeviceMemoryLimit"] =
          fmt::format("{}Mi", sharing.memory_limit->count >> 20);
    }
    written = {{"strategy", "MPS"}, {"mpsConfig", std::move(mps)}};
  } else {
    written = {{"strategy", "TimeSlicing"}};
    // A MIG device has no turns of its own length.
    if (!is_mig) {
      written["timeSlicingConfig"] = {
          {"interval", kIntervals[static_cast<std::size_t>(sharing.interval)]}};
    }
  }
  json parameters = {{"apiVersion", "resource.nvidia.com/v1beta1"},
                     {"kind", is_mig ? "MigDeviceConfig" : "GpuConfig"},
                     {"sharing", std::move(written)}};
  return json::array(
      {{{"opaque", {{"driver", kDraDriver}, {"parameters", std::move(parameters)}}}}});
}

json cel_selector(const std::string& expression) { return {{"cel", {{"expression", expression}}}}; }

json claim_spec(const std::string& device_class, std::int64_t count,
                const std::vector<std::string>& selectors) {
  json exactly = {{"deviceClassName", device_class}};
  if (count > 1) exactly["count"] = count;
  for (const std::string& selector : selectors) {
    exactly["selectors"].push_back(cel_selector(selector));
  }
  return {{"devices",
           {{"requests", json::array({{{"name", "gpu"}, {"exactly", std::move(exactly)}}})}}}};
}

json claim_object(const std::string& name, const std::string& space, bool is_template, json spec) {
  if (is_template) spec = {{"spec", std::move(spec)}};
  return kubernetes_object("resource.k8s.io/v1",
                           is_template ? "ResourceClaimTemplate" : "ResourceClaim",
                           {{"name", name}, {"namespace", space}}, std::move(spec));
}

Expected<std::string> claim_documents(const scenarios::Scenario& scenario) {
  std::string out;
  Diagnostics found;
  for (const ResourceClaim& claim : scenario.claims) {
    const std::vector<const Workload*> named = who_names(scenario, claim);
    if (named.empty()) continue;
    const std::string& space = named.front()->namespace_name;
    for (const Workload* workload : named) {
      if (workload->namespace_name == space) continue;
      found.push_back(make_diagnostic(
          Code::ExportUnfit, claim.name.where,
          fmt::format("\"{}\" of namespace {} and \"{}\" of {} name the claim \"{}\", and a claim "
                      "is of one namespace",
                      named.front()->name.value, space, workload->name.value,
                      workload->namespace_name, claim.name.value),
          "put them into one namespace, or give them claims of their own"));
      break;
    }
    out += "---\n" + remark_on(claim, named) + yaml_text(object_of(claim, space));
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  return out;
}

}  // namespace slicewise::reports
