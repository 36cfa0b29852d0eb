#include "pool_columns.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "pool_cover.hpp"

namespace slicewise::sim {
namespace {

// Less is rounding.
constexpr double kRounding = 0.01;
// Choices that are looked at. It counts work, not time, so that the same input gives the same one.
constexpr int kMostChoices = 200'000;
// ... for one of the parts of a choice that are made anew, of so many pools each.
constexpr int kMostChoicesOfPart = 2'000;
constexpr std::size_t kPart = 8;
constexpr int kMostParts = 400;
// Of the pools that the linear program takes those are chosen that it takes in whole; else the
// first, or one of so many.
constexpr double kAsGoodAsWhole = 0.99;
constexpr std::size_t kOneOf = 64;
constexpr double kMoreThanAny = 1e12;

double worth_of(const std::vector<double>& worth, const Members& members) {
  double sum = 0;
  for (const std::size_t g : members) sum += worth[g];
  return sum;
}

// The first group that has no pool yet gets each in turn, those first that cost the least beyond
// what their groups are worth: what is left costs no less than its groups are worth.
class Choice {
 public:
  Choice(const std::vector<double>& worth, const std::vector<KnownPool>& pools, double most)
      : worth_(worth), with_(worth.size()), has_pool_(worth.size()), best_cost_(most) {
    std::vector<std::size_t> order(pools.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t p) {
      return pools[p].cost - worth_of(worth, pools[p].members);
    });
    for (const std::size_t p : order) {
      cost_[pools[p].members] = pools[p].cost;
      for (const std::size_t g : pools[p].members) with_[g].push_back(&pools[p]);
    }
  }

  // `known`: a choice that costs no more than `most`; may be empty.
  std::vector<Members> best(const std::vector<Members>& known) {
    branch(0, 0, std::accumulate(worth_.begin(), worth_.end(), 0.0));
    if (left_ < 0) dive();
    if (left_ < 0) make_parts_anew(best_.empty() ? known : best_);
    std::ranges::sort(best_);
    return std::move(best_);
  }

 private:
  // Of the pools in the linear program those are chosen that it takes most of, and it is solved
  // anew for the groups that are left.
  void dive() {
    std::ranges::fill(has_pool_, 0);
    chosen_.clear();
    double cost = 0;
    while (cost < std::min(best_cost_ - kRounding, kMoreThanAny)) {
      const std::vector<PoolCover::Column> taken = taken_of_the_rest();
      const auto as_well = taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / kOneOf);
      if (taken.empty()) {
        best_cost_ = cost;
        best_ = chosen_;
        return;
      }
      for (auto pool = taken.begin(); pool != taken.end(); ++pool) {
        if (pool > as_well && pool->amount < kAsGoodAsWhole) break;
        const bool is_free =
            std::ranges::all_of(pool->members, [&](std::size_t g) { return has_pool_[g] == 0; });
        if (!is_free) continue;
        for (const std::size_t g : pool->members) has_pool_[g] = 1;
        chosen_.push_back(pool->members);
        cost += pool->cost;
      }
    }
  }

  // What the linear program takes for the groups that have no pool yet, most of it first.
  std::vector<PoolCover::Column> taken_of_the_rest() const {
    Members rest;
    std::vector<std::size_t> place(worth_.size());  // in the rest
    std::vector<double> alone;
    for (std::size_t g = 0; g < worth_.size(); ++g) {
      if (has_pool_[g] != 0) continue;
      place[g] = rest.size();
      rest.push_back(g);
      alone.push_back(cost_alone(g));
    }
    PoolCover cover(alone);
    for (const auto& [members, cost] : cost_) {
      const bool is_free =
          std::ranges::all_of(members, [&](std::size_t g) { return has_pool_[g] == 0; });
      if (!is_free) continue;
      Members places;
      for (const std::size_t g : members) places.push_back(place[g]);
      cover.add(std::move(places), cost);
    }
    cover.worth();
    std::vector<PoolCover::Column> taken = cover.taken();
    for (PoolCover::Column& pool : taken) {
      for (std::size_t& g : pool.members) g = rest[g];
    }
    std::ranges::stable_sort(taken, std::greater<>(), &PoolCover::Column::amount);
    return taken;
  }

