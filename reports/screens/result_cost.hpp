#pragma once

#include <string>
#include <vector>

#include "slicewise/sim/result.hpp"

namespace slicewise::reports {

struct CostPart {
  std::string name;    // "useful"
  std::string amount;  // "10.90", without the dollar sign
  std::string share;   // "89%"
};

// The parts of the ledger that are not zero, rounded so that the amounts printed add up to the
// total as printed: a reader who adds them up with a calculator must not find a cent missing.
struct CostSplit {
  std::string total;  // "12.24"
  std::vector<CostPart> parts;
};

CostSplit cost_split(const sim::CostLedger& ledger);

// "$12.24 = useful 10.90 (89%) + idle 0.15 (1%) + ..."
std::string cost_equation(const sim::CostLedger& ledger);

}  // namespace slicewise::reports
