#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"

#include "commands.hpp"

namespace slicewise::tools {

// What is known of the cluster before anything is simulated.
struct ClusterReading {
  std::vector<SourceText> objects;
  std::vector<SourceText> all;  // with the answers of Prometheus
  std::int64_t at_unix_s = 0;
  std::string name;
  std::string recorded_from;
  std::vector<std::string> notes;
};

// The files as text: decompressed here, so that a message can show the line it speaks of.
Expected<std::vector<SourceText>> read_files(const std::vector<std::string>& names);

// What kubectl or the files of the command say, and Prometheus where it is to be asked.
Expected<ClusterReading> read_cluster(const AdviseCommand& command);

}  // namespace slicewise::tools
