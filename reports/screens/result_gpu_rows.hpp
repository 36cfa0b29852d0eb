#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/sim/result.hpp"

namespace slicewise::reports {

// One line of the GPU block: a GPU or a MIG instance, or several of a kind summed up.
struct GpuRow {
  std::string
      label;  // "v100-0 #2", "gpu-1 #0 1g.5gb.3", "gpu-1 (56 x 1g.5gb)", "48 GPUs on 6 nodes"
  double time_busy = 0;             // mean over them
  std::optional<double> busiest;    // of several: the highest
  std::optional<double> sm_active;  // absent when any of the GPUs has none
  double switching = 0;
  Bytes memory_peak;  // the highest of them
  Bytes memory_total;
};

// Every GPU and instance when `every` or when there are at most 8; else one row per node and MIG
// profile; else, with more than 8 of those, one row per MIG profile. Layouts that follow one
// another in a run are never summed up together.
std::vector<GpuRow> gpu_rows(const std::vector<sim::GpuResult>& gpus, bool every);

// Some node has several MIG layouts one after the other: its rows tell of parts of the run.
bool has_layout_changes(const std::vector<sim::GpuResult>& gpus);

}  // namespace slicewise::reports
