#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/sim/result.hpp"

// Who sits where, and what came of it.
namespace slicewise::reports {

// One line of the map of pods to GPUs.
struct Seating {
  std::string gpus;  // "g5-1 #0", "8 GPUs alike"
  std::string pods;  // "2 x llm, 1 x recsys"; of `every` GPU "llm-1, llm-2, recsys-1"
};

// In the first replication, each GPU or MIG instance when most containers were on it; those with as
// many pods of the same workloads are one line, unless `every`. Empty where no GPU has pods.
std::vector<Seating> seatings(const sim::VariantResult& variant, bool every);

// "pods on GPUs, each at its fullest, in the first of 5 runs".
std::string seatings_heading(const sim::VariantResult& variant);

// "recsys p95 is 2.0 s in 4 of 5 runs and 86 s in one, where it shares a GPU with training".
std::string placement_sentence(std::string_view workload, const sim::PlacementSpread& placement,
                               int replications);

// Such sentences, and the GPU that was busiest in any run where the means hide it.
std::vector<std::string> placement_sentences(const sim::VariantResult& variant);

// "recsys" of the pod "recsys-2".
std::string_view workload_of(std::string_view pod);

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
