// The choice among known pools against every choice.
#include "../../../sim/studies/plan/pool_columns.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace slicewise::sim {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

double cheapest_of_all(const std::vector<KnownPool>& pools, std::size_t groups, std::size_t have) {
  if (have + 1 == std::size_t{1} << groups) return 0;
  double best = kNone;
  std::size_t first = 0;
  while ((have >> first & 1) != 0) ++first;
  for (const KnownPool& pool : pools) {
    std::size_t set = 0;
    for (const std::size_t g : pool.members) set |= std::size_t{1} << g;
    if ((set >> first & 1) == 0 || (set & have) != 0) continue;
    best = std::min(best, pool.cost + cheapest_of_all(pools, groups, have | set));
  }
  return best;
}

double cost_of(const std::vector<Members>& choice, const std::vector<KnownPool>& pools) {
  double cost = 0;
  for (const Members& members : choice) {
    double least = kNone;
    for (const KnownPool& pool : pools) {
      if (pool.members == members) least = std::min(least, pool.cost);
    }
    cost += least;
  }
  return cost;
}

TEST(PoolColumns, TheChoiceIsTheCheapestThatHoldsEachGroupOnce) {
  int with_several = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const std::size_t groups = 3 + random() % 5;
    std::vector<double> alone;
    std::vector<KnownPool> pools;
    for (std::size_t g = 0; g < groups; ++g) {
      alone.push_back(static_cast<double>(2 + random() % 8));
      pools.push_back({{g}, alone.back()});
    }
    for (int n = 0; n < 25; ++n) {
      KnownPool pool;
      for (std::size_t g = 0; g < groups; ++g) {
        if (random() % 3 == 0) pool.members.push_back(g);
      }
      pool.cost = 1 + static_cast<double>(random() % 40) / 4;
      if (pool.members.size() > 1) pools.push_back(pool);
    }
    const std::vector<double> worth = worth_of_groups(alone, pools);
    const auto choice = cheapest_choice(worth, pools, {}, kNone);
    const double least = cheapest_of_all(pools, groups, 0);
    Members all;
    for (const Members& members : choice) all.insert(all.end(), members.begin(), members.end());
    std::ranges::sort(all);
    ASSERT_EQ(all.size(), groups) << seed;
    for (std::size_t g = 0; g < groups; ++g) EXPECT_EQ(all[g], g) << seed;
    EXPECT_NEAR(cost_of(choice, pools), least, 0.011) << seed;
    EXPECT_TRUE(cheapest_choice(worth, pools, {}, least).empty()) << seed;
    with_several += choice.size() < groups ? 1 : 0;
  }
  EXPECT_GT(with_several, 100);
}

// Of so many groups not every choice is looked at: what is known is made anew in parts.
TEST(ThoroughPoolColumns, AFleetsChoiceIsSoughtNearWhatIsKnown) {
  constexpr std::size_t kGroups = 60;
  std::mt19937_64 random(3);
  std::vector<KnownPool> pools;
  std::vector<Members> known;
  for (std::size_t g = 0; g < kGroups; ++g) {
    known.push_back({g});
    pools.push_back({known.back(), 10});
  }
  for (int n = 0; n < 1200; ++n) {
    std::vector<std::size_t> any(kGroups);
    std::iota(any.begin(), any.end(), std::size_t{0});
    for (std::size_t m = 0; m < 4; ++m) std::swap(any[m], any[m + random() % (kGroups - m)]);
    Members members(any.begin(), any.begin() + 2 + static_cast<std::ptrdiff_t>(random() % 3));
    std::ranges::sort(members);
    const auto size = static_cast<double>(members.size());
    pools.push_back({std::move(members), 4 + 3 * size + static_cast<double>(random() % 100) / 20});
  }
  const std::vector<double> worth = worth_of_groups(std::vector<double>(kGroups, 10), pools);
  const double least = std::accumulate(worth.begin(), worth.end(), 0.0);
  const auto choice = cheapest_choice(worth, pools, known, 10 * kGroups);
  Members all;
  for (const Members& members : choice) all.insert(all.end(), members.begin(), members.end());
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), kGroups);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_LT(cost_of(choice, pools), 1.06 * least);
  EXPECT_EQ(choice, cheapest_choice(worth, pools, known, 10 * kGroups));
}

// One that stands with all three says that two of them need not cost more.
TEST(PoolColumns, WhatStandsHasTheLastWord) {
  const auto floors = floors_of({{{0, 1, 2}, 12}, {{3}, 4}}, {{{0, 2}, 15}, {{1, 3}, 9}});
  ASSERT_EQ(floors.size(), 4U);
  EXPECT_EQ(floors[0].monthly, 12);
  EXPECT_EQ(floors[1].monthly, 4);
  EXPECT_EQ(floors[2].groups, GroupSet{0b101});
  EXPECT_EQ(floors[2].monthly, 12);
  EXPECT_EQ(floors[3].monthly, 9);
}

}  // namespace
}  // namespace slicewise::sim
