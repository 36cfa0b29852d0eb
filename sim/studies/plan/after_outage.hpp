#pragma once

#include <optional>
#include <vector>

#include "block_search.hpp"

// --survive: whether what stands still does without the nodes that may be lost.
namespace slicewise::sim {

// What an outage leaves of the pools.
std::vector<PoolChoice> left_after(Outage loss, std::vector<PoolChoice> pools);

// Of pools that stand with all their nodes: the figures of what is left of them, at the price of
// all, where that does not stand; else nullopt.
std::optional<OptionFigures> fails_after_outage(const BlockSearch& search, const PlanProbe& whole,
                                                const OptionFigures& figures);

struct AfterOutage {
  std::optional<OptionFigures> fails = {};  // as fails_after_outage() has it
  bool interrupted = false;
};

// The same of the scenario's own pools, whether a plan has words for them or not. Nodes that a
// provisioner starts are started anew.
AfterOutage own_pools_after_outage(const BlockSearch& search, const RunOptions& run,
                                   const OptionFigures& figures);

}  // namespace slicewise::sim
