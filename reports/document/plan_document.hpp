#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/plan.hpp"

namespace slicewise::reports {

inline constexpr std::string_view kPlanApiVersion = "slicewise.dev/plan.v1alpha1";

nlohmann::json plan_document(const sim::Plan& plan);

// JSON Schema (draft-07).
nlohmann::json plan_schema();

}  // namespace slicewise::reports
