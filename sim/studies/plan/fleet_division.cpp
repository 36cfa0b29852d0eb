#include "fleet_division.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

namespace slicewise::sim {
namespace {

// Less is rounding.
constexpr double kLeastSaving = 0.01;

// Of more groups there are too many pairs.
constexpr std::size_t kMostToSwap = 128;

// As often for each group some pools are taken apart.
constexpr std::size_t kRuins = 100;
constexpr std::size_t kMostRuined = 4;  // at once

struct Pool {
  Members members;
  Room room;
  double monthly = 0;
};

class Divider {
 public:
  Divider(const FleetModel& model, KnownPrice known) : model_(model), known_(std::move(known)) {}

  std::vector<Members> run() {
    if (!start()) return {};
    pools_ = own_;
    put_together();
    descend();
    return division();
  }

  std::vector<Members> from(const std::vector<Members>& division_then, int nth) {
    if (!start()) return {};
    dice_.seed(static_cast<std::uint64_t>(nth));
    for (const Members& members : division_then) {
      auto pool = pool_of(members);
      if (!pool) return {};
      pools_.push_back(std::move(*pool));
    }
    ruin_and_recreate();
    return division();
  }

 private:
  bool start() {
    for (std::size_t g = 0; g < model_.size(); ++g) {
      auto own = pool_of({g});
      if (!own) return false;
      own_.push_back(std::move(*own));
    }
    return true;
  }

  std::vector<Members> division() {
    std::vector<Members> division;
    division.reserve(pools_.size());
    for (Pool& pool : pools_) division.push_back(std::move(pool.members));
    std::ranges::sort(division);
    return division;
  }

  void descend() {
    while (move() || (model_.size() <= kMostToSwap && swap()) || put_together()) {
    }
  }

  // A few pools are taken apart, and their groups find pools anew, in another order; what costs no
  // more is kept. Prices are of whole nodes, so that many a way to less goes by what costs the
  // same. Source: Schrimpf et al., "Record breaking optimization results using the ruin and
  // recreate principle", J. Comput. Phys. 159 (2000).
  void ruin_and_recreate() {
    for (std::size_t n = 0; n < kRuins * model_.size(); ++n) {
      const std::size_t ruined = std::min(pools_.size(), 2 + below(kMostRuined - 1));
      for (std::size_t last = pools_.size(); last > pools_.size() - ruined; --last) {
        std::swap(pools_[below(last)], pools_[last - 1]);
      }
      const auto first = pools_.end() - static_cast<std::ptrdiff_t>(ruined);
      Members groups;
      double before = 0;
      for (auto pool = first; pool != pools_.end(); ++pool) {
        before += pool->monthly;
        groups.insert(groups.end(), pool->members.begin(), pool->members.end());
      }
      std::ranges::sort(groups);
      for (std::size_t left = groups.size(); left > 1; --left) {
        std::swap(groups[below(left)], groups[left - 1]);
      }
      auto anew = recreated(groups, before);
      if (anew.empty()) continue;
      pools_.erase(first, pools_.end());
      std::ranges::move(anew, std::back_inserter(pools_));
    }
  }

  std::size_t below(std::size_t count) { return static_cast<std::size_t>(dice_() % count); }

  // Each group goes where it costs the least more, to any of several such places; empty: that is
  // more than `most`.
  std::vector<Pool> recreated(const Members& groups, double most) {
    std::vector<Pool> pools;
    double cost = 0;
    for (const std::size_t g : groups) {
      double least = own_[g].monthly;
      Pool* home = nullptr;
      Room joint;
      for (Pool& pool : pools) {
        Room both = pool.room;
        both.add(own_[g].room);
        const auto monthly = price_of(with(pool.members, g), both);
        const double more = monthly ? *monthly - pool.monthly : least + 1;
        if (more > least + kLeastSaving || (more > least - kLeastSaving && below(2) == 0)) continue;
        least = more;
        home = &pool;
        joint = std::move(both);
      }
      cost += least;
      if (cost > most + kLeastSaving) return {};
      if (home == nullptr) {
        pools.push_back(own_[g]);
        continue;
      }
      home->monthly += least;
      home->room = std::move(joint);
      home->members.insert(std::ranges::upper_bound(home->members, g), g);
    }
    return pools;
  }

  std::optional<double> price_of(Members members, const Room& room) const {
    const auto thought = model_.price(room);
    if (!thought || !known_) return thought;
    std::ranges::sort(members);
    return known_(members, *thought);
  }

  std::optional<Pool> pool_of(Members members) const {
    std::ranges::sort(members);
    Pool pool{std::move(members), {}, 0};
    if (pool.members.empty()) return pool;
    pool.room = model_.room(pool.members);
    const auto monthly = price_of(pool.members, pool.room);
    if (!monthly) return std::nullopt;
    pool.monthly = *monthly;
    return pool;
  }

