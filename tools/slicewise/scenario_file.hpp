#pragma once

#include <string>
#include <vector>

#include "slicewise/scenarios/load.hpp"

namespace slicewise::tools {

// A scenario file as the user gave it, with the --set flags: what diagnostics point into.
struct ScenarioFile {
  std::vector<SourceText> texts;  // the file, "--set" with one flag a line, its traces
  scenarios::LoadedScenario loaded;
  std::vector<std::string> settings;  // --set
};

// FILE_UNREADABLE when there is no such file; mistakes in the file are in `loaded.problems`.
Expected<ScenarioFile> open_scenario(const std::string& path, const std::vector<std::string>& set);

// The same of a text that was read before.
ScenarioFile scenario_of(SourceText source, const std::vector<std::string>& set);

}  // namespace slicewise::tools
