#pragma once

#include <string>
#include <string_view>

#include "slicewise/diagnostics.hpp"
#include "slicewise/reports/diagnostics_text.hpp"

namespace slicewise::reports {

// What a code or a field of the scenario file means: for a code what happens in the cluster, the
// real message, the fix and the source; for a field its type, default, meaning and example; for a
// figure of a result, by its key, its unit, its meaning and what CSV, policies and `diff` call it.
// Unknown topics are a PATH_UNKNOWN diagnostic with the nearest names.
Expected<std::string> explain(std::string_view topic, const TextStyle& style);

// The topics and codes that explain() knows, one a line.
std::string explain_topics();

// The paths of all fields of a scenario file, one a line, each after the one it is in.
std::string explain_fields();

}  // namespace slicewise::reports
