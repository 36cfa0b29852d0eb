#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "known_pools.hpp"
#include "plan_sections.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

// Of more pools no three are looked at as one: it takes too long.
constexpr std::size_t kFewPools = 12;

// One pool in the place of up to three.
struct Exchange {
  double saves = kSamePrice;  // dollars a month
  std::set<std::size_t> which;
  PoolChoice pool;
};

// Pools that are bought in two ways or come and go stay as they are.
void look_at(const BlockSearch& search, const std::vector<PoolChoice>& pools,
             std::set<std::size_t> which, Exchange& best) {
  std::vector<std::string> workloads;
  double is = 0;
  for (const std::size_t p : which) {
    is += monthly_of(search, pools[p]).value_or(-std::numeric_limits<double>::infinity());
    std::ranges::copy(pools[p].workloads, std::back_inserter(workloads));
  }
  const double cap = is - best.saves;
  if (cap <= 0 || least_monthly(search, workloads).value_or(cap) >= cap) return;
  BlockResult found = search_block(search, workloads, 1, cap, Depth::First);
  if (found.options.empty() || *found.options.front().goal >= cap) return;
  best = {is - *found.options.front().goal, std::move(which),
          std::move(found.options.front().pools.front())};
}

Exchange best_exchange(const BlockSearch& search, const std::vector<PoolChoice>& pools) {
  Exchange best;
  for (std::size_t a = 0; a < pools.size(); ++a) {
    look_at(search, pools, {a}, best);
    for (std::size_t b = a + 1; b < pools.size(); ++b) {
      look_at(search, pools, {a, b}, best);
      for (std::size_t c = b + 1; c < pools.size() && pools.size() <= kFewPools; ++c) {
        look_at(search, pools, {a, b, c}, best);
      }
    }
  }
  return best;
}

}  // namespace

std::optional<PlanOption> cheaper_kept_apart(const BlockSearch& search, const PlanOption& best) {
  std::vector<PoolChoice> pools = best.pools;
  for (;;) {
    Exchange exchange = best_exchange(search, pools);
    if (search.probes.interrupted()) return std::nullopt;
    if (exchange.which.empty()) break;
    for (auto p = exchange.which.rbegin(); p != exchange.which.rend(); ++p) {
      pools.erase(pools.begin() + static_cast<std::ptrdiff_t>(*p));
    }
    pools.push_back(std::move(exchange.pool));
  }
  const PlanProbe together = search.about(pools);
  PlanAnswer answer = search.probes.ask_one(together);
  if (!stands(answer) || fails_again(search, together, *answer.figures)) {
    return std::nullopt;
  }
  const auto look = confirmation(search, pools);
  if (look && !look->found.holds) return std::nullopt;
  const auto goal = goal_of(search.goal, *answer.figures);
  return PlanOption{std::move(pools), std::move(*answer.figures), goal, false};
}

}  // namespace slicewise::sim
