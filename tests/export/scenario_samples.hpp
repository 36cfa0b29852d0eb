#pragma once

#include <string>
#include <utility>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"

// Scenarios built by hand, one per kind of plugin configuration, on a small catalogue.
namespace slicewise::reports {

// p3.8xlarge (V100), g4dn.12xlarge (T4), p4d.24xlarge (A100, MIG), g6.xlarge (L4, product unknown).
models::Catalogue sample_catalogue();

scenarios::NodePool whole_gpus(std::string name, std::string instance_type);
scenarios::NodePool time_sliced(std::string name, std::string instance_type, int replicas,
                                bool rename = false);
scenarios::NodePool with_mps(std::string name, std::string instance_type, int replicas);

// One pool of the AWS demo, 10 replicas, 20 Deployment pods with TensorFlow's greedy allocator.
scenarios::Scenario demo_after();

// (case name, scenario) of everything that chart 0.<chart_minor> can be told.
std::vector<std::pair<std::string, scenarios::Scenario>> sample_scenarios(int chart_minor);

}  // namespace slicewise::reports
