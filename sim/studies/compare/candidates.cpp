#include "candidates.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/pool_choice.hpp"

#include "../probe/mig_layouts.hpp"

namespace slicewise::sim {
namespace {

int ceil_div(int a, int b) { return (a + b - 1) / b; }

bool uses_mps(const NodePool& pool) {
  return pool.virtual_gpu || (pool.device_plugin && pool.device_plugin->mps);
}

// The scenario's own number of pods per device; nullopt when its pool does not share.
std::optional<int> own_replicas(const NodePool& pool) {
  if (pool.virtual_gpu) return pool.virtual_gpu->per_gpu;
  if (!pool.device_plugin) return std::nullopt;
  for (const auto* sharing : {&pool.device_plugin->mps, &pool.device_plugin->time_slicing}) {
    if (*sharing && !(*sharing)->resources.empty()) return (*sharing)->resources.front().replicas;
  }
  return std::nullopt;
}

// What candidates_on() knows of an instance type.
struct Place {
  const InstanceType& type;
  const MigGeometry* geometry;
  std::vector<std::string> workloads;
  GpuMemoryNeeds needs;
  const ReplicaChoice& choice;
  const ComparisonOptions& options;
};

Candidate candidate(const Place& place, Strategy strategy, int replicas) {
  Candidate found;
  found.choice = unshared(place.type, place.workloads);
  found.choice.purchase.clear();
  found.choice.strategy = strategy;
  found.choice.replicas = replicas;
  found.choice.nodes = 0;
  return found;
}

Candidate refused(Candidate candidate, std::optional<Code> code, std::string reason) {
  candidate.refusal = Refusal{code, {std::move(reason)}};
  return candidate;
}

Candidate on_profile(const Place& place, Strategy strategy, const MigProfile& profile,
                     int replicas) {
  Candidate found = candidate(place, strategy, replicas);
  found.choice.mig = {{profile.name, profile.max_count}};
  return found;
}

// Profiles that cut a GPU into several equal instances, smallest memory first.
std::vector<const MigProfile*> uniform_profiles(const MigGeometry& geometry) {
  std::vector<const MigProfile*> profiles;
  for (const MigProfile& profile : geometry.profiles) {
    if (profile.max_count >= 2 && !profile.media_extensions && profile.memory) {
      profiles.push_back(&profile);
    }
  }
  std::ranges::stable_sort(profiles, {}, [](const MigProfile* p) {
    return std::pair(p->memory_slices, p->compute_slices);
  });
  return profiles;
}

std::string memory_text(Bytes memory) { return fmt::format("{} MiB", memory.count >> 20); }

void add_mig(const Place& place, std::vector<Candidate>& candidates) {
  for (const MigProfile* profile : uniform_profiles(*place.geometry)) {
    Candidate found = on_profile(place, Strategy::Mig, *profile, 1);
    if (place.needs.pods_in(*profile->memory) >= 1) {
      candidates.push_back(std::move(found));
      continue;
    }
    candidates.push_back(refused(
        std::move(found), Code::GpuOom,
        fmt::format("a pod needs {} of GPU memory with its CUDA context, an instance has {}",
                    memory_text(place.needs.pods.front()), memory_text(*profile->memory))));
  }
}

// Layouts of several profiles that are made for these workloads, as a plan finds them; those that
// hold all pods on the fewest nodes.
void add_fitted_mig(const Place& place, const World& exclusive,
                    std::vector<Candidate>& candidates) {
  constexpr std::size_t kShown = 4;
  FittedLayouts fitted = fitted_layouts(*place.geometry, exclusive, place.type.gpu_count);
  std::erase_if(fitted.layouts, [](const FittedLayout& layout) {
    return layout.mig.size() < 2 && layout.other_cuts.empty();
  });
  std::ranges::stable_sort(fitted.layouts, {}, &FittedLayout::nodes);
  std::set<std::string> shown;
  for (FittedLayout& layout : fitted.layouts) {
    if (shown.size() == kShown) return;
    Candidate found = candidate(place, Strategy::Mig, 1);
    found.choice.mig = std::move(layout.mig);
    found.choice.other_cuts = std::move(layout.other_cuts);
    found.choice.mig_profiles = std::move(layout.profiles);
    if (shown.insert(layout_text(found.choice)).second) candidates.push_back(std::move(found));
  }
}

// Several pods in each instance: the smallest profile that holds two, and as many as are asked for.
void add_shared_mig(const Place& place, Strategy strategy, std::vector<Candidate>& candidates) {
  const bool side_by_side = strategy == Strategy::MigMps;
  for (const MigProfile* profile : uniform_profiles(*place.geometry)) {
    const Bytes largest = place.needs.largest_process;
    const int holds = side_by_side && largest.count > 0
                          ? static_cast<int>(profile->memory->count / largest.count)
                          : place.needs.pods_in(*profile->memory);
    if (holds < 2) continue;
    const int wanted = std::max(2, ceil_div(place.choice.replicas, profile->max_count));
    Candidate found = on_profile(place, strategy, *profile, std::min(wanted, holds));
    found.forced = side_by_side && place.options.force && !place.options.dra;
    candidates.push_back(side_by_side && !place.options.force && !place.options.dra
                             ? refused(std::move(found), Code::MpsOnMig,
                                       "the device plugin refuses MPS on MIG devices, NVIDIA's DRA "
                                       "driver does not: --dra counts it, --force simulates it")
                             : std::move(found));
    return;
  }
  candidates.push_back(refused(
      candidate(place, strategy, 1), Code::GpuOom,
      fmt::format("no profile with two or more instances holds two pods, of which one needs {}",
                  memory_text(place.needs.pods.front()))));
}

// The world says why there is no MIG, whatever the profile.
void add_without_geometry(const Place& place, std::vector<Candidate>& candidates) {
  for (const Strategy strategy : {Strategy::Mig, Strategy::MigTimeSlicing, Strategy::MigMps}) {
    candidates.push_back(candidate(place, strategy, strategy == Strategy::Mig ? 1 : 2));
    candidates.back().choice.mig = {{"1g", 0}};  // the world says why there is none
  }
}

Candidate vgpu_candidate(const Place& place) {
  Candidate found = candidate(place, Strategy::Vgpu, 1);
  if (place.type.gpu_fraction < 1) return found;
  if (!place.options.force) {
    return refused(std::move(found), Code::VgpuNotOnEks, "EC2 offers vGPU as g6f and gr6f only");
  }
  found.choice.replicas = place.choice.mps_replicas;
  found.forced = true;
  return found;
}

// Equal parts of the memory, no limit on the time.
Candidate hami_candidate(const Place& place) {
  Candidate found = candidate(place, Strategy::Hami, place.choice.mps_replicas);
  if (place.type.gpu_fraction == 1) return found;
  return refused(std::move(found), Code::StrategyNotModelled,
                 "a fraction of a GPU is not shared further here");
}

}  // namespace

ReplicaChoice choose_replicas(const Scenario& base, const World& exclusive,
                              std::optional<int> asked) {
  const PoolModel& pool = exclusive.pools.front();
  ReplicaChoice choice;
  choice.instance_type = pool.instance_type;
  const GpuMemoryNeeds needs = gpu_memory_needs(exclusive);
  const int shares = equal_shares(pool, needs);
  const auto fixed = asked ? asked : own_replicas(base.node_pools.front());
  if (fixed) {
    choice.replicas = std::max(2, *fixed);
    choice.mps_replicas = choice.replicas;
    choice.rule = asked ? ReplicaChoice::Rule::Asked : ReplicaChoice::Rule::Scenario;
    // A number meant for MPS, or for this very question, is taken at its word.
    if (!asked && !uses_mps(base.node_pools.front())) {
      choice.mps_replicas = std::max(2, std::min(choice.replicas, shares));
    }
    return choice;
  }
  const int pods = ceil_div(static_cast<int>(needs.pods.size()), pool.gpus_per_node);
  const int fit = needs.pods_in(pool.kinds.front().memory);
  choice.replicas = std::max(2, std::min(pods, fit));
  choice.mps_replicas = std::max(2, std::min(choice.replicas, shares));
  if (fit < pods) choice.rule = ReplicaChoice::Rule::GpuMemory;
  return choice;
}

PoolChoice own_choice(const NodePool& pool, const World& own) {
  const PoolModel& model = own.pools.front();
  PoolChoice choice;
  choice.instance_type = model.instance_type;
  choice.purchase.clear();
  const bool shares = pool.virtual_gpu || pool.nos;
  choice.strategy = is_planned(model.strategy) ? model.strategy
                    : shares                   ? Strategy::Mps
                                               : Strategy::TimeSlicing;
  choice.replicas = own_replicas(pool).value_or(1);
  for (const DomainKind& kind : model.kinds) {
    for (const Tickets& tickets : kind.tickets) {
      if (model.dra || model.books) choice.replicas = std::max(choice.replicas, tickets.count);
    }
  }
  for (const WorkloadModel& workload : own.workloads) choice.workloads.push_back(workload.name);
  choice.elastic = pool.most_nodes.has_value();
  choice.nodes = pool.most_nodes.value_or(pool.nodes);
  if (choice.elastic) choice.least_nodes = pool.nodes;
  return choice;
}

std::vector<Candidate> candidates_on(const InstanceType& type, const World& exclusive,
                                     const ReplicaChoice& choice, const Catalogue& catalogue,
                                     const ComparisonOptions& options) {
  Place place{type,   catalogue.find_mig(exclusive.pools.front().gpu->name),
              {},     gpu_memory_needs(exclusive),
              choice, options};
  for (const WorkloadModel& workload : exclusive.workloads)
    place.workloads.push_back(workload.name);
  std::vector<Candidate> candidates;
  if (type.gpu_fraction < 1) {
    candidates.push_back(
        refused(candidate(place, Strategy::Exclusive, 1), std::nullopt,
                fmt::format("{} has a fraction of one {}, which NVIDIA vGPU schedules: see vGPU",
                            type.name, type.gpu_model)));
  } else {
    candidates.push_back(candidate(place, Strategy::Exclusive, 1));
  }
  candidates.push_back(candidate(place, Strategy::TimeSlicing, choice.replicas));
  candidates.push_back(candidate(place, Strategy::Mps, choice.mps_replicas));
  candidates.push_back(candidate(place, Strategy::MpsUncapped, choice.mps_replicas));
  if (place.geometry == nullptr) {
    add_without_geometry(place, candidates);
  } else {
    add_mig(place, candidates);
    add_fitted_mig(place, exclusive, candidates);
    add_shared_mig(place, Strategy::MigTimeSlicing, candidates);
    add_shared_mig(place, Strategy::MigMps, candidates);
  }
  candidates.push_back(vgpu_candidate(place));
  candidates.push_back(hami_candidate(place));
  return candidates;
}

}  // namespace slicewise::sim
