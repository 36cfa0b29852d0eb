#pragma once

#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"

namespace slicewise::tools {

// The files, and in place of folders the manifests in them, each once.
std::vector<std::string> file_names(const std::vector<std::string>& given, Diagnostics& problems);

}  // namespace slicewise::tools
