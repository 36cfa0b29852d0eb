#pragma once

#include <array>
#include <string_view>

namespace slicewise::models {

// Figures of a profile that a run can draw, and which its list `uncertainty` may name.
inline constexpr std::array<std::string_view, 13> kUncertainFigures = {
    "soloMs",    "extraPerItemMs", "capacityShare", "normP",       "bandwidthShare",
    "duty",      "sensitivity",    "pressure",      "requestDuty", "turnUse",
    "timeSigma", "kernelMs",       "hostMs"};

}  // namespace slicewise::models
