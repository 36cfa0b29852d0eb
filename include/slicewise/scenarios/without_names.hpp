#pragma once

#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"

namespace slicewise::scenarios {

// A scenario that may be shown to strangers, and a command line about it.
struct WithoutNames {
  std::string text;
  std::string command;
  std::vector<std::string> kept;  // fields with names that files of traces have: "users"
};

// The file without comments, descriptions, and annotations and variables of the environment that
// change no run, and with other names, in the same order, for workloads, pools, variants,
// namespaces, labels, taints and units; labels of Kubernetes, AWS and NVIDIA keep theirs. It is the
// same otherwise: simulated, it has the same figures, as the new names have the old ones' hash.
// `command` gets the same names. Files of traces keep theirs, as what chooses jobs of them does.
// YAML_SYNTAX.
Expected<WithoutNames> without_names(const SourceText& source, const std::string& command);

}  // namespace slicewise::scenarios
