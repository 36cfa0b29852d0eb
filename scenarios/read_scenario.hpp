#pragma once

#include "slicewise/scenarios/scenario.hpp"

#include "document.hpp"
#include "findings.hpp"

// From checked nodes to the values of scenario.hpp, with the rules that span several fields. Wrong
// fields read as absent here: check_fields has reported them.
namespace slicewise::scenarios {

Scenario read_scenario(const Node& spec, Findings& findings);
NodePool read_node_pool(const Node& node, Findings& findings);
Workload read_workload(const Node& node, Findings& findings);
PodTemplate read_pod_template(const Node& workload, Findings& findings);

// Reads mig, mps, vgpu, virtualGpu and nos of a node pool into `pool`.
void read_gpu_sharing(const Node& node, NodePool& pool, Findings& findings);

}  // namespace slicewise::scenarios
