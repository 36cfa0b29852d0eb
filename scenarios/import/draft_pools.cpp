#include <algorithm>
#include <cmath>
#include <cstddef>
#include <list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

#include "../text/kubernetes_names.hpp"
#include "import_report.hpp"
#include "node_pool_choice.hpp"
#include "scenario_draft.hpp"

// The pools of a scenario on its way: which of them has what pods ask for, and how many nodes.
namespace slicewise::scenarios {
bool offers(const DraftPool& pool, const DraftWorkload& workload, const ImportOptions& options) {
  if (pool.offers_nothing && workload.claim.empty()) return false;
  const bool has_driver = pool.sharing.driver == DraftSharing::Driver::Dra;
  if (has_driver || !workload.claim.empty()) return has_driver && !workload.claim.empty();
  return units_per_gpu(pool.sharing, pool.instance_type, workload.resource, options) > 0;
}

std::int64_t gpus_of(const std::string& type, const ImportOptions& options) {
  return instance_called(type, options.instances).count;
}

namespace {

// The cheapest type whose GPUs mig-manager cuts into so many of the profile alone.
std::string type_cut_into(const std::string& layout, const ImportOptions& options) {
  const InstanceGpus* best = nullptr;
  for (const InstanceGpus& type : options.instances) {
    const bool is_cheaper =
        best == nullptr || (type.price && (!best->price || *type.price < *best->price));
    const auto known = options.mig_layouts.find(type.name);
    const bool has_it = known != options.mig_layouts.end() && known->second.contains(layout);
    if (has_it && is_cheaper) best = &type;
  }
  return best == nullptr ? "p5.48xlarge" : best->name;
}

}  // namespace

DraftPool assumed_pool(const std::string& resource, std::int64_t gpus_of_pod,
                       std::optional<int> replicas, const ImportOptions& options) {
  DraftPool pool;
  pool.name = "gpu";
  pool.instance_type = "g5.xlarge";
  pool.type_is_assumed = true;
  pool.sharing_is_assumed = true;
  if (gpus_of_pod > 1) pool.instance_type = gpus_of_pod <= 4 ? "g5.12xlarge" : "g5.48xlarge";
  const bool renames = device_name(resource) != resource;
  const std::int64_t shares = std::max(2, replicas.value_or(4));
  if (resource.starts_with(kMigPrefix)) {
    const std::string device(device_name(resource));
    const std::string layout = "all-" + device.substr(kMigPrefix.size());
    pool.instance_type = type_cut_into(layout, options);
    if (renames) {
      pool.sharing = shared_by_plugin(FileSharing::TimeSlicing, true, shares, false, device);
    }
    pool.sharing.mig = DraftMig{true, layout, {}, {}};
  } else if (resource == "k8s.amazonaws.com/vgpu") {
    pool.instance_type = "g5.xlarge";
    pool.sharing.virtual_gpus = replicas.value_or(10);
  } else if (resource.starts_with(kMemorySlicePrefix)) {
    pool.sharing.nos_slices.assign(2, resource.substr(kMemorySlicePrefix.size()));
  } else if (renames || replicas) {
    pool.sharing = shared_by_plugin(FileSharing::TimeSlicing, renames, shares);
    pool.sharing_is_assumed = !replicas;
  }
  return pool;
}

namespace {

// "a", then "a-2" and "a-3". `given` has the last number of each name: a thousand of one name are
// not counted through for the next.
std::string new_name(const std::string& name, std::map<std::string, int>& given) {
  int& last = given[name];
  if (++last == 1) return name;
  std::string numbered = fmt::format("{}-{}", name, last);
  while (!given.try_emplace(numbered, 1).second) numbered = fmt::format("{}-{}", name, ++last);
  return numbered;
}

const ResourceClaim* claim_called(const ScenarioDraft& draft, const std::string& name) {
  return find_or_null(draft.claims, name,
                      [](const ResourceClaim& claim) { return claim.name.value; });
}

// What the selectors of a claim name.
struct ClaimedGpu {
  const InstanceGpus* type = nullptr;  // the smallest with the GPU; nullptr: they name none
  std::string layout;                  // "all-1g.10gb" of such a profile; "": none of MIG's
};

ClaimedGpu claimed_gpu(const ScenarioDraft& draft, const std::string& name,
                       const ImportOptions& options) {
  std::string asked;
  for (const Located<std::string>& selector : claim_called(draft, name)->selectors) {
    asked += selector.value + " ";
  }
  ClaimedGpu claimed;
  for (const InstanceGpus& type : options.instances) {
    if (!names_gpu(asked, type.gpu)) continue;
    if (claimed.type == nullptr || type.count < claimed.type->count) claimed.type = &type;
  }
  constexpr std::string_view kAll = "all-";
  for (const auto& [type, layouts] : options.mig_layouts) {
    for (const auto& [layout, units] : layouts) {
      const bool is_one = layout.starts_with(kAll);
      const std::string profile = is_one ? layout.substr(kAll.size()) : "";
      if (is_one && asked.find('\'' + profile + '\'') != std::string::npos) claimed.layout = layout;
    }
  }
  return claimed;
}

// Of a type with what the claim's selectors name.
DraftPool claimed_pool(const ScenarioDraft& draft, const std::string& name,
                       const ImportOptions& options) {
  DraftPool pool = assumed_pool(std::string(kGpuResource), 1, {}, options);
  pool.name = "dra";
  pool.sharing.driver = DraftSharing::Driver::Dra;
  pool.sharing_is_assumed = true;
  const ClaimedGpu claimed = claimed_gpu(draft, name, options);
  if (claimed.type != nullptr) pool.instance_type = claimed.type->name;
  if (claimed.layout.empty()) return pool;
  if (claimed.type == nullptr) pool.instance_type = type_cut_into(claimed.layout, options);
  pool.sharing.makes_mig = draft.driver_makes_mig;
  if (!draft.driver_makes_mig) pool.sharing.mig = DraftMig{true, claimed.layout, {}, {}};
  return pool;
}

// Whether a pool that is made up has what the claim's selectors name.
bool has_claimed(const ScenarioDraft& draft, const DraftPool& pool, const std::string& claim,
                 const ImportOptions& options) {
  const ClaimedGpu claimed = claimed_gpu(draft, claim, options);
  const std::string gpu = instance_called(pool.instance_type, options.instances).gpu;
  if (claimed.type != nullptr && claimed.type->gpu != gpu) return false;
  if (claimed.layout.empty()) return !pool.sharing.mig;
  return pool.sharing.makes_mig || (pool.sharing.mig && pool.sharing.mig->layout == claimed.layout);
}

// HAMi, or KAI, on the pools that nobody else shares, where pods ask for parts of GPUs or wait in
// KAI's queues. Its nodes do not come and go here.
void give_parts(ScenarioDraft& draft) {
  const bool by_hami = std::ranges::any_of(
      draft.workloads, [](const DraftWorkload& workload) { return !workload.parts.empty(); });
  const bool has_parts = by_hami || std::ranges::any_of(draft.workloads, &DraftWorkload::asks_kai);
  if (!has_parts && draft.kai_queues.empty()) return;
  for (DraftPool& pool : draft.pools) {
    // A node of HAMi offers each GPU as many times as it may be split.
    const auto& plugin = pool.sharing.plugin;
    if (by_hami && pool.sharing_is_guessed && plugin && !plugin->renames) {
      DraftSharing split;
      split.split = plugin->resources.front().replicas;
      pool.sharing = std::move(split);
    }
    // KAI on spot nodes is not simulated.
    if (!pool.sharing.is_none() || (!has_parts && pool.capacity_type == "spot")) continue;
    pool.sharing.driver = by_hami ? DraftSharing::Driver::Hami : DraftSharing::Driver::Kai;
    pool.sharing_is_assumed = true;
    if (!pool.most_nodes) continue;
    pool.nodes = 1;
    pool.most_nodes.reset();
    pool.nodes_are_assumed = true;
  }
}

// Where no pool is KAI's, because all are shared otherwise, its queues hold nobody.
void drop_idle_kai_queues(ScenarioDraft& draft) {
  const bool has_kai = std::ranges::any_of(draft.pools, [](const DraftPool& pool) {
    return pool.sharing.driver == DraftSharing::Driver::Kai;
  });
  if (has_kai) return;
  for (const KaiQueue& queue : draft.kai_queues) {
    for (DraftWorkload& workload : draft.workloads) {
      if (workload.queue == queue.name.value) workload.queue.clear();
    }
  }
  draft.kai_queues.clear();
}

NodeNeed need_of(const DraftWorkload& workload) {
  return {workload.gpus, workload.cpu_milli, workload.memory_bytes};
}

bool chooses_type(const ScenarioDraft& draft, const DraftWorkload& workload,
                  const ImportOptions& options) {
  return !draft.has_all_nodes &&
         !type_asked_for(workload.nodes, need_of(workload), options.instances).empty();
}

// At least one, of whatever the workload's pods ask for.
std::int64_t units_per_gpu(const DraftPool& pool, const DraftWorkload& workload,
                           const ImportOptions& options) {
  if (!workload.claim.empty()) return devices_per_gpu(pool.sharing, pool.instance_type, options);
  return std::max<std::int64_t>(
      1, units_per_gpu(pool.sharing, pool.instance_type, workload.resource, options));
}

std::int64_t units_per_node(const DraftPool& pool, const DraftWorkload& workload,
                            const ImportOptions& options) {
  return units_per_gpu(pool, workload, options) *
         pool.allocatable.gpus.value_or(gpus_of(pool.instance_type, options));
}

// Whether the files say of their nodes that none offers what the pods ask for. Who drives claims is
// in no Node.
bool is_offered_nowhere(const ScenarioDraft& draft, const DraftWorkload& workload,
                        const ImportOptions& options) {
  const bool is_mig = workload.resource.starts_with(kMigPrefix);
  const auto is_told = [&](const DraftPool& pool) {
    return pool.is_told && (draft.has_all_nodes || !is_mig || pool.sharing.mig);
  };
  if (draft.pools.empty() || !workload.claim.empty() || draft.offered.contains(workload.resource) ||
      chooses_type(draft, workload, options)) {
    return false;
  }
  return draft.has_all_nodes ? std::ranges::any_of(draft.pools, is_told)
                             : std::ranges::all_of(draft.pools, is_told);
}

bool has_room(const DraftPool& pool, const DraftWorkload& workload, const ImportOptions& options) {
  return has_room(instance_called(pool.instance_type, options.instances), need_of(workload));
}

// Of the CPU and memory of a node that holds as many such pods as fit: 0 where it holds none.
double share_of_node(const DraftPool& pool, const DraftWorkload& workload,
                     const ImportOptions& options) {
  const InstanceGpus type = instance_called(pool.instance_type, options.instances);
  const auto one_of = [](std::int64_t all, std::int64_t asked) {
    const std::int64_t pods = all > 0 && asked > 0 ? all / asked : 0;
    return pods > 0 ? 1.0 / static_cast<double>(pods) : 0.0;
  };
  return std::max(one_of(type.cpu.count, workload.cpu_milli),
                  one_of(type.memory.count, workload.memory_bytes));
}

// "g5." of "g5.xlarge".
std::string_view type_family(std::string_view type) { return type.substr(0, type.find('.') + 1); }

// The smallest with as many GPUs that has the CPU and memory of the pod, of the same family or else
// of any; the type itself where none has.
std::string roomier(const std::string& type, const DraftWorkload& workload,
                    const ImportOptions& options) {
  const InstanceGpus assumed = instance_called(type, options.instances);
  if (has_room(assumed, need_of(workload))) return type;
  const auto size = [&](const InstanceGpus& of) {
    return std::tuple(!of.name.starts_with(type_family(type)), of.count, of.memory.count);
  };
  const InstanceGpus* best = nullptr;
  for (const InstanceGpus& other : options.instances) {
    if (other.count < assumed.count || !has_room(other, need_of(workload))) continue;
    if (architecture_of(other) != architecture_of(assumed)) continue;
    if (best == nullptr || size(other) < size(*best)) best = &other;
  }
  return best == nullptr ? type : best->name;
}

// Nodes that no file has: of the type that the pods choose, where they do.
DraftPool pool_for(const ScenarioDraft& draft, const DraftWorkload& workload,
                   const ImportOptions& options) {
  DraftPool pool = workload.claim.empty()
                       ? assumed_pool(workload.resource, workload.gpus, options.replicas, options)
                       : claimed_pool(draft, workload.claim, options);
  const std::string type = type_asked_for(workload.nodes, need_of(workload), options.instances);
  if (!type.empty()) {
    pool.instance_type = type;
    pool.type_is_assumed = false;
  } else {
    pool.instance_type = roomier(pool.instance_type, workload, options);
  }
  DraftPool shared = pool;
  shared.sharing = draft.sharing;
  shared.sharing_is_assumed = false;
  const bool is_shared = !draft.sharing.is_none() && offers(shared, workload, options);
  DraftPool& made = is_shared ? shared : pool;
  made.is_in_files = false;
  return std::move(made);
}

bool takes(const ScenarioDraft& draft, const DraftPool& pool, const DraftWorkload& workload,
           const ImportOptions& options) {
  const bool suits =
      !chooses_type(draft, workload, options) ||
      has_labels(instance_called(pool.instance_type, options.instances), workload.nodes);
  if (!suits || !offers(pool, workload, options)) return false;
  const bool is_claimed = !workload.claim.empty() && !pool.is_in_files;
  if (is_claimed && !has_claimed(draft, pool, workload.claim, options)) return false;
  // Of nodes that are made up, larger ones may be made for it.
  const std::int64_t units = units_per_node(pool, workload, options);
  const bool is_large = workload.gpus <= units && has_room(pool, workload, options);
  if (pool.is_in_files || is_large) return true;
  const DraftPool own = pool_for(draft, workload, options);
  const bool has_more = workload.gpus > units && units_per_node(own, workload, options) > units;
  const bool is_roomier = !has_room(pool, workload, options) && has_room(own, workload, options);
  return !has_more && !is_roomier;
}

}  // namespace

std::vector<std::string> types_to_start(const ScenarioDraft& draft, const NodeGroupFile& group,
                                        const DraftPool& pool, const ImportOptions& options) {
  std::vector<std::string> types = choice_of(group, options.instances);
  if (!types.empty() || !group.types.empty()) return types;
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
  const NodeLabels labels{pool.labels.begin(), pool.labels.end()};
  for (const DraftWorkload& workload : draft.workloads) {
    const std::int64_t units = units_per_gpu(pool, workload, options);
    NodeNeed need = need_of(workload);
    need.gpus = (need.gpus + units - 1) / units;
    const bool is_new = seen.emplace(need.gpus, need.cpu_milli, need.memory_bytes).second;
    std::vector<std::vector<NodeRequirement>> wishes = {workload.nodes};
    for (const PreferredNodes& nodes : workload.preferences.nodes) {
      wishes.push_back(workload.nodes);
      wishes.back().insert(wishes.back().end(), nodes.requirements.begin(),
                           nodes.requirements.end());
    }
    for (const std::vector<NodeRequirement>& wish : wishes) {
      if (!is_new && wish.empty()) continue;
      std::vector<NodeRequirement> required = group.requirements;
      required.insert(required.end(), wish.begin(), wish.end());
      const std::string type = type_asked_for(required, need, options.instances);
      const InstanceGpus known = instance_called(type, options.instances);
      const bool is_startable =
          !type.empty() && has_labels(known, required) && has_count(known, group.requirements) &&
          std::ranges::all_of(wish,
                              [&](const NodeRequirement& one) { return fulfils(labels, one); });
      if (is_startable && std::ranges::find(types, type) == types.end()) types.push_back(type);
    }
  }
  // Karpenter packs pods onto larger nodes, which are cheapest in the same family.
  const std::vector<std::string> of_pods = types;
  for (const InstanceGpus& other : options.instances) {
    const bool is_of_family = std::ranges::any_of(of_pods, [&](const std::string& type) {
      return !type_family(type).empty() && other.name.starts_with(type_family(type));
    });
    if (!is_of_family || std::ranges::find(types, other.name) != types.end()) continue;
    if (!has_labels(other, group.requirements) || !has_count(other, group.requirements)) continue;
    types.push_back(other.name);
  }
  return types;
}

const DraftPool* pool_of(const ScenarioDraft& draft, const DraftWorkload& workload,
                         const ImportOptions& options) {
  const DraftPool* first = nullptr;
  for (const DraftPool& pool : draft.pools) {
    if (!takes(draft, pool, workload, options)) continue;
    if (may_run_on(workload, pool, options)) return &pool;
    if (first == nullptr) first = &pool;
  }
  return first;
}

void remark_on_larger_nodes(const ScenarioDraft& draft, const ImportOptions& options,
                            ImportReport& report) {
  const auto size_of = [&](const std::string& type) {
    const InstanceGpus known = instance_called(type, options.instances);
    return std::pair(known.count, known.memory.count);
  };
  for (const DraftWorkload& workload : draft.workloads) {
    const DraftPool* const pool = pool_of(draft, workload, options);
    if (pool == nullptr || pool->is_in_files) continue;
    const std::string own = pool_for(draft, workload, options).instance_type;
    if (size_of(own) >= size_of(pool->instance_type)) continue;
    report.guessed(fmt::format(
        "nodes of {}, which others need: {} would do; nodes or node groups in the files decide",
        pool->instance_type, own));
  }
}

namespace {

void give_mig_memory(ScenarioDraft& draft, const ImportOptions& options) {
  for (DraftWorkload& workload : draft.workloads) {
    const DraftPool* pool = pool_of(draft, workload, options);
    if (pool == nullptr || !workload.claim.empty()) continue;
    const auto known = options.mig_memory.find(pool->instance_type);
    if (known == options.mig_memory.end()) continue;
    const auto memory = known->second.find(instance_alone(pool->sharing, workload.resource));
    if (memory != known->second.end()) workload.mig_memory = memory->second;
  }
}

}  // namespace

void put_choosiest_first(ScenarioDraft& draft, const ImportOptions& options) {
  if (!draft.has_all_nodes) return;
  using Pools = std::set<const DraftPool*>;
  const auto pools_for = [&](const DraftWorkload& workload) {
    Pools pools;
    if (workload.object_kind == "DaemonSet") return pools;  // they are before all others
    for (const DraftPool& pool : draft.pools) {
      const bool fits = offers(pool, workload, options) && may_run_on(workload, pool, options) &&
                        untolerated(pool.taints, workload.tolerations) == nullptr &&
                        has_room(pool, workload, options);
      if (fits) pools.insert(&pool);
    }
    return pools;
  };
  std::list<std::pair<Pools, DraftWorkload>> placed;
  for (DraftWorkload& workload : draft.workloads) {
    Pools own = pools_for(workload);
    const auto less_choosy = std::find_if(placed.begin(), placed.end(), [&](const auto& other) {
      const Pools& all = other.first;
      return !own.empty() && own.size() < all.size() &&
             std::includes(all.begin(), all.end(), own.begin(), own.end());
    });
    placed.emplace(less_choosy, std::move(own), std::move(workload));
  }
  draft.workloads.clear();
  for (auto& one : placed) draft.workloads.push_back(std::move(one.second));
}

void complete(ScenarioDraft& draft, const ImportOptions& options) {
  std::map<std::string, int> names;
  for (DraftWorkload& workload : draft.workloads) {
    if (names.contains(workload.name)) {
      workload.name =
          dns_name(workload.name.substr(0, 40) + "-" + workload.space.substr(0, 16), "w");
    }
    workload.name = new_name(workload.name, names);
  }
  for (const bool chooses : {true, false}) {
    for (DraftWorkload& workload : draft.workloads) {
      if (chooses_type(draft, workload, options) != chooses) continue;
      if (pool_of(draft, workload, options) != nullptr) continue;
      if (is_offered_nowhere(draft, workload, options)) {
        workload.stays_pending = true;
      } else {
        draft.pools.push_back(pool_for(draft, workload, options));
      }
    }
  }
  give_parts(draft);
  drop_idle_kai_queues(draft);
  give_mig_memory(draft, options);
  std::vector<const DraftPool*> homes;
  homes.reserve(draft.workloads.size());
  for (const DraftWorkload& workload : draft.workloads) {
    homes.push_back(pool_of(draft, workload, options));
  }
  std::map<std::string, int> pools;
  for (DraftPool& pool : draft.pools) {
    pool.name = new_name(pool.name, pools);
    if (pool.limit) draft.provisioner->limits[*pool.limit].pools.push_back({pool.name, {}});
    if (!pool.nodes_are_assumed) continue;
    std::map<std::int64_t, double> units;  // by how many of them a node has
    std::set<std::string> counted;         // claims that pods share
    for (std::size_t w = 0; w < draft.workloads.size(); ++w) {
      const DraftWorkload& workload = draft.workloads[w];
      if (homes[w] != &pool) continue;
      constexpr std::int64_t kMost = 1'000'000;
      const auto claim = claim_called(draft, workload.claim);
      const bool is_shared = claim != nullptr && !claim->is_template;
      if (is_shared && !counted.insert(workload.claim).second) continue;
      const std::int64_t each = claim == nullptr ? workload.gpus : claim->count;
      const std::int64_t pods = workload.scaling ? workload.scaling->most : workload.pods;
      const std::int64_t at_once = std::min(workload.parallelism.value_or(kMost), pods);
      const std::int64_t of_node = units_per_node(pool, workload, options);
      const double share =
          std::max(static_cast<double>(std::min(each, kMost)),
                   share_of_node(pool, workload, options) * static_cast<double>(of_node));
      units[of_node] += is_shared ? 1 : static_cast<double>(std::min(at_once, kMost)) * share;
    }
    // Pods that ask for different parts of a GPU are beside each other where MIG makes both.
    std::int64_t needed = 0;
    for (const auto& [each, all] : units) {
      constexpr double kRounding = 1e-6;
      const auto nodes = static_cast<std::int64_t>(
          std::ceil(std::min(all, 1e7) / static_cast<double>(each) - kRounding));
      needed = pool.sharing.mig ? std::max(needed, nodes) : needed + nodes;
    }
    pool.nodes = std::max(pool.nodes, needed);
  }
}

namespace {

// As its maker has it; "" where no label says.
std::string name_of_group(const DraftPool& pool) {
  for (const std::string_view label : kGroupLabels) {
    const auto found = std::ranges::find_if(pool.made_with, [&](const NodeRequirement& one) {
      return one.key == label && one.op == "In" && one.values.size() == 1;
    });
    if (found != pool.made_with.end()) return found->values.front();
  }
  return {};
}

// Whether a NodePool has nodes without GPUs, or may start some.
bool makes_others(const std::string& name, std::span<const NodeGroupFile> files) {
  return std::ranges::any_of(files, [&](const NodeGroupFile& file) {
    if (file.kind == NodeGroupFile::Kind::NodePool) return file.name == name && may_lack_gpus(file);
    const KeyValue* const by = label_of(file, kNodePoolLabel);
    return file.kind == NodeGroupFile::Kind::Node && by != nullptr && by->value == name &&
           !file.types.empty() && !is_gpu_type(file.types.front().value);
  });
}

}  // namespace

std::vector<NodeGroup> node_groups(std::span<const DraftPool> pools,
                                   std::span<const NodeGroupFile> files) {
  std::vector<NodeGroup> groups;
  for (const DraftPool& pool : pools) {
    if (!pool.is_in_files) continue;
    const std::string name = name_of_group(pool);
    auto group = std::ranges::find_if(groups, [&](const NodeGroup& other) {
      return !name.empty() && other.name == name && other.maker == pool.maker;
    });
    if (group == groups.end()) {
      const bool is_node_pool =
          pool.maker == NodeMaker::Karpenter || pool.maker == NodeMaker::AutoMode;
      group = groups.insert(group, NodeGroup{pool.maker,
                                             name,
                                             pool.instance_type,
                                             {},
                                             0,
                                             0,
                                             is_node_pool && makes_others(name, files)});
    }
    group->pools.insert(pool.name);
    group->nodes += static_cast<int>(pool.nodes);
    group->most_nodes += static_cast<int>(pool.most_nodes.value_or(pool.nodes));
  }
  return groups;
}

}  // namespace slicewise::scenarios
