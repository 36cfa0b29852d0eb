#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/counted.hpp"
#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "dra_claims.hpp"
#include "embedded/head_files.hpp"
#include "guide.hpp"
#include "installer.hpp"
#include "node_settings.hpp"
#include "pod_owner.hpp"

// Against the types of NVIDIA's DRA driver (sigs.k8s.io/dra-driver-nvidia-gpu v0.4.1
// api/nvidia.com/resource/v1beta1), which decodes strictly.
namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::ClaimSharing;

// As the device plugin would share it.
ClaimSharing sharing_in(const ClaimedDevice& device) {
  ClaimSharing sharing;
  if (!uses_mps(*device.target)) return sharing;
  sharing.strategy = ClaimSharing::Strategy::Mps;
  const auto& settings = device.target->pool->mps;
  if (settings && settings->active_threads) {
    sharing.active_threads =
        std::clamp(static_cast<int>(std::lround(*settings->active_threads * 100)), 1, 100);
  } else if (!settings || !settings->uncapped) {
    sharing.active_threads = 100 / device.replicas;
  }
  if (device.mig == nullptr) {
    sharing.memory_limit =
        mebibytes((device.target->gpu->memory_total.count >> 20) / device.replicas);
  }
  return sharing;
}

// DeviceClasses are of the whole cluster.
std::string device_class_of(const ClaimedDevice& device) {
  if (device.sharing == nullptr) return device.mig == nullptr ? "gpu.nvidia.com" : "mig.nvidia.com";
  return shared_name(device) + ".slicewise.dev";
}

// Of this pool's product: other pools of the cluster have devices of the driver as well. The
// product has blanks where the label of GPU Feature Discovery has hyphens.
std::string selector_of(const ClaimedDevice& device) {
  std::string expression = device.mig == nullptr
                               ? fmt::format("device.attributes['{}'].type == 'gpu'", kDraDriver)
                               : fmt::format(
                                     "device.attributes['{0}'].type == 'mig' && "
                                     "device.attributes['{0}'].profile == '{1}'",
                                     kDraDriver, device.mig->profile);
  std::string product = device.target->gpu->kubernetes_product;
  std::ranges::replace(product, '-', '.');
  if (!product.empty()) {
    expression +=
        fmt::format(" && device.attributes['{}'].productName.matches('^{}$')", kDraDriver, product);
  }
  return fmt::format("device.driver == '{}' && {}", kDraDriver, expression);
}

json device_class(const ClaimedDevice& device) {
  return kubernetes_object("resource.k8s.io/v1", "DeviceClass", {{"name", device_class_of(device)}},
                           {{"selectors", json::array({cel_selector(selector_of(device))})},
                            {"config", driver_config(sharing_in(device), device.mig != nullptr)}});
}

json claim_of_device(const ClaimedDevice& device, const std::string& name) {
  const bool own = device.sharing == nullptr;
  std::vector<std::string> selectors;
  if (own) selectors.push_back(selector_of(device));
  return claim_object(name, device.workload->namespace_name, own,
                      claim_spec(device_class_of(device), device.count, selectors));
}

std::string pod_lines(const ClaimedDevice& device, std::string_view key, const std::string& name) {
  return commented(fmt::format(
      "  resourceClaims:\n  - name: gpu\n    {}: {}\n  containers:\n  - name: {}\n    resources:\n"
      "      claims:\n      - name: gpu\n",
      key, name, device.workload->name.value));
}

std::string template_text(const ClaimedDevice& device) {
  const std::string name = template_name(device);
  return "---\n" +
         comment(fmt::format("A device for each pod of {}. In its pod template, in place of the "
                             "resource under limits:",
                             device.workload->name.value)) +
         pod_lines(device, "resourceClaimTemplateName", name) +
         yaml_text(claim_of_device(device, name));
}

// One claim, with the lines of the pods that name it.
std::string claim_text(const std::vector<SharedClaim>& claims, std::size_t n) {
  const SharedClaim& claim = claims[n];
  const std::string name = claim_name(claims, n);
  std::string sharers;
  for (const auto& [device, pods] : claim.pods) {
    sharers += fmt::format("{}{} of {}", sharers.empty() ? "" : " and ", counted(pods, "pod"),
                           device->workload->name.value);
  }
  const bool is_split = std::ranges::any_of(
      claim.pods, [](const auto& of) { return of.second < of.first->workload->count; });
  std::string out = "---\n" + comment(fmt::format(
                                  "One {} for {}{}. In the pod template, in place of the resource "
                                  "under limits:",
                                  claim.pods.front().first->mig ? "device" : "GPU", sharers,
                                  is_split ? ", which need an object of their own" : ""));
  for (const auto& [device, pods] : claim.pods)
    out += pod_lines(*device, "resourceClaimName", name);
  return out + yaml_text(claim_of_device(*claim.pods.front().first, name));
}

