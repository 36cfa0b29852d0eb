#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "guide.hpp"
#include "plugin_config.hpp"
#include "pool_targets.hpp"

// Against the types of NVIDIA's DRA driver (sigs.k8s.io/dra-driver-nvidia-gpu v0.4.1
// api/nvidia.com/resource/v1beta1), which decodes strictly.
namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::MigStrategy;
using scenarios::NodePool;
using scenarios::PluginSharing;
using scenarios::Workload;

constexpr std::string_view kDriver = "gpu.nvidia.com";
constexpr std::string_view kResourceApi = "resource.k8s.io/v1";
constexpr int kMostClaims = 1000;  // of a workload

// What the pods of a workload get by a claim.
struct ClaimedDevice {
  const Workload* workload;
  const PoolTarget* target;
  std::int64_t count = 1;           // devices of a pod
  const PluginSharing* sharing;     // nullptr: to itself
  int replicas = 1;                 // pods of one claim
  const MigDevices* mig = nullptr;  // nullptr: whole GPUs
};

bool uses_mps(const PoolTarget& target) {
  return target.pool->device_plugin && target.pool->device_plugin->mps;
}

// The devices behind a resource of the device plugin, whatever it was renamed to.
const MigDevices* mig_behind(const PoolTarget& target, std::string name) {
  if (name.ends_with(".shared")) name.resize(name.size() - std::string_view(".shared").size());
  const bool single = mig_strategy_of(*target.pool) == MigStrategy::Single;
  const auto found = std::ranges::find_if(target.mig_devices, [&](const MigDevices& devices) {
    return !devices.profile.empty() && (single || devices.resource == name);
  });
  return found == target.mig_devices.end() ? nullptr : &*found;
}

class DraPlanner {
 public:
  explicit DraPlanner(const std::vector<PoolTarget>& targets) : targets_(targets) {}

  Expected<std::vector<ClaimedDevice>> plan(const scenarios::Scenario& scenario) {
    for (const PoolTarget& target : targets_) check_pool(target);
    for (const Workload& workload : scenario.workloads) {
      for (const scenarios::ExtendedRequest& request : workload.pod.extended) {
        add(workload, request);
      }
    }
    if (devices_.empty() && found_.empty()) {
      unfit(scenario.where, "no pod of this variant asks for a GPU", "nothing to write");
    }
    if (!found_.empty()) return tl::unexpected(std::move(found_));
    return std::move(devices_);
  }

 private:
  void unfit(const SourceLocation& where, std::string what, std::string help) {
    found_.push_back(make_diagnostic(Code::ExportUnfit, where, std::move(what), std::move(help)));
  }

  void check_pool(const PoolTarget& target) {
    const NodePool& pool = *target.pool;
    if (pool.virtual_gpu || pool.nos) {
      unfit(pool.where,
            fmt::format("node pool \"{}\" has a device plugin of its own", pool.name.value),
            "export a variant in which devicePlugin or mig shares the GPUs");
    }
    const bool cut = mig_strategy_of(pool) != MigStrategy::None;
    if (cut && sharing_of(pool) != nullptr && !uses_mps(target)) {
      unfit(pool.where,
            fmt::format("time-slicing of MIG devices (node pool \"{}\"): the DRA driver takes the "
                        "setting and does nothing",
                        pool.name.value),
            "use --to helm-values or gpu-operator");
    }
    if (cut && target.mig_devices.empty()) {
      unfit(pool.where, fmt::format("the MIG layout of \"{}\" is not given", pool.name.value),
            "add mig.config");
    }
  }

  void add(const Workload& workload, const scenarios::ExtendedRequest& request) {
    for (const PoolTarget& target : targets_) {
      const auto offers = advertised(target);
      const bool has_it =
          std::ranges::find(offers, request.name.value, &AdvertisedResource::name) != offers.end();
      if (!has_it || !selects(workload, *target.pool)) continue;
      ClaimedDevice device{&workload, &target, request.count, sharing_of(*target.pool)};
      device.mig = mig_behind(target, request.name.value);
      device.replicas = replicas_of(device.sharing, request.name.value);
      if (device.replicas < 2) device.sharing = nullptr;
      return check(device, request);
    }
    unfit(request.name.where,
          fmt::format("no node pool offers {} to \"{}\"", request.name.value, workload.name.value),
          "slicewise explain RESOURCE_NAME_MISMATCH");
  }

  static bool selects(const Workload& workload, const NodePool& pool) {
    return std::ranges::all_of(workload.pod.node_selector, [&](const auto& wanted) {
      const auto label = pool.labels.find(wanted.first);
      return label == pool.labels.end() || label->second == wanted.second;
    });
  }

