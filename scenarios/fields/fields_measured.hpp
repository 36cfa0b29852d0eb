#pragma once

#include <string_view>

#include "fields.hpp"

// The fields of workloads[].measured.
namespace slicewise::scenarios::table {

inline constexpr std::string_view kDistributions[] = {"Deterministic", "Exponential"};

inline constexpr std::string_view kProvenances[] = {"Measured", "Catalog", "Assumed"};

inline constexpr Field kRandomTime[] = {
    {.name = "mean",
     .type = FieldType::Duration,
     .description = "Mean time.",
     .example = "mean: 31ms",
     .least = 1},
    {.name = "distribution",
     .type = FieldType::Word,
     .default_value = "Deterministic",
     .description = "How it varies around the mean.",
     .example = "distribution: Exponential",
     .words = list(kDistributions)},
    {.name = "p50",
     .type = FieldType::Duration,
     .description = "Median; with p99 or p95, a log-normal law.",
     .example = "p50: 31ms",
     .least = 1},
    {.name = "p95",
     .type = FieldType::Duration,
     .description = "95th percentile.",
     .example = "p95: 40ms",
     .least = 1},
    {.name = "p99",
     .type = FieldType::Duration,
     .description = "99th percentile.",
     .example = "p99: 44ms",
     .least = 1},
};

inline constexpr Field kMeasured[] = {
    {.name = "device",
     .type = FieldType::Text,
     .default_value = "the pool's own GPU",
     .description = "GPU model on which the figures hold (slicewise get gpus).",
     .example = "device: V100-SXM2-16GB",
     .least = 1},
    {.name = "unitTime",
     .type = FieldType::Duration,
     .description = "Wall time of a work unit, one pod alone on one GPU.",
     .example = "unitTime: 18s",
     .least = 1},
    {.name = "unitTimeVariation",
     .type = FieldType::Percent,
     .default_value = "0%",
     .description = "Coefficient of variation of unitTime between pods.",
     .example = "unitTimeVariation: 5%"},
    {.name = "gpuBusy",
     .type = FieldType::Percent,
     .description =
         "Share of the time in which some kernel runs: DCGM_FI_PROF_GR_ENGINE_ACTIVE. Drives "
         "time-slicing.",
     .example = "gpuBusy: 38%"},
    {.name = "gpuUtil",
     .type = FieldType::Percent,
     .description = "nvidia-smi's utilization, DCGM_FI_DEV_GPU_UTIL, in place of gpuBusy, which it "
                    "overstates.",
     .example = "gpuUtil: 60%"},
    {.name = "batch",
     .type = FieldType::Integer,
     .default_value = "the profile's, else 1",
     .description = "Items in the step or request that was measured.",
     .example = "batch: 8",
     .least = 1,
     .most = 1'000'000},
    {.name = "capacityShare",
     .type = FieldType::Percent,
     .description = "Share of the whole GPU's capacity that it takes while it runs alone, for a "
                    "Service while it answers a request. At most gpuBusy or gpuUtil. Drives MPS "
                    "and MIG.",
     .example = "capacityShare: 44%"},
    {.name = "smActive",
     .type = FieldType::Percent,
     .description = "Share of the time in which an SM is busy, averaged over the SMs (DCGM).",
     .example = "smActive: 21%"},
    {.name = "cpu",
     .type = FieldType::Cpu,
     .description = "Host CPU that a running pod uses on average.",
     .example = "cpu: 2600m"},
    {.name = "requestGpuTime",
     .type = FieldType::Random,
     .description = "GPU time of one request of a Service, alone on the GPU.",
     .example = "requestGpuTime: {p50: 31ms, p99: 44ms}",
     .children = list(kRandomTime)},
    {.name = "extraPerItem",
     .type = FieldType::Duration,
     .default_value = "requestGpuTime, which is nothing gained by a batch",
     .description = "GPU time of one more request in a batch (Service).",
     .example = "extraPerItem: 4ms"},
    {.name = "longestKernel",
     .type = FieldType::Duration,
     .default_value = "short against a time slice",
     .description = "Longest kernel: what a neighbour waits for at most before its turn, because "
                    "a GPU does not always stop a kernel.",
     .example = "longestKernel: 12ms",
     .least = 1},
    {.name = "bandwidthShare",
     .type = FieldType::Percent,
     .description = "Share of the work that memory bandwidth limits, not the SMs.",
     .example = "bandwidthShare: 30%"},
    {.name = "normP",
     .type = FieldType::Number,
     .default_value =
         "the profile's, else 3 for requests, 2 for batch work, 1 where its host phase is Serial",
     .description = "Exponent p of the execution law T = (T0^p + (W/f)^p)^(1/p): 1 when fixed and "
                    "scalable work take turns, more the better they overlap.",
     .example = "normP: 2",
     .least = 1,
     .most = 1'000},
    {.name = "sensitivity",
     .type = FieldType::Number,
     .description = "How much it suffers under MPS: neighbours of pressure c slow it down by "
                    "1 + sensitivity * (sum of c).",
     .example = "sensitivity: 0.6",
     .most = 1'000},
    {.name = "pressure",
     .type = FieldType::Number,
     .description = "How much its neighbours suffer under MPS, per unit of their sensitivity.",
     .example = "pressure: 0.5",
     .most = 1'000},
    {.name = "provenance",
     .type = FieldType::Word,
     .default_value = "Assumed",
     .description = "Where the figures come from; reports count them.",
     .example = "provenance: Measured",
     .words = list(kProvenances)},
};

}  // namespace slicewise::scenarios::table
