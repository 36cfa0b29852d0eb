#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What is known of a workload before it shares a GPU, and how far off the models are then.
namespace slicewise::models {

enum class Evidence : std::uint8_t {
  Nothing,      // its times are assumed
  TimeAlone,    // and nothing of how it uses the GPU
  Utilisation,  // and how busy it keeps the GPU: DCGM, NVML
  Settings,     // alone on several slices or thread limits, so that its law could be fitted
  CoLocation,   // and beside one other process
  Neighbour,    // and beside one other workload, in turns
  Pairs,        // sensitivity and pressure, from many neighbours
};
std::string_view evidence_name(Evidence evidence);   // "timeAlone"
std::string_view evidence_words(Evidence evidence);  // "from the time alone"

// Of |predicted / measured - 1| over published rows that nothing was fitted on.
struct ExpectedError {
  Evidence evidence = Evidence::TimeAlone;
  std::string mode;     // "MIG", "MPS", "MIG+MPS", "time-slicing"
  bool unlike = false;  // beside other workloads, not copies of one
  int rows = 0;         // published, that check; 0: none are, and the errors mean nothing
  double median_percent = 0;
  double ninth_decile_percent = 0;  // nine of ten rows are within it
};

// Whether what sharing gains, as a share of what is done one after the other, is as near to nothing
// as half of such predictions are off: it may be a loss. Exactly 0: nothing is shared.
bool may_be_gain_or_loss(double gain, const ExpectedError& error);

// As `slicewise validate` finds them, which a test holds them to: a run does not predict all rows
// anew. In the order of the enum and of the modes above.
const std::vector<ExpectedError>& published_errors();

}  // namespace slicewise::models
