#pragma once

#include <string_view>

#include "fields.hpp"

// The fields of spec about the choice of a configuration: planning, objective, isolation, policies
// and pricing.
namespace slicewise::scenarios::table {

inline constexpr std::string_view kStrategyNames[] = {
    "exclusive", "timeSlicing", "mps", "mpsUncapped", "mig", "mig+timeSlicing", "mig+mps", "vgpu"};
inline constexpr std::string_view kGoalNames[] = {"monthlyCost", "costPer1kInSlo", "costPerJob",
                                                  "latencyP99"};
inline constexpr std::string_view kIsolationKinds[] = {"memory", "compute", "fault"};
inline constexpr std::string_view kIsolatedFrom[] = {"namespaces", "pods"};
inline constexpr std::string_view kPolicySeverities[] = {"Deny", "Warn"};

inline constexpr Field kPlanning[] = {
    {.name = "instanceTypes",
     .type = FieldType::Texts,
     .default_value = "those of the planner",
     .description = "EC2 instance types, or whole families of them.",
     .example = "instanceTypes: [g4dn.xlarge, g5]"},
    {.name = "strategies",
     .type = FieldType::Words,
     .default_value = "all",
     .description = "Ways to share a GPU.",
     .example = "strategies: [timeSlicing, mps]",
     .words = list(kStrategyNames)},
    {.name = "purchaseOptions",
     .type = FieldType::Texts,
     .default_value = "on-demand, and the plans of pricing.plans",
     .description = "on-demand, spot, reserved, or the type of a plan in pricing.plans.",
     .example = "purchaseOptions: [on-demand, spot, savingsPlan3y]"},
    {.name = "replicas",
     .type = FieldType::Integers,
     .default_value = "those of the planner",
     .description = "Pods that share a GPU.",
     .example = "replicas: [2, 4, 8]",
     .least = 1,
     .most = 1'000},
    {.name = "maxNodes",
     .type = FieldType::Integer,
     .default_value = "that of the planner",
     .description = "Largest number of nodes of a pool.",
     .example = "maxNodes: 16",
     .least = 1,
     .most = 100'000},
    {.name = "split",
     .type = FieldType::Boolean,
     .default_value = "true",
     .description = "Workloads may get node pools of their own.",
     .example = "split: false"},
    {.name = "maxMonthlyCost",
     .type = FieldType::Number,
     .description = "No plan costs more, in US dollars for 730 h.",
     .example = "maxMonthlyCost: 1500",
     .least = 1,
     .most = 1'000'000'000},
};

inline constexpr Field kGoal[] = {
    {.name = "minimize",
     .type = FieldType::Word,
     .required = true,
     .description = "What the best of several configurations has least of.",
     .example = "minimize: costPer1kInSlo",
     .words = list(kGoalNames)},
};

inline constexpr Field kIsolation[] = {
    {.name = "require",
     .type = FieldType::Words,
     .required = true,
     .description = "memory: a process cannot take what another was promised. compute: one cannot "
                    "slow the other. fault: a fatal fault of one does not kill the other.",
     .example = "require: [memory, fault]",
     .words = list(kIsolationKinds)},
    {.name = "between",
     .type = FieldType::Word,
     .default_value = "namespaces",
     .description = "Pods of different namespaces, or any two pods.",
     .example = "between: namespaces",
     .words = list(kIsolatedFrom)},
};

inline constexpr Field kPolicy[] = {
    {.name = "name",
     .type = FieldType::Name,
     .required = true,
     .description = "Name of the policy.",
     .example = "name: budget"},
    {.name = "assert",
     .type = FieldType::Text,
     .required = true,
     .description =
         "Comparisons of figures with values, joined by and, or, not and parentheses. Of the whole "
         "result: cost.monthly, cost.total, cost.perJob, cost.per1kInSlo, nodes, pods.pending, "
         "pods.failed, pods.oomKills, pods.restarts, gpu.busy, slo.pass, strategy, instanceType, "
         "isolation.memory, isolation.compute, isolation.fault, sharedGpu, sharedGpu(namespaceA != "
         "namespaceB); of a plan: headroom. Of one workload, as workloads.NAME.latencyP99: "
         "latencyP50, latencyP95, latencyP99, completionP95, waitP95, goodput, throughput, "
         "availability, slo.pass; of several: all(slo.pass, workload in [chat, embed]).",
     .example = "assert: cost.monthly <= 1500",
     .least = 1},
    {.name = "severity",
     .type = FieldType::Word,
     .default_value = "Deny",
     .description = "Deny: what fails it is refused, `run` ends with exit code 99. Warn: it is "
                    "only said.",
     .example = "severity: Warn",
     .words = list(kPolicySeverities)},
};

inline constexpr Field kPricePlan[] = {
    {.name = "type",
     .type = FieldType::Text,
     .required = true,
     .description = "What you call the agreement with AWS; planning.purchaseOptions and results "
                    "name it.",
     .example = "type: savingsPlan3y",
     .least = 1},
    {.name = "discount",
     .type = FieldType::Percent,
     .required = true,
     .description = "Off the on-demand price, less than 100 %.",
     .example = "discount: 43%",
     .least = 1},
};

inline constexpr Field kPricing[] = {
    {.name = "plans",
     .type = FieldType::BlockByName,
     .description = "Agreed prices by instance type: on-demand node pools of the type pay less.",
     .example = "plans: {p4d.24xlarge: {type: savingsPlan3y, discount: 43%}}",
     .children = list(kPricePlan)},
};

}  // namespace slicewise::scenarios::table
