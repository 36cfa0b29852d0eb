#pragma once

#include <string>

#include "slicewise/sim/result.hpp"

#include "../text/text_table.hpp"

namespace slicewise::reports {

// Wrapped and indented; "" of nothing.
std::string said(const TextStyle& style, const std::string& sentence, int indent = 2);

// Whether it says who was on a GPU of the variant; older ones do not.
bool knows_places(const sim::VariantResult& variant);

// What a stored result says of a workload of the variant, in sentences.
std::string workload_story(const sim::VariantResult& variant, const sim::WorkloadResult& workload,
                           const TextStyle& style);

}  // namespace slicewise::reports
