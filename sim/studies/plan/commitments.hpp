#pragma once

#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/sim/plan.hpp"

// Nodes that are paid for in advance, where that is cheaper than by the hour.
namespace slicewise::sim {

struct CommitmentRate {
  std::string kind;  // "Standard RI, 1 year, all upfront"
  std::string source;
  int months = 12;        // that it lasts
  double discount = 0;    // of the price by the hour, (0, 1)
  bool by_month = false;  // paid in equal parts; else at once
};

// Of the catalogue, for terms of months, that have not ended: a discount of a price that is no more
// says nothing of the present one.
std::vector<CommitmentRate> commitment_rates(const Catalogue& catalogue,
                                             const std::string& instance_type,
                                             const std::string& region);

struct NodesByMonth {
  UsdPerHour price;
  std::vector<int> nodes;
};

// What to buy and when, so that the whole costs least: node by node, the first one being there
// whenever any is. What a commitment lasts beyond the months counts as unused.
std::vector<PlannedCommitment> commitments_for(const std::string& instance_type,
                                               const NodesByMonth& usage,
                                               const std::vector<CommitmentRate>& rates);

}  // namespace slicewise::sim
