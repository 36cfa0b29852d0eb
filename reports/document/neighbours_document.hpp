#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/neighbours.hpp"

// The document of a neighbour matrix (slicewise.dev/neighbours.v1alpha1) as a value, for the
// formats that print it.
namespace slicewise::reports {

inline constexpr std::string_view kNeighboursApiVersion = "slicewise.dev/neighbours.v1alpha1";

nlohmann::json neighbours_document(const sim::NeighbourMatrix& matrix);

}  // namespace slicewise::reports
