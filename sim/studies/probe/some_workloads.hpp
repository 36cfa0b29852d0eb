#pragma once

#include <span>
#include <string>

#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::sim {

// A scenario with some of its workloads only. Of a fleet of hundreds a copy of all of them for each
// pool took longer than what was simulated there, and 600 MB.
class SomeWorkloads {
 public:
  // REQUIRES: it outlives this.
  explicit SomeWorkloads(const scenarios::Scenario& all) : all_(all), none_(all) {
    none_.workloads = {};
  }

  scenarios::Scenario with(std::span<const std::string> names) const;

 private:
  const scenarios::Scenario& all_;
  scenarios::Scenario none_;
};

}  // namespace slicewise::sim
