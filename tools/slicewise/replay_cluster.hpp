#pragma once

#include <string>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/sim/replay/replay_study.hpp"

#include "commands.hpp"

namespace slicewise::tools {

// What --gpus, --nodes or --instances say.
struct NamedCluster {
  sim::ReplayCluster cluster;
  std::string text;                 // "250 x p3.16xlarge"
  std::optional<UsdPerHour> price;  // of all nodes; absent without instance types
};

// Every mistake at once. The catalogue is the one with the prices in force.
Expected<NamedCluster> named_cluster(const ReplayCommand& command,
                                     const models::Catalogue& catalogue);

}  // namespace slicewise::tools
