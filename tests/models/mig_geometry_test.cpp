// Counts of valid MIG layouts, by enumeration of the placements in the catalogue.
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/models/catalogue.hpp"

namespace slicewise::models {
namespace {

struct Instance {
  std::size_t profile;
  unsigned slices;  // bit set of memory slices
};

struct Enumeration {
  std::vector<MigProfile> profiles;
  std::vector<Instance> instances;
  int valid = 0;
  int maximal = 0;
  std::set<std::multiset<std::size_t>> maximal_multisets;
  int most_compute_slices = 0;

  bool fits(const std::vector<Instance>& chosen, const Instance& extra) const {
    int same = 0;
    for (const Instance& instance : chosen) {
      if ((instance.slices & extra.slices) != 0) return false;
      same += instance.profile == extra.profile ? 1 : 0;
    }
    return same < profiles[extra.profile].max_count;
  }

  void note(const std::vector<Instance>& chosen) {
    if (chosen.empty()) return;
    ++valid;
    int compute = 0;
    std::multiset<std::size_t> kinds;
    for (const Instance& instance : chosen) {
      compute += profiles[instance.profile].compute_slices;
      kinds.insert(instance.profile);
    }
    most_compute_slices = std::max(most_compute_slices, compute);
    for (const Instance& instance : instances) {
      if (fits(chosen, instance)) return;
    }
    ++maximal;
    maximal_multisets.insert(kinds);
  }

  void enumerate(std::size_t from, std::vector<Instance>& chosen) {
    note(chosen);
    for (std::size_t i = from; i < instances.size(); ++i) {
      if (!fits(chosen, instances[i])) continue;
      chosen.push_back(instances[i]);
      enumerate(i + 1, chosen);
      chosen.pop_back();
    }
  }
};

Enumeration enumerate(const MigGeometry& geometry, bool double_memory) {
  Enumeration out;
  for (const MigProfile& profile : geometry.profiles) {
    const bool doubled = profile.memory_slices > profile.compute_slices &&
                         profile.compute_slices == 1 && geometry.memory_slices == 8;
    if (profile.name.find('+') != std::string::npos ||
        profile.name.find('-') != std::string::npos || (doubled && !double_memory)) {
      continue;
    }
    for (const MigProfile::Placement& placement : profile.placements) {
      const unsigned slices = ((1U << placement.size) - 1U) << placement.start;
      out.instances.push_back({out.profiles.size(), slices});
    }
    out.profiles.push_back(profile);
  }
  std::vector<Instance> chosen;
  out.enumerate(0, chosen);
  return out;
}

TEST(MigGeometry, A100Has19MaximalLayoutsAnd297PlacementSets) {
  const Catalogue catalogue = load_catalogue();
  for (const char* gpu : {"A100-40GB", "A100-80GB", "H100", "H200", "B200", "B300"}) {
    SCOPED_TRACE(gpu);
    const Enumeration plain = enumerate(*catalogue.find_mig(gpu), false);
    EXPECT_EQ(plain.valid, 297);
    EXPECT_EQ(plain.maximal, 19);
    EXPECT_EQ(plain.maximal_multisets.size(), 14U);
    const Enumeration doubled = enumerate(*catalogue.find_mig(gpu), true);
    EXPECT_EQ(doubled.valid, 722);
    EXPECT_EQ(doubled.maximal, 78);
    EXPECT_EQ(doubled.maximal_multisets.size(), 38U);
  }
}

TEST(MigGeometry, FourSliceGpusHave5MaximalLayouts) {
  const Catalogue catalogue = load_catalogue();
  const Enumeration a30 = enumerate(*catalogue.find_mig("A30-24GB"), true);
  EXPECT_EQ(a30.valid, 25);
  EXPECT_EQ(a30.maximal, 5);
}

TEST(MigGeometry, ComputeSlicesNeverExceedTheGpu) {
  for (const MigGeometry& geometry : load_catalogue().mig) {
    EXPECT_LE(enumerate(geometry, true).most_compute_slices, geometry.compute_slices)
        << geometry.gpu_model;
  }
}

TEST(MigGeometry, PlacementsLieOnTheGpu) {
  for (const MigGeometry& geometry : load_catalogue().mig) {
    for (const MigProfile& profile : geometry.profiles) {
      EXPECT_FALSE(profile.placements.empty()) << profile.name;
      for (const MigProfile::Placement& placement : profile.placements) {
        EXPECT_GE(placement.start, 0);
        EXPECT_LE(placement.start + placement.size, geometry.memory_slices) << profile.name;
      }
    }
  }
}

}  // namespace
}  // namespace slicewise::models
