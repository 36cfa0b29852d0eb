#pragma once

#include <string>

#include "slicewise/diagnostics.hpp"

namespace slicewise::scenarios {

// A scenario that may be shown to strangers, and a command line about it.
struct WithoutNames {
  std::string text;
  std::string command;
};

// The file without comments, descriptions, annotations and variables of the environment, and with
// other names, in the same order, for workloads, pools, variants, namespaces, labels and units. It
// is the same otherwise: simulated, it has the same figures, as the new names have the old ones'
// hash. `command` gets the same names. Files of traces keep theirs. YAML_SYNTAX.
Expected<WithoutNames> without_names(const SourceText& source, const std::string& command);

}  // namespace slicewise::scenarios
