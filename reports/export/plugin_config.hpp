#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "pool_targets.hpp"

// The device plugin's own config file (version v1) of one node pool.
namespace slicewise::reports {

// The pool's MIG strategy: of its layout, else of the pasted plugin config.
scenarios::MigStrategy mig_strategy_of(const scenarios::NodePool& pool);

// Whether its MPS limits threads otherwise than the plugin does: 100 / replicas % for each client.
bool has_own_threads(const scenarios::NodePool& pool);

// none, single, mixed: as the plugin spells it.
std::string mig_strategy_name(scenarios::MigStrategy strategy);

// The config file. Holds the scenario's settings and nothing else.
std::string plugin_config_yaml(const scenarios::NodePool& pool);

// What the device plugin is told on which nodes, before it is written as Helm values or ConfigMap.

inline constexpr int kOldestChartMinor = 14;  // 0.14, of the AWS demo
inline constexpr int kNewestChartMinor = scenarios::PluginVersion{}.minor;

// One entry of config.map, and the node pools that it is for.
struct NamedConfig {
  std::string key;
  std::string yaml;  // the plugin's config file
  std::vector<PoolTarget> pools;
};

// Points into the scenario and the catalogue it was made from.
struct PluginPlan {
  int chart_minor = kNewestChartMinor;
  std::vector<NamedConfig> configs;               // distinct, in the order of the node pools
  std::string default_key;                        // of nodes that carry no label
  std::string mps_root;                           // "" when no pool uses MPS
  const scenarios::GpuSoftware* there = nullptr;  // of the scenario
};

Expected<PluginPlan> plan_plugin(const scenarios::Scenario& scenario,
                                 const models::Catalogue& catalogue,
                                 std::string_view chart_version);

}  // namespace slicewise::reports
