#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/scenarios/load.hpp"

#include "../text/findings.hpp"

namespace slicewise::scenarios {

// The files that a scenario names, each read once however many variants ask for it.
class TraceFiles {
 public:
  // `scenario` is the path of the scenario file: others are relative to its folder, those of
  // standard input ("-") to the working directory.
  TraceFiles(const std::string& scenario, const FileReader& read_file);

  // nullptr after reporting why it cannot be read.
  const SourceText* find(const Located<std::string>& path, Findings& findings);

  // What is worth knowing of the files, and is no mistake.
  Diagnostics& notes() { return notes_; }

  // The files that could be read, in order of path.
  std::vector<SourceText> take();

 private:
  std::string folder_;
  const FileReader& read_file_;
  std::map<std::string, Expected<SourceText>> files_;  // by path as written
  Diagnostics notes_;
};

}  // namespace slicewise::scenarios
