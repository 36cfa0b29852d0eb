#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

#include "../document/document_text.hpp"
#include "guide.hpp"
#include "node_settings.hpp"
#include "pod_owner.hpp"
#include "pool_targets.hpp"

// Jobs that measure the GPUs of the node pools by tools/gpu_probe.
namespace slicewise::reports {
namespace {

constexpr std::string_view kImage = "slicewise-gpu-probe:latest";

nlohmann::json probe_job(const PoolTarget& target) {
  const std::vector<AdvertisedResource> offered = advertised(target);
  const std::string resource =
      offered.empty() ? std::string(scenarios::kGpuResource) : offered.front().name;
  const nlohmann::json container = {
      {"name", "gpu-probe"}, {"image", kImage}, {"resources", {{"limits", {{resource, 1}}}}}};
  const nlohmann::json pod = {
      {"restartPolicy", "Never"},
      {"nodeSelector", {{scenarios::kInstanceTypeLabel, target.instance->name}}},
      {"tolerations", toleration_list(tolerating(
                          {{std::string(scenarios::kGpuTaint), "Exists", "", ""}}, *target.pool))},
      {"containers", nlohmann::json::array({container})}};
  return kubernetes_object(
      "batch/v1", "Job", {{"name", "gpu-probe-" + target.pool->name.value}},
      {{"backoffLimit", 0}, {"activeDeadlineSeconds", 900}, {"template", {{"spec", pod}}}});
}

}  // namespace

Expected<ExportFiles> render_probe_job(const scenarios::Scenario& scenario,
                                       const models::Catalogue& catalogue,
                                       const ExportOptions& /*options*/) {
  const Expected<std::vector<PoolTarget>> targets = pool_targets(scenario, catalogue);
  if (!targets) return tl::unexpected(targets.error());
  std::string text = comment(
      "How the GPUs of each node pool are shared, measured (probe-jobs.yaml). Nothing else may run "
      "on the GPU meanwhile: drain it, or measure on a node of its own. The image is made by "
      "tools/gpu_probe/Containerfile; name it as your registry does.");
  text += commented("  kubectl apply -f probe-jobs.yaml\n");
  for (const PoolTarget& target : *targets) {
    const std::string& pool = target.pool->name.value;
    text += commented(fmt::format("  kubectl logs job/gpu-probe-{0} > {0}.json\n", pool));
  }
  text += comment("Then, for each file:");
  text += commented("  slicewise run -f scenario.yaml --catalogue FILE\n");
  for (const PoolTarget& target : *targets) text += "---\n" + yaml_text(probe_job(target));
  return ExportFiles{{"probe-jobs.yaml", std::move(text)}};
}

}  // namespace slicewise::reports
