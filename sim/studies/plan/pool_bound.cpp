#include "pool_bound.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace slicewise::sim {
namespace {

// Steps of branching for one pool; they count work, not time, so that the same input gives the same
// bound. What is known in the end of many groups is proved by more.
constexpr int kMostBranches = 4'000;
constexpr int kBranchesToProve = 400'000;
// Pools of many groups that are begun with each of them, in a round.
constexpr std::size_t kBegunWithEach = 10'000;
// No pool of many groups is sought that is worth less than so much more than the best one: most
// steps of branching prove no more.
constexpr double kNoSlack = 1e-9;
constexpr double kSlackOfMany = 0.002;

// Groups that floors keep from a pool beside those that are chosen.
class Blocked {
 public:
  Blocked(const KnownFloors& floors, std::size_t groups)
      : floors_(floors), missing_(floors.sizes), is_chosen_(groups) {}

  // The pool costs so much, and nobody is chosen.
  void begin(double monthly) {
    monthly_ = monthly;
    by_.assign(is_chosen_.size(), 0);
    for (std::size_t floor = 0; floor < missing_.size(); ++floor) count_last_of(floor, 1);
  }

  bool has(std::size_t g) const { return by_[g] > 0; }

  // Returns how many floors were looked at.
  std::int64_t choose(std::size_t g) {
    is_chosen_[g] = 1;
    for (const std::size_t floor : floors_.of_group[g]) {
      --missing_[floor];
      count_last_of(floor, 1);
    }
    return static_cast<std::int64_t>(floors_.of_group[g].size());
  }

  // REQUIRES: the last that was chosen.
  void give_back(std::size_t g) {
    for (const std::size_t floor : floors_.of_group[g]) {
      count_last_of(floor, -1);
      ++missing_[floor];
    }
    is_chosen_[g] = 0;
  }

 private:
  // With the only group of the floor that is not chosen the pool would cost more.
  void count_last_of(std::size_t floor, int times) {
    if (missing_[floor] != 1 || floors_.monthly[floor] <= monthly_ * kWorthMore) return;
    for (const std::size_t g : floors_.groups[floor]) {
      if (is_chosen_[g] == 0) by_[g] += times;
    }
  }

  const KnownFloors& floors_;
  double monthly_ = 0;
  std::vector<int> missing_;     // by floor: groups that are not chosen
  std::vector<char> is_chosen_;  // by group
  std::vector<int> by_;          // by group: floors
};

// The groups of a family that are worth the most together on so many nodes.
class Packing {
 public:
  Packing(const PoolFamily& family, const std::vector<double>& worth, const KnownFloors& floors,
          std::int64_t& work)
      : family_(family), worth_(worth), work_(work), blocked_(floors, worth.size()) {
    for (std::size_t g = 0; g < worth.size(); ++g) {
      const bool lives = std::ranges::all_of(
          family.rows, [&](const auto& row) { return std::isfinite(row.takes[g]); });
      if (lives && worth[g] > 0) items_.push_back(g);
    }
    decided_.assign(worth.size(), 0);
    for (std::size_t g = 0; g < worth.size(); ++g) {
      for (const PoolFamily::Row& row : family.rows) takes_.push_back(row.takes[g]);
    }
    for (const std::size_t g : items_) total_ += worth[g];
    for (const PoolFamily::Row& row : family.rows) {
      std::vector<Item>& order = orders_.emplace_back();
      for (const std::size_t g : items_) order.push_back({g, row.takes[g], worth[g]});
      // a/b > c/d without divisions by what is 0.
      std::ranges::stable_sort(order, [](const Item& a, const Item& b) {
        return a.worth * b.takes > b.worth * a.takes;
      });
    }
  }

  double total() const { return total_; }

  struct Best {
    double at_most = 0;  // nothing is worth more
    double worth = 0;    // of `members`
    std::vector<std::size_t> members;
  };

