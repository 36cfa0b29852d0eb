#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/result.hpp"

namespace slicewise::reports {

// "Set apart" in a terminal report: bold, green or red when the style has colour.
enum class Emphasis : std::uint8_t { Heading, Good, Bad };
std::string emphasised(std::string_view text, Emphasis emphasis, const TextStyle& style);

// Everything about each variant: objectives, workloads, GPUs, cost, advertised resources, warnings.
// One text per variant, with the same columns in all of them. `wide` keeps every column and a row
// for each GPU.
std::vector<std::string> variant_details(const sim::Result& result, const TextStyle& style,
                                         bool wide);

}  // namespace slicewise::reports
