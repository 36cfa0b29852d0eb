#pragma once

#include <vector>

#include "slicewise/models/execution_law.hpp"

namespace slicewise::models {

inline constexpr DomainShare kWholeGpu{1, 1};

// How fast each runs beside the others.
inline std::vector<double> speeds_of(const std::vector<DomainClient>& clients) {
  std::vector<double> speeds(clients.size());
  shared_speeds(clients, speeds);
  return speeds;
}

}  // namespace slicewise::models
