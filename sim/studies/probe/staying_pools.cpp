#include "staying_pools.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/sim/mig_cut.hpp"

#include "../../world/admission.hpp"
#include "../../world/parts.hpp"
#include "pool_homes.hpp"

namespace slicewise::sim {
namespace {

// What the plugin of the pool calls the devices of the choice, before it shares them.
std::vector<std::string> devices_of(const NodePool& pool, const PoolChoice& choice) {
  if (!pool.mig) return {std::string(kGpuResource)};
  std::vector<std::string> devices;
  const auto add = [&](const std::vector<MigCount>& mig) {
    for (const MigCount& count : mig) {
      std::string device(
          scenarios::device_name(pool.mig->strategy, scenarios::mig_resource(count.profile)));
      if (!contains(devices, device)) devices.push_back(std::move(device));
    }
  };
  add(choice.mig);
  for (const MigCut& cut : choice.other_cuts) add(cut.mig);
  return devices;
}

std::string advertised_by(const NodePool& pool, const std::string& device) {
  const auto entry = plugin_entry(pool, device);
  return entry ? entry->sharing->advertised(device) : device;
}

// The profiles of each GPU of a node; nullopt: nobody knows, or they change.
std::optional<std::vector<std::vector<std::string>>> cuts_of(const NodePool& pool,
                                                             const InstanceType& type,
                                                             const MigGeometry& geometry) {
  Diagnostics found;
  if (!pool.mig->changes.empty()) return std::nullopt;
  const auto node = cut_node(pool, type, geometry, pool.mig->config, found);
  if (!node) return std::nullopt;
  std::vector<std::vector<std::string>> cuts;
  for (const CutGpu& gpu : node->gpus) {
    std::vector<std::string>& profiles = cuts.emplace_back();
    for (const CutGpu::Instance& instance : gpu.instances) {
      profiles.push_back(instance.profile == nullptr ? "" : instance.profile->name);
    }
    std::ranges::sort(profiles);
  }
  return cuts;
}

bool are_cut_alike(const NodePool& own, const NodePool& pool, const Catalogue& catalogue) {
  if (!own.mig || !pool.mig) return !own.mig && !pool.mig;
  const InstanceType* type = catalogue.find_instance(pool.instance_type.value);
  const auto* geometry = type == nullptr ? nullptr : catalogue.find_mig(type->gpu_model);
  if (geometry == nullptr) return false;
  const auto cuts = cuts_of(own, *type, *geometry);
  return cuts && cuts == cuts_of(pool, *type, *geometry);
}

bool have_mps_alike(const NodePool& own, const NodePool& pool) {
  const auto settings = [](const NodePool& each) {
    const scenarios::MpsSettings mps = each.mps.value_or(scenarios::MpsSettings{});
    return std::tuple(mps.uncapped, mps.active_threads, mps.client_limit, mps.server_memory.count,
                      mps.force);
  };
  return settings(own) == settings(pool);
}

// Whether pods meet the same devices, whatever these are called.
bool share_alike(const NodePool& own, const NodePool& pool, const PoolChoice& choice,
                 const Catalogue& catalogue) {
  const bool cut_by_nos = own.mig && own.mig->nos;
  const bool other_plugin =
      own.virtual_gpu || own.nos || own.kai || own.dra || own.hami || cut_by_nos;
  if (other_plugin || pool.hami || own.vgpu || pool.vgpu) return false;
  if (!are_cut_alike(own, pool, catalogue)) return false;
  const std::vector<std::string> mine = devices_of(own, choice);
  const std::vector<std::string> theirs = devices_of(pool, choice);
  for (std::size_t d = 0; d < mine.size(); ++d) {
    const auto a = plugin_entry(own, mine[d]);
    const auto b = plugin_entry(pool, theirs[d]);
    if (a.has_value() != b.has_value()) return false;
    if (!a) continue;
    if (a->mps != b->mps || a->resource->replicas != b->resource->replicas) return false;
    if (a->mps && !have_mps_alike(own, pool)) return false;
  }
  return true;
}

// Whether its pods may run on the nodes as these are labelled and tainted, once what their pods
// select, and nodes do not have, is given to these.
bool may_take(const NodePool& own, const Workload& workload) {
  const bool selects_others = std::ranges::any_of(workload.pod.node_selector, [&](const auto& one) {
    const auto label = own.labels.find(one.first);
    return one.first != scenarios::kPoolLabel && !names_the_node(one.first) &&
           label != own.labels.end() && label->second != one.second;
  });
  return !selects_others && untolerated(own.taints, admitted_tolerations(workload.pod)) == nullptr;
}

std::optional<Likeness> likeness_of(const Scenario& base, const NodePool& own, const NodePool& pool,
                                    const PoolChoice& choice, const Catalogue& catalogue) {
  if (own.instance_type.value != pool.instance_type.value ||
      own.capacity_type != pool.capacity_type) {
    return std::nullopt;
  }
  Likeness likeness{share_alike(own, pool, choice, catalogue)};
  if (!likeness.shares_alike && !may_be_shared_anew(base)) return std::nullopt;
  for (const std::string& name : choice.workloads) {
    const Workload* const workload = base.find_workload(name);
    if (workload == nullptr) continue;
    if (!may_take(own, *workload)) return std::nullopt;
    if (is_home(base, own, *workload)) ++likeness.workloads;
  }
  return likeness;
}

// A NodePool of several types is several pools here; what is written of it, by its name, has one.
std::string name_of_group(const NodePool& own) {
  const auto node_pool = own.labels.find(std::string(scenarios::kNodePoolLabel));
  return node_pool == own.labels.end() ? own.name.value : node_pool->second;
}

}  // namespace

bool may_be_shared_anew(const Scenario& base) {
  return base.gpu_software.image != scenarios::NodeImage::Bottlerocket;
}

std::vector<std::optional<std::size_t>> successors(
    std::size_t from, std::size_t to,
    const std::function<std::optional<Likeness>(std::size_t, std::size_t)>& likeness) {
  struct Pair {
    std::size_t from, to;
    Likeness likeness;
  };
  std::vector<Pair> pairs;
  for (std::size_t t = 0; t < to; ++t) {
    for (std::size_t f = 0; f < from; ++f) {
      if (const auto both = likeness(f, t)) pairs.push_back({f, t, *both});
    }
  }
  std::ranges::stable_sort(pairs, std::greater<>(), [](const Pair& pair) {
    const Likeness& both = pair.likeness;
    return std::tuple(both.shares_alike && both.workloads > 0, both.shares_alike, both.workloads);
  });
  std::vector<std::optional<std::size_t>> of(to);
  std::vector<char> taken(from);
  for (const Pair& pair : pairs) {
    if (of[pair.to] || taken[pair.from] != 0) continue;
    of[pair.to] = pair.from;
    taken[pair.from] = 1;
  }
  return of;
}

std::vector<StayingPool> staying_pools(const Scenario& base, std::span<const PoolChoice> choices,
                                       std::span<const NodePool> pools,
                                       const Catalogue& catalogue) {
  const auto likeness = [&](std::size_t from, std::size_t to) {
    return likeness_of(base, base.node_pools[from], pools[to], choices[to], catalogue);
  };
  const auto of = successors(base.node_pools.size(), pools.size(), likeness);
  std::vector<StayingPool> staying(pools.size());
  std::set<std::string> groups;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (!of[p]) continue;
    const NodePool& own = base.node_pools[*of[p]];
    if (!groups.insert(name_of_group(own)).second) continue;
    staying[p] = {&own, share_alike(own, pools[p], choices[p], catalogue)};
  }
  return staying;
}

