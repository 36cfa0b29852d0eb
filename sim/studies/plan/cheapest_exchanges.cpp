#include "cheapest_exchanges.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "slicewise/lookup.hpp"

#include "known_pools.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

constexpr std::size_t kMostExchanges = 20'000;
// Blocks that are written down while exchanges are looked for, and choices among these.
constexpr int kMostLooks = 1'000'000;
// Pools that are searched; each is some simulations.
constexpr std::size_t kMostBlocks = 60;
// More than anything costs: what must change does.
constexpr double kMustChange = 1e9;
// ... and less: of exchanges that save the same, those are taken that lead to the best option.
constexpr double kLikeBest = 0.05;

class Exchanges {
 public:
  Exchanges(std::span<const PresentPool> pools, int most) : pools_(pools), most_(most) {}

  std::optional<std::vector<PoolExchange>> all() {
    choose(0, {});
    if (too_many_) return std::nullopt;
    return std::move(found_);
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): as deep as there are pools
  void choose(std::size_t from, std::vector<std::size_t> touched) {
    if (!touched.empty()) divide(touched);
    if (static_cast<int>(touched.size()) == most_) return;
    for (std::size_t p = from; p < pools_.size() && !too_many_; ++p) {
      if (!pools_[p].monthly) continue;
      touched.push_back(p);
      choose(p + 1, touched);
      touched.pop_back();
    }
  }

  void divide(const std::vector<std::size_t>& touched) {
    std::vector<std::pair<std::size_t, std::size_t>> groups;  // and its pool, by place in `touched`
    for (std::size_t t = 0; t < touched.size(); ++t) {
      for (const std::size_t group : pools_[touched[t]].groups) groups.emplace_back(group, t);
    }
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> blocks;
    place(touched, groups, 0, blocks);
  }

  using Homes = std::vector<std::pair<std::size_t, std::size_t>>;

  // NOLINTNEXTLINE(misc-no-recursion): as deep as there are groups
  void place(const std::vector<std::size_t>& touched, const Homes& groups, std::size_t next,
             std::vector<Homes>& blocks) {
    too_many_ = too_many_ || ++looks_ > kMostLooks || found_.size() > kMostExchanges;
    if (too_many_) return;
    if (next == groups.size()) {
      if (is_one(blocks, touched.size())) add(touched, blocks);
      return;
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      blocks[b].push_back(groups[next]);
      place(touched, groups, next + 1, blocks);
      blocks[b].pop_back();
    }
    if (static_cast<int>(blocks.size()) == most_) return;
    blocks.push_back({groups[next]});
    place(touched, groups, next + 1, blocks);
    blocks.pop_back();
  }

  // Every pool is reached from the first one by groups that share a pool before or after.
  static bool is_one(const std::vector<Homes>& blocks, std::size_t pools) {
    std::vector<std::size_t> part(pools);
    std::iota(part.begin(), part.end(), std::size_t{0});
    for (const Homes& block : blocks) {
      for (const auto& home : block) {
        const std::size_t from = part[home.second];
        const std::size_t to = part[block.front().second];
        std::ranges::replace(part, from, to);
      }
    }
    return std::ranges::count(part, part.front()) == static_cast<std::ptrdiff_t>(pools);
  }

  void add(const std::vector<std::size_t>& touched, const std::vector<Homes>& blocks) {
    PoolExchange& exchange = found_.emplace_back();
    exchange.touched = touched;
    for (const Homes& block : blocks) {
      Members& members = exchange.blocks.emplace_back();
      for (const auto& home : block) members.push_back(home.first);
      std::ranges::sort(members);
    }
  }

  std::span<const PresentPool> pools_;
  int most_;
  std::vector<PoolExchange> found_;
  int looks_ = 0;
  bool too_many_ = false;
};

