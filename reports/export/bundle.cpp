#include "bundle.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/reports/export/pod_patch.hpp"

#include "../document/yaml_text.hpp"
#include "guide.hpp"
#include "node_image.hpp"
#include "text_block.hpp"

namespace slicewise::reports {
namespace {

using scenarios::Scenario;
using scenarios::Workload;

std::string patch_file(const Workload& workload) {
  return fmt::format("{}-{}.yaml", workload.namespace_name, workload.name.value);
}

// A component: it changes the objects of the kustomization that names it, and has none itself.
std::string kustomization(const Scenario& scenario) {
  std::string out = comment(
      "What the pods of the scenario ask for. Name it in your own kustomization, beside the "
      "resources that it patches:");
  out += commented("  components:\n  - pods\n");
  out += "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n";
  for (const Workload& workload : scenario.workloads) {
    out += fmt::format("- path: {}\n", yaml_scalar(patch_file(workload)));
  }
  return out;
}

void add_pods(const Scenario& scenario, const std::string& folder, ExportFiles& files) {
  files.push_back({folder + "kustomization.yaml", kustomization(scenario)});
  for (const Workload& workload : scenario.workloads) {
    files.push_back({folder + patch_file(workload), pod_patch(scenario, workload)});
  }
}

// Takes the files of another kind in, or its problems.
void add_kind(RenderExport* render, const Scenario& scenario, const models::Catalogue& catalogue,
              const ExportOptions& options, ExportFiles& files, Diagnostics& found) {
  Expected<ExportFiles> made = render(scenario, catalogue, options);
  if (made) {
    std::move(made->begin(), made->end(), std::back_inserter(files));
    return;
  }
  for (const Diagnostic& problem : made.error()) {
    if (!holds(found, problem)) found.push_back(problem);
  }
}

// MIG layouts need mig-manager, which comes with the operator and its own device plugin.
void choose_installer(Bundle& bundle, const models::Catalogue& catalogue) {
  if (bundle.options->image == NodeImage::Bottlerocket) return;
  if (bundle.has_mig) {
    bundle.values = "gpu-operator-values.yaml";
    bundle.repository = "nvidia https://helm.ngc.nvidia.com/nvidia";
    bundle.chart = "nvidia/gpu-operator";
    bundle.version = "v26.7.0";
    bundle.release = "gpu-operator";
    bundle.namespace_name = "gpu-operator";
    return;
  }
  const auto plan = plan_plugin(*bundle.scenario, catalogue, bundle.options->chart_version);
  if (!plan) return;
  const Release release = plugin_release(*plan, *bundle.options);
  bundle.values = "nvdp-values.yaml";
  bundle.repository = "nvdp https://nvidia.github.io/k8s-device-plugin";
  bundle.chart = "nvdp/nvidia-device-plugin";
  bundle.version = release.chart_version;
  bundle.release = release.name;
  bundle.namespace_name = release.namespace_name;
  bundle.daemonset = plugin_daemonset(release);
}

}  // namespace

Expected<ExportFiles> render_kustomize(const Scenario& scenario,
                                       const models::Catalogue& /*catalogue*/,
                                       const ExportOptions& /*options*/) {
  ExportFiles files;
  add_pods(scenario, "", files);
  return files;
}

Expected<ExportFiles> render_bundle(const Scenario& scenario, const models::Catalogue& catalogue,
                                    const ExportOptions& options) {
  ExportFiles files;
  Diagnostics found;
  Bundle bundle;
  bundle.scenario = &scenario;
  bundle.options = &options;
  bundle.has_mig = std::ranges::any_of(scenario.node_pools,
                                       [](const auto& pool) { return pool.mig.has_value(); });
  if (options.image == NodeImage::Al2023) {
    add_kind(bundle.has_mig ? render_gpu_operator : render_helm_values, scenario, catalogue,
             options, files, found);
    if (bundle.has_mig) add_kind(render_mig_parted, scenario, catalogue, options, files, found);
  } else {
    add_kind(render_bottlerocket, scenario, catalogue, options, files, found);
  }
  // Node groups are made by one of them.
  add_kind(render_karpenter, scenario, catalogue, options, files, found);
  if (scenario.provisioner.kind != scenarios::Provisioner::Kind::Karpenter) {
    add_kind(render_eksctl, scenario, catalogue, options, files, found);
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  bundle.nodes = *image_nodes(scenario, catalogue, options);
  choose_installer(bundle, catalogue);
  add_pods(scenario, "pods/", files);
  files.push_back({"apply.sh", apply_script(bundle), true});
  files.push_back({"rollback.sh", rollback_script(bundle), true});
  files.push_back({"VERIFY.md", verify_guide(bundle)});
  return files;
}

}  // namespace slicewise::reports
