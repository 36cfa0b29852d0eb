#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "pool_targets.hpp"

// What the device plugin is told on which nodes, before it is written as Helm values or ConfigMap.
namespace slicewise::reports {

inline constexpr int kOldestChartMinor = 14;  // 0.14, of the AWS demo
inline constexpr int kNewestChartMinor = 20;

// One entry of config.map, and the node pools that it is for.
struct NamedConfig {
  std::string key;
  std::string yaml;  // the plugin's config file
  std::vector<PoolTarget> pools;
};

// Points into the scenario and the catalogue it was made from.
struct PluginPlan {
  int chart_minor = kNewestChartMinor;
  std::vector<NamedConfig> configs;  // distinct, in the order of the node pools
  std::string default_key;           // of nodes that carry no label
  std::string mps_root;              // "" when no pool uses MPS
};

Expected<PluginPlan> plan_plugin(const scenarios::Scenario& scenario,
                                 const models::Catalogue& catalogue,
                                 std::string_view chart_version);

}  // namespace slicewise::reports