// Which of the exchanges, by what they save for each pool.
class BestOf {
 public:
  BestOf(std::span<const PresentPool> pools, std::span<const PoolExchange> exchanges,
         std::span<const std::optional<double>> saves, int most)
      : exchanges_(exchanges), taken_(pools.size()) {
    std::size_t all = pools.size();
    for (const PresentPool& pool : pools) all += pool.groups.size();
    most_ = std::min(most, static_cast<int>(all));
    for (std::size_t e = 0; e < exchanges.size(); ++e) {
      if (!saves[e]) continue;
      double value = *saves[e];
      for (const std::size_t p : exchanges[e].touched) {
        if (pools[p].must_change) value += kMustChange;
      }
      if (value >= kWorthAStep) ranked_.push_back({e, value});
    }
    std::ranges::stable_sort(ranked_, std::greater<>(),
                             [&](const Ranked& one) { return worth(one); });
  }

  std::optional<std::vector<std::size_t>> find() {
    take(0, most_, 0);
    if (looks_ > kMostLooks) return std::nullopt;
    return best_;
  }

 private:
  struct Ranked {
    std::size_t exchange = 0;
    double value = 0;
  };
  double worth(const Ranked& one) const { return one.value / exchanges_[one.exchange].pools(); }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as pools change
  void take(std::size_t from, int left, double value) {
    if (value > best_value_ + kSamePrice) {
      best_value_ = value;
      best_ = chosen_;
    }
    for (std::size_t r = from; r < ranked_.size(); ++r) {
      if (++looks_ > kMostLooks || value + left * worth(ranked_[r]) <= best_value_ + kSamePrice) {
        return;
      }
      const PoolExchange& exchange = exchanges_[ranked_[r].exchange];
      const bool is_free =
          std::ranges::none_of(exchange.touched, [&](std::size_t p) { return taken_[p] != 0; });
      if (!is_free || exchange.pools() > left) continue;
      for (const std::size_t p : exchange.touched) taken_[p] = 1;
      chosen_.push_back(ranked_[r].exchange);
      take(r + 1, left - exchange.pools(), value + ranked_[r].value);
      chosen_.pop_back();
      for (const std::size_t p : exchange.touched) taken_[p] = 0;
    }
  }

  std::span<const PoolExchange> exchanges_;
  std::vector<Ranked> ranked_;  // what saves most for each pool first
  std::vector<char> taken_;
  std::vector<std::size_t> chosen_;
  std::vector<std::size_t> best_;
  double best_value_ = 0;
  int most_ = 0;
  int looks_ = 0;
};

// What blocks cost: as closed forms have it, or as it was found.
class BlockPrices {
 public:
  BlockPrices(BlockSearch search, const FleetModel& model, const std::optional<PlanOption>& best)
      : search_(std::move(search)), best_(best), known_(search_, model) {}

  // At the least; nullopt: nothing holds them.
  std::optional<double> price(const Members& block) {
    if (const auto pool = found(block)) return pool->monthly;
    const KnownPools::Solved* solved = known_.find(block);
    if (solved != nullptr && std::isinf(solved->cap)) return std::nullopt;
    const auto bound = known_.bound_of(block);
    return bound ? std::optional(known_.price(block, *bound)) : std::nullopt;
  }

  // The cheapest pool, where it was found.
  std::optional<PricedPool> found(const Members& block) const {
    const KnownPools::Solved* solved = known_.find(block);
    if (solved == nullptr || !solved->option) return std::nullopt;
    PricedPool pool{solved->option->pools.front(), *solved->option->goal};
    if (!best_) return pool;
    for (const PoolChoice& other : best_->pools) {
      if (other.workloads != pool.choice.workloads) continue;
      const auto monthly = monthly_of(search_, other);
      if (monthly && *monthly < *pool.monthly + kSamePrice) pool = {other, monthly};
    }
    return pool;
  }

  bool is_of_best(const Members& block) const {
    const auto names = known_.names_of(block);
    return best_ && contains(best_->pools, names, &PoolChoice::workloads);
  }

  void look_for(std::vector<KnownPools::Question> questions) {
    known_.look_for_best(std::move(questions));
  }

 private:
  BlockSearch search_;
  const std::optional<PlanOption>& best_;
  KnownPools known_;
};