  static int replicas_of(const PluginSharing* sharing, const std::string& name) {
    if (sharing == nullptr) return 1;
    for (const scenarios::SharedResource& resource : sharing->resources) {
      if (advertised_name(*sharing, resource) == name) return resource.replicas;
    }
    return 1;
  }

  void check(const ClaimedDevice& device, const scenarios::ExtendedRequest& request) {
    if (device.sharing != nullptr && device.count > 1) {
      return unfit(request.count_where,
                   fmt::format("\"{}\" asks for {} shares of a GPU, and a claim has no shares",
                               device.workload->name.value, device.count),
                   "ask for 1");
    }
    if (device.sharing != nullptr && device.workload->count > kMostClaims * device.replicas) {
      return unfit(device.workload->where,
                   fmt::format("\"{}\" needs more than {} claims, one for each shared GPU",
                               device.workload->name.value, kMostClaims),
                   "pods share a GPU by naming one claim; use the device plugin for so many");
    }
    devices_.push_back(device);
  }

  const std::vector<PoolTarget>& targets_;
  std::vector<ClaimedDevice> devices_;
  Diagnostics found_;
};

json parameters_of(const ClaimedDevice& device) {
  json sharing;
  if (uses_mps(*device.target)) {
    const auto& settings = device.target->pool->mps;
    json mps = json::object();
    if (settings && settings->active_threads) {
      mps["defaultActiveThreadPercentage"] =
          std::clamp(static_cast<int>(std::lround(*settings->active_threads * 100)), 1, 100);
    } else if (!settings || !settings->uncapped) {
      mps["defaultActiveThreadPercentage"] = 100 / device.replicas;
    }
    if (device.mig == nullptr) {
      mps["defaultPinnedDeviceMemoryLimit"] =
          fmt::format("{}Mi", (device.target->gpu->memory_total.count >> 20) / device.replicas);
    }
    sharing = {{"strategy", "MPS"}, {"mpsConfig", std::move(mps)}};
  } else {
    sharing = {{"strategy", "TimeSlicing"}, {"timeSlicingConfig", {{"interval", "Default"}}}};
  }
  return {{"apiVersion", "resource.nvidia.com/v1beta1"},
          {"kind", device.mig == nullptr ? "GpuConfig" : "MigDeviceConfig"},
          {"sharing", std::move(sharing)}};
}

// DeviceClasses are of the whole cluster.
std::string device_class_of(const ClaimedDevice& device) {
  if (device.sharing == nullptr) return device.mig == nullptr ? "gpu.nvidia.com" : "mig.nvidia.com";
  const std::string profile = device.mig == nullptr ? "" : fmt::format(".{}", device.mig->profile);
  std::string name = fmt::format("{}{}.slicewise.dev", device.target->pool->name.value, profile);
  std::ranges::replace(name, '+', '.');
  return name;
}

json selector_of(const ClaimedDevice& device) {
  const std::string expression = device.mig == nullptr
                                     ? fmt::format("device.attributes['{}'].type == 'gpu'", kDriver)
                                     : fmt::format(
                                           "device.attributes['{0}'].type == 'mig' && "
                                           "device.attributes['{0}'].profile == '{1}'",
                                           kDriver, device.mig->profile);
  return {
      {"cel", {{"expression", fmt::format("device.driver == '{}' && {}", kDriver, expression)}}}};
}

json device_class(const ClaimedDevice& device) {
  return {{"apiVersion", kResourceApi},
          {"kind", "DeviceClass"},
          {"metadata", {{"name", device_class_of(device)}}},
          {"spec",
           {{"selectors", json::array({selector_of(device)})},
            {"config",
             json::array(
                 {{{"opaque", {{"driver", kDriver}, {"parameters", parameters_of(device)}}}}})}}}};
}

json claim_spec(const ClaimedDevice& device) {
  json exactly = {{"deviceClassName", device_class_of(device)}};
  if (device.count > 1) exactly["count"] = device.count;
  if (device.sharing == nullptr && device.mig != nullptr) {
    exactly["selectors"] = json::array({selector_of(device)});
  }
  return {{"devices",
           {{"requests", json::array({{{"name", "gpu"}, {"exactly", std::move(exactly)}}})}}}};
}

json claim_object(const ClaimedDevice& device, std::string name) {
  const bool own = device.sharing == nullptr;
  json metadata = {{"name", std::move(name)}, {"namespace", device.workload->namespace_name}};
  json spec = claim_spec(device);
  if (own) spec = {{"spec", std::move(spec)}};
  return {{"apiVersion", kResourceApi},
          {"kind", own ? "ResourceClaimTemplate" : "ResourceClaim"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)}};
}

