#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/max_load.hpp"

// What of a scenario is load, and the scenario with more or less of it.
namespace slicewise::sim {

struct LoadTarget {
  enum class Kind : std::uint8_t { WorkloadTraffic, PipelineTraffic, Users, Jobs };
  Kind kind = Kind::WorkloadTraffic;
  std::size_t index = 0;  // into workloads or pipelines
  std::string path;       // "workloads.asr.traffic"
  std::string name;       // "asr"
};

// Everything that can be scaled: the traffic of Services, users of Notebooks, recorded jobs,
// pipelines' traffic.
std::vector<LoadTarget> all_load_targets(const Scenario& scenario);

// The targets that `paths` name; without paths all traffic, where there is none all recorded jobs,
// else all users.
Expected<std::vector<LoadTarget>> load_targets(const Scenario& scenario,
                                               std::span<const std::string> paths);

LoadUnit unit_of(const Scenario& scenario, const LoadTarget& target);
double load_of(const Scenario& scenario, const LoadTarget& target);

// The scenario with `factor` times the load on every target; counts are rounded, to 1 at least.
Scenario scaled(const Scenario& scenario, std::span<const LoadTarget> targets, double factor);

}  // namespace slicewise::sim
