#pragma once

#include <string>
#include <string_view>

#include "slicewise/sim/result.hpp"

namespace slicewise::sim {

// The label that says whose a pod is.
inline constexpr std::string_view kUserLabel = "user";

// Whether bills can be added up by it: "workload", "namespace", "label:NAME", or "user", which is
// the label of that name.
bool is_grouping(std::string_view by);

// Adds up what the workloads of each variant pay, by what they have in common: BillSplit::groups.
// "" takes the groups away. REQUIRES: by is empty or is_grouping(by).
void group_bills(const std::string& by, Result& result);

}  // namespace slicewise::sim
