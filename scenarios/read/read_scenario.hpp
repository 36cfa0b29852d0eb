#pragma once

#include "slicewise/scenarios/scenario.hpp"

#include "../text/document.hpp"
#include "../text/findings.hpp"
#include "../traces/trace_files.hpp"

// From checked nodes to the values of scenario.hpp, with the rules that span several fields. Wrong
// fields read as absent here: check_fields has reported them.
namespace slicewise::scenarios {

Scenario read_scenario(const Node& spec, Findings& findings, TraceFiles& traces);
NodePool read_node_pool(const Node& node, Findings& findings);
Provisioner read_provisioner(const Node& spec, Findings& findings);
// Reports pools with nodes {min, max} to which nobody adds nodes.
void check_node_ranges(const Scenario& scenario, Findings& findings);
Workload read_workload(const Node& node, Findings& findings, TraceFiles& traces);
PodTemplate read_pod_template(const Node& workload, Findings& findings);
Pipeline read_pipeline(const Node& node, Findings& findings, TraceFiles& traces);

// Blocks of a workload, the first and the last also of a pipeline; nullopt when absent.
std::optional<Traffic> read_traffic(const Node& parent, Findings& findings, TraceFiles& traces);
Serving read_serving(const Node& workload);
std::optional<Llm> read_llm(const Node& workload, Findings& findings);
std::optional<Autoscaling> read_autoscaling(const Node& workload, Findings& findings);
std::optional<Notebooks> read_notebooks(const Node& workload, Findings& findings);
std::vector<Objective> read_objectives(const Node& parent);

// planning, objective, isolation and pricing.
void read_planning(const Node& spec, Scenario& scenario, Findings& findings);

// REQUIRES: the workloads and pipelines of `scenario` are read; assertions name them.
std::vector<Policy> read_policies(const Node& spec, const Scenario& scenario, Findings& findings);

// The figure that a key of slo limits.
std::optional<Figure> figure_called(std::string_view name);

// The words of both ways to set it.
inline constexpr std::pair<std::string_view, MigStrategy> kMigStrategies[] = {
    {"none", MigStrategy::None},
    {"single", MigStrategy::Single},
    {"mixed", MigStrategy::Mixed},
};

// Reads mig, mps, vgpu, virtualGpu and nos of a node pool into `pool`.
void read_gpu_sharing(const Node& node, NodePool& pool, Findings& findings);

}  // namespace slicewise::scenarios
