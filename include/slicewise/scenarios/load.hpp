#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::scenarios {

// Bytes of the largest scenario file that is read; a larger one is a YAML_SYNTAX.
inline constexpr std::size_t kLargestScenario = 16U << 20U;

// Bytes of the largest request trace that is read.
inline constexpr std::size_t kLargestTrace = 256U << 20U;

// Reads a file that a scenario names, or at least one byte more than the largest that is read;
// FILE_UNREADABLE when that fails. The library opens no file itself.
using FileReader = std::function<Expected<SourceText>(const std::string& path)>;

// Changes made on the command line before variants are applied, as `helm --set` does:
// "workloads.cifar10.count=3", "nodePools.v100.instanceType=g5.12xlarge".
struct Overrides {
  std::vector<std::string> set;
};

// A scenario file as far as it could be read.
struct LoadedScenario {
  ScenarioSet set;       // complete when there are no problems, else what could be made out
  Diagnostics problems;  // every mistake, in file order
  std::vector<SourceText> traces;  // the files it names, to show their lines
};

// Reads a scenario (YAML 1.2 core schema or JSON) to the end, whatever is wrong with it: a mistake
// in one place hides none in another. The request traces that it names are read with `read_file`,
// by paths relative to the folder of `source.name`; without a reader naming one is a
// FILE_UNREADABLE.
LoadedScenario read_scenario_file(const SourceText& source, const Overrides& overrides = {},
                                  const FileReader& read_file = {});

// The same for callers who want a scenario without mistakes or the list of them.
Expected<ScenarioSet> load_scenario(const SourceText& source, const Overrides& overrides = {},
                                    const FileReader& read_file = {});

}  // namespace slicewise::scenarios
