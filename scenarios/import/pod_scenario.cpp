#include "pod_scenario.hpp"

namespace slicewise::scenarios {

std::string pod_scenario(const Imported& /*imported*/, ImportKind /*kind*/,
                         const ImportOptions& /*options*/) {
  return "# not written yet\n";
}

}  // namespace slicewise::scenarios
