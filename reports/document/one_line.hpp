#pragma once

#include <nlohmann/json_fwd.hpp>

namespace slicewise::reports {

// The names and texts of a stored document, descriptions aside, with line breaks as their escapes:
// no name of slicewise's has one, and what a foreign one begins is read as a line of ours (GitHub
// takes "::error::" at its front for an order).
void keep_names_on_one_line(nlohmann::json& value);

}  // namespace slicewise::reports
