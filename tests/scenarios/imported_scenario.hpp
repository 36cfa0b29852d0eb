#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"

#include "imported_jobs.hpp"

// What an import writes, read again.
namespace slicewise::scenarios {

// Values of the device plugin's chart: four pods take turns on each GPU.
inline constexpr std::string_view kSharedValues = R"(
config:
  default: ts4
  map:
    none: |
      version: v1
    ts4: |
      version: v1
      sharing:
        timeSlicing:
          resources:
          - name: nvidia.com/gpu
            replicas: 4
)";

inline constexpr std::string_view kDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: asr, namespace: voice}
spec:
  replicas: 3
  template:
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      containers:
      - name: main
        env: [{name: TF_FORCE_GPU_ALLOW_GROWTH, value: "true"}, {name: PASSWORD, value: secret}]
        resources:
          requests: {cpu: 500m, memory: 3Gi}
          limits: {nvidia.com/gpu: 1}
)";
inline constexpr std::string_view kJob = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 2
  completions: 6
  template: {spec: {restartPolicy: Never, containers: [{resources: {limits: {nvidia.com/gpu: "1"}}}]}}
)";

struct Written {
  std::string yaml;
  std::string missing;
  Scenario scenario;  // the file, read again
  ImportedJobs said;  // its log and errors

  const Workload* find(const std::string& name) const {
    for (const Workload& one : scenario.workloads) {
      if (one.name.value == name) return &one;
    }
    return nullptr;
  }
};

inline Written written(ImportKind kind, const std::vector<std::string>& texts,
                       const ImportOptions& options = {}) {
  std::vector<SourceText> files;
  for (const std::string& text : texts) files.push_back({"f.yaml", text});
  Expected<Imported> imported = import_log(kind, files, options);
  Written result;
  if (!imported) {
    result.said.errors = std::move(imported.error());
    return result;
  }
  ScenarioText text = scenario_of(*imported, kind, options);
  result.yaml = std::move(text.yaml);
  result.missing = std::move(text.missing);
  result.said.log = std::move(imported->log);
  const auto loaded = load_scenario({"out.yaml", result.yaml});
  if (!loaded) {
    ADD_FAILURE() << loaded.error().front().message << " in\n" << result.yaml;
    return result;
  }
  result.scenario = loaded->variants.front();
  return result;
}

inline Written k8s(const std::vector<std::string>& texts, const ImportOptions& options = {}) {
  return written(ImportKind::K8s, texts, options);
}

}  // namespace slicewise::scenarios