std::string pod_lines(const ClaimedDevice& device, std::string_view key, const std::string& name) {
  return commented(fmt::format(
      "  resourceClaims:\n  - name: gpu\n    {}: {}\n  containers:\n  - name: {}\n    resources:\n"
      "      claims:\n      - name: gpu\n",
      key, name, device.workload->name.value));
}

// The claims of one workload, each with the lines of the pods that name it.
std::string claims_text(const ClaimedDevice& device) {
  const std::string name = device.workload->name.value + "-gpu";
  if (device.sharing == nullptr) {
    return "---\n" +
           comment(fmt::format("A device for each pod of {}. In its pod template, in place of the "
                               "resource under limits:",
                               device.workload->name.value)) +
           pod_lines(device, "resourceClaimTemplateName", name) +
           yaml_text(claim_object(device, name));
  }
  const int claims = (device.workload->count + device.replicas - 1) / device.replicas;
  std::string out;
  for (int n = 1; n <= claims; ++n) {
    const std::string claim = claims == 1 ? name : fmt::format("{}-{}", name, n);
    const int pods = std::min(device.replicas, device.workload->count - (n - 1) * device.replicas);
    out += "---\n" +
           comment(fmt::format(
               "One GPU for {} pod{} of {}{}. In the pod template, in place of the resource under "
               "limits:",
               pods, pods == 1 ? "" : "s", device.workload->name.value,
               claims == 1 ? "" : ", which needs an object of its own for them")) +
           pod_lines(device, "resourceClaimName", claim) + yaml_text(claim_object(device, claim));
  }
  return out;
}

std::string dra_title(const scenarios::Scenario& scenario,
                      const std::vector<ClaimedDevice>& devices) {
  std::string out = comment(fmt::format(
      "Claims for NVIDIA's DRA driver, of scenario variant {} (dra.yaml), written by slicewise",
      yaml_scalar(scenario.name)));
  out += comment(
      "Kubernetes 1.34 or newer. The driver is in place of the device plugin, never beside it on a "
      "node. Not for EKS Auto Mode or Bottlerocket, which bring the plugin; nodes that Karpenter "
      "starts need Karpenter 1.15.");
  const auto any = [&](bool mps) {
    return std::ranges::any_of(devices, [&](const ClaimedDevice& device) {
      return device.sharing != nullptr && uses_mps(*device.target) == mps;
    });
  };
  out += comment("Roll out:");
  std::string gates;
  if (any(false)) gates += " \\\n    --set featureGates.TimeSlicingSettings=true";
  if (any(true)) gates += " \\\n    --set featureGates.MPSSupport=true";
  out += commented(
      fmt::format("  helm upgrade -i dra-driver-nvidia-gpu \\\n"
                  "    oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu "
                  "--version 0.4.1 \\\n"
                  "    -n dra-driver-nvidia-gpu --create-namespace \\\n"
                  "    --set gpuResourcesEnabledOverride=true{}\n"
                  "  kubectl apply -f dra.yaml\n",
                  gates));
  if (!gates.empty()) {
    out += comment(
        "Sharing is behind feature gates that are off by default: without them the pods stay in "
        "ContainerCreating.");
    out += comment(
        "Pods share a GPU only by naming one ResourceClaim, so pods of two workloads that the "
        "device plugin would put on one GPU need one each here.");
  }
  return out + comment("Roll back:") + commented("  kubectl delete -f dra.yaml\n");
}

}  // namespace

Expected<ExportFiles> render_dra(const scenarios::Scenario& scenario,
                                 const models::Catalogue& catalogue,
                                 const ExportOptions& /*options*/) {
  const Expected<std::vector<PoolTarget>> targets = pool_targets(scenario, catalogue);
  if (!targets) return tl::unexpected(targets.error());
  const auto devices = DraPlanner(*targets).plan(scenario);
  if (!devices) return tl::unexpected(devices.error());
  std::string text = dra_title(scenario, *devices);
  std::set<std::string> classes;
  for (const ClaimedDevice& device : *devices) {
    if (device.sharing == nullptr || !classes.insert(device_class_of(device)).second) continue;
    text += "---\n" +
            comment(fmt::format("GPUs of node pool {} that {} pods share.",
                                device.target->pool->name.value, device.replicas)) +
            yaml_text(device_class(device));
  }
  for (const ClaimedDevice& device : *devices) text += claims_text(device);
  return ExportFiles{{"dra.yaml", std::move(text)}};
}

}  // namespace slicewise::reports
