// What `import k8s` makes of a text of objects, in a line for each workload.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/import.hpp"

#include "imported_scenario.hpp"

namespace slicewise::scenarios {

struct ObjectsRead : Written {
  Diagnostics problems;  // of `check`
};

inline ObjectsRead objects_read(const std::string& text, const ImportOptions& options = {}) {
  const std::vector<SourceText> files = {{"f.yaml", text}};
  return {written(ImportKind::K8s, {text}, options), read_cluster_files(files, {}).problems};
}

// "NAME KIND PODS" of each workload.
inline std::vector<std::string> workload_lines(const ObjectsRead& read) {
  const std::map<WorkloadKind, std::string> kinds = {{WorkloadKind::Job, "Job"},
                                                     {WorkloadKind::Deployment, "Deployment"},
                                                     {WorkloadKind::Service, "Service"}};
  std::vector<std::string> lines;
  for (const Workload& one : read.scenario.workloads) {
    lines.push_back(one.name.value + " " + kinds.at(one.kind) + " " + std::to_string(one.count));
  }
  return lines;
}

using WorkloadLines = std::vector<std::string>;

inline const std::string kGpuContainer =
    "{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}";
inline const std::string kScaledDeployment =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 3, template: "
    "{spec: {priorityClassName: high, containers: [" +
    kGpuContainer + "]}}}\n---\n";

}  // namespace slicewise::scenarios
