#pragma once

#include <vector>

#include "fleet_model.hpp"

// A division of the groups as a choice among pools that are known to stand (set partitioning), and
// what they say of others.
namespace slicewise::sim {

struct KnownPool {
  Members members;
  double cost = 0;  // dollars a month
};

// What each group adds to the least cost of a choice, where parts of pools may be taken. `alone`:
// what a pool of its own costs at the most.
std::vector<double> worth_of_groups(const std::vector<double>& alone,
                                    const std::vector<KnownPool>& pools);

// The cheapest choice in which each group has one pool, if it costs less than `most`; else empty.
// It may be a dearer one, or none, where looking at all would take too long: then it is sought near
// the cheapest so far, or near `known`, which costs `most`.
std::vector<Members> cheapest_choice(const std::vector<double>& worth,
                                     const std::vector<KnownPool>& pools,
                                     const std::vector<Members>& known, double most);

// What is known of the cost of pools, and so of all that hold more groups: nobody is better off
// with more neighbours. A pool that stands by chance, though a part of it does not, says that the
// part may cost as much, too. `searched`: nothing stands that costs less.
std::vector<PoolFloor> floors_of(const std::vector<KnownPool>& stand,
                                 const std::vector<KnownPool>& searched);

}  // namespace slicewise::sim
