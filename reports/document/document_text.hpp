#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace slicewise::reports {

// A document of JSON with what is hidden in its strings (slicewise/printable.hpp) as escapes: the
// same document to its readers, and harmless to a terminal.
std::string with_escapes(std::string_view document);

// A value as one line of JSON, such as a string in quotes, with such escapes. Bytes that are no
// UTF-8, which file names may hold, become U+FFFD.
std::string json_line(const nlohmann::json& value);

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
