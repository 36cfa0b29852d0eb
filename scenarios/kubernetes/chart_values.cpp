#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"

// Helm values. Helm takes every key, and templates use those they know, so a misspelt key is
// silent. Sources: values.yaml and templates/validation.yml of the charts nvidia-device-plugin
// v0.20.0, gpu-operator v26.7.0 and dra-driver-nvidia-gpu.
namespace slicewise::scenarios::manifests {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view kPluginChart =
    "config compatWithCPUManager migStrategy failOnInitError deviceListStrategy deviceIDStrategy "
    "nvidiaDriverRoot nvidiaDevRoot gdrcopyEnabled gdsEnabled mofedEnabled deviceDiscoveryStrategy "
    "nameOverride fullnameOverride namespaceOverride selectorLabelsOverride allowDefaultNamespace "
    "imagePullSecrets image updateStrategy podAnnotations podSecurityContext securityContext "
    "resources nodeSelector affinity tolerations priorityClassName runtimeClassName devicePlugin "
    "gfd nfd mps cdi global legacyDaemonsetAPI namespace";
constexpr std::array<std::string_view, 4> kPluginConfigKeys = {"name", "map", "default",
                                                               "fallbackStrategies"};
constexpr std::array<std::string_view, 3> kMpsKeys = {"root", "enableHostPID", "enableHostNetwork"};
constexpr std::string_view kOperatorChart =
    "platform nfd psa cdi sandboxWorkloads hostPaths daemonsets validator operator mig driver "
    "toolkit devicePlugin dcgm dcgmExporter gfd migManager nodeStatusExporter gds gdrcopy "
    "vgpuManager vgpuDeviceManager vfioManager kataManager kataSandboxDevicePlugin "
    "sandboxDevicePlugin ccManager node-feature-discovery gpuOperator extraObjects global "
    "imagePullSecrets nameOverride draDriver";
// Source: NVIDIA/gpu-operator, api/nvidia/v1/clusterpolicy_types.go.
constexpr std::string_view kPolicy =
    "operator daemonsets driver toolkit devicePlugin dcgmExporter dcgm nodeStatusExporter gfd mig "
    "migManager psp psa validator gds gdrcopy sandboxWorkloads vfioManager sandboxDevicePlugin "
    "vgpuManager vgpuDeviceManager cdi kataManager ccManager hostPaths kataSandboxDevicePlugin";
constexpr std::array<std::string_view, 2> kPolicyConfigKeys = {"name", "default"};
constexpr std::array<std::string_view, 3> kMigStrategies = {"none", "single", "mixed"};
constexpr std::array<std::string_view, 4> kOperatorConfigKeys = {"create", "name", "default",
                                                                 "data"};
constexpr std::array<std::string_view, 4> kGates = {"TimeSlicingSettings", "MPSSupport",
                                                    "DynamicMIG", "ConsumableShares"};

bool has_any(const Node& document, Words keys) {
  return std::ranges::any_of(keys,
                             [&](std::string_view key) { return document.entry(key) != nullptr; });
}

bool is_dra(const Node& document) {
  return document.entry("gpuResourcesEnabledOverride") != nullptr ||
         is_map(node_below(&document, {"resources", "gpus"})) ||
         is_map(node_below(&document, {"resources", "computeDomains"}));
}

std::size_t count_of(const Node& document, Words keys) {
  return static_cast<std::size_t>(std::ranges::count_if(
      keys, [&](std::string_view key) { return document.entry(key) != nullptr; }));
}

bool all_known(const Node& mapping, Words keys) {
  return std::ranges::all_of(mapping.entries, [&](const Entry& entry) {
    return std::ranges::find(keys, std::string_view(entry.key)) != keys.end();
  });
}

// Keys that other charts have as well count only together.
bool is_operator(const Node& document) {
  constexpr std::array<std::string_view, 5> kOwn = {
      "migManager", "dcgmExporter", "sandboxWorkloads", "vgpuDeviceManager", "nodeStatusExporter"};
  constexpr std::array<std::string_view, 7> kCommon = {
      "driver", "toolkit", "operator", "mig", "devicePlugin", "validator", "dcgm"};
  return has_any(document, kOwn) || count_of(document, kCommon) > 1 ||
         node_below(&document, {"mig", "strategy"}) != nullptr ||
         is_map(node_below(&document, {"devicePlugin", "config"}));
}

// Whether some entry of `config.map` is the text of a plugin config, whatever keys stand beside it.
bool has_plugin_configs(const Node* config) {
  const Node* map = config == nullptr ? nullptr : config->find("map");
  return is_map(map) && std::ranges::any_of(map->entries, [](const Entry& entry) {
           const std::string& text = entry.value->text;
           return text.find("version:") != std::string::npos &&
                  (text.find("sharing:") != std::string::npos ||
                   text.find("flags:") != std::string::npos);
         });
}

bool is_plugin_chart(const Node& document) {
  constexpr std::array<std::string_view, 8> kOwn = {
      "gfd",
      "migStrategy",
      "compatWithCPUManager",
      "deviceListStrategy",
      "deviceIDStrategy",
      "nvidiaDriverRoot",
      "deviceDiscoveryStrategy",
      "legacyDaemonsetAPI",
  };
  if (has_any(document, kOwn)) return true;
  const Node* config = document.find("config");
  constexpr std::array<std::string_view, 3> kChoosing = {"map", "default", "fallbackStrategies"};
  if (is_map(config) && has_any(*config, kChoosing) && all_known(*config, kPluginConfigKeys)) {
    return all_known(document, parts_of(kPluginChart, ' ')) || has_plugin_configs(config);
  }
  constexpr std::array<std::string_view, 4> kCommon = {"mps", "devicePlugin", "failOnInitError",
                                                       "allowDefaultNamespace"};
  return has_any(document, kCommon) && all_known(document, parts_of(kPluginChart, ' '));
}

// The value of a variable in a list of {name, value}.
Located<std::string> variable_of(const Node* env, std::string_view name) {
  if (!is_list(env)) return {};
  for (const NodePtr& item : env->items) {
    if (text_below(item.get(), {"name"}) == name) return located_below(item.get(), {"value"});
  }
  return {};
}

class ChartReader {
 public:
  ChartReader(Context& context, const Node& document) : context_(context), document_(document) {
    chart_.where = document.where;
  }

