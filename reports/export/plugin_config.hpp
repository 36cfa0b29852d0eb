#pragma once

#include <string>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/gpu_model.hpp"
#include "slicewise/scenarios/scenario.hpp"

// The device plugin's own config file (version v1) of one node pool.
namespace slicewise::reports {

// The pool's MIG strategy: of its layout, else of the pasted plugin config.
scenarios::MigStrategy mig_strategy_of(const scenarios::NodePool& pool);

// none, single, mixed: as the plugin spells it.
std::string mig_strategy_name(scenarios::MigStrategy strategy);

// flags.mpsRoot of the pool, "" when it is not given.
std::string mps_root_of(const scenarios::NodePool& pool);

// The config file. Holds the scenario's settings and nothing else.
std::string plugin_config_yaml(const scenarios::NodePool& pool);

// Everything that the plugin of this chart (0.<minor>) would refuse at start, or read and ignore.
Diagnostics check_plugin_config(const scenarios::NodePool& pool, const models::GpuModel& gpu,
                                int chart_minor);

}  // namespace slicewise::reports
