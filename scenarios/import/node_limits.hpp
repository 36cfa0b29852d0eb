#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "import_report.hpp"

// What the limits of a NodePool leave of nodes.
namespace slicewise::scenarios {

// Of its nodes together, whichever types they have; of GPUs, as Karpenter counts them.
NodeLimit limit_of(const NodeGroupFile& group);
// As how many a NodeOverlay has Karpenter count each GPU of the types, in limits, too.
std::int64_t shares_told(const ClusterFiles& cluster, const NodeGroupFile& group,
                         const std::vector<std::string>& types, const ImportOptions& options);
// Nodes of a type that its limits of GPUs, CPU and memory allow.
std::optional<std::int64_t> most_by_limits(const ClusterFiles& cluster, const NodeGroupFile& group,
                                           const std::string& type, const ImportOptions& options,
                                           ImportReport& report);

}  // namespace slicewise::scenarios
