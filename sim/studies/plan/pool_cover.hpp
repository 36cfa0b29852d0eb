#pragma once

#include <cstddef>
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
  };
  // Pools that it takes, in whole or in part.
  std::vector<Column> taken() const;

 private:
  std::vector<double> duals() const;
  bool pivot();

  std::size_t groups_;
  std::vector<Column> columns_;
  std::set<std::pair<std::vector<std::size_t>, double>> known_;
  std::vector<Column> basis_;
  std::vector<double> amount_;                // of the basis
  std::vector<std::vector<double>> inverse_;  // by place in the basis, group
};

}  // namespace slicewise::sim
