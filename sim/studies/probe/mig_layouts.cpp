#include "mig_layouts.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace slicewise::sim {
namespace {

// Every count of the profiles from `at` on that the placement rules allow beside those before.
class LayoutSearch {
 public:
  LayoutSearch(const MigGeometry& geometry, const std::vector<ProfileNeed>& needs,
               int gpus_per_node)
      : geometry_(geometry), needs_(needs), gpus_(gpus_per_node), counts_(needs.size()) {
    for (std::size_t n = 0; n < needs.size(); ++n) counts_[n].profile = needs[n].profile->name;
  }

  std::vector<MigCount> run() {
    extend(0);
    return best_;
  }

 private:
  void extend(std::size_t at) {
    if (at == needs_.size()) {
      consider();
      return;
    }
    for (int count = 1; count <= needs_[at].profile->max_count; ++count) {
      counts_[at].count = count;
      // What does not fit now does not fit with more beside it.
      if (!fits(at)) break;
      extend(at + 1);
    }
    counts_[at].count = 0;
  }

  bool fits(std::size_t last) const {
    const std::vector<MigCount> so_far(counts_.begin(),
                                       counts_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    return models::place_instances(geometry_, so_far).has_value();
  }

  void consider() {
    int idle = geometry_.memory_slices;
    for (std::size_t n = 0; n < needs_.size(); ++n) {
      idle -= counts_[n].count * needs_[n].profile->memory_slices;
    }
    const auto cost = std::tuple(nodes_for(counts_, needs_, gpus_), idle);
    if (!best_.empty() && cost >= cost_) return;
    best_ = counts_;
    cost_ = cost;
  }

  const MigGeometry& geometry_;
  const std::vector<ProfileNeed>& needs_;
  int gpus_;
  std::vector<MigCount> counts_;
  std::vector<MigCount> best_;
  std::tuple<int, int> cost_;
};

// Of the profiles that hold a pod, so many are tried, smallest first.
constexpr std::size_t kProfilesTried = 4;
// Combinations beyond which fewer profiles are tried, then workloads of one size go together.
constexpr std::size_t kMostCombinations = 256;

// Profiles that hold a pod of the workload, smallest first.
std::vector<const MigProfile*> fitting_profiles(const MigGeometry& geometry, const World& world,
                                                const WorkloadModel& workload) {
  std::vector<const MigProfile*> profiles;
  for (const MigProfile& profile : geometry.profiles) {
    if (profile.memory && !profile.media_extensions &&
        *profile.memory >= pod_memory(world, workload)) {
      profiles.push_back(&profile);
    }
  }
  std::ranges::stable_sort(profiles, {}, [](const MigProfile* p) {
    return std::pair(p->memory_slices, p->compute_slices);
  });
  if (profiles.size() > kProfilesTried) profiles.resize(kProfilesTried);
  return profiles;
}

// Workloads that get one profile, and those that they may get.
struct SizeClass {
  std::vector<std::size_t> workloads;
  std::vector<const MigProfile*> profiles;
};

std::size_t combinations(const std::vector<SizeClass>& classes) {
  std::size_t count = 1;
  for (const SizeClass& each : classes) {
    count = std::min(count * each.profiles.size(), kMostCombinations + 1);
  }
  return count;
}

void try_fewer(std::vector<SizeClass>& classes, std::size_t fewest) {
  for (std::size_t tried = kProfilesTried - 1;
       tried >= fewest && combinations(classes) > kMostCombinations; --tried) {
    for (SizeClass& each : classes) {
      if (each.profiles.size() > tried) each.profiles.resize(tried);
    }
  }
}

// Each workload by itself where that can be tried out.
std::vector<SizeClass> size_classes(const std::vector<std::vector<const MigProfile*>>& fitting) {
  std::vector<SizeClass> alone;
  for (std::size_t w = 0; w < fitting.size(); ++w) alone.push_back({{w}, fitting[w]});
  try_fewer(alone, 2);
  if (combinations(alone) <= kMostCombinations) return alone;
  std::vector<SizeClass> together;
  for (std::size_t w = 0; w < fitting.size(); ++w) {
    const auto same = std::ranges::find(together, fitting[w], &SizeClass::profiles);
    if (same == together.end()) {
      together.push_back({{w}, fitting[w]});
    } else {
      same->workloads.push_back(w);
    }
  }
  try_fewer(together, 1);
  return together;
}

FittedLayout layout_for(const MigGeometry& geometry, const World& world, int gpus_per_node,
                        const std::vector<const MigProfile*>& profiles) {
  std::map<std::string, ProfileNeed> needs;
  FittedLayout layout;
  for (std::size_t w = 0; w < profiles.size(); ++w) {
    ProfileNeed& need = needs[profiles[w]->name];
    need.profile = profiles[w];
    need.pods += world.workloads[w].spec.pods_at_once();
    layout.profiles.push_back(profiles[w]->name);
  }
  std::vector<ProfileNeed> list;
  list.reserve(needs.size());
  for (const auto& [name, need] : needs) list.push_back(need);
  layout.mig = best_layout(geometry, list, gpus_per_node);
  if (!layout.mig.empty()) layout.nodes = nodes_for(layout.mig, list, gpus_per_node);
  return layout;
}

}  // namespace

Bytes pod_memory(const World& world, const WorkloadModel& workload) {
  const Bytes process = workload.gpu_memory + world.pools.front().context_memory;
  return {process.count * workload.spec.processes_per_pod};
}

FittedLayouts fitted_layouts(const MigGeometry& geometry, const World& exclusive,
                             int gpus_per_node) {
  FittedLayouts found;
  std::vector<std::vector<const MigProfile*>> fitting;
  for (const WorkloadModel& workload : exclusive.workloads) {
    fitting.push_back(fitting_profiles(geometry, exclusive, workload));
    if (!fitting.back().empty()) continue;
    found.too_large = &workload;
    return found;
  }
  const std::vector<SizeClass> classes = size_classes(fitting);
  std::vector<std::size_t> picked(classes.size());
  std::vector<const MigProfile*> profiles(fitting.size());
  for (;;) {
    for (std::size_t c = 0; c < classes.size(); ++c) {
      for (const std::size_t w : classes[c].workloads) profiles[w] = classes[c].profiles[picked[c]];
    }
    found.layouts.push_back(layout_for(geometry, exclusive, gpus_per_node, profiles));
    std::size_t c = 0;
    while (c < picked.size() && ++picked[c] == classes[c].profiles.size()) picked[c++] = 0;
    if (c == picked.size()) return found;
  }
}

std::vector<MigCount> best_layout(const MigGeometry& geometry,
                                  const std::vector<ProfileNeed>& needs, int gpus_per_node) {
  return LayoutSearch(geometry, needs, gpus_per_node).run();
}

int nodes_for(const std::vector<MigCount>& layout, const std::vector<ProfileNeed>& needs,
              int gpus_per_node) {
  int nodes = 1;
  for (const ProfileNeed& need : needs) {
    const auto found = std::ranges::find(layout, need.profile->name, &MigCount::profile);
    if (found == layout.end() || found->count == 0) return std::numeric_limits<int>::max();
    const int on_node = found->count * gpus_per_node;
    nodes = std::max(nodes, (need.pods + on_node - 1) / on_node);
  }
  return nodes;
}

}  // namespace slicewise::sim
