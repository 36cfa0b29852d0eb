#include "kustomize.hpp"

#include <utility>

#include <fmt/format.h>

#include "../document/document_text.hpp"
#include "bundle_dra.hpp"
#include "guide.hpp"
#include "pod_objects.hpp"
#include "pod_owner.hpp"
#include "quota_remarks.hpp"

namespace slicewise::reports {

using scenarios::Scenario;
using scenarios::Workload;

Scenario without_empty_jobs(Scenario scenario) {
  std::erase_if(scenario.workloads, [](const Workload& workload) {
    return workload.kind == scenarios::WorkloadKind::Job && workload.count == 0 &&
           !workload.schedule && workload.manifest.containers.empty();
  });
  return scenario;
}

ExportFiles pod_object_files(const Scenario& scenario) {
  ExportFiles files;
  for (auto& [path, text] : {std::pair(kPriorityClasses, priority_classes(scenario)),
                             std::pair(kDisruptionBudgets, disruption_budgets(scenario)),
                             std::pair(kScaledObjects, scaled_objects(scenario))}) {
    if (!text.empty()) files.push_back({std::string(path), text});
  }
  return files;
}

std::string patch_file(const Workload& workload) {
  return fmt::format("{}-{}.yaml", workload.namespace_name, workload.name.value);
}

namespace {

// A component: it changes the objects of the kustomization that names it, and has few itself.
std::string kustomization(const Scenario& scenario, const ExportFiles& objects) {
  std::string out = comment(
      "What the pods of the scenario ask for. Name it in your own kustomization, beside the "
      "resources that it patches:");
  out += commented("  components:\n  - pods\n");
  out += "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
  if (!objects.empty()) out += "resources:\n";
  for (const ExportFile& file : objects) out += fmt::format("- {}\n", file.path);
  std::string patches;
  for (const Workload& workload : scenario.workloads) {
    if (owner_of(workload).api_version.empty()) continue;
    patches += fmt::format("- path: {}\n", yaml_scalar(patch_file(workload)));
  }
  if (!patches.empty()) out += "patches:\n" + patches;
  return out;
}

}  // namespace

void add_pods(const Scenario& scenario, const std::string& folder, ExportFiles& files) {
  ExportFiles objects = pod_object_files(scenario);
  files.push_back({folder + "kustomization.yaml", kustomization(scenario, objects)});
  for (ExportFile& file : objects) files.push_back({folder + file.path, std::move(file.text)});
  for (const Workload& workload : scenario.workloads) {
    files.push_back({folder + patch_file(workload), pod_patch(scenario, workload), false,
                     never_admitted(scenario, workload)});
  }
}

Expected<ExportFiles> render_kustomize(const Scenario& scenario, const models::Catalogue& catalogue,
                                       const ExportOptions& /*options*/) {
  const Expected<Scenario> claimed = as_claimed(scenario, catalogue);
  if (!claimed) return tl::unexpected(claimed.error());
  ExportFiles files;
  add_pods(*claimed, "", files);
  return files;
}

}  // namespace slicewise::reports
