#pragma once

#include <string>

#include "slicewise/reports/advice.hpp"

namespace slicewise::reports {

// What people do with nodes to follow an advice, as items of a list with a command each; "" nothing
// is to be done.
struct NodeSteps {
  std::string come;           // before anything is applied
  std::string go;             // when pods have left them
  std::string back;           // of what went, before rollback.sh
  bool by_karpenter = false;  // some by `apply.sh --karpenter`
};

// From the groups that there are to the pools of the option.
NodeSteps node_steps(const Advice& advice);

}  // namespace slicewise::reports
