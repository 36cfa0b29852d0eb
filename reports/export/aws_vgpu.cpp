#include "aws_vgpu.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

#include "../document/document_text.hpp"
#include "embedded/head_files.hpp"
#include "guide.hpp"
#include "node_settings.hpp"
#include "pool_targets.hpp"

// Source:
// https://github.com/awslabs/aws-virtual-gpu-device-plugin/blob/51832a5/manifests/device-plugin.yml
namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::NodePool;
using scenarios::Scenario;

// What the MPS daemon limits each client to; "" where the scenario says no limit.
std::string mps_threads_of(const NodePool& pool) {
  if (!pool.mps || !pool.mps->active_threads) return {};
  return fmt::format("{:g}", *pool.mps->active_threads * 100);
}

json aws_vgpu_daemon(const Scenario& scenario) {
  const NodePool& first = scenario.node_pools.front();
  std::vector<scenarios::Toleration> tolerations{
      {"CriticalAddonsOnly", "Exists", "", ""},
      {"k8s.amazonaws.com/vgpu", "Exists", "", "NoSchedule"}};
  for (const NodePool& pool : scenario.node_pools) {
    tolerations = tolerating(std::move(tolerations), pool);
  }
  const json labels = {{"name", "aws-virtual-gpu-device-plugin"}};
  json mps = {{"name", "mps"},
              {"image", "nvidia/mps"},
              {"volumeMounts", {{{"name", "nvidia-mps"}, {"mountPath", "/tmp/nvidia-mps"}}}}};
  if (const std::string threads = mps_threads_of(first); !threads.empty()) {
    mps["env"] = {{{"name", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"}, {"value", threads}}};
  }
  const json init = {{"name", "set-compute-mode"},
                     {"image", "nvidia/cuda:11.3.0-runtime-ubuntu18.04"},
                     {"command", {"nvidia-smi", "-c", "EXCLUSIVE_PROCESS"}},
                     {"securityContext", {{"capabilities", {{"add", {"SYS_ADMIN"}}}}}}};
  const json plugin = {
      {"name", "aws-virtual-gpu-device-plugin-ctr"},
      {"image", "amazon/aws-virtual-gpu-device-plugin:v0.1.1"},
      {"args",
       {"/usr/bin/vgpu-device-plugin", fmt::format("--vgpu={}", first.virtual_gpu->per_gpu)}},
      {"securityContext",
       {{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", {"ALL"}}}}}},
      {"volumeMounts",
       {{{"name", "device-plugin"}, {"mountPath", "/var/lib/kubelet/device-plugins"}}}}};
  const auto host_path = [](const char* name, const char* path) {
    return json{{"name", name}, {"hostPath", {{"path", path}}}};
  };
  const json spec = {
      {"hostIPC", true},
      {"nodeSelector", {{std::string(scenarios::kAcceleratorLabel), "vgpu"}}},
      {"tolerations", toleration_list(tolerations)},
      {"priorityClassName", "system-node-critical"},
      {"initContainers", json::array({init})},
      {"containers", json::array({plugin, mps})},
      {"volumes", json::array({host_path("device-plugin", "/var/lib/kubelet/device-plugins"),
                               host_path("nvidia-mps", "/tmp/nvidia-mps")})}};
  return {{"apiVersion", "apps/v1"},
          {"kind", "DaemonSet"},
          {"metadata", {{"name", kAwsVgpuDaemon}, {"namespace", "kube-system"}}},
          {"spec",
           {{"selector", {{"matchLabels", labels}}},
            {"updateStrategy", {{"type", "RollingUpdate"}}},
            {"template", {{"metadata", {{"labels", labels}}}, {"spec", spec}}}}}};
}

std::string aws_vgpu_title(const Scenario& scenario) {
  std::string labels;
  for (const NodePool& pool : scenario.node_pools) {
    labels += fmt::format("  kubectl label nodes -l {} {}=vgpu\n", label_of_nodes(pool),
                          scenarios::kAcceleratorLabel);
  }
  const bool limits = !mps_threads_of(scenario.node_pools.front()).empty();
  return head(head_files::aws_vgpu_txt(),
              {{"variant", yaml_scalar(scenario.name)},
               {"threads", limits ? "" : ", which is 10 there and no limit here"},
               {"labels", labels}});
}

}  // namespace

bool is_by_aws_vgpu(const Scenario& scenario) {
  return !scenario.node_pools.empty() &&
         std::ranges::all_of(scenario.node_pools,
                             [](const NodePool& pool) { return pool.virtual_gpu.has_value(); });
}

Expected<ExportFiles> render_aws_vgpu(const Scenario& scenario, const models::Catalogue& catalogue,
                                      const ExportOptions& /*options*/) {
  const Expected<std::vector<PoolTarget>> targets = pool_targets(scenario, catalogue);
  if (!targets) return tl::unexpected(targets.error());
  Diagnostics found;
  const NodePool& first = scenario.node_pools.front();
  for (const NodePool& pool : scenario.node_pools) {
    const auto unfit = [&](std::string_view what, std::string help) {
      found.push_back(make_diagnostic(
          Code::ExportUnfit, pool.where,
          fmt::format("AWS's virtual GPU device plugin cannot do it for node pool \"{}\": {}",
                      pool.name.value, what),
          std::move(help)));
    };
    if (!pool.virtual_gpu) {
      unfit("it is shared in another way", "write `virtualGpu: {}` in place of devicePlugin");
    } else if (first.virtual_gpu && (pool.virtual_gpu->per_gpu != first.virtual_gpu->per_gpu ||
                                     mps_threads_of(pool) != mps_threads_of(first))) {
      unfit("its settings are others than those of the first pool; the DaemonSet has one set",
            "give all pools the same");
    }
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  return ExportFiles{
      {std::string(kAwsVgpuFile), aws_vgpu_title(scenario) + yaml_text(aws_vgpu_daemon(scenario))},
      {"pods.yaml", pod_patches(scenario)}};
}

}  // namespace slicewise::reports
