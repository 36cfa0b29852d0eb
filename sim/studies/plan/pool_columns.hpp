#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "fleet_model.hpp"

// A division of the groups as a choice among pools that are known to stand (set partitioning), and
// which pools are worth a look next (column generation: Gilmore and Gomory, Operations Research
// 9(6), 1961).
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
// It may be a dearer one, or none, where looking at all would take too long.
std::vector<Members> cheapest_choice(const std::vector<double>& worth,
                                     const std::vector<KnownPool>& pools, double most);

// Pools that the model prices below what their groups are worth, those that save most first, no
// more than `most`.
std::vector<Members> promising_pools(const FleetModel& model, const std::vector<double>& worth,
                                     const std::vector<KnownPool>& pools,
                                     const std::function<bool(const Members&)>& is_known,
                                     std::size_t most);

}  // namespace slicewise::sim
