#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stored_document.hpp"

namespace slicewise::reports {

// Reports what the schema does not allow: keys that are unknown or absent, values of another type,
// words that are not among those it lists, numbers that are too small or too large. Understands
// what record_json.hpp writes, which is what our documents are described with.
void check_schema(StoredDocument& document, const nlohmann::json& schema);

}  // namespace slicewise::reports
