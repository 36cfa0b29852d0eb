#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace slicewise::sim {

// The linear program that covers groups with pools, of those pools that are known so far, by the
// revised simplex method with the inverse of the basis kept whole. What it says of the worth of
// groups is only a proposal: bounds that are made of it are checked against every pool there could
// be.
class PoolCover {
 public:
  // What a pool of its own costs, by group.
  explicit PoolCover(const std::vector<double>& alone);

  // false: it is known already.
  bool add(std::vector<std::size_t> members, double cost);

  // What each group adds to the least cost; none is negative.
  std::vector<double> worth();

  struct Column {
    std::vector<std::size_t> members;
    double cost = 0;
    double amount = 0;  // of it that is taken
  };
  // Pools that it takes, in whole or in part.
  std::vector<Column> taken() const;

 private:
  std::vector<double> duals() const;
  double gain_of(std::size_t column, const std::vector<double>& worth) const;
  std::optional<std::size_t> best_column(const std::vector<double>& worth, double more_than);
  bool pivot();

  std::size_t groups_;
  // Columns one after the other: to look for the best takes most of the time.
  std::vector<std::size_t> members_;
  std::vector<std::size_t> ends_;  // of each in `members_`
  std::vector<double> costs_;
  std::vector<std::size_t> promising_;  // columns that gained something when all were looked at
  std::set<std::pair<std::vector<std::size_t>, double>> known_;
  std::vector<Column> basis_;
  std::vector<double> amount_;                // of the basis
  std::vector<std::vector<double>> inverse_;  // by place in the basis, group
};

}  // namespace slicewise::sim
