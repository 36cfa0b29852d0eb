#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "pool_bound.hpp"
#include "pool_cover.hpp"

namespace slicewise::sim {
namespace {

// Items looked at for all pools, of many groups, and once more to prove what is known in the end.
// They count work, not time, so that the same input gives the same bound.
constexpr std::int64_t kMostWork = 10'000'000'000;
constexpr std::int64_t kMostWorkOfMany = 6'000'000'000;
constexpr std::int64_t kWorkToProve = 6'000'000'000;
constexpr int kMostRounds = 400;
// The program is solved where what is known of its optimum from both sides lies so close together;
// of many groups, where rounds take long, before, and where so many rounds gain no more than this
// and find fewer pools than there are groups.
constexpr double kClose = 1e-6;
constexpr double kCloseOfMany = 0.01;
constexpr int kMostRoundsOfMany = 60;
constexpr std::size_t kRoundsToGain = 5;
constexpr double kLeastGainOfRounds = 0.002;

// The cheapest pool that each group could have to itself.
std::vector<double> cost_alone(std::size_t groups, const std::vector<PoolFamily>& families) {
  std::vector<double> costs(groups, std::numeric_limits<double>::infinity());
  for (const PoolFamily& family : families) {
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::size_t n = 0; n < family.monthly.size() && family.monthly[n] < costs[g]; ++n) {
        const int nodes = family.least_nodes + static_cast<int>(n);
        const bool fits = std::ranges::all_of(family.rows, [&](const auto& row) {
          return row.takes[g] <= (row.per_node * nodes + row.however_many) * (1 + 1e-9);
        });
        if (fits) costs[g] = family.monthly[n];
      }
    }
  }
  return costs;
}

// What groups are worth at the least together, that are worth so much to the linear program, if no
// pool costs less than its groups are worth: each is worth less by the part by which the worst pool
// does (Farley, Operations Research 38(5), 1990).
std::vector<double> scaled_down(std::vector<double> worth, const PoolPricing::Offers& offers) {
  for (double& each : worth) each /= offers.dearest;
  return worth;
}

}  // namespace

PoolProgram::PoolProgram(const std::vector<PoolFamily>& families, std::vector<double> least)
    : pricing_(families), alone_(cost_alone(least.size(), families)), worth_(std::move(least)) {
  pricing_.work_on(worth_.size() > kManyGroups ? kMostWorkOfMany : kMostWork);
}

void PoolProgram::learn(std::vector<PoolFloor> floors, const std::vector<double>& alone) {
  floors_ = std::move(floors);
  pricing_.set_floors(floors_);
  for (std::size_t g = 0; g < alone_.size(); ++g) alone_[g] = std::max(alone_[g], alone[g]);
  std::erase_if(pools_, [&](const auto& pool) { return is_dearer(pool); });
}

bool PoolProgram::is_dearer(const PoolPricing::Offer& pool) const {
  const GroupSet groups = set_of(pool.members);
  return std::ranges::any_of(floors_, [&](const PoolFloor& floor) {
    return floor.monthly > pool.monthly * kWorthMore && (floor.groups & ~groups).none();
  });
}

// false: none is new. Those that are worth little more than they cost wait for another round.
bool PoolProgram::add(PoolPricing::Offers offers, PoolCover& cover) {
  const std::size_t most = 4 * worth_.size();
  std::size_t added = 0;
  for (PoolPricing::Offer& pool : offers.pools) {
    if (added == most) break;
    if (!cover.add(pool.members, pool.monthly)) continue;
    ++added;
    pools_.push_back(std::move(pool));
  }
  return added > 0;
}

// As many again as it takes, of those that it might as well: to solve it takes as long as to
// simulate both.
void PoolProgram::take_the_next_best(const std::vector<double>& worth) {
  constexpr double kAsWell = 0.998;
  std::vector<PoolPricing::Offer> next;
  for (PoolPricing::Offer pool : pools_) {
    pool.worth = 0;
    for (const std::size_t g : pool.members) pool.worth += worth[g];
    const bool is_taken = std::ranges::any_of(
        taken_, [&](const auto& other) { return other.members == pool.members; });
    if (pool.worth > kAsWell * pool.monthly && !is_taken) next.push_back(std::move(pool));
  }
  std::ranges::stable_sort(next, std::greater<>(),
                           [](const auto& pool) { return pool.worth / pool.monthly; });
  if (next.size() > taken_.size()) next.resize(taken_.size());
  std::ranges::move(next, std::back_inserter(taken_));
}