class CheapestExchanges {
 public:
  CheapestExchanges(std::span<const PresentPool> pools, std::vector<PoolExchange> exchanges,
                    int most, BlockPrices& prices)
      : pools_(pools), exchanges_(std::move(exchanges)), most_(most), prices_(prices) {}

  std::optional<std::vector<PricedExchange>> find(const ProbeBatch& probes) {
    for (std::size_t searched = 0; searched <= kMostBlocks && !probes.interrupted();) {
      std::vector<std::optional<double>> saves;
      for (const PoolExchange& exchange : exchanges_) saves.push_back(saved_by(exchange));
      const auto chosen = best_exchanges(pools_, exchanges_, saves, most_);
      if (!chosen) return std::nullopt;
      std::vector<KnownPools::Question> unknown;
      for (const std::size_t e : *chosen) ask_about(exchanges_[e], *saves[e], unknown);
      if (unknown.empty()) return priced(*chosen);
      searched += unknown.size();
      prices_.look_for(std::move(unknown));
    }
    return std::nullopt;
  }

 private:
  double cost_of(const PoolExchange& exchange) const {
    double cost = 0;
    for (const std::size_t p : exchange.touched) cost += *pools_[p].monthly;
    return cost;
  }

  bool must_be(const PoolExchange& exchange) const {
    return std::ranges::any_of(exchange.touched,
                               [&](std::size_t p) { return pools_[p].must_change; });
  }

  std::optional<double> saved_by(const PoolExchange& exchange) {
    double saves = cost_of(exchange);
    for (const Members& block : exchange.blocks) {
      const auto price = prices_.price(block);
      if (!price) return std::nullopt;
      saves -= *price;
    }
    const bool is_best = std::ranges::all_of(
        exchange.blocks, [&](const Members& block) { return prices_.is_of_best(block); });
    return is_best ? saves + kLikeBest : saves;
  }

  void ask_about(const PoolExchange& exchange, double saves,
                 std::vector<KnownPools::Question>& unknown) {
    for (const Members& block : exchange.blocks) {
      if (prices_.found(block)) continue;
      const double cap = must_be(exchange)
                             ? std::numeric_limits<double>::infinity()
                             : *prices_.price(block) + saves - kWorthAStep + kSamePrice;
      unknown.push_back({block, cap});
    }
  }

  std::vector<PricedExchange> priced(const std::vector<std::size_t>& chosen) {
    std::vector<PricedExchange> all;
    for (const std::size_t e : chosen) {
      const PoolExchange& exchange = exchanges_[e];
      PricedExchange& one = all.emplace_back();
      one.touched = exchange.touched;
      for (const Members& block : exchange.blocks) one.pools.push_back(*prices_.found(block));
    }
    return all;  // as best_exchanges has them: by what they are worth
  }

  std::span<const PresentPool> pools_;
  std::vector<PoolExchange> exchanges_;
  int most_;
  BlockPrices& prices_;
};

}  // namespace

int PoolExchange::pools() const {
  return static_cast<int>(std::max(touched.size(), blocks.size()));
}

std::optional<std::vector<PoolExchange>> exchanges_of(std::span<const PresentPool> pools,
                                                      int most) {
  return Exchanges(pools, most).all();
}

std::optional<std::vector<std::size_t>> best_exchanges(std::span<const PresentPool> pools,
                                                       std::span<const PoolExchange> exchanges,
                                                       std::span<const std::optional<double>> saves,
                                                       int most) {
  return BestOf(pools, exchanges, saves, most).find();
}

std::optional<std::vector<PricedExchange>> cheapest_exchanges(
    BlockSearch search, const FleetModel& model, std::span<const PresentPool> pools, int most,
    const std::optional<PlanOption>& best) {
  auto exchanges = exchanges_of(pools, most);
  if (!exchanges) return std::nullopt;
  const ProbeBatch& probes = search.probes;
  BlockPrices prices(std::move(search), model, best);
  return CheapestExchanges(pools, std::move(*exchanges), most, prices).find(probes);
}

}  // namespace slicewise::sim
