#pragma once

#include <string>

namespace slicewise::tools {

// Where this binary comes from. None of it enters a result.
struct BuildInfo {
  std::string version;
  std::string commit;  // "" when it was not built from a checkout
  std::string compiler;
};

BuildInfo build_info();

}  // namespace slicewise::tools