  void read() {
    if (is_dra(document_)) {
      read_dra_driver();
    } else if (is_operator(document_)) {
      read_operator();
    } else {
      read_plugin();
    }
    context_.files.charts.push_back(std::move(chart_));
  }

  // The spec of a ClusterPolicy, which holds what the chart writes there.
  void read_policy() {
    check_keys(context_, &document_, parts_of(kPolicy, ' '), "the GPU Operator");
    check_keys(context_, node_below(&document_, {"devicePlugin", "config"}), kPolicyConfigKeys,
               "a ClusterPolicy");
    take_operator("");
    context_.files.charts.push_back(std::move(chart_));
  }

 private:
  void read_tolerations() {
    chart_.tolerations = usual_tolerations(chart_.chart);
    for (TolerationList& one : chart_.tolerations) {
      const Node* node = node_at(&document_, one.path);
      if (is_list(node)) one.list = tolerations_in(node);
    }
  }

  void tell(Code code, const SourceLocation& where, std::string message, std::string help = {}) {
    report(context_, code, where, std::move(message), std::move(help));
  }

  void read_plugin() {
    chart_.chart = ChartValues::Chart::DevicePlugin;
    check_keys(context_, &document_, parts_of(kPluginChart, ' '), "the chart");
    const Node* config = document_.find("config");
    check_keys(context_, config, kPluginConfigKeys, "the chart");
    check_keys(context_, document_.find("mps"), kMpsKeys, "the chart");
    check_keys(context_, document_.find("devicePlugin"), std::array{std::string_view("enabled")},
               "the chart");
    if (const Entry* space = document_.entry("namespace")) {
      tell(Code::ChartNamespace, space->key_where,
           "the chart stops: an explicit 'namespace' in values.yaml is no longer supported",
           "helm -n NAMESPACE --create-namespace, or namespaceOverride");
    }
    const Located<std::string> space = located_below(&document_, {"namespaceOverride"});
    if (space.value == "default" && !is_true(document_.find("allowDefaultNamespace"))) {
      // The chart's test of namespaceOverride lets it pass; helm -n default it refuses.
      warn(context_, Code::ChartNamespace, space.where,
           "the plugin would run in the namespace default",
           "choose another one, or set allowDefaultNamespace: true");
    }
    chart_.config_map = located_below(config, {"name"});
    chart_.default_key = located_below(config, {"default"});
    read_map(node_below(config, {"map"}), "config.map");
    if (!chart_.config_map.value.empty() && chart_.map_where) {
      tell(Code::ChartConfigInvalid, chart_.config_map.where,
           "Only one of 'config.name' or 'config.map' should ever be set for a given deployment",
           "keep one of the two");
    }
    const Node* fallback = node_below(config, {"fallbackStrategies"});
    chart_.has_fallback =
        is_list(fallback) && std::ranges::any_of(fallback->items, [](const NodePtr& word) {
          return word->text == "empty";
        });
    read_chart_commands(*context_.source, chart_);
    chart_.deploys_plugin = !is_false(node_below(&document_, {"devicePlugin", "enabled"}));
    chart_.discovers = is_true(node_below(&document_, {"gfd", "enabled"})) ||
                       is_true(node_below(&document_, {"nfd", "enabled"}));
    chart_.places = document_.entry("affinity") != nullptr;
    chart_.selector = pairs_of(document_.find("nodeSelector"));
    read_tolerations();
    const Located<std::string> strategy = located_below(&document_, {"migStrategy"});
    chart_.strategy = strategy.value;
    chart_.strategy_where = strategy.where;
    if (!strategy.value.empty() &&
        std::ranges::find(kMigStrategies, strategy.value) == kMigStrategies.end()) {
      tell(Code::EnumUnknown, strategy.where,
           fmt::format("unknown MIG strategy: {}", strategy.value.substr(0, 40)),
           "none, single or mixed; the plugin stops at any other word");
    }
    judge_keys();
  }

