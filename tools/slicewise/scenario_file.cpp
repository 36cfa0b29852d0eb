#include "scenario_file.hpp"

#include "files.hpp"

namespace slicewise::tools {

Expected<ScenarioFile> open_scenario(const std::string& path, const std::vector<std::string>& set) {
  Expected<SourceText> source = read_source(path);
  if (!source) {
    return tl::unexpected(std::move(source.error()));
  }
  ScenarioFile file;
  file.loaded = scenarios::read_scenario_file(*source, {.set = set});
  file.texts = {std::move(*source), {"--set", ""}};
  for (const std::string& flag : set) {
    file.texts.back().text += flag + "\n";
  }
  return file;
}

}  // namespace slicewise::tools