// How claims are shared that the scenario has, or that stand for the device plugin's replicas.
struct SharedBy {
  bool turns = false;
  bool mps = false;
};

void add_sharing(const ClaimSharing& sharing, SharedBy& by) {
  (sharing.strategy == ClaimSharing::Strategy::Mps ? by.mps : by.turns) = true;
}

std::string dra_title(const scenarios::Scenario& scenario, const SharedBy& by) {
  std::string gates;
  if (by.turns) gates += " \\\n    --set featureGates.TimeSlicingSettings=true";
  if (by.mps) gates += " \\\n    --set featureGates.MPSSupport=true";
  std::string sharing;
  if (!gates.empty()) {
    sharing =
        "Sharing is behind feature gates that are off by default: without them the pods stay in "
        "ContainerCreating.\n";
    if (!claims_devices(scenario)) {
      sharing +=
          "Pods share a GPU only by naming one ResourceClaim: there is one for each GPU, shared by "
          "as many pods as the device plugin was simulated to put on it.\n";
    }
  }
  return head(head_files::dra_txt(),
              {{"variant", yaml_scalar(scenario.name)},
               {"version", kDraDriverVersion},
               {"gates", gates},
               {"tolerations", toleration_flags(scenario, scenarios::ChartValues::Chart::Dra)},
               {"sharing", sharing}});
}

// The Deployment of the server that the driver makes tolerates nothing, and its place is given
// (templates/mps-control-daemon.tmpl.yaml): of the taints only one ends it.
Diagnostics refused_taints(const scenarios::Scenario& scenario, const SharedBy& by) {
  Diagnostics found;
  for (const scenarios::NodePool& pool : scenario.node_pools) {
    const bool ends_it =
        std::ranges::find(pool.taints, "NoExecute", &scenarios::Taint::effect) != pool.taints.end();
    if (!by.mps || !ends_it) continue;
    found.push_back(make_diagnostic(
        Code::ExportUnfit, pool.where,
        fmt::format(
            "a taint NoExecute of \"{}\" ends the MPS servers of NVIDIA's DRA driver, which "
            "tolerate nothing",
            pool.name.value),
        "effect: NoSchedule"));
  }
  return found;
}

}  // namespace

Expected<ExportFiles> render_dra(const scenarios::Scenario& scenario,
                                 const models::Catalogue& catalogue,
                                 const ExportOptions& /*options*/) {
  if (claims_devices(scenario)) {
    const Expected<std::string> claims = claim_documents(scenario);
    if (!claims) return tl::unexpected(claims.error());
    SharedBy by;
    for (const scenarios::ResourceClaim& claim : scenario.claims) {
      if (claim.sharing) add_sharing(*claim.sharing, by);
    }
    if (Diagnostics found = refused_taints(scenario, by); !found.empty()) {
      return tl::unexpected(std::move(found));
    }
    return ExportFiles{
        {"dra.yaml", dra_title(scenario, by) +
                         comment("The pods name them: slicewise export --to pod-patch") + *claims}};
  }
  const Expected<std::vector<PoolTarget>> targets = pool_targets(scenario, catalogue);
  if (!targets) return tl::unexpected(targets.error());
  const auto plan = plan_claims(scenario, *targets);
  if (!plan) return tl::unexpected(plan.error());
  SharedBy by;
  for (const ClaimedDevice& device : plan->devices) {
    if (device.sharing != nullptr) add_sharing(sharing_in(device), by);
  }
  if (Diagnostics found = refused_taints(scenario, by); !found.empty()) {
    return tl::unexpected(std::move(found));
  }
  std::string text = dra_title(scenario, by);
  std::set<std::string> classes;
  for (const ClaimedDevice& device : plan->devices) {
    if (device.sharing == nullptr || !classes.insert(device_class_of(device)).second) continue;
    text += "---\n" +
            comment(fmt::format("GPUs of node pool {} that {} pods share.",
                                device.target->pool->name.value, device.replicas)) +
            yaml_text(device_class(device));
  }
  for (const ClaimedDevice& device : plan->devices) {
    if (device.sharing == nullptr) text += template_text(device);
  }
  for (const std::vector<SharedClaim>& claims : plan->shared) {
    for (std::size_t n = 0; n < claims.size(); ++n) text += claim_text(claims, n);
  }
  return ExportFiles{{"dra.yaml", std::move(text)}};
}

}  // namespace slicewise::reports
