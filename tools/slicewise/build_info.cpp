#include "build_info.hpp"

namespace slicewise::tools {

BuildInfo build_info() {
  return {.version = SLICEWISE_VERSION, .commit = SLICEWISE_COMMIT, .compiler = SLICEWISE_COMPILER};
}

}  // namespace slicewise::tools
