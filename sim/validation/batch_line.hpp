#pragma once

#include <optional>
#include <string>

#include "law_fit.hpp"

// How the time of a step grows with its batch.
namespace slicewise::sim::profile_fit {

// T(b) = fixed + b per_item on the whole GPU, neither below 0.
struct BatchLine {
  double fixed_ms = 0;
  double per_item_ms = 0;
  double half_width_95 = 0;  // of per_item_ms
  std::string batches;       // "1, 4, 8"
};

// Of one process alone on the whole GPU, least squares of relative errors. nullopt with fewer than
// two batches, and where the time does not grow with them.
std::optional<BatchLine> batch_line(const Company& company);

}  // namespace slicewise::sim::profile_fit
