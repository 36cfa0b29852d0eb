#include "pool_columns.hpp"

#include <algorithm>
#include <map>
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

Members with(Members members, std::size_t group) {
  members.insert(std::ranges::upper_bound(members, group), group);
  return members;
}

// What pools should save, by the model, against what their groups are worth.
class Proposals {
 public:
  Proposals(const FleetModel& model, const std::vector<double>& worth)
      : model_(model), worth_(worth) {}

  double saving(const Members& members) {
    const auto [known, is_new] = savings_.try_emplace(members, 0.0);
    if (!is_new) return known->second;
    const auto price = model_.price(model_.room(members));
    return known->second = price ? worth_of(worth_, members) - *price : kNone;
  }

  // From the pool on, the group that helps most joins, again and again.
  void grow(Members members) {
    constexpr int kMostJoin = 12;
    for (int n = 0; n < kMostJoin; ++n) {
      Members best;
      double most = kNone;
      for (std::size_t g = 0; g < worth_.size(); ++g) {
        if (worth_[g] <= 0 || std::ranges::binary_search(members, g)) continue;
        Members more = with(members, g);
        const double saves = saving(more);
        if (saves <= most) continue;
        most = saves;
        best = std::move(more);
      }
      if (best.empty()) return;
      members = std::move(best);
    }
  }

  void look_around(const Members& members) {
    for (const std::size_t g : members) {
      Members rest = members;
      std::erase(rest, g);
      if (rest.empty()) continue;
      saving(rest);
      for (std::size_t h = 0; h < worth_.size(); ++h) {
        if (!std::ranges::binary_search(members, h)) saving(with(rest, h));
      }
    }
    for (std::size_t h = 0; h < worth_.size(); ++h) {
      if (!std::ranges::binary_search(members, h)) saving(with(members, h));
    }
  }

  std::vector<Members> best(const std::function<bool(const Members&)>& is_known, std::size_t most) {
    std::vector<std::pair<double, const Members*>> found;
    for (const auto& [members, saves] : savings_) {
      if (saves > kRounding && !is_known(members)) found.emplace_back(-saves, &members);
    }
    std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
    // What the model thinks too well of in one group is soon known: not all are about the same.
    constexpr int kMostOfOne = 3;
    std::vector<int> times(worth_.size(), 0);
    std::vector<Members> pools;
    for (const auto& [saves, members] : found) {
      if (pools.size() == most) break;
      const bool is_new =
          std::ranges::any_of(*members, [&](std::size_t g) { return times[g] < kMostOfOne; });
      if (!is_new) continue;
      for (const std::size_t g : *members) ++times[g];
      pools.push_back(*members);
    }
    return pools;
  }

 private:
  static constexpr double kNone = -1e18;

  const FleetModel& model_;
  const std::vector<double>& worth_;
  std::map<Members, double> savings_;
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

std::vector<Members> promising_pools(const FleetModel& model, const std::vector<double>& worth,
                                     const std::vector<KnownPool>& pools,
                                     const std::function<bool(const Members&)>& is_known,
                                     std::size_t most) {
  Proposals proposals(model, worth);
  for (std::size_t g = 0; g < worth.size(); ++g) proposals.grow({g});
  for (const KnownPool& pool : pools) {
    const bool is_chosen = pool.cost - worth_of(worth, pool.members) < kRounding;
    if (is_chosen) proposals.look_around(pool.members);
  }
  return proposals.best(is_known, most);
}

}  // namespace slicewise::sim
