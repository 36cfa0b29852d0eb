#include "studies/plan/cheapest_exchanges.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

#include "../demo.hpp"
#include "studies/plan/plan_sections.hpp"

// Which pools give way to which, against every set of exchanges.
namespace slicewise::sim {
namespace {

std::vector<PresentPool> pools_with(const std::vector<Members>& groups) {
  std::vector<PresentPool> pools;
  for (const Members& each : groups) pools.push_back({each, 100, false});
  return pools;
}

TEST(Exchanges, OfOnePoolAreItsDivisions) {
  const auto pools = pools_with({{0, 1, 2}});
  EXPECT_EQ(exchanges_of(pools, 3)->size(), 5U);  // Bell's number of three
  EXPECT_EQ(exchanges_of(pools, 2)->size(), 4U);
  EXPECT_EQ(exchanges_of(pools, 1)->size(), 1U);
}

TEST(Exchanges, AreNeverTwoBesideEachOther) {
  // Of both: all together, or {2} with one of the first pool's groups. Never {0, 1} and {2}.
  const auto found = exchanges_of(pools_with({{0, 1}, {2}}), 2);
  ASSERT_TRUE(found);
  int joint = 0;
  for (const PoolExchange& exchange : *found) {
    if (exchange.touched.size() < 2) continue;
    ++joint;
    EXPECT_EQ(std::ranges::count(exchange.blocks, Members{2}), 0);
  }
  EXPECT_EQ(joint, 3);
  EXPECT_EQ(found->size(), 2U + 1 + 3);
}

TEST(Exchanges, LeaveWhatStaysAlone) {
  auto pools = pools_with({{0}, {1}});
  pools[0].monthly.reset();
  const auto found = exchanges_of(pools, 2);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().touched, (std::vector<std::size_t>{1}));
}

TEST(Exchanges, OfManyGroupsAreTooMany) {
  Members all;
  for (std::size_t g = 0; g < 14; ++g) all.push_back(g);
  EXPECT_FALSE(exchanges_of(pools_with({all}), 14));
  EXPECT_TRUE(exchanges_of(pools_with({all}), 1));
}

// All sets of exchanges of which no two touch the same pool.
// NOLINTNEXTLINE(misc-no-recursion): as deep as there are exchanges
double best_of_all(const std::vector<PoolExchange>& exchanges, const std::vector<double>& saves,
                   std::size_t next, std::set<std::size_t> free, int left) {
  if (next == exchanges.size()) return 0;
  double best = best_of_all(exchanges, saves, next + 1, free, left);
  const PoolExchange& exchange = exchanges[next];
  for (const std::size_t p : exchange.touched) {
    if (free.erase(p) == 0) return best;
  }
  if (exchange.pools() > left) return best;
  return std::max(best, saves[next] + best_of_all(exchanges, saves, next + 1, std::move(free),
                                                  left - exchange.pools()));
}

TEST(BestExchanges, SaveAsMuchAsAnySetOfThem) {
  RandomStream random(1, 0, 0, Purpose::Test);
  for (int instance = 0; instance < 200; ++instance) {
    const auto pools = pools_with({{0}, {1, 2}, {3}, {4}});
    const auto exchanges = exchanges_of(pools, 3);
    ASSERT_TRUE(exchanges);
    std::vector<std::optional<double>> saves;
    std::vector<double> values;
    for (const PoolExchange& exchange : *exchanges) {
      const double value = 100 * exchange.pools() * (random.uniform() - 0.7);
      values.push_back(value);
      saves.emplace_back(value);
    }
    for (const int most : {1, 2, 3, 5}) {
      const auto chosen = best_exchanges(pools, *exchanges, saves, most);
      ASSERT_TRUE(chosen);
      double saved = 0;
      int changed = 0;
      std::set<std::size_t> touched;
      for (const std::size_t e : *chosen) {
        saved += values[e];
        changed += (*exchanges)[e].pools();
        for (const std::size_t p : (*exchanges)[e].touched) EXPECT_TRUE(touched.insert(p).second);
      }
      EXPECT_LE(changed, most);
      EXPECT_NEAR(saved, best_of_all(*exchanges, values, 0, {0, 1, 2, 3}, most), kWorthAStep)
          << instance;
    }
  }
}

TEST(BestExchanges, TouchWhatMustChangeFirst) {
  auto pools = pools_with({{0}, {1}});
  pools[1].must_change = true;
  const auto exchanges = exchanges_of(pools, 1);
  ASSERT_EQ(exchanges->size(), 2U);
  const std::vector<std::optional<double>> saves = {50, -500};
  EXPECT_EQ(*best_exchanges(pools, *exchanges, saves, 1), (std::vector<std::size_t>{1}));
  EXPECT_EQ(best_exchanges(pools, *exchanges, saves, 2)->size(), 2U);
}

// Its template gets the label of a class that it had none of, beside one class before and after
// two.
TEST(StepBetween, RestartsWhatIsKeptApartFromThenOn) {
  std::vector<scenarios::Workload> workloads;
  for (const char* name : {"a", "b"}) {
    workloads.push_back(
        demo::service(1, 2, milliseconds(10), scenarios::ServiceTime::Law::Deterministic));
    workloads.back().name.value = name;
  }
  const scenarios::Scenario base = demo::scenario(demo::pool(0), std::move(workloads));
  PoolChoice before;
  before.instance_type = "g4dn.xlarge";
  before.strategy = Strategy::TimeSlicing;
  before.nodes = 2;
  before.workloads = {"a", "b"};
  before.apart = {{"b"}};
  PoolChoice after = before;
  EXPECT_TRUE(step_between(base, {before}, {after}).restarts.empty());
  after.apart.push_back({"a"});
  EXPECT_EQ(step_between(base, {before}, {after}).restarts, std::vector<std::string>{"a"});
  EXPECT_EQ(step_between(base, {after}, {before}).restarts, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace slicewise::sim
