#pragma once

#include "fields.hpp"
#include "fields_slo.hpp"
#include "fields_traffic.hpp"

// The fields of pipelines[].
namespace slicewise::scenarios::table {

inline constexpr Field kStage[] = {
    {.name = "workload",
     .type = FieldType::Name,
     .required = true,
     .description = "Service that does this stage.",
     .example = "workload: asr"},
    {.name = "after",
     .type = FieldType::Names,
     .default_value = "none: starts with the request",
     .description = "Stages whose answers it needs, by the names of their workloads.",
     .example = "after: [asr]"},
};

inline constexpr Field kPipeline[] = {
    {.name = "name",
     .type = FieldType::Name,
     .required = true,
     .description = "Name of the pipeline.",
     .example = "name: voice"},
    {.name = "traffic",
     .type = FieldType::Block,
     .required = true,
     .description = "Requests of the pipeline.",
     .example = "traffic: {shape: Poisson, mean: 12/s}",
     .children = list(kTraffic)},
    {.name = "stages",
     .type = FieldType::Blocks,
     .required = true,
     .description = "The Services that a request passes through, end to end.",
     .example = "stages: [{workload: asr}, {workload: tts, after: [asr]}]",
     .children = list(kStage),
     .least = 1},
    {.name = "slo",
     .type = FieldType::Block,
     .description = "Objectives from end to end; a run that misses one exits with 99.",
     .example = "slo: {latencyP99: 2s}",
     .children = kPipelineSlo},
};

}  // namespace slicewise::scenarios::table
