#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace slicewise::reports {

// Two spaces, sorted keys, newline at the end. nlohmann's own dump() may print more digits than a
// double needs, so numbers are printed here: the shortest text that reads back as the same value.
std::string json_text(const nlohmann::json& value);

}  // namespace slicewise::reports
