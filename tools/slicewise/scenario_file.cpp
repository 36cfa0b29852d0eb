#include "scenario_file.hpp"

#include <algorithm>
#include <iterator>

#include "files.hpp"

namespace slicewise::tools {

Expected<ScenarioFile> open_scenario(const std::string& path, const std::vector<std::string>& set) {
  Expected<SourceText> source = read_source(path);
  if (!source) {
    return tl::unexpected(std::move(source.error()));
  }
  return scenario_of(std::move(*source), set);
}

ScenarioFile scenario_of(SourceText source, const std::vector<std::string>& set) {
  ScenarioFile file;
  file.loaded = scenarios::read_scenario_file(source, {.set = set}, [](const std::string& trace) {
    return read_source(trace, scenarios::kLargestTrace);
  });
  file.texts = {std::move(source), {"--set", ""}};
  for (const std::string& flag : set) {
    file.texts.back().text += flag + "\n";
  }
  std::move(file.loaded.traces.begin(), file.loaded.traces.end(), std::back_inserter(file.texts));
  file.loaded.traces.clear();
  file.settings = set;
  return file;
}

}  // namespace slicewise::tools
