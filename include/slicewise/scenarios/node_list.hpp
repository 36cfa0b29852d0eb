#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/units.hpp"

namespace slicewise::scenarios {

// A node of a cluster, or several alike.
struct NodeRow {
  std::string name;
  Millicores cpu;
  Bytes memory;
  int gpus = 0;
  std::string gpu_model;  // "" = any job may use it
  std::int64_t count = 1;
};

// Reads a CSV list of nodes with a header: name or sn, cpu_milli, memory_mib, gpu (how many), and
// if there are such columns model and count. That is the form of Alibaba's openb node lists. Every
// line that cannot be read comes back (the first few with their text).
Expected<std::vector<NodeRow>> read_node_list(const SourceText& csv);

}  // namespace slicewise::scenarios
