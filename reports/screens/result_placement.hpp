#pragma once

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

}  // namespace slicewise::reports