  void read_operator() {
    check_keys(context_, &document_, parts_of(kOperatorChart, ' '), "the GPU Operator's chart",
               true);
    check_keys(context_, node_below(&document_, {"devicePlugin", "config"}), kOperatorConfigKeys,
               "the GPU Operator's chart");
    take_operator("single");
  }

  void take_operator(std::string_view usual_strategy) {
    chart_.chart = ChartValues::Chart::GpuOperator;
    const Node* config = node_below(&document_, {"devicePlugin", "config"});
    chart_.config_map = located_below(config, {"name"});
    chart_.default_key = located_below(config, {"default"});
    read_map(node_below(config, {"data"}), "devicePlugin.config.data");
    const Node* create = node_below(config, {"create"});
    if (is_true(create) && (!chart_.map_where || chart_.config_map.value.empty())) {
      tell(Code::ChartConfigInvalid, create->where,
           "the chart stops: config.create needs a name and data",
           "give devicePlugin.config.name and .data, or leave create out");
    }
    chart_.deploys_plugin = !is_false(node_below(&document_, {"devicePlugin", "enabled"}));
    chart_.discovers = !is_false(node_below(&document_, {"nfd", "enabled"}));
    read_tolerations();
    const Located<std::string> strategy = located_below(&document_, {"mig", "strategy"});
    const bool is_written = node_below(&document_, {"mig", "strategy"}) != nullptr;
    chart_.strategy = is_written ? strategy.value : std::string(usual_strategy);
    chart_.strategy_where = strategy.where;
    if (!chart_.strategy.empty() &&
        std::ranges::find(kMigStrategies, chart_.strategy) == kMigStrategies.end()) {
      tell(Code::EnumUnknown, strategy.where,
           fmt::format("mig.strategy {}: the GPU Operator knows none, single and mixed",
                       chart_.strategy.substr(0, 40)));
    }
    read_mig_manager();
    read_exporter(node_below(&document_, {"dcgmExporter"}));
    const bool has_config = !chart_.config_map.value.empty() || chart_.map_where.has_value();
    // Who writes it empty means it.
    const bool is_chosen = is_map(config) && config->entry("default") != nullptr;
    if (chart_.deploys_plugin && has_config && !is_chosen) {
      tell(Code::OperatorDefaultMissing,
           chart_.map_where ? *chart_.map_where : chart_.config_map.where,
           "nodes without a label share nothing, silently",
           "set devicePlugin.config.default to one of the keys");
    }
    judge_keys();
  }