  // Of the pools with the n-th of the family's numbers of nodes one that is easy to find, and what
  // none is worth more than.
  Best glance(std::size_t n) {
    Best best;
    if (!begin(n)) return best;
    best.at_most = bound_of_rest(monthly_ * kWorthMore);
    if (best.at_most <= monthly_ * kWorthMore) return best;
    Best found = filled_up(std::nullopt);
    found.at_most = best.at_most;
    return found;
  }

  // The same with each of the groups: of many the best alone would make for many rounds.
  std::vector<Best> glance_with_each(std::size_t n) {
    std::vector<Best> all;
    if (!begin(n)) return all;
    bound_of_rest(monthly_ * kWorthMore);
    for (const std::size_t first : items_) {
      if (decided_[first] == 0) all.push_back(filled_up(first));
    }
    return all;
  }

  // The best of them, of what is worth more than so many dollars.
  Best best(std::size_t n, double more_than, int most_branches) {
    best_ = {more_than, more_than, {}};
    if (!begin(n)) return best_;
    branches_left_ = most_branches;
    if (bound_of_rest(more_than) <= more_than) return best_;
    order_.clear();
    for (const Item& item : orders_[binding_]) order_.push_back(item.group);
    branch(0, 0);
    best_.at_most = std::max(best_.at_most, best_.worth);
    return best_;
  }

 private:
  // An empty pool with the n-th number of nodes; false: there is none.
  bool begin(std::size_t n) {
    const int nodes = family_.least_nodes + static_cast<int>(n);
    monthly_ = family_.monthly[n];
    left_.clear();
    for (const auto& row : family_.rows) {
      // Sums of what was divided are off by a little.
      left_.push_back((row.per_node * nodes + row.however_many) * (1 + 1e-9));
    }
    blocked_.begin(monthly_);
    further_needed_ = family_.further_nodes.empty() ? 0 : nodes - 1;
    further_left_ = 0;
    for (const std::size_t g : items_) {
      decided_[g] = fits(g) ? 0 : 1;
      if (decided_[g] == 0) further_left_ += further_nodes(g);
    }
    return std::ranges::none_of(left_, [](double left) { return left < 0; });
  }

  struct Item {
    std::size_t group = 0;
    double takes = 0;
    double worth = 0;
  };

  // With the first one, what is worth most for what it takes, as long as it fits.
  Best filled_up(std::optional<std::size_t> first) {
    Best best;
    const auto take = [&](std::size_t g) {
      choose(g);
      best.worth += worth_[g];
    };
    if (first) take(*first);
    for (const Item& item : orders_[binding_]) {
      if (item.group == first || decided_[item.group] != 0 || !fits(item.group)) continue;
      take(item.group);
    }
    if (further_needed_ <= 0) best.members = chosen_;
    while (!chosen_.empty()) give_back();
    return best;
  }

  // What the undecided are worth at the most where parts of one may be taken, by the row that says
  // least, or by the first that says no more than what is enough to know. That one is asked first
  // the next time.
  double bound_of_rest(double enough) {
    double least = of_row(binding_);
    for (std::size_t k = 0; k < orders_.size() && least > enough; ++k) {
      const double sum = of_row(k);
      if (sum >= least) continue;
      least = sum;
      binding_ = k;
    }
    return least;
  }

  double of_row(std::size_t k) {
    double left = left_[k];
    double sum = 0;
    const std::vector<Item>& order = orders_[k];
    work_ += static_cast<std::int64_t>(order.size());
    for (const Item& item : order) {
      if (decided_[item.group] != 0) continue;
      if (item.takes > left) return sum + item.worth * left / item.takes;
      left -= item.takes;
      sum += item.worth;
    }
    return sum;
  }

  // What another must be worth, at the least.
  double better() const {
    return best_.worth * (1 + (worth_.size() > kManyGroups ? kSlackOfMany : kNoSlack));
  }

