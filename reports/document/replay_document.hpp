#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/replay/replay.hpp"

// Replays and inflations (slicewise.dev/replay.v1alpha1) as values, for the formats that print
// them.
namespace slicewise::reports {

inline constexpr std::string_view kReplayApiVersion = "slicewise.dev/replay.v1alpha1";

nlohmann::json replay_document(const sim::ReplayStudy& study);
nlohmann::json inflation_document(const sim::InflationStudy& study);

}  // namespace slicewise::reports
