#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/mig.hpp"

#include "shipped_catalogue.hpp"

namespace slicewise::models {
namespace {

using testing::HasSubstr;

const MigGeometry& geometry_of(std::string_view gpu) { return *catalogue().find_mig(gpu); }

// "3g.20gb@0 2g.10gb@4", or the refusal.
std::string placed(std::string_view gpu, const std::vector<MigCount>& counts) {
  const auto result = place_instances(geometry_of(gpu), counts);
  if (!result) return result.error().message;
  std::string text;
  for (const MigInstance& instance : *result) {
    if (!text.empty()) text += ' ';
    text += instance.profile->name + "@" + std::to_string(instance.start);
  }
  return text;
}

MigRefusal refusal(std::string_view gpu, const std::vector<MigCount>& counts) {
  const auto result = place_instances(geometry_of(gpu), counts);
  EXPECT_FALSE(result.has_value());
  return result ? MigRefusal{} : result.error();
}

// 3g at slice 0 would leave one slice for two 1g: slice 7 holds none.
TEST(MigLayout, MovesALargeInstanceWhenASmallOneNeedsItsPlace) {
  EXPECT_EQ(placed("A100-40GB", {{"1g.5gb", 2}, {"2g.10gb", 1}, {"3g.20gb", 1}}),
            "2g.10gb@0 1g.5gb@2 1g.5gb@3 3g.20gb@4");
  EXPECT_EQ(placed("A100-40GB", {{"1g.5gb", 1}, {"2g.10gb", 1}, {"3g.20gb", 1}}),
            "3g.20gb@0 2g.10gb@4 1g.5gb@6");
}

TEST(MigLayout, OrderOfTheLinesAndZerosDoNotMatter) {
  EXPECT_EQ(placed("A100-40GB", {{"3g.20gb", 1}, {"7g.40gb", 0}, {"1g.5gb", 1}, {"4g.20gb", 1}}),
            placed("A100-40GB", {{"1g.5gb", 1}, {"4g.20gb", 1}, {"3g.20gb", 1}}));
  EXPECT_EQ(placed("A100-40GB", {{"4g.20gb", 1}, {"1g.5gb", 1}, {"1g.5gb", 1}}),
            "4g.20gb@0 1g.5gb@4 1g.5gb@5");
  EXPECT_EQ(placed("A100-40GB", {}), "");
}

TEST(MigLayout, NamesTheSlicesThatAreFoughtOver) {
  const MigRefusal two_3g = refusal("A100-40GB", {{"3g.20gb", 2}, {"1g.5gb", 1}});
  EXPECT_EQ(two_3g.code, Code::MigLayoutImpossible);
  EXPECT_EQ(two_3g.message,
            "no placement for 1 x 1g.5gb and 2 x 3g.20gb on one A100-SXM4-40GB: 1g.5gb needs one "
            "of memory slices 0 to 6, 3g.20gb needs memory slices 0-3 or 4-7");
  EXPECT_EQ(two_3g.help, "it fits with one 1g.5gb or one 3g.20gb less");
  EXPECT_THAT(refusal("A100-40GB", {{"2g.10gb", 3}, {"1g.5gb", 2}}).message,
              HasSubstr("2g.10gb needs memory slices 0-1, 2-3 or 4-5"));
  // Only what is part of the conflict is named, which the two 1g are not.
  const MigRefusal whole = refusal("H100", {{"1g.10gb", 2}, {"2g.20gb", 1}, {"7g.80gb", 1}});
  EXPECT_THAT(whole.message, HasSubstr("no placement for 1 x 2g.20gb and 1 x 7g.80gb on one H100"));
  EXPECT_EQ(whole.help, "it fits with one 7g.80gb less");
}

TEST(MigLayout, RefusesMoreThanTheProfileAllows) {
  const MigRefusal two_4g = refusal("A100-40GB", {{"1g.5gb", 1}, {"4g.20gb", 2}});
  EXPECT_EQ(two_4g.code, Code::MigLayoutImpossible);
  EXPECT_EQ(two_4g.entry, 1U);
  EXPECT_EQ(two_4g.message, "2 x 4g.20gb on one A100-SXM4-40GB: at most 1 of them exist at a time");
  EXPECT_EQ(refusal("A100-40GB", {{"1g.5gb", 4}, {"1g.5gb", 4}}).entry, 1U);
}

TEST(MigLayout, OneInstanceHasTheMediaEngines) {
  EXPECT_EQ(placed("A30-24GB", {{"1g.6gb+me", 1}, {"2g.12gb", 1}}), "2g.12gb@0 1g.6gb+me@2");
  const MigRefusal two = refusal("A30-24GB", {{"1g.6gb+me", 1}, {"2g.12gb+me", 1}});
  EXPECT_EQ(two.code, Code::MigLayoutImpossible);
  EXPECT_EQ(two.help, "keep one of 1g.6gb+me, 2g.12gb+me");
  EXPECT_THAT(placed("A100-40GB", {{"1g.5gb", 6}, {"1g.5gb+me", 1}}),
              testing::EndsWith(" 1g.5gb@5 1g.5gb+me@6"));
}

// Names carry the board's memory: the profile of the same compute slices is what was meant.
TEST(MigLayout, SuggestsTheProfileOfThisBoard) {
  const MigRefusal small = refusal("A100-80GB", {{"1g.10gb", 1}, {"3g.20gb", 1}});
  EXPECT_EQ(small.code, Code::MigConfigUnknown);
  EXPECT_EQ(small.entry, 1U);
  EXPECT_EQ(small.message, "A100-SXM4-80GB has no MIG profile 3g.20gb");
  EXPECT_THAT(small.help, HasSubstr("did you mean 3g.40gb? it has 1g.10gb, 1g.10gb+me, 1g.20gb"));
  EXPECT_THAT(refusal("A100-40GB", {{"1g.5gb.me", 1}}).help, HasSubstr("did you mean 1g.5gb+me?"));
  EXPECT_THAT(refusal("A100-40GB", {{"half", 1}}).help, testing::StartsWith("it has 1g.5gb"));
}

// All sets of placements without an overlap, told naively: by bit sets of slices, one placement
// after the other. Key: how many of each profile.
class AllLayouts {
 public:
  explicit AllLayouts(const MigGeometry& geometry) : geometry_(geometry) {
    std::vector<int> none(geometry.profiles.size(), 0);
    extend(none, 0, 0, 0);
  }
  const std::set<std::vector<int>>& counts() const { return counts_; }

