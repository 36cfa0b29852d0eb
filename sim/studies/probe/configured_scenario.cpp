#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/kai_part.hpp"
#include "slicewise/sim/pool_choice.hpp"

#include "../../world/parts.hpp"
#include "manifest_changes.hpp"
#include "pool_homes.hpp"
#include "probe.hpp"
#include "staying_pools.hpp"

namespace slicewise::sim {
namespace {

// Of pods of which a node has one.
constexpr std::string_view kApartLabel = "slicewise.dev/gpu-memory-class";
constexpr std::string_view kApartClass = "large";  // of the second: "large-2"

bool is_uniform(const PoolChoice& choice) {
  return choice.mig.size() == 1 && choice.other_cuts.empty();
}

// By the device plugin, under another name.
bool is_shared(Strategy strategy) {
  return strategy != Strategy::Exclusive && strategy != Strategy::Mig &&
         strategy != Strategy::Vgpu && strategy != Strategy::Hami;
}

// mig-parted's names have a dot where the profile has a plus sign.
std::string dotted(const std::string& profile) {
  return scenarios::mig_resource(profile).substr(kMigPrefix.size());
}

// Whether Jobs of the pool may be in queues that cover whole GPUs: Kueue never admits what asks for
// another name than its queue covers. Plans are without queues, so any of the scenario counts.
bool keeps_name(const Scenario& base, const PoolChoice& choice) {
  const bool holds_jobs = std::ranges::any_of(base.workloads, [&](const Workload& workload) {
    return workload.kind == WorkloadKind::Job && contains(choice.workloads, workload.name.value);
  });
  bool covers = false;
  for (const scenarios::ClusterQueue& queue : base.cluster_queues) {
    scenarios::for_each_quota(queue, [&](const std::string&, const scenarios::ResourceQuota& one) {
      covers = covers || one.resource.value == kGpuResource;
    });
  }
  return holds_jobs && covers;
}

// "5x-1g.5gb-1x-2g.10gb".
std::string config_name(const std::vector<MigCount>& mig) {
  std::string name;
  for (const MigCount& count : mig) {
    name += fmt::format("{}{}x-{}", name.empty() ? "" : "-", count.count, dotted(count.profile));
  }
  return name;
}

scenarios::MigPartedEntry entry_of(const std::vector<MigCount>& mig, const SourceLocation& where) {
  scenarios::MigPartedEntry entry;
  entry.where = where;
  for (const MigCount& count : mig) {
    entry.mig_devices.push_back({{count.profile, where}, count.count});
  }
  return entry;
}

std::vector<int> gpus_from(int first, int end) {
  std::vector<int> gpus(static_cast<std::size_t>(std::max(0, end - first)));
  std::iota(gpus.begin(), gpus.end(), first);
  return gpus;
}

// The shipped config where it is the same layout, else one of the scenario's own.
void cut_into(NodePool& pool, const PoolChoice& choice, const Catalogue& catalogue) {
  pool.mig.reset();
  if (choice.mig.empty()) return;
  const SourceLocation where = pool.instance_type.where;
  scenarios::MigLayout layout;
  layout.strategy = is_uniform(choice) ? MigStrategy::Single : MigStrategy::Mixed;
  const InstanceType* type = catalogue.find_instance(choice.instance_type);
  const MigGeometry* geometry = type == nullptr ? nullptr : catalogue.find_mig(type->gpu_model);
  const std::string shipped = "all-" + dotted(choice.mig.front().profile);
  if (geometry != nullptr && is_uniform(choice)) {
    const auto known = models::shipped_mig_config(shipped, *geometry);
    if (known && known->counts == choice.mig) {
      layout.config = {shipped, where};
      pool.mig = layout;
      return;
    }
  }
  std::string name = config_name(choice.mig);
  std::vector<scenarios::MigPartedEntry> entries{entry_of(choice.mig, where)};
  int first = type == nullptr ? 0 : type->gpu_count;
  for (const MigCut& cut : choice.other_cuts) first -= cut.gpus;
  if (!choice.other_cuts.empty()) entries.front().devices = gpus_from(0, first);
  for (const MigCut& cut : choice.other_cuts) {
    name += fmt::format("-{}of{}", cut.gpus, config_name(cut.mig));
    entries.push_back(entry_of(cut.mig, where));
    entries.back().devices = gpus_from(first, first + cut.gpus);
    first += cut.gpus;
  }
  layout.config = {name, where};
  layout.configs[name] = std::move(entries);
  pool.mig = layout;
}

// MPS and vGPU as the scenario sets them up, but for what the choice decides.
struct SharingSettings {
  std::optional<scenarios::MpsSettings> mps;
  std::optional<scenarios::VgpuSettings> vgpu;
};

void share_by(NodePool& pool, const PoolChoice& choice, const SharingSettings& own, bool renames,
              bool force) {
  if (choice.strategy == Strategy::Vgpu && force) {
    pool.vgpu = own.vgpu.value_or(scenarios::VgpuSettings{});
    pool.vgpu->policy = scenarios::VgpuSettings::Policy::FixedShare;
    pool.vgpu->per_gpu = choice.replicas;
  }
  if (choice.strategy == Strategy::Hami) {
    pool.device_plugin.reset();
    pool.hami.emplace();
    pool.hami->where = pool.instance_type.where;
    pool.hami->split_count = std::max(pool.hami->split_count, choice.replicas);
  }
  if (!is_shared(choice.strategy)) return;
  const SourceLocation where = pool.instance_type.where;
  scenarios::PluginSharing sharing;
  // A pod that asks for a whole GPU then stays Pending instead of sharing one unawares.
  sharing.rename_by_default = renames;
  sharing.fail_requests_greater_than_one = true;
  sharing.resources.push_back({{std::string(kGpuResource), where}, choice.replicas, where});
  sharing.where = where;
  if (choice.strategy == Strategy::TimeSlicing || choice.strategy == Strategy::MigTimeSlicing) {
    pool.device_plugin->time_slicing = sharing;
    return;
  }
  pool.device_plugin->mps = sharing;
  const bool uncapped = choice.strategy == Strategy::MpsUncapped;
  const bool forced = force || choice.strategy == Strategy::MigMps;  // the DRA driver's
  if (!own.mps && !uncapped && !forced) return;
  pool.mps = own.mps.value_or(scenarios::MpsSettings{});
  pool.mps->uncapped = uncapped;
  pool.mps->active_threads.reset();  // 100 / replicas: the daemon's own is what is chosen
  pool.mps->force = forced;
}

void buy(Scenario& scenario, NodePool& pool, const PoolChoice& choice) {
  if (choice.purchase.empty()) return;
  const bool falls_back = choice.purchase == kSpotFallback;
  pool.capacity_type = choice.purchase == "spot" || falls_back ? CapacityType::Spot
                       : choice.purchase == "reserved"         ? CapacityType::Reserved
                       : choice.purchase == "capacity-block"   ? CapacityType::CapacityBlock
                                                               : CapacityType::OnDemand;
  if (pool.capacity_type != CapacityType::Spot) {
    pool.spot.reset();
  } else {
    if (!pool.spot) pool.spot.emplace();  // as often as the Spot Advisor says
    if (falls_back) pool.spot->falls_back_to_on_demand = true;
  }
  std::erase_if(scenario.price_plans, [&](const scenarios::PricePlan& plan) {
    return plan.instance_type.value == choice.instance_type && plan.name != choice.purchase;
  });
}

// The pool of the scenario whose GPU this is, for what the user says of it; else the first.
const NodePool& like(const Scenario& base, const std::string& gpu_model,
                     const Catalogue& catalogue) {
  for (const NodePool& pool : base.node_pools) {
    const InstanceType* type = catalogue.find_instance(pool.instance_type.value);
    if (type != nullptr && type->gpu_model == gpu_model) return pool;
  }
  return base.node_pools.front();
}

NodePool pool_of(Scenario& scenario, const Scenario& base, const PoolChoice& choice,
                 const Catalogue& catalogue, bool force) {
  const InstanceType* type = catalogue.find_instance(choice.instance_type);
  const std::string model = type == nullptr ? "" : type->gpu_model;
  NodePool pool = like(base, model, catalogue);
  const InstanceType* own = catalogue.find_instance(pool.instance_type.value);
  if (own == nullptr || own->gpu_model != model) pool.gpu = {};  // figures of another GPU
  if (pool.instance_type.value != choice.instance_type) pool.allocatable = {};
  pool.allocatable.gpus.reset();  // those of new nodes are healthy
  if (base.node_pools.size() > 1) take_nodes_of(base, choice, pool);
  pool.instance_type.value = choice.instance_type;
  pool.nodes = std::max(1, choice.nodes);
  pool.most_nodes.reset();
  if (choice.elastic) {
    pool.most_nodes = std::exchange(pool.nodes, choice.least_nodes);
    auto& kind = scenario.provisioner.kind;
    using Kind = scenarios::Provisioner::Kind;
    if (kind == Kind::ManagedNodeGroup) kind = Kind::Karpenter;
    scenario.provisioner.resource_tags =
        scenario.provisioner.resource_tags || kind == Kind::ClusterAutoscaler;
  }
  // What shared nodes will advertise must be known before one is there, be it one that is replaced.
  scenario.provisioner.node_overlay |=
      scenario.provisioner.kind == scenarios::Provisioner::Kind::Karpenter;
  const auto allocation = pool.device_plugin ? pool.device_plugin->allocation_policy
                                             : scenarios::AllocationPolicy::Distributed;
  pool.device_plugin.emplace();
  pool.device_plugin->allocation_policy = allocation;
  const SharingSettings settings{pool.mps, pool.vgpu};
  pool.mps.reset();
  pool.vgpu.reset();
  pool.virtual_gpu.reset();
  pool.nos.reset();
  pool.hami.reset();
  pool.kai = false;
  pool.dra = false;
  pool.dynamic_mig.reset();
  cut_into(pool, choice, catalogue);
  share_by(pool, choice, settings, !keeps_name(base, choice), force);
  buy(scenario, pool, choice);
  return pool;
}

// Nodes of a pool that is bought in two ways: these stay.
NodePool on_demand_part(NodePool& pool, int nodes) {
  NodePool part = pool;
  part.name.value += "-on-demand";
  part.nodes = nodes;
  part.capacity_type = CapacityType::OnDemand;
  part.spot.reset();
  pool.nodes = std::max(1, pool.nodes - nodes);
  return part;
}

void ask(Workload& workload, const std::string& resource, std::int64_t gpus) {
  scenarios::ExtendedRequest request;
  request.count = gpus;
  request.name = {resource, workload.pod.where};
  request.count_where = workload.pod.where;
  if (!workload.pod.extended.empty()) {
    request.name.where = workload.pod.extended.front().name.where;
    request.count_where = workload.pod.extended.front().count_where;
  }
  workload.pod.extended = {request};
  workload.pod.claim = {};
  workload.queue = {};  // its quota is of the resources that the pods asked for
  for (const char* of_kai : {scenarios::kKaiFraction, scenarios::kKaiMemory}) {
    workload.pod.annotations.erase(of_kai);
  }
  std::erase_if(workload.pod.node_selector,
                [](const auto& label) { return names_the_node(label.first); });
}

// Of HAMi, an equal part of the memory.
void ask_part(Workload& workload, const PoolChoice& choice, const Catalogue& catalogue) {
  const InstanceType* type = catalogue.find_instance(choice.instance_type);
  const GpuModel* gpu = type == nullptr ? nullptr : catalogue.find_gpu(type->gpu_model);
  if (choice.strategy != Strategy::Hami || gpu == nullptr || has_several_gpus(workload)) return;
  scenarios::ExtendedRequest part = workload.pod.extended.front();
  part.name.value = scenarios::kHamiMemory;
  part.count = gpu->memory_total.count / mebibytes(1).count / choice.replicas;
  workload.pod.extended.push_back(std::move(part));
}

bool shares_gpus(const NodePool& pool) {
  const bool by_plugin =
      pool.device_plugin && (pool.device_plugin->time_slicing || pool.device_plugin->mps);
  return by_plugin || pool.mig || pool.vgpu || pool.virtual_gpu || pool.nos || pool.hami ||
         pool.kai || pool.dra;
}

// GPUs of a pod of a gang: as in the scenario, where jobs are cut by its largest node that does not
// share them, so that they do the same work in every option. Where all of its nodes share, it cuts
// none, and options may have a job in as large parts as those nodes could. Without such nodes it is
// the GPUs of the largest node there is: small ones are no cheap way to have a job with many GPUs,
// as its exchange is not modelled.
int gpus_per_pod(const Scenario& base, const Workload& workload, const Catalogue& catalogue) {
  int unshared = 0;
  int most = 0;
  for (const NodePool& pool : base.node_pools) {
    const InstanceType* type = catalogue.find_instance(pool.instance_type.value);
    if (type == nullptr || !is_home(base, pool, workload)) continue;
    most = std::max(most, type->gpu_count);
    if (!shares_gpus(pool)) unshared = std::max(unshared, type->gpu_count);
  }
  if (unshared > 0) return unshared;
  return most > 1 ? most : GpuSets::kMostGpus;
}

// Whether its pods go on as they are on nodes that go on: they ask for the same of the same.
bool stays(const Scenario& base, const StayingPool& staying, const Workload& before,
           const scenarios::ExtendedRequest& asked) {
  if (!staying.shares_alike || !is_home(base, *staying.own, before)) return false;
  // Which pool has a GPU or a type that they select is known of their only home.
  const bool selects_types = std::ranges::any_of(before.pod.node_selector, [](const auto& label) {
    return names_the_node(label.first) && !scenarios::names_group(label.first);
  });
  const auto is_one = [&](const NodePool& pool) { return is_home(base, pool, before); };
  if (selects_types && std::ranges::count_if(base.node_pools, is_one) > 1) return false;
  const auto& requests = before.pod.extended;
  return requests.size() == 1 && requests.front().name.value == asked.name.value &&
         requests.front().count == asked.count;
}

// Whether the pods would run in another of the pools as well.
bool may_go_elsewhere(const Scenario& planned, const std::vector<NodePool>& made,
                      const std::vector<PoolChoice>& choices, std::size_t home,
                      const Workload& workload) {
  const std::string& asked = workload.pod.extended.front().name.value;
  for (std::size_t p = 0; p < made.size(); ++p) {
    if (p == home || !is_home(planned, made[p], workload)) continue;
    if (contains(offered_by(made[p], choices[p]), asked)) return true;
  }
  return false;
}

// "The pool's own GPU" must stay the one that the scenario names.
void keep_measured_device(Workload& workload, const Scenario& base, const Catalogue& catalogue) {
  if (!workload.measured || !workload.measured->device.value.empty()) return;
  const InstanceType* type = catalogue.find_instance(base.node_pools.front().instance_type.value);
  if (type != nullptr && workload.profile.value.empty()) {
    workload.measured->device.value = type->gpu_model;
  }
}

}  // namespace

PoolChoice part_with(bool several_gpus, const Scenario& base, PoolChoice choice) {
  const std::vector<std::string> names = std::exchange(choice.workloads, {});
  const std::vector<int> pods = std::exchange(choice.pods, {});
  const std::vector<ServingChoice> serving = std::exchange(choice.serving, {});
  for (std::size_t w = 0; w < names.size(); ++w) {
    const Workload* const workload = base.find_workload(names[w]);
    std::int64_t gpus = workload == nullptr ? 1 : gpus_asked_for(*workload);
    if (!serving.empty()) gpus = serving[w].gpus.value_or(gpus);
    if ((gpus > 1) != several_gpus) continue;
    choice.workloads.push_back(names[w]);
    if (!pods.empty()) choice.pods.push_back(pods[w]);
    if (!serving.empty()) choice.serving.push_back(serving[w]);
  }
  return choice;
}

std::vector<PoolChoice> with_unshared(const Scenario& base, std::span<const PoolChoice> chosen) {
  std::vector<PoolChoice> pools;
  for (PoolChoice shared : chosen) {
    if (shared.unshared == 0) {
      pools.push_back(std::move(shared));
      continue;
    }
    PoolChoice whole = part_with(true, base, shared);
    shared = part_with(false, base, std::move(shared));
    shared.unshared = 0;
    pools.push_back(std::move(shared));
    whole.nodes = std::exchange(whole.unshared, 0);
    whole.strategy = Strategy::Exclusive;
    whole.replicas = 1;
    whole.mig.clear();
    whole.other_cuts.clear();
    whole.mig_profiles.clear();
    whole.apart.clear();
    pools.push_back(std::move(whole));
  }
  return pools;
}

namespace {

// A node has one pod of them.
void keep_apart(const ApartClass& names, const std::string& label, Scenario& scenario) {
  std::vector<Workload*> apart;
  std::set<std::string> spaces;
  for (Workload& workload : scenario.workloads) {
    if (!contains(names, workload.name.value)) continue;
    apart.push_back(&workload);
    spaces.insert(workload.namespace_name);
  }
  scenarios::PodAffinityTerm term;
  term.match_labels.emplace(kApartLabel, label);
  term.topology_key = scenarios::kHostname;
  if (spaces.size() > 1) term.namespaces.assign(spaces.begin(), spaces.end());
  for (Workload* workload : apart) {
    workload->pod.labels[std::string(kApartLabel)] = label;
    auto& terms = workload->pod.anti_affinity;
    if (!contains(terms, term)) terms.push_back(term);
  }
}

void keep_apart(const PoolChoice& choice, Scenario& scenario) {
  for (std::size_t c = 0; c < choice.apart.size(); ++c) {
    std::string label(kApartClass);
    if (c > 0) label += fmt::format("-{}", c + 1);
    keep_apart(choice.apart[c], label, scenario);
  }
}

void scale_by(const PodSchedule& schedule, Workload& workload) {
  const auto start = scenarios::parse_cron(schedule.start);
  const auto end = scenarios::parse_cron(schedule.end);
  scenarios::Autoscaling& scaling = workload.autoscaling.emplace();
  scaling.min_replicas = schedule.otherwise;
  scaling.max_replicas = workload.count = schedule.replicas;
  scaling.target = 0;
  scaling.where = workload.where;
  scaling.schedule = {{*start, *end, schedule.time_zone, schedule.replicas, workload.where}};
}

void scale_by(const PodScaling& by_load, Workload& workload) {
  scenarios::Autoscaling& scaling = workload.autoscaling.emplace();
  scaling.min_replicas = by_load.least;
  scaling.max_replicas = workload.count = by_load.most;
  scaling.metric = scenarios::Autoscaling::Metric::RequestRate;
  scaling.target = by_load.per_second;
  scaling.where = workload.where;
}

// Pools that go on keep what nodes and pods know them by; others get names of their own.
void name_pools(const Scenario& base, std::span<const PoolChoice> pools,
                std::span<const StayingPool> staying, std::span<NodePool> made) {
  std::set<std::string> taken;
  for (const NodePool& own : base.node_pools) taken.insert(own.name.value);
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (staying[p].own != nullptr) {
      stay_as(base, staying[p], made[p]);
      continue;
    }
    name_anew(pools[p], taken, made[p]);
    if (pools.size() > 1) made[p].labels[scenarios::kPoolLabel] = made[p].name.value;
    // There are no node groups.
    if (base.gpu_software.image == scenarios::NodeImage::AutoMode) {
      made[p].labels[std::string(scenarios::kNodePoolLabel)] = made[p].name.value;
    }
  }
}

}  // namespace

