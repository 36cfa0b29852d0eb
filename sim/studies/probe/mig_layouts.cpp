#include "mig_layouts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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

int ceil_div(int a, int b) { return (a + b - 1) / b; }

// The GPUs of a node that are cut in two or three ways: of all that have a name, as a node's label
// of 63 characters gives it, those with which the fewest nodes hold the pods, and of these the
// first of the fewest ways.
class CutSearch {
 public:
  static constexpr std::size_t kMostParts = 5;  // profiles of all ways

  CutSearch(const MigGeometry& geometry, const std::vector<ProfileNeed>& needs, int gpus)
      : geometry_(geometry), needs_(needs), gpus_(gpus) {
    std::vector<MigCount> counts;
    counts.reserve(needs.size());
    for (const ProfileNeed& need : needs) counts.push_back({need.profile->name, 0});
    fill(0, counts);
  }

  // With fewer than so many nodes.
  MixedLayout run(int nodes) {
    best_ = {{}, nodes};
    choose(0, 0, 0);
    return best_.cuts.empty() ? MixedLayout{} : best_;
  }

 private:
  static constexpr std::size_t kMostWays = 3;

  struct Full {
    std::vector<int> count;      // of each profile that is needed
    std::size_t parts = 0;       // profiles that it has
    std::uint32_t profiles = 0;  // ... bit by bit
  };

  bool fits(const std::vector<MigCount>& counts) const {
    return models::place_instances(geometry_, counts).has_value();
  }

  // Every layout beside which no instance of any of its own profiles has room.
  void fill(std::size_t at, std::vector<MigCount>& counts) {
    if (at < counts.size()) {
      do {
        fill(at + 1, counts);
        ++counts[at].count;
      } while (fits(counts));
      counts[at].count = 0;
      return;
    }
    Full full;
    for (std::size_t n = 0; n < counts.size(); ++n) {
      full.count.push_back(counts[n].count);
      if (counts[n].count == 0) continue;
      ++full.parts;
      full.profiles |= std::uint32_t{1} << n;
      ++counts[n].count;
      const bool has_room = fits(counts);
      --counts[n].count;
      if (has_room) return;
    }
    if (full.parts > 0) full_.push_back(std::move(full));
  }

  void choose(std::size_t from, std::size_t parts, std::uint32_t profiles) {
    const bool holds_each = profiles == (std::uint32_t{1} << needs_.size()) - 1;
    if (holds_each && chosen_.size() > 1) share_out(0, gpus_);
    if (chosen_.size() == kMostWays || static_cast<int>(chosen_.size()) == gpus_) return;
    for (std::size_t f = from; f < full_.size(); ++f) {
      const Full& full = full_[f];
      if (parts + full.parts > kMostParts) continue;
      chosen_.push_back({&full, 0});
      choose(f + 1, parts + full.parts, profiles | full.profiles);
      chosen_.pop_back();
    }
  }

  void share_out(std::size_t at, int left) {
    const int others = static_cast<int>(chosen_.size() - at) - 1;
    if (others == 0) {
      chosen_[at].gpus = left;
      return consider();
    }
    for (int gpus = 1; gpus + others <= left; ++gpus) {
      chosen_[at].gpus = gpus;
      share_out(at + 1, left - gpus);
    }
  }

  void consider() {
    int nodes = 1;
    for (std::size_t n = 0; n < needs_.size(); ++n) {
      int on_node = 0;
      for (const Chosen& one : chosen_) on_node += one.gpus * one.full->count[n];
      nodes = std::max(nodes, ceil_div(needs_[n].pods, on_node));
    }
    const bool fewer_ways = nodes == best_.nodes && chosen_.size() < best_.cuts.size();
    if (nodes >= best_.nodes && !fewer_ways) return;
    best_ = {{}, nodes};
    for (const Chosen& one : chosen_) {
      MigCut& cut = best_.cuts.emplace_back(MigCut{one.gpus, {}});
      for (std::size_t n = 0; n < needs_.size(); ++n) {
        const int count = one.full->count[n];
        if (count > 0) cut.mig.push_back({needs_[n].profile->name, count});
      }
    }
    std::ranges::stable_sort(best_.cuts, std::greater<>(), &MigCut::gpus);
  }

  struct Chosen {
    const Full* full = nullptr;
    int gpus = 0;
  };

  const MigGeometry& geometry_;
  const std::vector<ProfileNeed>& needs_;
  int gpus_;
  std::vector<Full> full_;
  std::vector<Chosen> chosen_;
  MixedLayout best_;
};

// By their slices, wherever they are.
int least_nodes(const MigGeometry& geometry, const std::vector<ProfileNeed>& needs, int gpus) {
  int memory = 0;
  int compute = 0;
  for (const ProfileNeed& need : needs) {
    memory += need.pods * need.profile->memory_slices;
    compute += need.pods * need.profile->compute_slices;
  }
  return std::max(ceil_div(memory, gpus * geometry.memory_slices),
                  ceil_div(compute, gpus * geometry.compute_slices));
}

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

void add_layouts(const MigGeometry& geometry, const World& world, int gpus_per_node,
                 const std::vector<const MigProfile*>& profiles,
                 std::vector<FittedLayout>& layouts) {
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
  layouts.push_back(layout);
  MixedLayout mixed =
      mixed_layout(geometry, list, gpus_per_node,
                   layout.mig.empty() ? std::numeric_limits<int>::max() : layout.nodes);
  if (mixed.cuts.empty()) return;
  layout.mig = std::move(mixed.cuts.front().mig);
  layout.other_cuts.assign(std::next(mixed.cuts.begin()), mixed.cuts.end());
  layout.nodes = mixed.nodes;
  if (layouts.back().mig.empty()) layouts.pop_back();
  layouts.push_back(std::move(layout));
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
    add_layouts(geometry, exclusive, gpus_per_node, profiles, found.layouts);
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
    nodes = std::max(nodes, ceil_div(need.pods, on_node));
  }
  return nodes;
}

MixedLayout mixed_layout(const MigGeometry& geometry, const std::vector<ProfileNeed>& needs,
                         int gpus_per_node, int nodes) {
  if (needs.size() < 2 || needs.size() > CutSearch::kMostParts) return {};
  if (least_nodes(geometry, needs, gpus_per_node) >= nodes) return {};
  return CutSearch(geometry, needs, gpus_per_node).run(nodes);
}

}  // namespace slicewise::sim
