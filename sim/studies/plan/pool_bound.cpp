#include "pool_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "pool_cover.hpp"

namespace slicewise::sim {
namespace {

// A pool may be worth so much more than it costs: less is rounding.
constexpr double kWorthMore = 1 + 1e-6;
// Steps of branching for one pool, and items looked at for all of them. Both count work, not time,
// so that the same input gives the same bound.
constexpr int kMostBranches = 4'000;
constexpr std::int64_t kMostWork = 400'000'000;
constexpr int kMostRounds = 400;

// The groups of a family that are worth the most together on so many nodes.
class Packing {
 public:
  Packing(const PoolFamily& family, const std::vector<double>& worth, std::int64_t& work)
      : family_(family), worth_(worth), work_(work) {
    for (std::size_t g = 0; g < worth.size(); ++g) {
      const bool lives = std::ranges::all_of(
          family.rows, [&](const auto& row) { return std::isfinite(row.takes[g]); });
      if (lives && worth[g] > 0) items_.push_back(g);
    }
    for (const std::size_t g : items_) total_ += worth[g];
    for (const PoolFamily::Row& row : family.rows) {
      std::vector<std::size_t>& order = orders_.emplace_back(items_);
      // a/b > c/d without divisions by what is 0.
      std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return worth[a] * row.takes[b] > worth[b] * row.takes[a];
      });
    }
  }

  double total() const { return total_; }

  struct Best {
    double at_most = 0;  // nothing is worth more
    double worth = 0;    // of `members`
    std::vector<std::size_t> members;
  };

  // Of what is worth more than `more_than`.
  Best best(int nodes, double more_than) {
    best_ = {more_than, more_than, {}};
    left_.clear();
    for (const auto& row : family_.rows) {
      // Sums of what was divided are off by a little.
      left_.push_back((row.per_node * nodes + row.however_many) * (1 + 1e-9));
    }
    if (std::ranges::any_of(left_, [](double left) { return left < 0; })) return best_;
    decided_.assign(worth_.size(), 0);
    chosen_.clear();
    branches_ = 0;
    const auto [bound, row] = bound_of_rest();
    if (bound <= more_than) return best_;
    order_ = orders_[row];
    branch(0, 0);
    best_.at_most = std::max(best_.at_most, best_.worth);
    return best_;
  }

 private:
  // What the undecided are worth at the most where parts of one may be taken, by the row that says
  // least.
  std::pair<double, std::size_t> bound_of_rest() {
    double least = std::numeric_limits<double>::infinity();
    std::size_t at = 0;
    for (std::size_t k = 0; k < orders_.size(); ++k) {
      double left = left_[k];
      double sum = 0;
      for (const std::size_t g : orders_[k]) {
        if (decided_[g] != 0) continue;
        const double takes = family_.rows[k].takes[g];
        if (takes > left) {
          sum += worth_[g] * left / takes;
          break;
        }
        left -= takes;
        sum += worth_[g];
      }
      if (sum < least) {
        least = sum;
        at = k;
      }
    }
    work_ += static_cast<std::int64_t>(orders_.size() * items_.size());
    return {least, at};
  }

  void branch(std::size_t next, double worth) {
    if (worth > best_.worth) {
      best_.worth = worth;
      best_.members = chosen_;
    }
    const double bound = worth + bound_of_rest().first;
    if (bound <= best_.worth * (1 + 1e-9)) {
      best_.at_most = std::max(best_.at_most, bound);
      return;
    }
    if (++branches_ > kMostBranches) {
      best_.at_most = std::max(best_.at_most, bound);
      return;
    }
    if (next == order_.size()) return;
    const std::size_t g = order_[next];
    decided_[g] = 1;
    bool fits = true;
    for (std::size_t k = 0; k < left_.size(); ++k) {
      fits = fits && family_.rows[k].takes[g] <= left_[k];
    }
    if (fits) {
      const std::vector<double> before = left_;
      for (std::size_t k = 0; k < left_.size(); ++k) left_[k] -= family_.rows[k].takes[g];
      chosen_.push_back(g);
      branch(next + 1, worth + worth_[g]);
      chosen_.pop_back();
      left_ = before;
    }
    branch(next + 1, worth);
    decided_[g] = 0;
  }

  const PoolFamily& family_;
  const std::vector<double>& worth_;
  std::int64_t& work_;
  std::vector<std::size_t> items_;
  double total_ = 0;
  std::vector<std::vector<std::size_t>> orders_;  // of items, by row: what is worth most for it
  std::vector<std::size_t> order_;                // that branches are made in
  std::vector<char> decided_;                     // by group
  std::vector<double> left_;                      // by row
  std::vector<std::size_t> chosen_;
  int branches_ = 0;
  Best best_;
};

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

}  // namespace

std::optional<double> least_cost_of_pools(std::size_t groups,
                                          const std::vector<PoolFamily>& families) {
  const std::vector<double> alone = cost_alone(groups, families);
  if (!std::ranges::all_of(alone, [](double cost) { return std::isfinite(cost); })) {
    return std::nullopt;
  }
  PoolCover cover(alone);
  double best = 0;
  std::int64_t work = 0;
  for (int round = 0; round < kMostRounds && work < kMostWork; ++round) {
    const std::vector<double> worth = cover.worth();
    // Any worth by which no pool holds more than it costs is a bound: scaled down by the worst
    // pool, this one is (Farley, Operations Research 38(5), 1990).
    double dearest = 1;
    bool is_new = false;
    for (const PoolFamily& family : families) {
      Packing packing(family, worth, work);
      for (std::size_t n = 0; n < family.monthly.size(); ++n) {
        const double cost = family.monthly[n];
        if (packing.total() <= cost * kWorthMore) break;
        const auto found =
            packing.best(family.least_nodes + static_cast<int>(n), cost * kWorthMore);
        dearest = std::max(dearest, found.at_most / cost);
        if (!found.members.empty()) is_new = cover.add(found.members, cost) || is_new;
      }
    }
    best = std::max(best, std::accumulate(worth.begin(), worth.end(), 0.0) / dearest);
    if (!is_new) break;
  }
  return best;
}

}  // namespace slicewise::sim
