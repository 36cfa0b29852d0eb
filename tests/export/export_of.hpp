#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/reports/export.hpp"

#include "scenario_samples.hpp"

// One kind of export of a scenario, as tests look at it.
namespace slicewise::reports {

inline const ExportKind& kind_named(std::string_view name) {
  return *std::ranges::find(kExportKinds, name, &ExportKind::name);
}

inline scenarios::Scenario sample_of(const std::string& name) {
  for (auto& [sample_name, scenario] : sample_scenarios(20)) {
    if (sample_name == name) return scenario;
  }
  ADD_FAILURE() << "no sample " << name;
  return {};
}

inline Expected<ExportFiles> export_of(const std::string& kind, const scenarios::Scenario& scenario,
                                       const ExportOptions& options = {}) {
  return kind_named(kind).render(scenario, models::load_catalogue(), options);
}

// All files as one text, as a person would read a directory.
inline std::string text_of(const Expected<ExportFiles>& files) {
  if (!files) {
    std::string problems;
    for (const Diagnostic& d : files.error()) problems += d.message + "\n";
    ADD_FAILURE() << problems;
    return problems;
  }
  std::string out;
  for (const ExportFile& file : *files) out += "==> " + file.path + " <==\n" + file.text;
  return out;
}

inline std::vector<std::string> refusals(const Expected<ExportFiles>& files) {
  std::vector<std::string> out;
  if (files) return out;
  for (const Diagnostic& d : files.error()) {
    out.push_back(std::string(info(d.code).name) + ": " + d.message);
  }
  return out;
}

inline scenarios::Scenario with_pool(scenarios::NodePool pool) {
  scenarios::Scenario out;
  out.name = "base";
  out.node_pools = {std::move(pool)};
  return out;
}

inline scenarios::NodePool cut(const std::string& config, scenarios::MigStrategy strategy) {
  scenarios::NodePool pool = whole_gpus("a100", "p4d.24xlarge");
  pool.mig.emplace();
  pool.mig->strategy = strategy;
  pool.mig->config.value = config;
  return pool;
}

inline scenarios::Workload asking(std::string name, int count, std::string resource) {
  scenarios::Workload workload;
  workload.name.value = std::move(name);
  workload.kind = scenarios::WorkloadKind::Deployment;
  workload.count = count;
  scenarios::ExtendedRequest request;
  request.name.value = std::move(resource);
  workload.pod.extended = {request};
  return workload;
}

}  // namespace slicewise::reports
