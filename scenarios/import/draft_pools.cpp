#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "import_report.hpp"
#include "node_pool_choice.hpp"
#include "scenario_draft.hpp"

// The pools of a scenario on its way: which of them has what pods ask for, and how many nodes.
namespace slicewise::scenarios {
namespace {

// Without ".shared" behind it.
std::string device_of(std::string resource) {
  constexpr std::string_view kShared = ".shared";
  if (resource.ends_with(kShared)) resource.resize(resource.size() - kShared.size());
  return resource;
}

// The number behind a key in the text of a pool's sharing; 1 without it.
std::int64_t number_behind(const std::string& sharing, std::string_view key) {
  const std::size_t at = sharing.find(key);
  if (at == std::string::npos) return 1;
  return std::clamp<std::int64_t>(std::atoll(sharing.c_str() + at + key.size()), 1, 10'000);
}

// The layout that the text of a pool names, of those that mig-manager knows for its GPUs; nullptr:
// one of the files' own, or GPUs that are not known.
const std::map<std::string, int>* layout_of(const DraftPool& pool, const ImportOptions& options) {
  constexpr std::string_view kKey = "config: ";
  const auto type = options.mig_layouts.find(pool.instance_type);
  const std::size_t at = pool.sharing.find(kKey);
  if (type == options.mig_layouts.end() || at == std::string::npos) return nullptr;
  const std::size_t first = pool.sharing.find_first_not_of('"', at + kKey.size());
  const std::size_t end = pool.sharing.find_first_of("\",}", first);
  const auto layout = type->second.find(pool.sharing.substr(first, end - first));
  return layout == type->second.end() ? nullptr : &layout->second;
}

// Instances of MIG of which a GPU of the pool is cut into; 0 none. Of a layout that is written out
// as it says; of GPUs that are not known one of each that it may have.
std::int64_t instances_of(const DraftPool& pool, const std::string& resource,
                          const ImportOptions& options) {
  const std::string device = device_of(resource);
  if (const auto* layout = layout_of(pool, options)) {
    const auto count = layout->find(device);
    return count == layout->end() ? 0 : count->second;
  }
  if (pool.sharing.find("all-balanced") != std::string::npos) return 1;
  const std::string profile = device.substr(kMigPrefix.size());
  std::string written = profile;  // 1g.10gb.me of 1g.10gb+me
  if (const std::size_t more = written.find('.', written.find('.') + 1); more != written.npos) {
    written[more] = '+';
  }
  for (const std::string& name : {profile, written}) {
    for (std::size_t at = pool.sharing.find(name); at != std::string::npos;
         at = pool.sharing.find(name, at + 1)) {
      const char* rest = pool.sharing.c_str() + at + name.size();
      if (*rest == '"') ++rest;
      if (*rest == ':') return std::clamp(std::atoll(rest + 1), 0LL, 7LL);
      if (*rest == ',' || *rest == '}') return 1;
    }
  }
  return 0;
}

}  // namespace

bool offers(const DraftPool& pool, const DraftWorkload& workload, const ImportOptions& options) {
  const std::string& resource = workload.resource;
  const auto has = [&](std::string_view word) {
    return pool.sharing.find(word) != std::string::npos;
  };
  if (has(kDraSharing) != !workload.claim.empty()) return false;
  if (!workload.claim.empty()) return true;
  const bool renames = has("renameByDefault: true");
  const bool is_mixed = has("strategy: mixed");
  if (resource == kGpuResource) {
    const bool has_whole = !is_mixed || has("mig-enabled: false");
    return !renames && has_whole && !has("virtualGpu") && !has("nos:");
  }
  if (resource == "k8s.amazonaws.com/vgpu") return has("virtualGpu");
  if (resource.starts_with(kMigPrefix)) {
    const bool is_shared = resource.ends_with(".shared");
    return is_mixed && (!is_shared || renames) && instances_of(pool, resource, options) > 0;
  }
  if (resource.starts_with("nvidia.com/gpu-")) return has("nos:");
  return renames && resource == "nvidia.com/gpu.shared";
}

namespace {

// How many of a pool's units of a resource one GPU makes, as its sharing says.
std::int64_t units_per_gpu(const DraftPool& pool, const std::string& resource,
                           const ImportOptions& options) {
  const std::int64_t replicas = number_behind(pool.sharing, "replicas: ");
  if (resource.starts_with(kMigPrefix)) {
    return std::max<std::int64_t>(1, instances_of(pool, resource, options)) *
           (device_of(resource) == resource ? 1 : replicas);
  }
  std::int64_t instances = 0;
  if (const auto* layout = layout_of(pool, options)) {
    for (const auto& [of, count] : *layout) instances += count;
  }
  return replicas * number_behind(pool.sharing, "perGpu: ") * std::max<std::int64_t>(1, instances);
}

}  // namespace

std::int64_t gpus_of(const std::string& type, const ImportOptions& options) {
  return instance_called(type, options.instances).count;
}

std::string shared_by_plugin(FileSharing mode, bool renames, std::int64_t replicas,
                             bool refuses_several, std::string_view device) {
  return fmt::format(
      "devicePlugin: {{version: v1, sharing: {{{}: {{{}{}resources: [{{name: {}, "
      "replicas: {}}}]}}}}}}",
      mode == FileSharing::Mps ? "mps" : "timeSlicing", renames ? "renameByDefault: true, " : "",
      refuses_several ? "failRequestsGreaterThanOne: true, " : "", device, replicas);
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
  if (resource.starts_with(kMigPrefix)) {
    const std::string device = device_of(resource);
    const std::string layout = "all-" + device.substr(kMigPrefix.size());
    pool.instance_type = type_cut_into(layout, options);
    pool.sharing = fmt::format("mig: {{strategy: mixed, config: {}}}", layout);
    if (device != resource) {
      pool.sharing += "\n    " + shared_by_plugin(FileSharing::TimeSlicing, true,
                                                  std::max(2, replicas.value_or(4)), false, device);
    }
  } else if (resource == "k8s.amazonaws.com/vgpu") {
    pool.instance_type = "g5.xlarge";
    pool.sharing = fmt::format("virtualGpu: {{perGpu: {}}}", replicas.value_or(10));
  } else if (resource.starts_with("nvidia.com/gpu-")) {
    const std::string size = resource.substr(std::string_view("nvidia.com/gpu-").size());
    pool.sharing = fmt::format("nos: {{slices: [{}, {}]}}", size, size);
  } else if (resource == "nvidia.com/gpu.shared" || replicas) {
    pool.sharing = shared_by_plugin(FileSharing::TimeSlicing, resource == "nvidia.com/gpu.shared",
                                    std::max(2, replicas.value_or(4)));
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
  const auto found = std::ranges::find(draft.claims, name,
                                       [](const ResourceClaim& claim) { return claim.name.value; });
  return found == draft.claims.end() ? nullptr : &*found;
}

// Of a type with the GPU that the claim's selectors name.
DraftPool claimed_pool(const ScenarioDraft& draft, const std::string& name,
                       const ImportOptions& options) {
  DraftPool pool = assumed_pool(std::string(kGpuResource), 1, {}, options);
  pool.name = "dra";
  pool.sharing = kDraSharing;
  pool.sharing_is_assumed = true;
  std::string asked;
  for (const Located<std::string>& selector : claim_called(draft, name)->selectors) {
    asked += selector.value + " ";
  }
  const InstanceGpus* best = nullptr;
  for (const InstanceGpus& type : options.instances) {
    if (!names_gpu(asked, type.gpu)) continue;
    if (best == nullptr || type.count < best->count) best = &type;
  }
  if (best != nullptr) pool.instance_type = best->name;
  return pool;
}

// HAMi, or KAI, on the pools that nobody else shares, where pods ask for parts of GPUs. Its nodes
// do not come and go here.
void give_parts(ScenarioDraft& draft) {
  const bool by_hami = std::ranges::any_of(
      draft.workloads, [](const DraftWorkload& workload) { return !workload.parts.empty(); });
  const bool by_kai = std::ranges::any_of(draft.workloads, &DraftWorkload::asks_kai);
  if (!by_hami && !by_kai) return;
  for (DraftPool& pool : draft.pools) {
    if (!pool.sharing.empty()) continue;
    pool.sharing = by_hami ? "hami: {}" : "kai: true";
    pool.sharing_is_assumed = true;
    if (!pool.most_nodes) continue;
    pool.nodes = 1;
    pool.most_nodes.reset();
    pool.nodes_are_assumed = true;
  }
}

NodeNeed need_of(const DraftWorkload& workload) {
  return {workload.gpus, workload.cpu_milli, workload.memory_bytes};
}

bool chooses_type(const ScenarioDraft& draft, const DraftWorkload& workload,
                  const ImportOptions& options) {
  return !draft.has_all_nodes &&
         !type_asked_for(workload.nodes, need_of(workload), options.instances).empty();
}

std::int64_t units_per_node(const DraftPool& pool, const std::string& resource,
                            const ImportOptions& options) {
  return units_per_gpu(pool, resource, options) * gpus_of(pool.instance_type, options);
}

bool has_room(const DraftPool& pool, const DraftWorkload& workload, const ImportOptions& options) {
  return has_room(instance_called(pool.instance_type, options.instances), need_of(workload));
}

// The smallest of the same family with as many GPUs that has the CPU and memory of the pod; the
// type itself where none has.
std::string roomier(const std::string& type, const DraftWorkload& workload,
                    const ImportOptions& options) {
  const std::string_view family = std::string_view(type).substr(0, type.find('.') + 1);
  const InstanceGpus assumed = instance_called(type, options.instances);
  const InstanceGpus* best = nullptr;
  for (const InstanceGpus& other : options.instances) {
    if (!other.name.starts_with(family) || other.count < assumed.count) continue;
    if (!has_room(other, need_of(workload))) continue;
    const auto size = [](const InstanceGpus& of) { return std::pair(of.count, of.memory.count); };
    if (best == nullptr || size(other) < size(*best)) best = &other;
  }
  return has_room(assumed, need_of(workload)) || best == nullptr ? type : best->name;
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
  const bool is_shared = !draft.sharing.empty() && offers(shared, workload, options);
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
  // Of nodes that are made up, larger ones may be made for it.
  const std::int64_t units = units_per_node(pool, workload.resource, options);
  const bool is_large = workload.gpus <= units && has_room(pool, workload, options);
  if (pool.is_in_files || is_large) return true;
  const DraftPool own = pool_for(draft, workload, options);
  const bool has_more =
      workload.gpus > units && units_per_node(own, workload.resource, options) > units;
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
    const std::int64_t units = units_per_gpu(pool, workload.resource, options);
    NodeNeed need = need_of(workload);
    need.gpus = (need.gpus + units - 1) / units;
    const bool is_new = seen.emplace(need.gpus, need.cpu_milli, need.memory_bytes).second;
    if (!is_new && workload.nodes.empty()) continue;
    std::vector<NodeRequirement> required = group.requirements;
    required.insert(required.end(), workload.nodes.begin(), workload.nodes.end());
    const std::string type = type_asked_for(required, need, options.instances);
    const InstanceGpus known = instance_called(type, options.instances);
    const bool is_startable =
        !type.empty() && has_labels(known, required) && has_count(known, group.requirements) &&
        std::ranges::all_of(workload.nodes,
                            [&](const NodeRequirement& one) { return fulfils(labels, one); });
    if (is_startable && std::ranges::find(types, type) == types.end()) types.push_back(type);
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
    report.guessed(fmt::format("nodes of {}, which others need: {} would do; nodes or node groups "
                               "in the files decide",
                               pool->instance_type, own),
                   [] { return SourceLocation{}; });
  }
}

namespace {

bool is_cut(const DraftPool& pool) { return pool.sharing.starts_with("mig:"); }

}  // namespace

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
    for (const DraftWorkload& workload : draft.workloads) {
      if (chooses_type(draft, workload, options) != chooses) continue;
      if (pool_of(draft, workload, options) != nullptr) continue;
      draft.pools.push_back(pool_for(draft, workload, options));
    }
  }
  give_parts(draft);
  std::vector<const DraftPool*> homes;
  homes.reserve(draft.workloads.size());
  for (const DraftWorkload& workload : draft.workloads) {
    homes.push_back(pool_of(draft, workload, options));
  }
  std::map<std::string, int> pools;
  for (DraftPool& pool : draft.pools) {
    pool.name = new_name(pool.name, pools);
    if (!pool.nodes_are_assumed) continue;
    std::map<std::int64_t, std::int64_t> units;  // by how many of them a node has
    std::set<std::string> counted;               // claims that pods share
    for (std::size_t w = 0; w < draft.workloads.size(); ++w) {
      const DraftWorkload& workload = draft.workloads[w];
      if (homes[w] != &pool) continue;
      constexpr std::int64_t kMost = 1'000'000;
      const auto claim = claim_called(draft, workload.claim);
      const bool is_shared = claim != nullptr && !claim->is_template;
      if (is_shared && !counted.insert(workload.claim).second) continue;
      const std::int64_t each = claim == nullptr ? workload.gpus : claim->count;
      const std::int64_t at_once = std::min(workload.parallelism.value_or(kMost), workload.pods);
      units[units_per_node(pool, workload.resource, options)] +=
          is_shared ? 1 : std::min(at_once, kMost) * std::min(each, kMost);
    }
    // Pods that ask for different parts of a GPU are beside each other where MIG makes both.
    std::int64_t needed = 0;
    for (const auto& [each, all] : units) {
      const std::int64_t nodes = (std::min<std::int64_t>(all, 10'000'000) + each - 1) / each;
      needed = is_cut(pool) ? std::max(needed, nodes) : needed + nodes;
    }
    pool.nodes = std::max(pool.nodes, needed);
  }
}

}  // namespace slicewise::scenarios
