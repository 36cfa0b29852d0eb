// A bound is held against every division of some groups over pools.
#include "../../../sim/studies/plan/pool_bound.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "../../../sim/studies/plan/pool_cover.hpp"

namespace slicewise::sim {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();

// Two to seven groups, one to four families with one to three rows.
struct Problem {
  std::size_t groups = 0;
  std::vector<PoolFamily> families;
};

Problem random_problem(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::uint64_t most) { return static_cast<int>(random() % (most + 1)); };
  Problem problem;
  problem.groups = static_cast<std::size_t>(2 + up_to(5));
  const int families = 1 + up_to(3);
  for (int f = 0; f < families; ++f) {
    PoolFamily family;
    family.least_nodes = 1 + up_to(1);
    const double price = 1 + up_to(40) / 10.0;
    for (int n = 0; n < 8; ++n) family.monthly.push_back(price * (family.least_nodes + n));
    for (int k = up_to(2); k >= 0; --k) {
      PoolFamily::Row row;
      const bool fixed = up_to(3) == 0;
      (fixed ? row.however_many : row.per_node) = 1;
      for (std::size_t g = 0; g < problem.groups; ++g) {
        row.takes.push_back(up_to(9) == 0 ? kNowhere : up_to(12) / 10.0);
      }
      family.rows.push_back(std::move(row));
    }
    problem.families.push_back(std::move(family));
  }
  return problem;
}

double cheapest_pool(const Problem& problem, std::size_t members) {
  double least = kNowhere;
  for (const PoolFamily& family : problem.families) {
    for (std::size_t n = 0; n < family.monthly.size(); ++n) {
      const double nodes = family.least_nodes + static_cast<double>(n);
      const bool holds = std::ranges::all_of(family.rows, [&](const PoolFamily::Row& row) {
        double takes = 0;
        for (std::size_t g = 0; g < problem.groups; ++g) {
          if ((members >> g & 1) != 0) takes += row.takes[g];
        }
        return takes <= row.per_node * nodes + row.however_many + 1e-9;
      });
      if (holds) least = std::min(least, family.monthly[n]);
    }
  }
  return least;
}

double cheapest_division(const Problem& problem) {
  const std::size_t all = std::size_t{1} << problem.groups;
  std::vector<double> of_pool(all, kNowhere);
  std::vector<double> least(all, kNowhere);
  least[0] = 0;
  for (std::size_t set = 1; set < all; ++set) {
    of_pool[set] = cheapest_pool(problem, set);
    for (std::size_t part = set; part != 0; part = (part - 1) & set) {
      least[set] = std::min(least[set], of_pool[part] + least[set ^ part]);
    }
  }
  return least[all - 1];
}

std::optional<double> least_cost_of_pools(std::size_t groups,
                                          const std::vector<PoolFamily>& families) {
  const auto worth = least_worth(families, std::vector<double>(groups));
  return worth ? std::optional(sum_of(*worth)) : std::nullopt;
}

TEST(PoolBound, IsNoMoreThanTheCheapestDivision) {
  int met = 0;
  int posed = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const Problem problem = random_problem(seed);
    const double least = cheapest_division(problem);
    const auto bound = least_cost_of_pools(problem.groups, problem.families);
    if (least == kNowhere) continue;
    // Every group that is in some pool could have it to itself.
    ASSERT_TRUE(bound) << seed;
    EXPECT_LE(*bound, least * (1 + 1e-5)) << seed;
    EXPECT_GT(*bound, least * 0.6) << seed;
    ++posed;
    met += *bound > least * 0.999 ? 1 : 0;
  }
  EXPECT_GT(posed, 300);
  EXPECT_GT(met, posed * 3 / 4);
}

// Of 0.6 each none shares a node, but three share two: in parts they take 1.8.
TEST(PoolBound, CountsWholeGroups) {
  PoolFamily one;
  one.monthly = {10, 20, 30, 40};
  one.rows = {{{0.6, 0.6, 0.6}, 1, 0}};
  EXPECT_NEAR(least_cost_of_pools(3, {one}).value_or(0), 20, 1e-3);
  one.monthly = {10};
  EXPECT_NEAR(least_cost_of_pools(3, {one}).value_or(0), 30, 1e-3);
}

