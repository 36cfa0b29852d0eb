#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/export.hpp"

namespace slicewise::reports {

// One object that Karpenter reads: an EC2NodeClass, a NodePool or a NodeOverlay.
struct KarpenterObject {
  std::string kind;
  std::string name;
  std::string text;  // YAML, with remarks
};

// Those of a scenario, in the order in which they are applied. Errors: see render_karpenter().
Expected<std::vector<KarpenterObject>> karpenter_objects(const scenarios::Scenario& scenario,
                                                         const models::Catalogue& catalogue,
                                                         const ExportOptions& options);

}  // namespace slicewise::reports
