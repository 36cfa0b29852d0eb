#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/sim/result.hpp"

namespace slicewise::reports {

// One line of the GPU block: a GPU, or several of them summed up.
struct GpuRow {
  std::string label;  // "v100-0 #2", "t4-3 (8 GPUs)", "48 GPUs on 6 nodes"
  double time_busy = 0;
  std::optional<double> sm_active;  // absent when any of the GPUs has none
  double switching = 0;
  Bytes memory_peak;  // the highest of them
  Bytes memory_total;
};

// Every GPU when `every` or when there are at most 8; else one row per node; else, with more than
// 8 nodes, one row in all.
std::vector<GpuRow> gpu_rows(const std::vector<sim::GpuResult>& gpus, bool every);

}  // namespace slicewise::reports
