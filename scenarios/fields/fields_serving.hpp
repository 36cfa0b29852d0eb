#pragma once

#include <string_view>

#include "fields.hpp"

// The fields of workloads[].serving and .autoscaling.
namespace slicewise::scenarios::table {

inline constexpr std::string_view kRoutings[] = {"Random", "RoundRobin", "LeastOutstanding",
                                                 "TwoChoices"};

inline constexpr std::string_view kMetrics[] = {"Queue", "Concurrency", "RequestRate",
                                                "GpuUtilization"};

inline constexpr Field kBatching[] = {
    {.name = "maxBatch",
     .type = FieldType::Integer,
     .required = true,
     .description = "Requests that the GPU answers in one go, at most.",
     .example = "maxBatch: 8",
     .least = 1,
     .most = 10'000},
    {.name = "maxDelay",
     .type = FieldType::Duration,
     .default_value = "0",
     .description = "How long a batch that is not full waits for more requests.",
     .example = "maxDelay: 5ms"},
};

inline constexpr Field kRetries[] = {
    {.name = "most",
     .type = FieldType::Integer,
     .required = true,
     .description = "Times that a client asks again.",
     .example = "most: 2",
     .most = 100},
    {.name = "after",
     .type = FieldType::Duration,
     .default_value = "0",
     .description = "Time before the first retry; doubles with each.",
     .example = "after: 100ms"},
};

inline constexpr Field kServing[] = {
    {.name = "routing",
     .type = FieldType::Word,
     .default_value = "Random",
     .description = "Which replica a request goes to: Random (kube-proxy's iptables mode), "
                    "RoundRobin, LeastOutstanding, or TwoChoices, the less loaded of two at "
                    "random.",
     .example = "routing: LeastOutstanding",
     .words = list(kRoutings)},
    {.name = "queueLimit",
     .type = FieldType::Integer,
     .default_value = "none",
     .description = "Requests that may wait in a pod; one that finds more is dropped.",
     .example = "queueLimit: 100"},
    {.name = "timeout",
     .type = FieldType::Duration,
     .default_value = "none",
     .description = "A request that has waited this long is dropped unanswered.",
     .example = "timeout: 2s",
     .least = 1},
    {.name = "concurrency",
     .type = FieldType::Integer,
     .default_value = "no limit",
     .description = "Requests that a pod works on at a time: its worker threads or processes.",
     .example = "concurrency: 4",
     .least = 1,
     .most = 1'000'000},
    {.name = "batching",
     .type = FieldType::Block,
     .description = "Dynamic batching, as Triton does it.",
     .example = "batching: {maxBatch: 8, maxDelay: 5ms}",
     .children = list(kBatching)},
    {.name = "cpuBefore",
     .type = FieldType::Duration,
     .default_value = "0",
     .description = "Host CPU time of a request before the GPU (decoding, tokenizing).",
     .example = "cpuBefore: 3ms"},
    {.name = "cpuAfter",
     .type = FieldType::Duration,
     .default_value = "0",
     .description = "Host CPU time of a request after the GPU.",
     .example = "cpuAfter: 1ms"},
    {.name = "retries",
     .type = FieldType::Block,
     .description = "What clients do after a request that was dropped or lost.",
     .example = "retries: {most: 2, after: 100ms}",
     .children = list(kRetries)},
};

inline constexpr Field kAutoscaling[] = {
    {.name = "min",
     .type = FieldType::Integer,
     .default_value = "1",
     .description = "Fewest replicas. 0 scales to zero, as KEDA does: requests are held until a "
                    "pod is ready.",
     .example = "min: 1",
     .most = 1'000'000},
    {.name = "max",
     .type = FieldType::Integer,
     .required = true,
     .description = "Most replicas.",
     .example = "max: 8",
     .least = 1,
     .most = 1'000'000},
    {.name = "metric",
     .type = FieldType::Word,
     .default_value = "Concurrency",
     .description = "What is kept near its target: waiting requests (Queue), requests in the pod "
                    "(Concurrency), RequestRate, or GpuUtilization.",
     .example = "metric: Queue",
     .words = list(kMetrics)},
    {.name = "target",
     .type = FieldType::Target,
     .required = true,
     .description = "Target per pod: a number for Queue and Concurrency, a rate for RequestRate, a "
                    "percentage for GpuUtilization.",
     .example = "target: 4"},
    {.name = "syncPeriod",
     .type = FieldType::Duration,
     .default_value = "15s",
     .description = "Time between two decisions (kube-controller-manager's default).",
     .example = "syncPeriod: 15s",
     .least = 1},
    {.name = "window",
     .type = FieldType::Duration,
     .default_value = "1m",
     .description = "Time over which the metric is averaged.",
     .example = "window: 1m",
     .least = 1},
    {.name = "scaleDownWindow",
     .type = FieldType::Duration,
     .default_value = "5m",
     .description = "Stabilization: the largest wish of this time counts.",
     .example = "scaleDownWindow: 5m"},
    {.name = "scaleUpWindow",
     .type = FieldType::Duration,
     .default_value = "0",
     .description = "The same for more replicas: the smallest wish counts.",
     .example = "scaleUpWindow: 30s"},
    {.name = "tolerance",
     .type = FieldType::Percent,
     .default_value = "10%",
     .description = "Distance from the target that changes nothing.",
     .example = "tolerance: 10%"},
    {.name = "cooldown",
     .type = FieldType::Duration,
     .default_value = "5m",
     .description = "Time without requests before the last pod goes (min: 0).",
     .example = "cooldown: 5m"},
};

}  // namespace slicewise::scenarios::table
