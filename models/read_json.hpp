#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace slicewise::models {

// The JSON of a file that ships; a discarded value, which is nothing else, where it is none.
nlohmann::json read_json(std::string_view text);

}  // namespace slicewise::models