  int further_nodes(std::size_t g) const {
    return family_.further_nodes.empty() ? 0 : family_.further_nodes[g];
  }

  // ... and no pool with it and the chosen is known to cost more.
  bool fits(std::size_t g) const {
    if (blocked_.has(g)) return false;
    const double* takes = &takes_[g * left_.size()];
    return std::equal(left_.begin(), left_.end(), takes, std::greater_equal<>());
  }

  void choose(std::size_t g) {
    left_before_.insert(left_before_.end(), left_.begin(), left_.end());
    for (std::size_t k = 0; k < left_.size(); ++k) left_[k] -= takes_[g * left_.size() + k];
    work_ += blocked_.choose(g);
    further_needed_ -= further_nodes(g);
    chosen_.push_back(g);
  }

  // The last that was chosen.
  void give_back() {
    const std::size_t g = chosen_.back();
    chosen_.pop_back();
    further_needed_ += further_nodes(g);
    blocked_.give_back(g);
    // Not by adding: sums would drift.
    const auto before = left_before_.end() - static_cast<std::ptrdiff_t>(left_.size());
    std::copy(before, left_before_.end(), left_.begin());
    left_before_.erase(before, left_before_.end());
  }

  void branch(std::size_t next, double worth) {
    if (further_left_ < further_needed_) return;
    if (worth > best_.worth && further_needed_ <= 0) {
      best_.worth = worth;
      best_.members = chosen_;
    }
    const double bound = worth + bound_of_rest(better() - worth);
    if (bound <= better()) {
      best_.at_most = std::max(best_.at_most, bound);
      return;
    }
    if (--branches_left_ < 0) {
      best_.at_most = std::max(best_.at_most, bound);
      return;
    }
    while (next < order_.size() && decided_[order_[next]] != 0) ++next;
    if (next == order_.size()) return;
    const std::size_t g = order_[next];
    decide(g);
    choose(g);
    const std::size_t before = without_.size();
    for (std::size_t later = next + 1; later < order_.size(); ++later) {
      const std::size_t other = order_[later];
      if (decided_[other] != 0 || fits(other)) continue;
      decide(other);
      without_.push_back(other);
    }
    branch(next + 1, worth + worth_[g]);
    while (without_.size() > before) {
      undecide(without_.back());
      without_.pop_back();
    }
    give_back();
    branch(next + 1, worth);
    undecide(g);
  }

  void decide(std::size_t g) {
    decided_[g] = 1;
    further_left_ -= further_nodes(g);
  }
  void undecide(std::size_t g) {
    decided_[g] = 0;
    further_left_ += further_nodes(g);
  }

  const PoolFamily& family_;
  const std::vector<double>& worth_;
  std::int64_t& work_;
  std::vector<std::size_t> items_;
  double total_ = 0;
  std::vector<std::vector<Item>> orders_;  // by row: what is worth most for it first
  std::size_t binding_ = 0;                // the row that said least
  std::vector<std::size_t> order_;         // that branches are made in
  std::vector<char> decided_;              // by group
  double monthly_ = 0;
  std::vector<double> left_;         // by row
  std::vector<double> left_before_;  // each of the chosen
  std::vector<double> takes_;        // by group, of each row
  Blocked blocked_;
  int further_needed_ = 0;  // nodes, beside those of the chosen
  int further_left_ = 0;    // nodes of the undecided
  std::vector<std::size_t> chosen_;
  std::vector<std::size_t> without_;  // decided since they do not fit beside the chosen
  int branches_left_ = 0;
  Best best_;
};

}  // namespace

GroupSet set_of(const std::vector<std::size_t>& groups) {
  GroupSet set;
  for (const std::size_t g : groups) set.set(g);
  return set;
}

double sum_of(const std::vector<double>& worth) {
  return std::accumulate(worth.begin(), worth.end(), 0.0);
}

bool PoolPricing::is_tired() const { return work_ >= most_work_; }

