#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "slicewise/sim/recording.hpp"

// What the sections about time share: a recording in fewer columns.
namespace slicewise::reports::html {

// Buckets of a recording drawn together: `first` to `last`, without the last.
struct TimeColumn {
  std::size_t first = 0;
  std::size_t last = 0;
  double at_seconds = 0;  // its end
  Duration length;
};

// At most `most` columns over the run.
std::vector<TimeColumn> time_columns(const sim::Recording& recording, std::size_t most);

// "gpu-1 #0", "gpu-1 #0 1g.5gb.3"
std::string gpu_label(const sim::RecordedGpu& gpu);

// "These are the first of 12 ..., seed 42": what a recording is of, and what it leaves out.
std::string recording_note(const sim::Recording& recording);

}  // namespace slicewise::reports::html
