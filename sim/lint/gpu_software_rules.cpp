#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "lint_rules.hpp"

// NVIDIA's components against each other: plugins, ConfigMaps, DRA, metrics.
namespace slicewise::sim::lint {
namespace {

using scenarios::ChartValues;
using scenarios::KeyValue;

// A DaemonSet of the plugin that is there, beside the one that values deploy.
void judge_daemon(const LintInput& input, const ChartValues& values,
                  const scenarios::PluginDaemonFile& daemon) {
  if (daemon.is_of_operator || values.takes_away.contains(daemon.name)) return;
  const bool is_upgraded = !daemon.release.empty() &&
                           values.chart == ChartValues::Chart::DevicePlugin &&
                           (values.release.empty() || values.release == daemon.release);
  if (is_upgraded) return;
  input.tell(
      Code::TwoDevicePlugins, daemon.where,
      daemon.release.empty()
          ? "a DaemonSet of the device plugin beside the one that Helm deploys"
          : fmt::format("the device plugin of release {} beside the one that these values deploy",
                        daemon.release.substr(0, 120)),
      daemon.release.empty() ? "keep one of the two" : "upgrade that release, or uninstall it");
}

void judge_plugins(const LintInput& input) {
  const ChartValues* first = nullptr;
  for (const ChartValues& chart : input.files.charts) {
    if (chart.chart == ChartValues::Chart::Dra || !chart.deploys_plugin) continue;
    if (first != nullptr && first->chart != chart.chart) {
      input.tell(Code::TwoDevicePlugins, chart.where,
                 "the GPU Operator and the device plugin's chart both deploy the plugin",
                 "devicePlugin.enabled: false in the operator's values, or drop the other chart");
    }
    first = &chart;
  }
  if (first != nullptr) {
    for (const auto& daemon : input.files.plugin_daemons) judge_daemon(input, *first, daemon);
  }
  if (input.files.eksctl_installs) {
    input.tell_as(first != nullptr ? Severity::Warning : Severity::Note, Code::TwoDevicePlugins,
                  *input.files.eksctl_installs,
                  "eksctl installs a static device plugin, without sharing, for these nodes",
                  "eksctl create cluster -f FILE --install-nvidia-plugin=false");
  }
  for (const ChartValues& dra : input.files.charts) {
    if (dra.chart != ChartValues::Chart::Dra || first == nullptr) continue;
    if (dra.places || first->places) continue;
    input.tell(Code::DraWithDevicePlugin, dra.where,
               "the DRA driver and the device plugin hand out the same GPUs",
               "one of the two per node: keep them apart by affinity or nodeSelector");
  }
}

bool asks_for_plugin(const scenarios::PodFile& pod) {
  return !pod.is_system && pod.scheduler != "hami-scheduler" &&
         std::ranges::any_of(pod.containers, [](const scenarios::ContainerFile& container) {
           return std::ranges::any_of(container.amounts, [](const auto& amount) {
             return scenarios::is_plugin_resource(amount.resource);
           });
         });
}

// Values of the GPU Operator that leave the plugin out, where nothing here brings it.
void judge_no_plugin(const LintInput& input) {
  const scenarios::ClusterFiles& files = input.files;
  const bool is_brought = files.eksctl_installs || !files.plugin_daemons.empty() ||
                          !files.virtual_gpus.empty() || !files.claims.empty() ||
                          std::ranges::any_of(files.charts, [](const ChartValues& chart) {
                            return chart.deploys_plugin || chart.chart == ChartValues::Chart::Dra;
                          });
  const bool has_some = std::ranges::any_of(
      files.groups, [](const auto& group) { return has_own_image(group) || group.allocatable; });
  if (is_brought || has_some || !std::ranges::any_of(files.pods, asks_for_plugin)) return;
  for (const ChartValues& chart : files.charts) {
    if (chart.chart != ChartValues::Chart::GpuOperator) continue;
    input.tell_as(Severity::Warning, Code::PluginNotScheduled, chart.where,
                  "devicePlugin.enabled: false, and nothing else here runs the device plugin: no "
                  "node offers a GPU, and what these values say of sharing nobody reads",
                  "leave it out, or deploy the plugin's own chart");
  }
}

// The ConfigMap that values name, against the ConfigMaps among the files.
void judge_external(const LintInput& input, const ChartValues& chart) {
  const std::string& name = chart.config_map.value;
  if (name.empty()) return;
  const bool created = chart.map_where.has_value();
  if (created) return;
  input.tell(Code::ConfigNotReloaded, chart.config_map.where,
             "a changed ConfigMap restarts nothing",
             "kubectl rollout restart the plugin's DaemonSet after each change");
  if (input.files.config_maps.empty()) return;
  const auto map =
      std::ranges::find(input.files.config_maps, name, &scenarios::ConfigMapFile::name);
  if (map == input.files.config_maps.end()) {
    const bool only_mig = std::ranges::all_of(input.files.config_maps, [](const auto& other) {
      return contains(other.keys, "config.yaml");
    });
    if (only_mig) return;
    return input.tell(
        Code::ConfigMapMissing, chart.config_map.where,
        fmt::format("no ConfigMap here is called {}: the plugin waits for it", name.substr(0, 60)),
        "create it in the namespace of the release");
  }
  if (map->space == "default" && chart.chart == ChartValues::Chart::DevicePlugin) {
    input.tell_as(Severity::Warning, Code::ChartNamespace, map->space_where,
                  "the ConfigMap has to be in the plugin's namespace, and the chart refuses the "
                  "namespace default",
                  "use a namespace of its own for both");
  }
  if (chart.chart == ChartValues::Chart::GpuOperator && !map->space.empty() &&
      map->space != "gpu-operator" && map->space.find("gpu-operator") == std::string::npos &&
      map->space.find("nvidia") == std::string::npos) {
    input.tell(Code::ConfigMapMissing, map->space_where,
               fmt::format("the ConfigMap is in {}, the operator looks in its own namespace",
                           map->space.substr(0, 60)),
               "put it where the operator is installed: gpu-operator");
  }
  const std::string& chosen = chart.default_key.value;
  const bool has_key = contains(map->keys, chosen);
  if (!chosen.empty() && !has_key) {
    input.tell(
        Code::PluginConfigUnknown, chart.default_key.where,
        fmt::format("the ConfigMap {} has no key {}", name.substr(0, 60), chosen.substr(0, 60)),
        "the init container crashes: specified config does not exist");
  }
  const bool has_default = contains(map->keys, "default");
  if (chosen.empty() && map->keys.size() > 1 && !has_default && !chart.has_fallback &&
      chart.chart == ChartValues::Chart::DevicePlugin) {
    input.tell(Code::PluginConfigAmbiguous, chart.config_map.where,
               "no config was set, no default was provided, and all fallbacks failed",
               "set config.default to a key of the ConfigMap");
  }
}

void judge_dra(const LintInput& input) {
  const ChartValues* driver = nullptr;
  for (const ChartValues& chart : input.files.charts) {
    if (chart.chart == ChartValues::Chart::Dra) driver = &chart;
  }
  for (const scenarios::DraSharingFile& sharing : input.files.dra) {
    const std::string gate =
        sharing.strategy == "TimeSlicing" ? "TimeSlicingSettings" : "MPSSupport";
    const bool on = driver != nullptr && driver->gates.contains(gate) && driver->gates.at(gate);
    const bool is_known = sharing.strategy == "TimeSlicing" || sharing.strategy == "MPS";
    if (!on && is_known) {
      input.tell_as(
          driver == nullptr ? Severity::Note : Severity::Error, Code::DraGateOff, sharing.where,
          fmt::format(
              "\"{}\" is selected as the GPU sharing strategy, which needs the \"{}\" feature gate",
              sharing.strategy.substr(0, 40), gate),
          fmt::format("featureGates: {{{}: true}} in the driver's values", gate));
    }
    if (sharing.is_template) {
      input.tell(Code::DraTemplateNotShared, sharing.where,
                 "a template makes a claim for each pod: pods do not share a GPU by it",
                 "one ResourceClaim, named by each pod as resourceClaimName");
    }
  }
}

bool any_offer(const LintInput& input, bool (*holds_for)(const NodeOffer&)) {
  return std::ranges::any_of(input.offers, holds_for);
}

bool shares(const NodeOffer& offer) {
  return offer.config != nullptr && offer.config->sharing != scenarios::FileSharing::None;
}
bool renames(const NodeOffer& offer) { return shares(offer) && offer.config->renames; }
bool partitions(const NodeOffer& offer) {
  return !offer.layouts.empty() || (offer.group != nullptr && offer.group->bottlerocket_partitions);
}

void judge_metrics(const LintInput& input) {
  const bool sharing = any_offer(input, shares);
  for (const scenarios::DcgmFile& exporter : input.files.exporters) {
    if (sharing && !exporter.attributes_to_all) {
      input.tell(Code::DcgmWholeGpu, exporter.where,
                 "of the pods that share a GPU one is credited with all of its use",
                 "env KUBERNETES_VIRTUAL_GPUS: \"true\", and never sum over pods");
    }
    if (any_offer(input, renames) && !exporter.names_resources) {
      input.tell(Code::DcgmResourceNames, exporter.where,
                 "pods with nvidia.com/gpu.shared have no pod labels on their metrics",
                 "env NVIDIA_RESOURCE_NAMES: nvidia.com/gpu.shared");
    }
  }
  for (const scenarios::MetricUse& use : input.files.metrics) {
    const bool is_utilisation = use.metric == "DCGM_FI_DEV_GPU_UTIL";
    const bool listed = contains(input.files.counters, use.metric);
    if (!is_utilisation && !listed) {
      // A list of counters in no file at hand may switch it on.
      input.tell_as(
          input.files.exporters.empty() ? Severity::Warning : Severity::Error,
          Code::MetricNotExported, use.where,
          fmt::format("{} is commented out in the exporter's default counters", use.metric),
          "give the exporter a ConfigMap with its own list");
    }
    if (is_utilisation && any_offer(input, partitions)) {
      input.tell(Code::MetricAbsentOnMig, use.where, "DCGM_FI_DEV_GPU_UTIL does not exist on MIG",
                 "use DCGM_FI_PROF_GR_ENGINE_ACTIVE by GPU_I_ID");
    }
    if (is_utilisation && sharing && use.sums_by_pod) {
      input.tell(Code::DcgmWholeGpu, use.where,
                 "every pod that shares a GPU carries the whole GPU's value: the sum counts it "
                 "several times",
                 "take the maximum by GPU instead");
    }
  }
}

// Labels of GFD that count something else than a reader may think.
void judge_counting_labels(const LintInput& input) {
  if (!any_offer(input, shares)) return;
  constexpr std::array<std::string_view, 3> kCounts = {
      "nvidia.com/gpu.count", "nvidia.com/gpu.replicas", "nvidia.com/gpu.memory"};
  const auto judge = [&](std::string_view key, const SourceLocation& where) {
    if (!contains(kCounts, key)) return;
    input.tell(Code::ReplicasReadAsGpus, where,
               fmt::format("{} describes the physical GPUs, not what a pod gets", key),
               "units of a node = gpu.count x gpu.replicas; gpu.memory is the whole GPU's");
  };
  for (const auto& pod : input.files.pods) {
    for (const KeyValue& wanted : pod.node_selector) judge(wanted.key, wanted.key_where);
    for (const auto& term : pod.affinity) {
      for (const auto& requirement : term) judge(requirement.key, requirement.where);
    }
  }
}

}  // namespace

void lint_gpu_software(const LintInput& input) {
  judge_plugins(input);
  judge_no_plugin(input);
  for (const ChartValues& chart : input.files.charts) judge_external(input, chart);
  judge_dra(input);
  judge_metrics(input);
  judge_counting_labels(input);
}

}  // namespace slicewise::sim::lint
