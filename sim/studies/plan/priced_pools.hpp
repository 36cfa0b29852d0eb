#pragma once

#include <vector>

#include "blamed_groups.hpp"
#include "found_divisions.hpp"
#include "known_pools.hpp"
#include "pool_bound.hpp"

namespace slicewise::sim {

// The linear program over all pools there could be says which are worth a look, simulations which
// of those stand, and the cheapest that hold each group once are taken.
class PricedPools {
 public:
  // REQUIRES: all outlive it.
  PricedPools(const BlockSearch& search, const FleetModel& model, KnownPools& known,
              FoundDivisions& found)
      : search_(search),
        model_(model),
        known_(known),
        found_(found),
        blamed_(search, model, known) {}

  struct Enough {
    int looks = 0;               // rounds of simulations
    double times_the_bound = 1;  // that the best division may cost
  };

  // Pools that closed forms allow are as cheap as can be to the linear program. Simulations say
  // which of those that it takes do not stand, and which of their groups are to blame: that raises
  // it, and `least_worth` with it. Where all of them stand, no division costs less. `elsewhere`:
  // what is known of pools in a space that this one is a part of, where they cost no more.
  void search(PoolProgram program, const Enough& enough, const KnownColumns& elsewhere,
              std::vector<double>& least_worth);

 private:
  void look_near();
  KnownColumns choose_anew();
  void note_least(std::vector<double> least, std::vector<double>& least_worth) const;
  std::vector<KnownPool> apart_by_labels() const;

  const BlockSearch& search_;
  const FleetModel& model_;
  KnownPools& known_;
  FoundDivisions& found_;
  BlamedGroups blamed_;
};

}  // namespace slicewise::sim
