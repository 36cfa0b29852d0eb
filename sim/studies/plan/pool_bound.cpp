#include "pool_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
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
  Packing(const PoolFamily& family, const std::vector<double>& worth,
          const std::vector<PoolFloor>& floors, std::int64_t& work)
      : family_(family), worth_(worth), floors_(floors), work_(work) {
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

  // Of the pools with the n-th of the family's numbers of nodes, of what is worth more than that
  // costs.
  Best best(std::size_t n) {
    const int nodes = family_.least_nodes + static_cast<int>(n);
    const double more_than = family_.monthly[n] * kWorthMore;
    best_ = {more_than, more_than, {}};
    left_.clear();
    for (const auto& row : family_.rows) {
      // Sums of what was divided are off by a little.
      left_.push_back((row.per_node * nodes + row.however_many) * (1 + 1e-9));
    }
    if (std::ranges::any_of(left_, [](double left) { return left < 0; })) return best_;
    dearer_.clear();
    for (const PoolFloor& floor : floors_) {
      if (floor.monthly > more_than) dearer_.push_back(floor.groups);
    }
    further_needed_ = family_.further_nodes.empty() ? 0 : nodes - 1;
    further_left_ = 0;
    for (const std::size_t g : items_) further_left_ += further_nodes(g);
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

  int further_nodes(std::size_t g) const {
    return family_.further_nodes.empty() ? 0 : family_.further_nodes[g];
  }

  bool fits(std::size_t g) const {
    for (std::size_t k = 0; k < left_.size(); ++k) {
      if (family_.rows[k].takes[g] > left_[k]) return false;
    }
    const GroupSet set = set_of(chosen_) | GroupSet{1} << g;
    work_ += static_cast<std::int64_t>(dearer_.size());
    return std::ranges::none_of(dearer_, [&](GroupSet dearer) { return (dearer & ~set) == 0; });
  }

  void branch(std::size_t next, double worth) {
    if (further_left_ < further_needed_) return;
    if (worth > best_.worth && further_needed_ <= 0) {
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
    further_left_ -= further_nodes(g);
    if (fits(g)) {
      const std::vector<double> before = left_;
      for (std::size_t k = 0; k < left_.size(); ++k) left_[k] -= family_.rows[k].takes[g];
      further_needed_ -= further_nodes(g);
      chosen_.push_back(g);
      branch(next + 1, worth + worth_[g]);
      chosen_.pop_back();
      further_needed_ += further_nodes(g);
      left_ = before;
    }
    branch(next + 1, worth);
    further_left_ += further_nodes(g);
    decided_[g] = 0;
  }

  const PoolFamily& family_;
  const std::vector<double>& worth_;
  const std::vector<PoolFloor>& floors_;
  std::int64_t& work_;
  std::vector<std::size_t> items_;
  double total_ = 0;
  std::vector<std::vector<std::size_t>> orders_;  // of items, by row: what is worth most for it
  std::vector<std::size_t> order_;                // that branches are made in
  std::vector<char> decided_;                     // by group
  std::vector<double> left_;                      // by row
  std::vector<GroupSet> dearer_;                  // pools with all of these cost more
  int further_needed_ = 0;                        // nodes, beside those of the chosen
  int further_left_ = 0;                          // nodes of the undecided
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

GroupSet set_of(const std::vector<std::size_t>& groups) {
  GroupSet set = 0;
  for (const std::size_t g : groups) set |= GroupSet{1} << g;
  return set;
}

double sum_of(const std::vector<double>& worth) {
  return std::accumulate(worth.begin(), worth.end(), 0.0);
}

std::vector<double> scaled_down(std::vector<double> worth, const PoolPricing::Offers& offers) {
  for (double& each : worth) each /= offers.dearest;
  return worth;
}

bool PoolPricing::is_tired() const { return work_ >= kMostWork; }

PoolPricing::Offers PoolPricing::offers(const std::vector<double>& worth) {
  Offers offers;
  std::map<std::vector<std::size_t>, Offer> found;
  for (const PoolFamily& family : families_) {
    Packing packing(family, worth, floors_, work_);
    for (std::size_t n = 0; n < family.monthly.size(); ++n) {
      const double monthly = family.monthly[n];
      if (packing.total() <= monthly * kWorthMore) break;
      Packing::Best best = packing.best(n);
      offers.dearest = std::max(offers.dearest, best.at_most / monthly);
      if (best.members.empty()) continue;
      std::ranges::sort(best.members);
      Offer& offer = found[best.members];
      if (!offer.members.empty() && offer.monthly <= monthly) continue;
      offer = {best.members, monthly, best.worth};
    }
  }
  for (auto& [members, offer] : found) offers.pools.push_back(std::move(offer));
  std::ranges::stable_sort(offers.pools, std::greater<>(),
                           [](const Offer& offer) { return offer.worth / offer.monthly; });
  return offers;
}

PoolProgram::PoolProgram(std::size_t groups, const std::vector<PoolFamily>& families)
    : pricing_(families), alone_(cost_alone(groups, families)), worth_(groups, 0.0) {}

void PoolProgram::learn(std::vector<PoolFloor> floors, const std::vector<double>& alone) {
  floors_ = std::move(floors);
  pricing_.set_floors(floors_);
  for (std::size_t g = 0; g < alone_.size(); ++g) alone_[g] = std::max(alone_[g], alone[g]);
  std::erase_if(pools_, [&](const auto& pool) { return is_dearer(pool); });
}

bool PoolProgram::is_dearer(const PoolPricing::Offer& pool) const {
  const GroupSet groups = set_of(pool.members);
  return std::ranges::any_of(floors_, [&](const PoolFloor& floor) {
    return (floor.groups & ~groups) == 0 && floor.monthly > pool.monthly * kWorthMore;
  });
}

const std::vector<double>& PoolProgram::solve() {
  PoolCover cover(alone_);
  for (const auto& pool : pools_) cover.add(pool.members, pool.monthly);
  for (int round = 0; round < kMostRounds && !pricing_.is_tired(); ++round) {
    const std::vector<double> worth = cover.worth();
    PoolPricing::Offers offers = pricing_.offers(worth);
    std::vector<double> at_least = scaled_down(worth, offers);
    if (sum_of(at_least) > sum_of(worth_)) worth_ = std::move(at_least);
    bool is_new = false;
    for (PoolPricing::Offer& pool : offers.pools) {
      if (!cover.add(pool.members, pool.monthly)) continue;
      is_new = true;
      pools_.push_back(std::move(pool));
    }
    if (!is_new) break;
  }
  taken_.clear();
  for (auto& pool : cover.taken()) taken_.push_back({std::move(pool.members), pool.cost, 0});
  return worth_;
}

std::optional<std::vector<double>> least_worth(std::size_t groups,
                                               const std::vector<PoolFamily>& families) {
  const std::vector<double> alone = cost_alone(groups, families);
  if (!std::ranges::all_of(alone, [](double cost) { return std::isfinite(cost); })) {
    return std::nullopt;
  }
  return PoolProgram(groups, families).solve();
}

}  // namespace slicewise::sim
