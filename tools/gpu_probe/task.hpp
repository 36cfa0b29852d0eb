#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels.hpp"
#include "turns.hpp"

// What one process does on the GPU, and what it saw. Both travel between processes as JSON.
namespace slicewise::gpu_probe {

struct Task {
  Kernel kernel = Kernel::None;       // None: only a context
  std::size_t working_set = 1 << 20;  // bytes, a power of two
  int run_ms = 300;
  int launch_us = 0;           // length of a kernel's blocks; 0: one kernel for the whole run
  int pause_us = 0;            // of the host between two kernels
  unsigned blocks_per_sm = 2;  // eight fill an SM, more come after them
  std::size_t allocate = 0;    // bytes to ask for besides
  std::map<std::string, std::string> environment;  // of the process
};

// Repeated measurements in four figures.
struct Spread {
  double median = 0;
  double low = 0;   // 5 % are below
  double high = 0;  // 5 % are above
  std::size_t count = 0;
};

Spread spread_of(std::vector<double> values);  // of none: all zero

struct Outcome {
  std::vector<Interval> active;  // of a run of one kernel
  double units_per_second = 0;   // of the time from launch to return, where there are several
  Spread latency_us;             // from launch to return, of several kernels
  double mean_latency_us = 0;
  Spread launch_us;  // what a launch alone takes the host
  std::size_t free_bytes = 0;
  bool allocated = true;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Task, kernel, working_set, run_ms, launch_us, pause_us,
                                   blocks_per_sm, allocate)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Interval, from, to)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Spread, median, low, high, count)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Outcome, active, units_per_second, latency_us, mean_latency_us,
                                   launch_us, free_bytes, allocated)

}  // namespace slicewise::gpu_probe
