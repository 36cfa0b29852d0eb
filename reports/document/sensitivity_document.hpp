#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/sensitivity.hpp"

// The document of a sensitivity study (slicewise.dev/sensitivity.v1alpha1) as a value, for the
// formats that print it.
namespace slicewise::reports {

inline constexpr std::string_view kSensitivityApiVersion = "slicewise.dev/sensitivity.v1alpha1";

nlohmann::json sensitivity_document(const sim::SensitivityStudy& study);

}  // namespace slicewise::reports
