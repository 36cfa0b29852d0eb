#pragma once

#include <cstdint>
#include <vector>

#include "kernels.hpp"

// Turns and switches, from when each of several processes saw the GPU's clock go on.
namespace slicewise::gpu_probe {

// On the GPU's clock, nanoseconds.
struct Interval {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

// When a kernel ran: all but its pauses.
std::vector<Interval> active_times(const KernelReport& report);

struct Turns {
  std::vector<double> turn_us;    // one process, from its first to its last sign of life
  std::vector<double> switch_us;  // from the last of one process to the first of another
  // Part of the time in which two processes were seen at work: 0 under time-slicing, all of it
  // where they share the GPU in space (MPS).
  double together = 0;
};

// Of processes that all ask for the GPU: only the time counts in which every one of them does, and
// in it only turns whose both ends are seen.
Turns turns_of(const std::vector<std::vector<Interval>>& processes);

}  // namespace slicewise::gpu_probe