  // More than any choice where it has no pool of its own.
  double cost_alone(std::size_t g) const {
    const auto alone = cost_.find({g});
    return alone == cost_.end() ? kMoreThanAny : alone->second;
  }

  // Where there are too many choices to look at: those that have all but a few pools in common.
  void make_parts_anew(std::vector<Members> all) {
    const auto is_known = [&](const Members& pool) { return cost_.contains(pool); };
    if (!std::ranges::all_of(all, is_known)) return;
    std::mt19937_64 dice;
    for (int n = 0; n < kMostParts && all.size() > kPart; ++n) {
      for (std::size_t p = 0; p < kPart; ++p) {
        std::swap(all[p], all[p + static_cast<std::size_t>(dice() % (all.size() - p))]);
      }
      has_pool_.assign(worth_.size(), 1);
      double worth = 0;
      for (std::size_t p = 0; p < kPart; ++p) {
        for (const std::size_t g : all[p]) has_pool_[g] = 0;
        worth += worth_of(worth_, all[p]);
      }
      chosen_.assign(all.begin() + kPart, all.end());
      double cost = 0;
      for (const Members& pool : chosen_) cost += cost_.at(pool);
      left_ = kMostChoicesOfPart;
      const double before = best_cost_;
      branch(0, cost, worth);
      if (best_cost_ < before) all = best_;
    }
  }

  void branch(std::size_t from, double cost, double left) {
    while (from < has_pool_.size() && has_pool_[from] != 0) ++from;
    if (from == has_pool_.size()) {
      best_cost_ = cost;
      best_ = chosen_;
      return;
    }
    for (const KnownPool* pool : with_[from]) {
      const bool is_free =
          std::ranges::all_of(pool->members, [&](std::size_t g) { return has_pool_[g] == 0; });
      if (!is_free) continue;
      const double rest = left - worth_of(worth_, pool->members);
      if (cost + pool->cost + rest >= best_cost_ - kRounding) continue;
      if (--left_ < 0) return;
      for (const std::size_t g : pool->members) has_pool_[g] = 1;
      chosen_.push_back(pool->members);
      branch(from + 1, cost + pool->cost, rest);
      chosen_.pop_back();
      for (const std::size_t g : pool->members) has_pool_[g] = 0;
    }
  }

  const std::vector<double>& worth_;
  std::vector<std::vector<const KnownPool*>> with_;  // by group
  std::map<Members, double> cost_;
  std::vector<char> has_pool_;  // by group
  std::vector<Members> chosen_;
  std::vector<Members> best_;
  double best_cost_;
  int left_ = kMostChoices;  // that may be looked at
};

}  // namespace

std::vector<double> worth_of_groups(const std::vector<double>& alone,
                                    const std::vector<KnownPool>& pools) {
  PoolCover cover(alone);
  for (const KnownPool& pool : pools) cover.add(pool.members, pool.cost);
  return cover.worth();
}

std::vector<Members> cheapest_choice(const std::vector<double>& worth,
                                     const std::vector<KnownPool>& pools,
                                     const std::vector<Members>& known, double most) {
  return Choice(worth, pools, most).best(known);
}

std::vector<PoolFloor> floors_of(const std::vector<KnownPool>& stand,
                                 const std::vector<KnownPool>& searched) {
  std::vector<PoolFloor> floors;
  for (const auto* pools : {&stand, &searched}) {
    for (const KnownPool& pool : *pools) floors.push_back({set_of(pool.members), pool.cost});
  }
  for (PoolFloor& floor : floors) {
    for (std::size_t p = 0; p < stand.size(); ++p) {
      const bool has_all = (floor.groups & ~floors[p].groups).none();
      if (has_all) floor.monthly = std::min(floor.monthly, stand[p].cost);
    }
  }
  return floors;
}

}  // namespace slicewise::sim
