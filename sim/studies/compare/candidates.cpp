#include "candidates.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace slicewise::sim {
namespace {

using models::MigProfile;

int ceil_div(int a, int b) { return (a + b - 1) / b; }

bool uses_mps(const scenarios::NodePool& pool) {
  return pool.virtual_gpu || (pool.device_plugin && pool.device_plugin->mps);
}

// The scenario's own number of pods per device; nullopt when its pool does not share.
std::optional<int> own_replicas(const scenarios::NodePool& pool) {
  if (pool.virtual_gpu) return pool.virtual_gpu->per_gpu;
  if (!pool.device_plugin) return std::nullopt;
  for (const auto* sharing : {&pool.device_plugin->mps, &pool.device_plugin->time_slicing}) {
    if (*sharing && !(*sharing)->resources.empty()) return (*sharing)->resources.front().replicas;
  }
  return std::nullopt;
}

// What candidates_on() knows of an instance type.
struct Place {
  const models::InstanceType& type;
  const models::MigGeometry* geometry;
  GpuMemoryNeeds needs;
  const ReplicaChoice& choice;
  bool force;
};

Configuration configuration(const Place& place, Strategy strategy, int replicas) {
  Configuration result;
  result.instance_type = place.type.name;
  result.strategy = strategy;
  result.replicas = replicas;
  return result;
}

RefusedOption refused(const Place& place, Strategy strategy, std::optional<Code> code,
                      std::string message) {
  return {configuration(place, strategy, 1), code, std::move(message)};
}

Configuration on_profile(const Place& place, Strategy strategy, const MigProfile& profile,
                         int replicas) {
  Configuration result = configuration(place, strategy, replicas);
  result.mig_profile = profile.name;
  result.mig_instances = profile.max_count;
  return result;
}

// Profiles that cut a GPU into several equal instances, smallest memory first.
std::vector<const MigProfile*> uniform_profiles(const models::MigGeometry& geometry) {
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
    Configuration found = on_profile(place, Strategy::Mig, *profile, 1);
    if (place.needs.pods_in(*profile->memory) >= 1) {
      candidates.emplace_back(std::move(found));
      continue;
    }
    candidates.emplace_back(RefusedOption{
        std::move(found), Code::GpuOom,
        fmt::format("a pod needs {} of GPU memory with its CUDA context, an instance "
                    "has {}",
                    memory_text(place.needs.pods.front()), memory_text(*profile->memory))});
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
    Configuration found = on_profile(place, strategy, *profile, std::min(wanted, holds));
    found.forced = side_by_side && place.force;
    candidates.emplace_back(std::move(found));
    return;
  }
  candidates.emplace_back(refused(
      place, strategy, Code::GpuOom,
      fmt::format("no profile with two or more instances holds two pods, of which one needs {}",
                  memory_text(place.needs.pods.front()))));
}

// The world says why there is no MIG, whatever the profile.
void add_without_geometry(const Place& place, std::vector<Candidate>& candidates) {
  for (const Strategy strategy : {Strategy::Mig, Strategy::MigTimeSlicing, Strategy::MigMps}) {
    Configuration found = configuration(place, strategy, strategy == Strategy::Mig ? 1 : 2);
    found.mig_profile = "1g";
    candidates.emplace_back(std::move(found));
  }
}

Candidate vgpu_candidate(const Place& place) {
  Configuration found = configuration(place, Strategy::Vgpu, 1);
  if (place.type.gpu_fraction < 1) return found;
  if (!place.force) {
    return RefusedOption{found, Code::VgpuNotOnEks, "EC2 offers vGPU as g6f and gr6f only"};
  }
  found.replicas = place.choice.mps_replicas;
  found.forced = true;
  return found;
}

}  // namespace

int equal_shares(const PoolModel& pool, const GpuMemoryNeeds& needs) {
  const bool whole = pool.kinds.front().memory == models::usable_memory(*pool.gpu);
  const Bytes memory = whole ? pool.gpu->memory_total : pool.kinds.front().memory;
  constexpr std::int64_t kMany = 1'000;
  if (needs.largest_process.count == 0) return kMany;
  return static_cast<int>(std::min(kMany, memory.count / needs.largest_process.count));
}

int GpuMemoryNeeds::pods_in(Bytes memory) const {
  Bytes used;
  int count = 0;
  for (const Bytes pod : pods) {
    used += pod;
    if (used > memory) break;
    ++count;
  }
  // More of them than there are: as many again of the size of the largest.
  const bool all = count == static_cast<int>(pods.size()) && !pods.empty();
  return all && pods.front().count > 0
             ? count + static_cast<int>((memory - used).count / pods.front().count)
             : count;
}

GpuMemoryNeeds gpu_memory_needs(const World& world) {
  GpuMemoryNeeds needs;
  const Bytes context = world.pools.front().context_memory;
  for (const WorkloadModel& workload : world.workloads) {
    const Bytes process = workload.gpu_memory + context;
    const Bytes pod{process.count * workload.spec.processes_per_pod};
    needs.pods.insert(needs.pods.end(), static_cast<std::size_t>(workload.spec.count), pod);
    if (workload.spec.count > 0) needs.largest_process = std::max(needs.largest_process, process);
  }
  std::ranges::sort(needs.pods, std::greater<>());
  return needs;
}

ReplicaChoice choose_replicas(const scenarios::Scenario& base, const World& exclusive,
                              const ComparisonOptions& options) {
  const PoolModel& pool = exclusive.pools.front();
  ReplicaChoice choice;
  choice.instance_type = pool.instance_type;
  const GpuMemoryNeeds needs = gpu_memory_needs(exclusive);
  const int shares = equal_shares(pool, needs);
  const auto fixed = options.replicas ? options.replicas : own_replicas(base.node_pools.front());
  if (fixed) {
    choice.replicas = std::max(2, *fixed);
    choice.mps_replicas = choice.replicas;
    choice.rule = options.replicas ? ReplicaChoice::Rule::Asked : ReplicaChoice::Rule::Scenario;
    // A number meant for MPS, or for this very question, is taken at its word.
    if (!options.replicas && !uses_mps(base.node_pools.front())) {
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

std::vector<Candidate> candidates_on(const models::InstanceType& type, const World& exclusive,
                                     const ReplicaChoice& choice,
                                     const models::Catalogue& catalogue, bool force) {
  const Place place{type, catalogue.find_mig(exclusive.pools.front().gpu->name),
                    gpu_memory_needs(exclusive), choice, force};
  std::vector<Candidate> candidates;
  if (type.gpu_fraction < 1) {
    candidates.emplace_back(
        refused(place, Strategy::Exclusive, std::nullopt,
                fmt::format("{} has a fraction of one {}, which NVIDIA vGPU schedules: see vGPU",
                            type.name, type.gpu_model)));
  } else {
    candidates.emplace_back(configuration(place, Strategy::Exclusive, 1));
  }
  candidates.emplace_back(configuration(place, Strategy::TimeSlicing, choice.replicas));
  candidates.emplace_back(configuration(place, Strategy::Mps, choice.mps_replicas));
  candidates.emplace_back(configuration(place, Strategy::MpsUncapped, choice.mps_replicas));
  if (place.geometry == nullptr) {
    add_without_geometry(place, candidates);
  } else {
    add_mig(place, candidates);
    add_shared_mig(place, Strategy::MigTimeSlicing, candidates);
    add_shared_mig(place, Strategy::MigMps, candidates);
  }
  candidates.emplace_back(vgpu_candidate(place));
  return candidates;
}

}  // namespace slicewise::sim