  // What one pool for both saves; pods that have their GPUs to themselves are as well off in one.
  std::optional<double> saving(const Pool& a, const Pool& b) const {
    Room both = a.room;
    both.add(b.room);
    const auto monthly = model_.price(both);
    if (!monthly) return std::nullopt;
    const double saved = a.monthly + b.monthly - *monthly;
    if (saved >= kLeastSaving) return saved;
    if (saved > -kLeastSaving && model_.is_unshared(both)) return 0;
    return std::nullopt;
  }

  bool put_together() {
    const std::size_t before = pools_.size();
    // savings[a][b] of a < b
    std::vector<std::vector<std::optional<double>>> savings(pools_.size());
    for (std::size_t a = 0; a < pools_.size(); ++a) {
      savings[a].resize(pools_.size());
      for (std::size_t b = a + 1; b < pools_.size(); ++b)
        savings[a][b] = saving(pools_[a], pools_[b]);
    }
    for (;;) {
      std::optional<std::pair<std::size_t, std::size_t>> best;
      for (std::size_t a = 0; a < pools_.size(); ++a) {
        for (std::size_t b = a + 1; b < pools_.size(); ++b) {
          if (savings[a][b] && (!best || *savings[a][b] > *savings[best->first][best->second])) {
            best = {a, b};
          }
        }
      }
      if (!best) return pools_.size() < before;
      const auto [a, b] = *best;
      Members members = pools_[a].members;
      members.insert(members.end(), pools_[b].members.begin(), pools_[b].members.end());
      auto both = pool_of(std::move(members));
      if (!both) return pools_.size() < before;
      pools_[a] = std::move(*both);
      pools_.erase(pools_.begin() + static_cast<std::ptrdiff_t>(b));
      savings.erase(savings.begin() + static_cast<std::ptrdiff_t>(b));
      for (auto& row : savings) row.erase(row.begin() + static_cast<std::ptrdiff_t>(b));
      for (std::size_t other = 0; other < pools_.size(); ++other) {
        if (other == a) continue;
        savings[std::min(a, other)][std::max(a, other)] =
            saving(pools_[std::min(a, other)], pools_[std::max(a, other)]);
      }
    }
  }

  static Members without(const Members& members, std::size_t group) {
    Members rest = members;
    std::erase(rest, group);
    return rest;
  }

  static Members with(Members members, std::size_t group) {
    members.push_back(group);
    return members;
  }

  // Puts both in place of the pools, if that is cheaper.
  bool take(std::size_t a, std::size_t b, Members for_a, Members for_b) {
    auto first = pool_of(std::move(for_a));
    if (!first) return false;
    const double before = pools_[a].monthly + (b < pools_.size() ? pools_[b].monthly : 0);
    if (first->monthly > before - kLeastSaving) return false;
    auto second = pool_of(std::move(for_b));
    if (!second || first->monthly + second->monthly > before - kLeastSaving) return false;
    if (b == pools_.size()) pools_.emplace_back();
    pools_[a] = std::move(*first);
    pools_[b] = std::move(*second);
    std::erase_if(pools_, [](const Pool& pool) { return pool.members.empty(); });
    return true;
  }

  // One group goes to another pool, or to one of its own.
  bool move() {
    bool any = false;
    for (std::size_t g = 0; g < model_.size(); ++g) {
      for (std::size_t to = 0; to <= pools_.size(); ++to) {
        const std::size_t from = home_of(g);
        if (to == from) continue;
        Members target = to < pools_.size() ? pools_[to].members : Members{};
        if (!take(from, to, without(pools_[from].members, g), with(std::move(target), g))) continue;
        any = true;
        break;
      }
    }
    return any;
  }

  bool swap() {
    bool any = false;
    for (std::size_t g = 0; g < model_.size(); ++g) {
      for (std::size_t h = g + 1; h < model_.size(); ++h) {
        const std::size_t a = home_of(g);
        const std::size_t b = home_of(h);
        if (a == b) continue;
        any = take(a, b, with(without(pools_[a].members, g), h),
                   with(without(pools_[b].members, h), g)) ||
              any;
      }
    }
    return any;
  }

  std::size_t home_of(std::size_t group) const {
    const auto home = std::ranges::find_if(
        pools_, [&](const Pool& pool) { return std::ranges::binary_search(pool.members, group); });
    return static_cast<std::size_t>(home - pools_.begin());
  }

  const FleetModel& model_;
  KnownPrice known_;
  std::vector<Pool> pools_;
  std::vector<Pool> own_;  // of each group by itself
  std::mt19937_64 dice_;
};

}  // namespace

std::vector<Members> best_division(const FleetModel& model) { return Divider(model, {}).run(); }

std::vector<Members> better_division(const FleetModel& model, const std::vector<Members>& division,
                                     const KnownPrice& known, int nth) {
  return Divider(model, known).from(division, nth);
}

}  // namespace slicewise::sim
