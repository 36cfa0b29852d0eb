#include "fleet_division.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace slicewise::sim {
namespace {

// Less is rounding.
constexpr double kLeastSaving = 0.01;

// Of more groups there are too many pairs.
constexpr std::size_t kMostToSwap = 128;

struct Pool {
  Members members;
  Room room;
  double monthly = 0;
};

class Divider {
 public:
  explicit Divider(const FleetModel& model) : model_(model) {}

  std::vector<Members> run() {
    for (std::size_t g = 0; g < model_.size(); ++g) {
      auto own = pool_of({g});
      if (!own) return {};
      pools_.push_back(std::move(*own));
    }
    put_together();
    while (move() || (model_.size() <= kMostToSwap && swap()) || put_together()) {
    }
    std::vector<Members> division;
    division.reserve(pools_.size());
    for (Pool& pool : pools_) division.push_back(std::move(pool.members));
    std::ranges::sort(division);
    return division;
  }

 private:
  std::optional<Pool> pool_of(Members members) const {
    std::ranges::sort(members);
    Pool pool{std::move(members), {}, 0};
    if (pool.members.empty()) return pool;
    pool.room = model_.room(pool.members);
    const auto monthly = model_.price(pool.room);
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
  std::vector<Pool> pools_;
};

}  // namespace

std::vector<Members> best_division(const FleetModel& model) { return Divider(model).run(); }

}  // namespace slicewise::sim