 private:
  void extend(std::vector<int>& counts, unsigned taken, std::size_t profile, std::size_t place) {
    if (profile == geometry_.profiles.size()) {
      if (allowed(counts)) counts_.insert(counts);
      return;
    }
    const auto& placements = geometry_.profiles[profile].placements;
    if (place == placements.size()) return extend(counts, taken, profile + 1, 0);
    extend(counts, taken, profile, place + 1);
    unsigned slices = 0;
    for (int s = 0; s < placements[place].size; ++s) slices |= 1U << (placements[place].start + s);
    if ((slices & taken) != 0) return;
    ++counts[profile];
    extend(counts, taken | slices, profile, place + 1);
    --counts[profile];
  }

  bool allowed(const std::vector<int>& counts) const {
    int media = 0;
    for (std::size_t p = 0; p < counts.size(); ++p) {
      if (counts[p] > geometry_.profiles[p].max_count) return false;
      media += geometry_.profiles[p].media_extensions ? counts[p] : 0;
    }
    return media <= 1;
  }

  const MigGeometry& geometry_;
  std::set<std::vector<int>> counts_;
};

void expect_legal(const std::vector<MigInstance>& instances, const std::vector<MigCount>& asked) {
  unsigned taken = 0;
  std::map<std::string, int> got;
  for (const MigInstance& instance : instances) {
    ++got[instance.profile->name];
    const auto& places = instance.profile->placements;
    const auto place = std::ranges::find(places, instance.start, &MigProfile::Placement::start);
    ASSERT_NE(place, places.end()) << instance.profile->name << " at " << instance.start;
    const unsigned slices = ((1U << place->size) - 1U) << place->start;
    ASSERT_EQ(taken & slices, 0U);
    taken |= slices;
  }
  for (const MigCount& line : asked) ASSERT_EQ(got[line.profile], line.count);
}

// Calls `look` with every count of every profile up to one more than it allows.
template <class Look>
void for_all_counts(const MigGeometry& geometry, std::vector<int>& counts, std::size_t profile,
                    const Look& look) {
  if (profile == geometry.profiles.size()) return look(counts);
  // Boards with a dozen profiles: enough to see each limit crossed.
  const int most =
      std::min(geometry.profiles[profile].max_count, geometry.profiles.size() > 8 ? 1 : 7);
  for (counts[profile] = 0; counts[profile] <= most + 1; ++counts[profile]) {
    for_all_counts(geometry, counts, profile + 1, look);
  }
  counts[profile] = 0;
}

// Finds a legal layout exactly where there is one, for every count of every profile of every GPU.
TEST(MigLayout, FitsExactlyWhatAnExhaustiveSearchFits) {
  for (const MigGeometry& geometry : catalogue().mig) {
    SCOPED_TRACE(geometry.gpu_model);
    const AllLayouts layouts(geometry);
    std::vector<int> counts(geometry.profiles.size(), 0);
    for_all_counts(geometry, counts, 0, [&](const std::vector<int>& wanted) {
      if (testing::Test::HasFailure()) return;
      std::vector<MigCount> asked;
      for (std::size_t p = 0; p < wanted.size(); ++p) {
        asked.push_back({geometry.profiles[p].name, wanted[p]});
      }
      const auto result = place_instances(geometry, asked);
      ASSERT_EQ(result.has_value(), layouts.counts().contains(wanted))
          << testing::PrintToString(wanted);
      if (result) expect_legal(*result, asked);
    });
  }
}

// Counted by place_instances: 37 different sets of instances out of 1g 2g 3g 4g 7g on GPUs with
// eight slices (297 placements, mig_geometry_test.cpp), 9 out of 1g 2g 4g with four.
TEST(MigLayout, CountsOfSetsOfPlainInstances) {
  const auto sets = [](const MigGeometry& geometry) {
    int found = 0;
    std::vector<int> counts(geometry.profiles.size(), 0);
    for_all_counts(geometry, counts, 0, [&](const std::vector<int>& wanted) {
      std::vector<MigCount> asked;
      int instances = 0;
      for (std::size_t p = 0; p < wanted.size(); ++p) {
        const MigProfile& profile = geometry.profiles[p];
        const bool doubled = profile.compute_slices == 1 && profile.memory_slices == 2;
        if (wanted[p] > 0 && (doubled || profile.name.find('+') != std::string::npos)) return;
        asked.push_back({profile.name, wanted[p]});
        instances += wanted[p];
      }
      found += instances > 0 && place_instances(geometry, asked) ? 1 : 0;
    });
    return found;
  };
  for (const char* gpu : {"A100-40GB", "A100-80GB", "H100", "H200", "B200", "B300"}) {
    EXPECT_EQ(sets(geometry_of(gpu)), 37) << gpu;
  }
  EXPECT_EQ(sets(geometry_of("A30-24GB")), 9);
}

TEST(MigConfigs, EveryShippedConfigFitsItsGpu) {
  for (const MigGeometry& geometry : catalogue().mig) {
    SCOPED_TRACE(geometry.gpu_model);
    const std::vector<std::string> names = shipped_mig_config_names(geometry);
    const bool has_balanced = std::ranges::count(names, "all-balanced") == 1;
    EXPECT_EQ(has_balanced, geometry.memory_slices > 2);
    EXPECT_EQ(names.size(), geometry.profiles.size() + (has_balanced ? 3 : 2));
    for (const std::string& name : names) {
      const auto config = shipped_mig_config(name, geometry);
      ASSERT_TRUE(config.has_value()) << name;
      EXPECT_TRUE(place_instances(geometry, config->counts).has_value()) << name;
    }
    for (const MigProfile& profile : geometry.profiles) {
      std::string name = "all-" + profile.name;
      std::ranges::replace(name, '+', '.');
      const auto counts = shipped_mig_config(name, geometry)->counts;
      EXPECT_EQ(counts, (std::vector<MigCount>{{profile.name, profile.max_count}}));
      // One more never fits: the config is as many as there can be.
      EXPECT_FALSE(place_instances(geometry, {{profile.name, profile.max_count + 1}}).has_value());
    }
  }
}

// Source: NVIDIA/mig-parted deployments/systemd/config-default.yaml (commit 1400787).
TEST(MigConfigs, FollowMigPartedsFile) {
  struct Row {
    const char* gpu;
    const char* config;
    std::vector<MigCount> counts;
  };
  const Row rows[] = {
      {"A100-40GB", "all-1g.5gb", {{"1g.5gb", 7}}},
      {"A100-40GB", "all-1g.5gb.me", {{"1g.5gb+me", 1}}},
      {"A100-40GB", "all-1g.10gb", {{"1g.10gb", 4}}},
      {"A100-80GB", "all-1g.10gb", {{"1g.10gb", 7}}},
      {"H100", "all-1g.20gb", {{"1g.20gb", 4}}},
      {"RTX-PRO-6000-BSE-96GB", "all-1g.24gb", {{"1g.24gb", 4}}},
      {"RTX-PRO-6000-BSE-96GB", "all-1g.24gb.me.all", {{"1g.24gb+me.all", 1}}},
      {"RTX-PRO-6000-BSE-96GB", "all-1g.24gb-me", {{"1g.24gb-me", 4}}},
      {"RTX-PRO-6000-BSE-96GB", "all-2g.48gb.gfx", {{"2g.48gb+gfx", 2}}},
      {"A30-24GB", "all-2g.12gb.me", {{"2g.12gb+me", 1}}},
      {"A100-40GB", "all-balanced", {{"1g.5gb", 2}, {"2g.10gb", 1}, {"3g.20gb", 1}}},
      {"A100-80GB", "all-balanced", {{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}}},
      {"H100", "all-balanced", {{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}}},
      {"H200", "all-balanced", {{"1g.18gb", 2}, {"2g.35gb", 1}, {"3g.71gb", 1}}},
      {"B200", "all-balanced", {{"1g.23gb", 2}, {"2g.45gb", 1}, {"3g.90gb", 1}}},
      {"A30-24GB", "all-balanced", {{"1g.6gb", 2}, {"2g.12gb", 1}}},
      {"RTX-PRO-6000-BSE-96GB", "all-balanced", {{"1g.24gb", 2}, {"2g.48gb", 1}}},
  };
  for (const Row& row : rows) {
    const auto config = shipped_mig_config(row.config, geometry_of(row.gpu));
    ASSERT_TRUE(config.has_value()) << row.gpu << ' ' << row.config;
    EXPECT_TRUE(config->enabled);
    EXPECT_EQ(config->counts, row.counts) << row.gpu << ' ' << row.config;
  }
  EXPECT_FALSE(shipped_mig_config("all-disabled", geometry_of("H100"))->enabled);
  EXPECT_TRUE(shipped_mig_config("all-enabled", geometry_of("H100"))->enabled);
  EXPECT_TRUE(shipped_mig_config("all-enabled", geometry_of("H100"))->counts.empty());
}

TEST(MigConfigs, UnknownNamesAreAnsweredWithTheNearest) {
  const auto help = [](const char* name) {
    const auto config = shipped_mig_config(name, geometry_of("A100-80GB"));
    EXPECT_EQ(config.error().code, Code::MigConfigUnknown);
    EXPECT_EQ(config.error().message,
              std::string("mig-manager has no config ") + name + " for A100-SXM4-80GB");
    return config.error().help;
  };
  EXPECT_THAT(help("all-1g.10gb+me"), HasSubstr("did you mean all-1g.10gb.me?"));
  EXPECT_THAT(help("1g.10gb"), HasSubstr("did you mean all-1g.10gb?"));
  EXPECT_THAT(help("balanced"), HasSubstr("did you mean all-balanced?"));
  EXPECT_THAT(help("something"), HasSubstr("it has all-disabled, all-enabled, all-balanced"));
}

// f_c counts SMs against the whole GPU without MIG: 14 of 108, not one seventh.
TEST(MigShareOf, CountsSmsAndMemorySlices) {
  const auto share = [](const char* gpu, std::string_view profile) {
    const MigGeometry& geometry = geometry_of(gpu);
    return mig_share(geometry, *std::ranges::find(geometry.profiles, profile, &MigProfile::name));
  };
  EXPECT_DOUBLE_EQ(share("A100-40GB", "1g.5gb").compute, 14.0 / 108);
  EXPECT_DOUBLE_EQ(share("A100-40GB", "1g.5gb").bandwidth, 1.0 / 8);
  EXPECT_DOUBLE_EQ(share("A100-40GB", "1g.10gb").bandwidth, 2.0 / 8);
  EXPECT_DOUBLE_EQ(share("A100-40GB", "7g.40gb").compute, 98.0 / 108);
  EXPECT_DOUBLE_EQ(share("H100", "3g.40gb").compute, 60.0 / 132);
  EXPECT_DOUBLE_EQ(share("H100", "3g.40gb").bandwidth, 0.5);
  EXPECT_DOUBLE_EQ(share("A30-24GB", "1g.6gb").compute, 0.25);
  EXPECT_DOUBLE_EQ(share("B300", "1g.34gb").compute, 1.0 / 8);
}

// The estimate for boards without published SM counts, against those with: mig_share's bounds.
TEST(MigShareOf, EstimateIsNearWherePublished) {
  for (const char* gpu : {"H100", "B200"}) {
    const MigGeometry& geometry = geometry_of(gpu);
    for (const MigProfile& profile : geometry.profiles) {
      const DomainShare published = mig_share(geometry, profile);
      const double excess = published.bandwidth / published.compute - 1;
      const bool doubled = profile.compute_slices == 1 && profile.memory_slices == 2;
      EXPECT_GE(excess, 0) << gpu << ' ' << profile.name;
      EXPECT_LE(excess, doubled ? 0.27 : 0.1001) << gpu << ' ' << profile.name;
    }
  }
}

}  // namespace
}  // namespace slicewise::models
