#pragma once

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/plan_record.hpp"

namespace slicewise::reports {

using sim::kPlanApiVersion;

nlohmann::json plan_document(const sim::Plan& plan);

// JSON Schema (draft-07).
nlohmann::json plan_schema();

}  // namespace slicewise::reports
