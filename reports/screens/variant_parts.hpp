#pragma once

#include <vector>

#include "slicewise/sim/result.hpp"

#include "../text/text_table.hpp"
#include "screen.hpp"

namespace slicewise::reports {

// Everything about each variant: what it is, its workloads, GPUs, nodes, bill and warnings.
// `every`: also the rows and columns that a short report leaves out.
std::vector<ScreenPart> variant_parts(const sim::Result& result, const TextStyle& style,
                                      bool every);

}  // namespace slicewise::reports