  void read_mig_manager() {
    const Node* manager = document_.find("migManager");
    chart_.manages_mig = is_map(manager) && !is_false(node_below(manager, {"enabled"}));
    const Node* env = node_below(manager, {"env"});
    chart_.reboots = variable_of(env, "WITH_REBOOT").value == "true";
    const Located<std::string> chosen = located_below(manager, {"config", "default"});
    if (!chosen.value.empty() && chosen.value != "all-disabled") {
      tell(Code::MigManagerConfig, chosen.where,
           "migManager.config.default may only be \"all-disabled\" or \"\"",
           "choose the layout by the node label nvidia.com/mig.config");
    }
    const Node* data = node_below(manager, {"config", "data"});
    if (is_map(data)) {
      for (const Entry& entry : data->entries) {
        if (entry.key != "config.yaml") {
          tell(Code::MigManagerConfig, entry.key_where,
               "mig-manager reads the key config.yaml only", "rename the key");
        }
        if (entry.value == nullptr) continue;
        const NodePtr inner = embedded_document(context_, *entry.value);
        if (inner != nullptr && is_mig_file(*inner)) read_mig_file(context_, *inner);
      }
    }
    const auto shutdown = variable_of(env, "WITH_SHUTDOWN_HOST_GPU_CLIENTS");
    if (shutdown.value == "false") {
      tell(Code::MigGpuInUse, shutdown.where,
           "services of the host that hold a GPU make a MIG change fail: In use by another client",
           "leave it to the operator, which sets it to true where the driver is on the host");
    }
  }

  void read_exporter(const Node* exporter) {
    if (!is_map(exporter) || is_false(exporter->find("enabled"))) return;
    const Node* env = node_below(exporter, {"env"});
    DcgmFile file{.where = exporter->where};
    file.attributes_to_all = variable_of(env, "KUBERNETES_VIRTUAL_GPUS").value == "true";
    file.names_resources = !variable_of(env, "NVIDIA_RESOURCE_NAMES").value.empty();
    context_.files.exporters.push_back(std::move(file));
  }

  void read_dra_driver() {
    chart_.chart = ChartValues::Chart::Dra;
    chart_.deploys_plugin = false;
    const bool off = is_false(node_below(&document_, {"resources", "gpus", "enabled"}));
    if (!off && !is_true(document_.find("gpuResourcesEnabledOverride"))) {
      tell(Code::DraOverrideMissing, document_.where,
           "the chart refuses to install: gpuResourcesEnabledOverride is not true",
           "set it, and take the device plugin off these nodes");
    }
    const Node* gates = document_.find("featureGates");
    check_keys(context_, gates, kGates, "the DRA driver", true);
    for (const std::string_view gate : kGates) {
      const Node* value = node_below(gates, {gate});
      chart_.gates[std::string(gate)] = is_true(value);
    }
    for (const std::string_view other : {"DynamicMIG", "ConsumableShares"}) {
      if (!chart_.gates["MPSSupport"] || !chart_.gates[std::string(other)]) continue;
      tell(Code::DraGatesExclude, place_below(document_, {"featureGates", other}),
           fmt::format("MPSSupport and {} exclude each other", other), "keep one of the two");
    }
    read_tolerations();
    chart_.places = document_.entry("affinity") != nullptr ||
                    document_.entry("nodeSelector") != nullptr ||
                    node_below(&document_, {"kubeletPlugin", "affinity"}) != nullptr ||
                    node_below(&document_, {"kubeletPlugin", "nodeSelector"}) != nullptr;
  }

