#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/import.hpp"

// What a Prometheus server recorded of GPUs while one, two or more pods shared them.
namespace slicewise::scenarios {

// Whether a file is what a Prometheus server answered, as it came.
bool is_prometheus_answer(const SourceText& file);

// So many pods of one workload on one GPU, all times and GPUs together at which they were.
struct SharingLevel {
  std::string workload;   // of "Deployment/asr": "asr"
  std::string gpu;        // as DCGM calls it: "NVIDIA A10G"; "" where it does not say
  std::string slice;      // MIG profile; "" for the whole GPU
  std::string sharing;    // by the labels of the nodes: "time-slicing", "mps"; "" for none
  int pods = 1;           // on the GPU at a time
  double seconds = 0;     // of GPUs
  double requests = 0;    // that all its pods answered in them
  double busy = 0;        // share of them in which the GPU held work
  double busy_error = 0;  // its standard error
  std::optional<double> sm_active;    // share of them in which its SMs had work, where recorded
  std::optional<double> dram_active;  // ... and its memory
  bool sampled = false;  // busy is GPU_UTIL, which counts a sample whole in which some kernel ran
  std::string date;      // of the last of them: "2026-11-01"
  SourceLocation where;
};

struct RecordedLevels {
  std::vector<SharingLevel> levels;  // by workload, GPU, slice, sharing and pods
  ImportLog log;
};

// Answers of range queries of DCGM exporter, kube-state-metrics and the counters of servers, in any
// order and any number of files. `workload`: that of all pods; "": what made them. Times at which
// pods of several workloads met, or pods of unequal load, are left out; TRACE_FORMAT where nothing
// is left.
Expected<RecordedLevels> read_sharing_levels(std::span<const SourceText> files,
                                             const std::string& workload);

}  // namespace slicewise::scenarios
