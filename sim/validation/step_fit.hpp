#pragma once

#include <span>
#include <vector>

#include "slicewise/sim/calibration.hpp"

// The step of a language model from what benchmarks of its server saw.
namespace slicewise::sim::profile_fit {

// Of each workload and GPU whose benchmarks were run with two numbers of requests at once, or with
// prompts of two lengths, or more. Those run once only are told in `notes`. Where a shape has the
// workload's name, its size says what is believed before.
std::vector<FittedStep> fit_steps(std::span<const models::Measurement> measurements,
                                  std::span<const models::LlmShape> shapes,
                                  const models::Catalogue& catalogue, Diagnostics& notes);

}  // namespace slicewise::sim::profile_fit
