#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet_model.hpp"
#include "known_pools.hpp"
#include "pool_split.hpp"

namespace slicewise::sim {

// Divisions of the groups into pools that stand alone, each cheaper than the one before. Pools that
// stand alone may not stand together: the scheduler and the controllers see all. Of a fleet that is
// asked at once of each that saves more than a little, so that a search that is interrupted has the
// best one that does.
class FoundDivisions {
 public:
  // REQUIRES: all but `cap` outlive it.
  FoundDivisions(const BlockSearch& search, const FleetModel& model, KnownPools& known, double cap)
      : search_(search), model_(model), known_(known), cap_(cap), cost_(cap) {}

  // Of the best one; the cap where there is none.
  double cost() const { return cost_; }
  const std::vector<Members>& best() const { return best_; }

  // Whether it is the best so far.
  bool consider(const std::vector<Members>& division);
  // A pool for each group, which nobody else knows of: an answer that is soon known, beyond whose
  // price nothing is looked at.
  void begin_with(std::vector<PlanOption> own);

  // Pools of the best one that miss something together are no options any more: of many groups
  // others take their place. Whether the search for divisions begins anew.
  bool refutes_best();
  // The best that stands together, once interrupted of those that were asked about; nullopt: none
  // does.
  std::optional<PlanOption> confirmed();

 private:
  struct Found {
    std::vector<Members> division;
    std::vector<PoolChoice> pools;
    double cost = 0;
  };

  void add(Found found, double cost);
  // Of the best one those of workloads that missed something.
  std::vector<PoolChoice> refute_pools_of(const std::vector<std::string>& missed);
  // The division has the cheapest pools that are left for its groups, beside others that have none
  // of those refuted.
  void mend(std::vector<Members> division, const std::vector<PoolChoice>& refuted);
  void add_pool(PoolChoice choice, std::vector<PoolChoice>& pools) const;
  std::vector<PoolChoice> merged(const std::vector<PoolChoice>& pools) const;
  // Random numbers with which they must stand.
  enum class Numbers : std::uint8_t { AsGiven, OthersToo };
  std::optional<PlanAnswer> stand_together(const std::vector<PoolChoice>& pools, Numbers numbers,
                                           std::vector<std::string>* missed = nullptr);
  std::optional<PlanOption> standing(std::vector<PoolChoice> pools, Numbers numbers);

  const BlockSearch& search_;
  const FleetModel& model_;
  KnownPools& known_;
  double cap_;
  double cost_;
  std::vector<Members> best_;  // what costs so much; empty: nothing does that is looked at further
  std::vector<Found> found_;   // each cheaper than the one before
  std::optional<PlanOption> stood_;  // the last that was asked about on the way
};

}  // namespace slicewise::sim
