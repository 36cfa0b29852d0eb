#include "studies/plan/blamed_groups.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

namespace slicewise::sim {
namespace {

// Groups that cost more together, whoever is beside them.
using Quarrels = std::vector<Members>;

bool cost_more(const Members& groups, const Quarrels& quarrels) {
  return std::ranges::any_of(
      quarrels, [&](const Members& quarrel) { return std::ranges::includes(groups, quarrel); });
}

struct Found {
  std::optional<Members> least;  // the last groups that were seen to cost more
  int looks = 0;
};

Found blamed(const Members& order, const Quarrels& quarrels,
             std::optional<std::size_t> missed = std::nullopt) {
  Found found;
  Blame blame(order, 100);
  while (const auto some = blame.next()) {
    ++found.looks;
    if (found.looks > 1000) ADD_FAILURE() << "it does not end";
    if (found.looks > 1000) break;
    const bool more = cost_more(*some, quarrels);
    if (more && (!found.least || some->size() < found.least->size())) found.least = *some;
    blame.record(more, missed);
  }
  return found;
}

Members first_groups(std::size_t count) {
  Members groups(count);
  for (std::size_t g = 0; g < count; ++g) groups[g] = g;
  return groups;
}

Members some_of(RandomStream& random, std::size_t count, std::size_t most) {
  std::set<std::size_t> some;
  const std::size_t size = 1 + random.below(static_cast<std::uint32_t>(most));
  while (some.size() < size) some.insert(random.below(static_cast<std::uint32_t>(count)));
  return {some.begin(), some.end()};
}

TEST(Blame, OneLookIsEnoughWhereNothingCostsMore) {
  const Found found = blamed(first_groups(8), {});
  EXPECT_FALSE(found.least);
  EXPECT_EQ(found.looks, 1);
}

TEST(Blame, FindsThePairAmongSixteen) {
  const Found found = blamed(first_groups(16), {{3, 11}});
  EXPECT_EQ(found.least, (Members{3, 11}));
  EXPECT_LE(found.looks, 11);
  // Who missed its objective is one of them: half the way.
  const Found hinted = blamed(first_groups(16), {{3, 11}}, 11);
  EXPECT_EQ(hinted.least, (Members{3, 11}));
  EXPECT_LT(hinted.looks, found.looks);
}

// What is found cannot do without any of its groups, and takes few looks.
TEST(Blame, IsOnFewGroupsOfWhichEachIsNeeded) {
  for (std::uint32_t n = 0; n < 300; ++n) {
    RandomStream random(11, n, 0, Purpose::Test);
    const std::size_t count = 2 + random.below(30);
    const std::size_t most = std::min<std::size_t>(count, 4);
    Quarrels quarrels{some_of(random, count, most)};
    if (random.below(2) == 0) quarrels.push_back(some_of(random, count, most));
    const Found found = blamed(first_groups(count), quarrels);
    ASSERT_TRUE(found.least) << n;
    EXPECT_TRUE(cost_more(*found.least, quarrels)) << n;
    for (const std::size_t g : *found.least) {
      Members rest = *found.least;
      std::erase(rest, g);
      EXPECT_FALSE(cost_more(rest, quarrels)) << n;
    }
    const double each = std::log2(static_cast<double>(count)) + 3;
    EXPECT_LE(found.looks, 1 + each * static_cast<double>(found.least->size() + 1)) << n;
  }
}

}  // namespace
}  // namespace slicewise::sim