// Pools are sought by what groups are worth half way between the best bound and what the known
// pools say, which leaps about (Ben-Ameur and Neto, "Acceleration of cutting-plane and column
// generation algorithms", Networks 49(1), 2007).
const std::vector<double>& PoolProgram::solve() {
  PoolCover cover(alone_);
  for (const auto& pool : pools_) cover.add(pool.members, pool.monthly);
  const bool many = alone_.size() > kManyGroups;
  const double close = many ? kCloseOfMany : kClose;
  const int most_rounds = many ? kMostRoundsOfMany : kMostRounds;
  struct Round {
    double cost = 0;
    std::size_t pools = 0;  // that were known
  };
  std::vector<Round> rounds;
  std::vector<double> inside = worth_;
  bool stalled = false;
  for (int round = 0; round < most_rounds && !pricing_.is_tired(); ++round) {
    std::vector<double> worth = cover.worth();
    const double cost = sum_of(worth);
    if (cost <= sum_of(worth_) * (1 + close)) break;
    rounds.push_back({cost, pools_.size()});
    if (many && rounds.size() > kRoundsToGain) {
      const Round& before = rounds[rounds.size() - 1 - kRoundsToGain];
      const bool finds_few = pools_.size() - before.pools < alone_.size();
      if (finds_few && before.cost < cost * (1 + kLeastGainOfRounds)) break;
    }
    for (std::size_t g = 0; g < worth.size() && !stalled; ++g) {
      worth[g] = (worth[g] + inside[g]) / 2;
    }
    PoolPricing::Offers offers = pricing_.offers(worth);
    std::vector<double> at_least = scaled_down(std::move(worth), offers);
    const bool is_better = sum_of(at_least) > sum_of(inside) * (1 + kClose / 10);
    if (sum_of(at_least) > sum_of(worth_)) worth_ = at_least;
    const bool is_new = add(std::move(offers), cover);
    if (!is_better && !is_new && stalled) break;
    stalled = !is_better && !is_new;
    // A bound from elsewhere may be more than the program's.
    if (is_better || (stalled && sum_of(inside) <= sum_of(at_least))) inside = std::move(at_least);
  }
  taken_.clear();
  for (auto& pool : cover.taken()) taken_.push_back({std::move(pool.members), pool.cost, 0});
  if (many) take_the_next_best(cover.worth());
  return worth_;
}

const std::vector<double>& PoolProgram::prove() {
  if (alone_.size() <= kManyGroups) return worth_;
  pricing_.work_on(kWorkToProve);
  PoolCover cover(alone_);
  for (const auto& pool : pools_) cover.add(pool.members, pool.monthly);
  while (!pricing_.is_tired()) {
    std::vector<double> worth = cover.worth();
    if (sum_of(worth) <= sum_of(worth_) * (1 + kClose)) break;
    for (std::size_t g = 0; g < worth.size(); ++g) worth[g] = (worth[g] + worth_[g]) / 2;
    PoolPricing::Offers offers = pricing_.offers(worth, PoolPricing::Effort::Proof);
    std::vector<double> at_least = scaled_down(std::move(worth), offers);
    const bool is_better = sum_of(at_least) > sum_of(worth_) * (1 + kClose);
    if (is_better) worth_ = std::move(at_least);
    if (!add(std::move(offers), cover) && !is_better) break;
  }
  return worth_;
}

std::optional<std::vector<double>> least_worth(const std::vector<PoolFamily>& families,
                                               std::vector<double> least) {
  const std::vector<double> alone = cost_alone(least.size(), families);
  if (!std::ranges::all_of(alone, [](double cost) { return std::isfinite(cost); })) {
    return std::nullopt;
  }
  PoolProgram program(families, std::move(least));
  program.solve();
  return program.prove();
}

}  // namespace slicewise::sim
