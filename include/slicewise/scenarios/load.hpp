#pragma once

#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::scenarios {

// Changes made on the command line before variants are applied, as `helm --set` does:
// "workloads.cifar10.count=3", "nodePools.v100.instanceType=g5.12xlarge".
struct Overrides {
  std::vector<std::string> set;
};

// Reads a scenario (YAML 1.2 core schema or JSON). On failure returns every mistake in the file in
// one pass, in file order: a mistake in one place hides none in another. Reads no other file.
Expected<ScenarioSet> load_scenario(const SourceText& source, const Overrides& overrides = {});

}  // namespace slicewise::scenarios
