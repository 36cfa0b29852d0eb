#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

// What pools must cost at the least, each of whole nodes: a covering problem with far too many
// columns to list, solved by column generation (Gilmore and Gomory, Operations Research 9(6),
// 1961).
namespace slicewise::sim {

class PoolCover;

// Of more groups the search for pools takes longer than all simulations of the plan.
inline constexpr std::size_t kMostPricedGroups = 512;
// ... and of more than these less is looked at in each round.
inline constexpr std::size_t kManyGroups = 32;
// A pool may be worth so much more than it costs: less is rounding.
inline constexpr double kWorthMore = 1 + 1e-6;

// Pools that differ in the number of their nodes and in who lives there, and in nothing else.
struct PoolFamily {
  // Something that there is so much of. What a group takes, by its number; infinity: it may not
  // live in these pools.
  struct Row {
    std::vector<double> takes;
    double per_node = 0;
    double however_many = 0;  // ... nodes there are
  };
  std::vector<Row> rows;
  int least_nodes = 1;
  std::vector<double> monthly;  // dollars with least_nodes, one more, ...; ascending
  // On how many nodes beside one its pods can be, by group. Nodes that no group lies across are
  // pools of their own: one of n nodes needs n - 1 of these. Empty: they are not looked at apart.
  std::vector<int> further_nodes;
};

// Groups by bits.
using GroupSet = std::bitset<kMostPricedGroups>;
GroupSet set_of(const std::vector<std::size_t>& groups);

// No pool with all of these groups costs less, whoever else lives there.
struct PoolFloor {
  GroupSet groups;
  double monthly = 0;
};

// Floors by the groups that they are of.
struct KnownFloors {
  std::vector<double> monthly;
  std::vector<int> sizes;                          // groups of each
  std::vector<std::vector<std::size_t>> groups;    // of each
  std::vector<std::vector<std::size_t>> of_group;  // floors of each group
};

// Which pools would be worth more than they cost, of all that there could be.
class PoolPricing {
 public:
  explicit PoolPricing(std::vector<PoolFamily> families) : families_(std::move(families)) {}

  void set_floors(const std::vector<PoolFloor>& floors);

  struct Offer {
    std::vector<std::size_t> members;
    double monthly = 0;
    double worth = 0;
  };
  struct Offers {
    std::vector<Offer> pools;  // some that are worth more than they cost, the most first
    double dearest = 1;        // no pool is worth more than so many times what it costs
  };
  enum class Effort : std::uint8_t { Look, Proof };
  // Where each group is worth so much: of each number of nodes what a glance finds, and in whole of
  // those that may be worth the most for what they cost.
  Offers offers(const std::vector<double>& worth, Effort effort = Effort::Look);

  // So many items may be looked at from now on, however long that takes.
  void work_on(std::int64_t items) { most_work_ = work_ + items; }
  // They were.
  bool is_tired() const;

 private:
  std::vector<PoolFamily> families_;
  KnownFloors floors_;
  std::int64_t work_ = 0;
  std::int64_t most_work_ = std::numeric_limits<std::int64_t>::max();
};

// What pools cost at the least that hold each group: the linear program over all that there could
// be, solved by column generation. What is learned of pools raises it.
class PoolProgram {
 public:
  // REQUIRES: each group has a place in some pool. `least`: what each is worth at the least, by
  // whatever bound.
  PoolProgram(const std::vector<PoolFamily>& families, std::vector<double> least);

  // `alone`: by group, what it costs by itself at the least, where that is known.
  void learn(std::vector<PoolFloor> floors, const std::vector<double>& alone);

  // What each group is worth, so that no pool costs less than its groups are worth, nor any choice
  // of pools that has a place for each. All together it is the optimum, or less where finding that
  // would take too long.
  const std::vector<double>& solve();
  // The same where solve() looked at too little of many groups to say as much as could be said.
  const std::vector<double>& prove();
  // Pools that the optimum takes, in whole or in part; of many groups more that it might as well.
  const std::vector<PoolPricing::Offer>& taken() const { return taken_; }
  bool is_tired() const { return pricing_.is_tired(); }

 private:
  bool is_dearer(const PoolPricing::Offer& pool) const;
  bool add(PoolPricing::Offers offers, PoolCover& cover);
  void take_the_next_best(const std::vector<double>& worth);

  PoolPricing pricing_;
  std::vector<double> alone_;
  std::vector<PoolFloor> floors_;
  std::vector<PoolPricing::Offer> pools_;  // that it was offered
  std::vector<PoolPricing::Offer> taken_;
  std::vector<double> worth_;
};

// PoolProgram::solve(); nullopt: some group has no place in any pool.
std::optional<std::vector<double>> least_worth(const std::vector<PoolFamily>& families,
                                               std::vector<double> least);

double sum_of(const std::vector<double>& worth);

}  // namespace slicewise::sim
