#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "fleet_model.hpp"

// Which of the present pools give way to which others, so that all together cost least while no
// more than so many change: every way is looked at.
namespace slicewise::sim {

// Dollars a month that are no reason to touch a pool.
inline constexpr double kWorthAStep = 1;

struct PresentPool {
  Members groups;                 // of the model
  std::optional<double> monthly;  // nullopt: it stays as it is
  bool must_change = false;       // whatever that costs
};

// Pools that give way to others at once.
struct PoolExchange {
  std::vector<std::size_t> touched;  // of the present pools, ascending
  std::vector<Members> blocks;       // who shares a pool then

  int pools() const;  // that are set up, changed or removed
};

// Every exchange of at most `most` pools that is not two beside each other. nullopt: they are too
// many to look at.
std::optional<std::vector<PoolExchange>> exchanges_of(std::span<const PresentPool> pools, int most);

// Those that together save most, of no pool twice and of at most `most` pools in all; what must
// change comes first. `saves`: dollars a month of each; nullopt: it cannot be. nullopt: not every
// way could be looked at.
std::optional<std::vector<std::size_t>> best_exchanges(std::span<const PresentPool> pools,
                                                       std::span<const PoolExchange> exchanges,
                                                       std::span<const std::optional<double>> saves,
                                                       int most);

struct PricedPool {
  PoolChoice choice;
  // Dollars. nullopt: bought in two ways or elastic, and not the only one: it stays as it is.
  std::optional<double> monthly;
};
struct PricedExchange {
  std::vector<std::size_t> touched;
  std::vector<PricedPool> pools;
};

// The best ones, what must change and then what saves most for each pool first. Closed forms say
// what pools cost at the least, and simulations what those cost that would be best, until no other
// exchanges may save more. Of what costs the same, that
// which `best` has. nullopt: that
// takes too many simulations, or it was interrupted. REQUIRES: the numbers of pods are the
// scenario's.
std::optional<std::vector<PricedExchange>> cheapest_exchanges(
    BlockSearch search, const FleetModel& model, std::span<const PresentPool> pools, int most,
    const std::optional<PlanOption>& best);

}  // namespace slicewise::sim
