#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/result.hpp"

// The result document (slicewise.dev/result.v1alpha1) as a value, for the formats that print it.
namespace slicewise::reports {

inline constexpr std::string_view kResultApiVersion = "slicewise.dev/result.v1alpha1";

// Keys are those of the schema; a field that does not apply is absent. Doubles carry 9 significant
// digits; money carries every nano-dollar (exact below 8 million dollars).
nlohmann::json result_document(const sim::Result& result);

// Two spaces, sorted keys, newline at the end. nlohmann's own dump() may print more digits than a
// double needs, so numbers are printed here: the shortest text that reads back as the same value.
std::string json_text(const nlohmann::json& value);

}  // namespace slicewise::reports