void PoolPricing::set_floors(const std::vector<PoolFloor>& floors) {
  floors_ = {};
  for (const PoolFloor& floor : floors) {
    const std::size_t number = floors_.sizes.size();
    floors_.monthly.push_back(floor.monthly);
    floors_.sizes.push_back(static_cast<int>(floor.groups.count()));
    floors_.of_group.resize(kMostPricedGroups);
    std::vector<std::size_t>& groups = floors_.groups.emplace_back();
    for (std::size_t g = 0; g < kMostPricedGroups; ++g) {
      if (!floor.groups[g]) continue;
      floors_.of_group[g].push_back(number);
      groups.push_back(g);
    }
  }
}

PoolPricing::Offers PoolPricing::offers(const std::vector<double>& worth, Effort effort) {
  const int most_branches = effort == Effort::Proof ? kBranchesToProve : kMostBranches;
  floors_.of_group.resize(std::max(floors_.of_group.size(), worth.size()));
  Offers offers;
  offers.dearest = kWorthMore;  // what is worth less more than it costs is not looked at
  std::map<std::vector<std::size_t>, Offer> found;
  double best_ratio = kWorthMore;
  const auto note = [&](Packing::Best best, double monthly) {
    if (best.members.empty() || best.worth <= monthly * kWorthMore) return;
    best_ratio = std::max(best_ratio, best.worth / monthly);
    std::ranges::sort(best.members);
    Offer& offer = found[best.members];
    if (!offer.members.empty() && offer.monthly <= monthly) return;
    offer = {std::move(best.members), monthly, best.worth};
  };
  struct Look {
    double ratio = 0;  // no pool there is worth more for what it costs
    std::size_t packing = 0;
    std::size_t n = 0;
  };
  std::vector<Look> looks;
  std::vector<Packing> packings;
  packings.reserve(families_.size());
  for (const PoolFamily& family : families_) {
    Packing& packing = packings.emplace_back(family, worth, floors_, work_);
    for (std::size_t n = 0; n < family.monthly.size(); ++n) {
      const double monthly = family.monthly[n];
      if (packing.total() <= monthly * kWorthMore) break;
      Packing::Best seen = packing.glance(n);
      if (seen.at_most <= monthly * kWorthMore) continue;
      looks.push_back({seen.at_most / monthly, packings.size() - 1, n});
      note(std::move(seen), monthly);
    }
  }
  std::ranges::stable_sort(looks, std::greater<>(), &Look::ratio);
  if (worth.size() > kManyGroups) {
    std::size_t left = kBegunWithEach / worth.size();
    for (const auto& [ratio, p, n] : looks) {
      if (ratio <= kWorthMore || left-- == 0) break;
      const double monthly = families_[p].monthly[n];
      for (Packing::Best& seen : packings[p].glance_with_each(n)) note(std::move(seen), monthly);
    }
  }
  for (const auto& [ratio, p, n] : looks) {
    offers.dearest = std::max(offers.dearest, best_ratio);
    if (ratio <= offers.dearest) break;
    if (effort == Effort::Proof && is_tired()) {
      offers.dearest = ratio;
      break;
    }
    const double monthly = families_[p].monthly[n];
    // What the worst of the others rules out need not be ruled out here.
    const double proved = effort == Effort::Proof ? offers.dearest / (1 + kSlackOfMany) : 0;
    const double more_than = monthly * std::max(best_ratio, proved);
    Packing::Best best = packings[p].best(n, more_than, most_branches);
    offers.dearest = std::max(offers.dearest, best.at_most / monthly);
    note(std::move(best), monthly);
  }
  for (auto& [members, offer] : found) offers.pools.push_back(std::move(offer));
  std::ranges::stable_sort(offers.pools, std::greater<>(),
                           [](const Offer& offer) { return offer.worth / offer.monthly; });
  return offers;
}

}  // namespace slicewise::sim
