#pragma once

#include <string>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"

// Configuration for the NVIDIA device plugin, ready to apply.
namespace slicewise::reports {

// Helm chart generations whose values differ.
enum class ChartVersion : std::uint8_t { V0_14, V0_15_to_0_19, V0_20 };

struct ExportOptions {
  std::string chart_version = "0.20.0";  // as given; decides the generation
};

// values.yaml for `helm upgrade -i nvdp nvdp/nvidia-device-plugin -f -`. Comments carry the choice
// of renameByDefault and why, the matching pod patch, roll-out and roll-back commands, and the
// `kubectl describe node` block to expect.
Expected<std::string> helm_values(const scenarios::Scenario& scenario,
                                  const models::Catalogue& catalogue, const ExportOptions& options);

// The same as a ConfigMap for a plugin that reads config.name.
Expected<std::string> config_map(const scenarios::Scenario& scenario,
                                 const models::Catalogue& catalogue, const ExportOptions& options);

}  // namespace slicewise::reports