Scenario planned_scenario(const Scenario& base, std::span<const PoolChoice> chosen,
                          const Catalogue& catalogue, bool force) {
  const std::vector<PoolChoice> pools = with_unshared(base, chosen);
  Scenario scenario = base;
  scenario.node_pools.clear();
  scenario.kai_queues.clear();  // no planned pool is KAI's
  scenario.provisioner.limits.clear();
  std::vector<NodePool> made;
  made.reserve(pools.size());
  for (const PoolChoice& choice : pools) {
    made.push_back(pool_of(scenario, base, choice, catalogue, force));
  }
  const std::vector<StayingPool> staying = staying_pools(base, pools, made, catalogue);
  name_pools(base, pools, staying, made);
  std::erase_if(scenario.workloads, [&](const Workload& workload) {
    return workload.count == 0 || std::ranges::none_of(pools, [&](const PoolChoice& choice) {
             return contains(choice.workloads, workload.name.value);
           });
  });
  for (const PoolChoice& choice : pools) keep_apart(choice, scenario);
  // Nobody is on nodes that are to come.
  for (Workload& workload : scenario.workloads) workload.starts_on.clear();
  for (Workload& workload : scenario.workloads) {
    for (std::size_t p = 0; p < pools.size(); ++p) {
      const auto found = std::ranges::find(pools[p].workloads, workload.name.value);
      if (found == pools[p].workloads.end()) continue;
      const auto index = static_cast<std::size_t>(found - pools[p].workloads.begin());
      if (workload.trace && !workload.trace->gpus_per_pod) {
        workload.trace->gpus_per_pod = gpus_per_pod(base, workload, catalogue);
      }
      std::int64_t gpus = gpus_asked_for(workload);
      if (!pools[p].serving.empty()) {
        serve_as(pools[p].serving[index], workload);
        gpus = pools[p].serving[index].gpus.value_or(gpus);
      }
      const Workload before = workload;
      ask(workload, resource_of(made[p], pools[p], index), gpus);
      const bool goes_on = stays(base, staying[p], before, workload.pod.extended.front());
      if (goes_on) workload.pod.node_selector = before.pod.node_selector;
      ask_part(workload, pools[p], catalogue);
      keep_tolerated(base, before.pod, workload.pod);
      if (!pools[p].pods.empty() && pools[p].pods[index] > 0) {
        workload.keep_pods(pools[p].pods[index]);
      }
      for (const PodSchedule& schedule : pools[p].schedules) {
        if (schedule.workload == workload.name.value) scale_by(schedule, workload);
      }
      for (const PodScaling& scaling : pools[p].scalings) {
        if (scaling.workload == workload.name.value) scale_by(scaling, workload);
      }
      if (pools.size() > 1 && (!goes_on || may_go_elsewhere(scenario, made, pools, p, workload))) {
        const auto label = made[p].labels.try_emplace(scenarios::kPoolLabel, made[p].name.value);
        workload.pod.node_selector[scenarios::kPoolLabel] = label.first->second;
      }
      note_manifest_changes(before.pod, workload);
      keep_measured_device(workload, base, catalogue);
    }
  }
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (pools[p].on_demand > 0) {
      scenario.node_pools.push_back(on_demand_part(made[p], pools[p].on_demand));
    }
    scenario.node_pools.push_back(std::move(made[p]));
  }
  std::erase_if(scenario.pipelines, [&](const scenarios::Pipeline& pipeline) {
    return std::ranges::any_of(pipeline.stages, [&](const scenarios::Pipeline::Stage& stage) {
      return scenario.find_workload(stage.workload.value) == nullptr;
    });
  });
  return scenario;
}

}  // namespace slicewise::sim
