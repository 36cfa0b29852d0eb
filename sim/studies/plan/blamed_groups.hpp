#pragma once

#include <vector>

#include "known_pools.hpp"
#include "pool_bound.hpp"

namespace slicewise::sim {

// Why pools do not stand that closed forms allow: few of their groups, which do not either.
class BlamedGroups {
 public:
  // REQUIRES: all three outlive it.
  BlamedGroups(const FleetModel& model, KnownPools& known, ProbeBatch& probes)
      : model_(model), known_(known), probes_(probes) {}

  // Looks at each of the pools; what is learned is in the known pools. `worth`: of each group.
  // Whether anything was learned.
  bool look_at(const std::vector<PoolPricing::Offer>& pools, const std::vector<double>& worth);

 private:
  bool costs_more(Members some, const PoolPricing::Offer& offer);
  Members first_missed(const Members& groups) const;
  void narrow(const PoolPricing::Offer& offer, const std::vector<double>& worth);

  const FleetModel& model_;
  KnownPools& known_;
  ProbeBatch& probes_;
};

}  // namespace slicewise::sim