void stay_as(const Scenario& base, const StayingPool& staying, NodePool& pool) {
  const NodePool& own = *staying.own;
  const auto is_selected = [&](const std::string& key) {
    return std::ranges::any_of(base.workloads, [&](const Workload& workload) {
      return workload.pod.node_selector.contains(key);
    });
  };
  pool.name.value = name_of_group(own);
  std::map<std::string, std::string> labels = own.labels;
  const std::map<std::string, std::string> given = std::move(pool.labels);
  for (const auto& [key, value] : given) {
    if (is_selected(key) && !names_the_node(key) && key != scenarios::kPoolLabel) {
      labels.try_emplace(key, value);
    }
  }
  pool.labels = std::move(labels);
  pool.taints = own.taints;
  if (!staying.shares_alike) return;
  pool.mig = own.mig;
  if (!own.device_plugin) return;
  pool.device_plugin->mig_strategy = own.device_plugin->mig_strategy;
  pool.device_plugin->time_slicing = own.device_plugin->time_slicing;
  pool.device_plugin->mps = own.device_plugin->mps;
}

void name_anew(const PoolChoice& choice, std::set<std::string>& taken, NodePool& pool) {
  std::string name =
      lower_case(fmt::format("{}-{}", choice.instance_type, strategy_name(choice.strategy)));
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '+'; }, '-');
  std::string unique = name;
  for (int n = 2; !taken.insert(unique).second; ++n) unique = fmt::format("{}-{}", name, n);
  pool.name.value = unique;
  for (auto& [key, value] : pool.labels) {
    if (scenarios::names_group(key)) value = unique;
  }
}

std::vector<std::string> offered_by(const NodePool& pool, const PoolChoice& choice) {
  std::vector<std::string> offered = devices_of(pool, choice);
  for (std::string& device : offered) device = advertised_by(pool, device);
  return offered;
}

std::string resource_of(const NodePool& pool, const PoolChoice& choice, std::size_t index) {
  if (!pool.mig || choice.mig_profiles.empty()) return offered_by(pool, choice).front();
  return advertised_by(
      pool, std::string(scenarios::device_name(
                pool.mig->strategy, scenarios::mig_resource(choice.mig_profiles[index]))));
}

}  // namespace slicewise::sim
