#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace slicewise::reports {

// Two spaces, sorted keys, newline at the end. nlohmann's own dump() may print more digits than a
// double needs, so numbers are printed here: the shortest text that reads back as the same value.
std::string json_text(const nlohmann::json& value);

// A JSON value as a YAML document in block style, keys in the order of `value` (nlohmann sorts
// them). Strings that YAML 1.1 or 1.2 could take for another type are double-quoted, so `on`,
// `1e3`, `12:30` and `null` come back as the strings they are. Ends with a newline.
std::string yaml_text(const nlohmann::json& value);

// One string as a YAML scalar: plain where every reader agrees that it is a string, else quoted.
std::string yaml_scalar(std::string_view text);

}  // namespace slicewise::reports