  // Configs that are part of the values.
  void read_map(const Node* map, std::string_view path) {
    if (!is_map(map) || map->entries.empty()) return;
    chart_.map_where = map->where;
    for (const Entry& entry : map->entries) {
      chart_.keys.push_back(entry.key);
      if (entry.value == nullptr || entry.value->kind != Node::Kind::Text) {
        tell(Code::ChartConfigInvalid, entry.key_where,
             fmt::format("an entry of {} is text, not a mapping", path),
             fmt::format("write `{}: |` and indent the file below it", entry.key.substr(0, 40)));
        continue;
      }
      const NodePtr inner = embedded_document(context_, *entry.value);
      if (is_map(inner.get())) read_plugin_config(context_, inner, entry.key);
    }
  }

  // The default that is used on nodes without a label.
  void judge_keys() {
    const auto& keys = chart_.keys;
    if (keys.empty()) return;
    const std::string& chosen = chart_.default_key.value;
    if (!chosen.empty() && std::ranges::find(keys, chosen) == keys.end()) {
      tell(Code::PluginConfigUnknown, chart_.default_key.where,
           fmt::format("no config is called {}", chosen.substr(0, 60)),
           "the init container crashes: specified config does not exist");
    }
    const bool is_operator = chart_.chart == ChartValues::Chart::GpuOperator;
    if (chosen.empty() && keys.size() > 1 && !is_operator && !chart_.has_fallback &&
        std::ranges::find(keys, "default") == keys.end()) {
      tell(Code::PluginConfigAmbiguous, *chart_.map_where,
           "A default config must be provided when more than one configuration is set in "
           "'config.map'",
           "set config.default");
    }
  }

  Context& context_;
  const Node& document_;
  ChartValues chart_;
};

}  // namespace

bool is_chart_values(const Node& document) {
  if (document.kind != Node::Kind::Map || document.entry("kind") != nullptr) return false;
  return is_dra(document) || is_operator(document) || is_plugin_chart(document);
}

void read_chart_values(Context& context, const Node& document) {
  ChartReader(context, document).read();
}

bool read_node_clocks(Context& context, const Node& document) {
  constexpr std::array<std::array<std::string_view, 2>, 4> kClocks{
      {{"settings", "batchIdleDuration"},
       {"settings", "batchMaxDuration"},
       {"extraArgs", "scan-interval"},
       {"extraArgs", "scale-down-unneeded-time"}}};
  bool has_some = false;
  for (const auto& [group, key] : kClocks) {
    const Located<std::string> clock = located_below(&document, {group, key});
    if (clock.value.empty()) continue;
    has_some = true;
    context.files.node_clocks.push_back({std::string(key), clock.value, clock.where, clock.where});
  }
  return has_some;
}

void read_cluster_policy(Context& context, const Node& spec) {
  ChartReader(context, spec).read_policy();
}

}  // namespace slicewise::scenarios::manifests

namespace slicewise::scenarios {

std::vector<TolerationList> usual_tolerations(ChartValues::Chart chart) {
  const Toleration of_gpus{std::string(kGpuTaint), "Exists", "", "NoSchedule"};
  switch (chart) {
    case ChartValues::Chart::DevicePlugin:
      return {{"tolerations", {{"CriticalAddonsOnly", "Exists", "", ""}, of_gpus}},
              {"nfd.worker.tolerations",
               {{"node-role.kubernetes.io/master", "Equal", "", "NoSchedule"},
                {std::string(kGpuTaint), "Equal", "present", "NoSchedule"}}}};
    case ChartValues::Chart::GpuOperator:
      return {{"daemonsets.tolerations", {of_gpus}},
              {"node-feature-discovery.worker.tolerations",
               {{"node-role.kubernetes.io/control-plane", "Equal", "", "NoSchedule"}, of_gpus}}};
    case ChartValues::Chart::Dra:
      return {{"kubeletPlugin.tolerations", {of_gpus}}};
  }
  return {};
}

}  // namespace slicewise::scenarios