// All three fit on a node, but simulation says that two of them do not.
TEST(PoolBound, RisesWithWhatIsLearnedOfPools) {
  constexpr GroupSet kFirstTwo = 0b011;
  PoolFamily one;
  one.monthly = {10, 20};
  one.rows = {{{0.3, 0.3, 0.3}, 1, 0}};
  PoolProgram program({one}, {0, 0, 0});
  EXPECT_NEAR(sum_of(program.solve()), 10, 1e-3);
  const auto all = [](const PoolPricing::Offer& pool) { return pool.members.size() == 3; };
  EXPECT_TRUE(std::ranges::any_of(program.taken(), all));
  program.learn({{kFirstTwo, 25}}, {0, 0, 0});
  EXPECT_NEAR(sum_of(program.solve()), 20, 1e-2);
  for (const PoolPricing::Offer& pool : program.taken()) {
    EXPECT_NE(pool.members, (std::vector<std::size_t>{0, 1}));
    EXPECT_LT(pool.members.size(), 3U);
  }
  program.learn({{kFirstTwo, 25}, {0b101, 25}, {0b110, 25}, {0b100, 15}}, {0, 0, 15});
  EXPECT_NEAR(sum_of(program.solve()), 35, 1e-2);
}

// Four share a node; of a hundred the last bears nobody beside it. Parts of nodes count in parts.
TEST(PoolBound, HoldsForMoreGroupsThanAWordHasBits) {
  constexpr std::size_t kGroups = 100;
  constexpr double kApart = 10.0 * (kGroups - 1) / 4 + 10;
  PoolFamily one;
  one.monthly = {10, 20};
  one.rows = {{std::vector<double>(kGroups, 0.25), 1, 0}};
  const std::vector<double> alone(kGroups, 0);
  PoolProgram program({one}, alone);
  EXPECT_LE(sum_of(program.solve()), 10.0 * kGroups / 4 * (1 + 1e-5));
  std::vector<PoolFloor> floors;
  for (std::size_t g = 0; g + 1 < kGroups; ++g) {
    floors.push_back({GroupSet().set(g).set(kGroups - 1), 30});
  }
  program.learn(floors, alone);
  const double bound = sum_of(program.solve());
  EXPECT_LE(bound, kApart * (1 + 1e-5));
  EXPECT_GT(bound, kApart * 0.98);
}

// Five of sixty share a node by what they take, but of forty no two: as many nodes, each with one
// of these and half of another kind.
TEST(PoolBound, ProvesWhatAFleetCosts) {
  constexpr std::size_t kGroups = 60;
  constexpr std::size_t kApart = 40;
  constexpr double kOptimum = 10.0 * kApart;
  PoolFamily one;
  one.monthly = {10};
  one.rows = {{std::vector<double>(kGroups, 0.2), 1, 0}};
  for (std::size_t g = 0; g < kGroups; ++g)
    one.rows[0].takes[g] += 0.001 * static_cast<double>(g % 7);
  const std::vector<double> alone(kGroups, 0);
  std::vector<PoolFloor> floors;
  for (std::size_t a = 0; a < kApart; ++a) {
    for (std::size_t b = a + 1; b < kApart; ++b) floors.push_back({GroupSet().set(a).set(b), 20});
  }
  PoolProgram program({one}, alone);
  program.learn(floors, alone);
  const double solved = sum_of(program.solve());
  const double proved = sum_of(program.prove());
  EXPECT_GE(proved, solved);
  EXPECT_LE(proved, kOptimum * (1 + 1e-5));
  EXPECT_GT(proved, kOptimum * 0.995);
}

