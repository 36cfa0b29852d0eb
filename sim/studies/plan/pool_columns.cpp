#include "pool_columns.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "pool_cover.hpp"

namespace slicewise::sim {
namespace {

// Less is rounding.
constexpr double kRounding = 0.01;
// Choices that are looked at. It counts work, not time, so that the same input gives the same one.
constexpr int kMostChoices = 200'000;

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
      for (const std::size_t g : pools[p].members) with_[g].push_back(&pools[p]);
    }
  }

  std::vector<Members> best() {
    branch(0, 0, std::accumulate(worth_.begin(), worth_.end(), 0.0));
    std::ranges::sort(best_);
    return std::move(best_);
  }

 private:
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
      if (++branches_ > kMostChoices) return;
      for (const std::size_t g : pool->members) has_pool_[g] = 1;
      chosen_.push_back(pool->members);
      branch(from + 1, cost + pool->cost, rest);
      chosen_.pop_back();
      for (const std::size_t g : pool->members) has_pool_[g] = 0;
    }
  }

  const std::vector<double>& worth_;
  std::vector<std::vector<const KnownPool*>> with_;  // by group
  std::vector<char> has_pool_;                       // by group
  std::vector<Members> chosen_;
  std::vector<Members> best_;
  double best_cost_;
  int branches_ = 0;
};

}  // namespace

std::vector<double> worth_of_groups(const std::vector<double>& alone,
                                    const std::vector<KnownPool>& pools) {
  PoolCover cover(alone);
  for (const KnownPool& pool : pools) cover.add(pool.members, pool.cost);
  return cover.worth();
}

std::vector<Members> cheapest_choice(const std::vector<double>& worth,
                                     const std::vector<KnownPool>& pools, double most) {
  return Choice(worth, pools, most).best();
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
