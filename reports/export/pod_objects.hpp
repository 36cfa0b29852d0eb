#pragma once

#include <string>
#include <string_view>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/scenario.hpp"

// Objects that pods of a scenario need beside those that they belong to.
namespace slicewise::reports {

// Of a workload whose priority is another than the cluster's default: "slicewise-priority-1000",
// "slicewise-priority-1000-never" of one that stops no others; "" else.
std::string priority_class_of(const scenarios::Workload& workload);

// The PriorityClasses that the workloads name, as YAML documents; "" where none is named.
std::string priority_classes(const scenarios::Scenario& scenario);

// The label by which exports find the pods of a workload.
inline constexpr std::string_view kOwnLabel = "slicewise.dev/workload";

// Whether it has a PodDisruptionBudget that the cluster does not have already.
bool has_new_budget(const scenarios::Workload& workload);
// The PodDisruptionBudgets of the workloads that have one, as YAML documents; "" where none has.
// They select pods by kOwnLabel.
std::string disruption_budgets(const scenarios::Scenario& scenario);

// Whether a ScaledObject can scale it: a custom resource sets the numbers of its pods itself
// (InferenceService: minReplicas; NIMService: scale.hpa), and KEDA refuses a second one's.
bool is_scaled_by_keda(const scenarios::Workload& workload);
// ... and nothing that the cluster has already does.
bool has_new_scaler(const scenarios::Workload& workload);
// Who scales it in the cluster once all is applied, as kubectl takes it.
std::string scaler_of(const scenarios::Workload& workload);
// ... in a sentence beside its pods.
std::string scaler_remark(const scenarios::Workload& workload);
// A ScaledObject of KEDA for each such Service, as YAML documents; "" where there is none.
// KEDA 2.18, its Prometheus scaler; the metrics are those of vLLM, Triton and dcgm-exporter.
std::string scaled_objects(const scenarios::Scenario& scenario);

// A kustomize component with what the pods of a scenario ask for.

inline constexpr std::string_view kPriorityClasses = "priority-classes.yaml";
inline constexpr std::string_view kDisruptionBudgets = "disruption-budgets.yaml";
inline constexpr std::string_view kScaledObjects = "keda.yaml";

// The scenario but for its own Jobs of no pod: there is nothing to create.
scenarios::Scenario without_empty_jobs(scenarios::Scenario scenario);

// What the pods need beside the objects of the kustomization that is patched.
ExportFiles pod_object_files(const scenarios::Scenario& scenario);

// Of a workload, in the component: "voice-asr.yaml".
std::string patch_file(const scenarios::Workload& workload);

// Rounded up.
std::int64_t whole_seconds(Duration time);

// Adds the component to `files`, in `folder`, which is "" or ends in "/".
void add_pods(const scenarios::Scenario& scenario, const std::string& folder, ExportFiles& files);

}  // namespace slicewise::reports
