#pragma once

#include <span>
#include <vector>

#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/world.hpp"

// From the raw records of the replications to what is reported.
namespace slicewise::sim {

// REQUIRES: at least one replication, all of `world`.
VariantResult merge(const World& world, std::span<const Replication> replications);

// Objectives of one workload against what was found.
std::vector<ObjectiveResult> judge_objectives(const WorkloadModel& model, std::size_t workload,
                                              std::span<const Replication> replications,
                                              const WorkloadResult& result);

std::vector<ObjectiveResult> judge_objectives(const PipelineModel& model, std::size_t pipeline,
                                              std::span<const Replication> replications,
                                              const WorkloadResult& result);

// What to say of an objective that was not met.
Diagnostic missed_objective(const std::string& workload, const ObjectiveResult& judged,
                            const SourceLocation& where);

// Warnings that only the run could find: memory, waiting, host CPU, objectives.
Diagnostics run_findings(const World& world, std::span<const Replication> replications,
                         const VariantResult& result);

}  // namespace slicewise::sim
