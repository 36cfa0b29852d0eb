#pragma once

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/result.hpp"
#include "slicewise/sim/result_record.hpp"

#include "json_text.hpp"

namespace slicewise::reports {

using sim::kResultApiVersion;

// The result document (slicewise.dev/result.v1alpha1) as a value. Doubles carry 9 significant
// digits; money carries every nano-dollar (exact below 8 million dollars).
nlohmann::json result_document(const sim::Result& result);

}  // namespace slicewise::reports
