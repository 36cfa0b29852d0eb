#pragma once

#include <string>
#include <string_view>

#include "slicewise/reports/export.hpp"

// A kustomize component with what the pods of a scenario ask for.
namespace slicewise::reports {

inline constexpr std::string_view kPriorityClasses = "priority-classes.yaml";
inline constexpr std::string_view kDisruptionBudgets = "disruption-budgets.yaml";
inline constexpr std::string_view kScaledObjects = "keda.yaml";

// The scenario but for its own Jobs of no pod: there is nothing to create.
scenarios::Scenario without_empty_jobs(scenarios::Scenario scenario);

// What the pods need beside the objects of the kustomization that is patched.
ExportFiles pod_object_files(const scenarios::Scenario& scenario);

// Of a workload, in the component: "voice-asr.yaml".
std::string patch_file(const scenarios::Workload& workload);

// Adds the component to `files`, in `folder`, which is "" or ends in "/".
void add_pods(const scenarios::Scenario& scenario, const std::string& folder, ExportFiles& files);

}  // namespace slicewise::reports
