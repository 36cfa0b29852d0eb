#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/max_load.hpp"

// The document of a highest load (slicewise.dev/max-load.v1alpha1) as a value, for the formats that
// print it.
namespace slicewise::reports {

inline constexpr std::string_view kMaxLoadApiVersion = "slicewise.dev/max-load.v1alpha1";

nlohmann::json max_load_document(const sim::MaxLoad& found);

}  // namespace slicewise::reports
