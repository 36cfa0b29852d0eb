// Pools that differ by a group from those that the linear program of known pools takes.
#include "studies/plan/near_pools.hpp"

#include <set>

#include <gtest/gtest.h>

#include "five_services.hpp"

namespace slicewise::sim {
namespace {

// A fleet of 80 was 12 % above its bound where nothing but the pools that closed forms like best
// was looked at: hardly any of those stands, and most of these do.
TEST(NearPools, HaveAGroupMoreOrAnother) {
  FiveServices fleet;
  const FleetModel& model = fleet.model;
  const KnownPools pools(fleet.search, model);
  const double node = *model.price(model.room({0}));
  KnownColumns known;
  known.stand = {{{0, 2}, node}, {{1}, node}, {{3}, node}, {{4}, node}, {{0}, node}};
  known.worth = {node / 2, node, node / 2, node, node};
  known.searched = {{{1, 4}, 2 * node}};
  std::set<Members> blocks;
  for (const KnownPools::Question& question : near_pools(known, pools, model)) {
    double worth = 0;
    for (const std::size_t g : question.block) worth += known.worth[g];
    EXPECT_DOUBLE_EQ(question.cap, worth);
    EXPECT_GT(worth, node);
    blocks.insert(question.block);
  }
  // As many as there are groups, what is worth most first. Not {1, 4}, which was searched in vain,
  // nor {0, 1, 2}, which does not fit.
  EXPECT_EQ(blocks.size(), 5U);
  EXPECT_TRUE(blocks.contains({0, 2, 4}));
  EXPECT_TRUE(blocks.contains({1, 3}));
  EXPECT_TRUE(blocks.contains({3, 4}));
  EXPECT_FALSE(blocks.contains({1, 4}));
  EXPECT_FALSE(blocks.contains({0, 1, 2}));
}

}  // namespace
}  // namespace slicewise::sim
