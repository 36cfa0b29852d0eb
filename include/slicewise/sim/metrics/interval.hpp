#pragma once

#include <optional>
#include <span>

namespace slicewise::sim {

// Half width of the 95 % confidence interval of the mean of independent replications
// (Student's t). nullopt with fewer than two values.
std::optional<double> half_width_95(std::span<const double> means);

}  // namespace slicewise::sim
