#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "known_pools.hpp"
#include "pool_bound.hpp"

namespace slicewise::sim {

// Finds groups of a pool that costs more than it offers, few that cost more, too: one at a time,
// by bisection (Junker, "QUICKXPLAIN: preferred explanations and relaxations for over-constrained
// problems", AAAI 2004).
class Blame {
 public:
  // `order`: of the groups, those first that are worth the most.
  Blame(const Members& order, double offered) : rest_(order), offered_(offered) {}

  // Which of the groups are looked at next; nullopt: the few are known.
  std::optional<Members> next() const;
  // Whether those cost more than is offered. `missed`: a group of all that misses an objective
  // among them.
  void record(bool cost_more, std::optional<std::size_t> missed);
  double offered() const { return offered_; }

 private:
  enum class Looks { AtAll, AtNeeded, Between };

  void look_between();
  void found();

  Looks looks_ = Looks::AtAll;
  bool done_ = false;
  Members needed_;
  Members rest_;
  double offered_;
  std::size_t few_ = 0;  // of the rest with the needed ones cost no more
  std::size_t enough_ = 0;
};

// Why pools do not stand that closed forms allow: few of their groups, which do not either.
class BlamedGroups {
 public:
  // REQUIRES: all three outlive it.
  BlamedGroups(const BlockSearch& search, const FleetModel& model, KnownPools& known)
      : search_(search), model_(model), known_(known) {}

  // Looks at each of the pools; what is learned is in the known pools. `worth`: of each group.
  // Whether anything was learned.
  bool look_at(const std::vector<PoolPricing::Offer>& pools, const std::vector<double>& worth);

 private:
  void record(Blame& blame);

  const BlockSearch& search_;
  const FleetModel& model_;
  KnownPools& known_;
};

}  // namespace slicewise::sim
