#pragma once

#include "slicewise/reports/export.hpp"

namespace slicewise::reports {

// Values for the chart of Karpenter (karpenter-values.yaml) or the Cluster Autoscaler
// (autoscaler-values.yaml), where the scenario's decides at other times than the chart has it;
// else none.
ExportFiles provisioner_values(const scenarios::Provisioner& provisioner);

}  // namespace slicewise::reports
