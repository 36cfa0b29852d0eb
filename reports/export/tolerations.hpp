#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/scenario.hpp"

// What pods tolerate of the taints that the nodes of a scenario have.
namespace slicewise::reports {

// [{key, operator, value, effect}].
nlohmann::json toleration_list(std::span<const scenarios::Toleration> tolerations);

// `tolerations`, and what they lack to be on all nodes of the pool.
std::vector<scenarios::Toleration> tolerating(std::vector<scenarios::Toleration> tolerations,
                                              const scenarios::NodePool& pool);

// Helm values by which NVIDIA's pods are on all nodes of the scenario, as a block of YAML and as
// flags of `helm upgrade`; "" where what the chart has by itself will do.
std::string toleration_values(const scenarios::Scenario& scenario,
                              scenarios::ChartValues::Chart chart);
std::string toleration_flags(const scenarios::Scenario& scenario,
                             scenarios::ChartValues::Chart chart);

}  // namespace slicewise::reports
