#include "blamed_groups.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace slicewise::sim {

bool BlamedGroups::look_at(const std::vector<PoolPricing::Offer>& pools,
                           const std::vector<double>& worth) {
  const std::int64_t before = known_.configurations();
  for (const PoolPricing::Offer& pool : pools) {
    if (probes_.interrupted()) return false;
    if (costs_more(pool.members, pool)) narrow(pool, worth);
  }
  return known_.configurations() > before;
}

// Whether the cheapest pool for some of its groups costs more than it offers.
bool BlamedGroups::costs_more(Members some, const PoolPricing::Offer& offer) {
  std::ranges::sort(some);
  const auto& option = known_.glance_at(some, offer.monthly + 2 * kSamePrice).option;
  return !option || option->goal > offer.monthly + kSamePrice;
}

// Of the groups of a pool that does not stand one that misses an objective there.
Members BlamedGroups::first_missed(const Members& groups) const {
  Members sorted = groups;
  std::ranges::sort(sorted);
  const std::vector<std::string>& missed = known_.find(sorted)->missed;
  const auto first = std::ranges::find_if(groups, [&](std::size_t g) {
    return std::ranges::any_of(model_.names(g), [&](const std::string& name) {
      return std::ranges::find(missed, name) != missed.end();
    });
  });
  return first == groups.end() ? Members{} : Members{*first};
}

// Finds groups of a pool that costs more than it offers, few that cost more, too: one at a time,
// by bisection (Junker, "QUICKXPLAIN: preferred explanations and relaxations for over-constrained
// problems", AAAI 2004).
void BlamedGroups::narrow(const PoolPricing::Offer& offer, const std::vector<double>& worth) {
  Members rest = offer.members;
  std::ranges::stable_sort(rest, std::greater<>(), [&](std::size_t g) { return worth[g]; });
  Members needed = first_missed(rest);
  std::erase_if(rest, [&](std::size_t g) { return std::ranges::count(needed, g) > 0; });
  while (!rest.empty() && (needed.empty() || !costs_more(needed, offer))) {
    std::size_t few = 0;
    std::size_t enough = rest.size();
    while (enough - few > 1) {
      const std::size_t middle = few + (enough - few) / 2;
      Members some = needed;
      some.insert(some.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(middle));
      (costs_more(std::move(some), offer) ? enough : few) = middle;
    }
    needed.push_back(rest[enough - 1]);
    rest.resize(enough - 1);
  }
}

}  // namespace slicewise::sim
