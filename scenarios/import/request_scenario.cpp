#include "request_scenario.hpp"

namespace slicewise::scenarios {

std::string request_scenario(const Imported& /*imported*/, ImportKind /*kind*/,
                             const ImportOptions& /*options*/) {
  return "# not written yet\n";
}

}  // namespace slicewise::scenarios