TEST(PoolBound, SaysWhatHasNoPlace) {
  PoolFamily one;
  one.monthly = {10, 20};
  one.rows = {{{0.6, 2.5}, 1, 0}};
  EXPECT_FALSE(least_cost_of_pools(2, {one}));
  one.rows[0].takes[1] = kNowhere;
  EXPECT_FALSE(least_cost_of_pools(2, {one}));
}

// Two nodes that share no group are two pools.
TEST(PoolBound, LooksAtNodesApart) {
  PoolFamily two;
  two.least_nodes = 2;
  two.monthly = {20};
  two.rows = {{{0.9, 0.9, 0.2}, 1, 0}};
  PoolFamily one = two;
  one.least_nodes = 1;
  one.monthly = {15};
  EXPECT_NEAR(least_cost_of_pools(3, {one, two}).value_or(0), 20, 1e-3);
  two.further_nodes = {0, 0, 1};
  EXPECT_NEAR(least_cost_of_pools(3, {one, two}).value_or(0), 20, 1e-3);
  two.further_nodes = {0, 0, 0};
  EXPECT_NEAR(least_cost_of_pools(3, {one, two}).value_or(0), 45, 1e-3);
}

// Of three that would fit a node together two are known to cost more, and so do all three.
TEST(PoolBound, HeedsWhatIsKnownOfParts) {
  PoolFamily one;
  one.monthly = {10, 20};
  one.rows = {{{0.3, 0.3, 0.3}, 1, 0}};
  PoolPricing pricing({one});
  const std::vector<double> worth = {9, 9, 9};
  ASSERT_EQ(pricing.offers(worth).pools.size(), 1U);
  EXPECT_NEAR(pricing.offers(worth).dearest, 2.7, 1e-6);
  pricing.set_floors({{GroupSet{0b101}, 15}});
  const PoolPricing::Offers offers = pricing.offers(worth);
  EXPECT_NEAR(offers.dearest, 1.8, 1e-6);
  ASSERT_EQ(offers.pools.size(), 2U);
  EXPECT_EQ(offers.pools[0].members.size(), 2U);
  EXPECT_EQ(offers.pools[1].members, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(offers.pools[1].monthly, 20);
}

// Three that go together by twos, for 2 dollars a pair and 3 alone: half of each pair costs 3.
// Of more than a thousand pools not all are looked at each time: in the end none gains anything.
TEST(PoolCover, LeavesNoneOfManyPools) {
  constexpr std::size_t kGroups = 30;
  std::mt19937_64 random(1);
  PoolCover cover(std::vector<double>(kGroups, 10));
  std::vector<PoolCover::Column> pools;
  while (pools.size() < 3000) {
    std::vector<std::size_t> members;
    for (std::size_t g = 0; g < kGroups; ++g) {
      if (random() % 8 == 0) members.push_back(g);
    }
    const double cost =
        3 + 2 * static_cast<double>(members.size()) + static_cast<double>(random() % 1000) / 1000;
    if (!cover.add(members, cost)) continue;
    pools.push_back({members, cost, 0});
    if (pools.size() % 500 == 0) cover.worth();
  }
  const std::vector<double> worth = cover.worth();
  double covered = 0;
  for (const PoolCover::Column& pool : cover.taken()) covered += pool.cost;
  EXPECT_GT(covered, 0);
  for (const PoolCover::Column& pool : pools) {
    double sum = 0;
    for (const std::size_t g : pool.members) sum += worth[g];
    EXPECT_LE(sum, pool.cost + 1e-6);
  }
}

TEST(PoolCover, TakesPartsOfPools) {
  PoolCover cover({3, 3, 3});
  EXPECT_TRUE(cover.add({0, 1}, 2));
  EXPECT_TRUE(cover.add({2, 1}, 2));
  EXPECT_FALSE(cover.add({1, 2}, 2));
  EXPECT_TRUE(cover.add({0, 2}, 2));
  const std::vector<double> worth = cover.worth();
  ASSERT_EQ(worth.size(), 3U);
  for (const double each : worth) EXPECT_NEAR(each, 1, 1e-6);
}

}  // namespace
}  // namespace slicewise::sim
