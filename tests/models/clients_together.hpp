#pragma once

#include <algorithm>
#include <cmath>
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

// n copies of the same client without a limit on threads: T_n(f) / T1 of law E1, as it is written
// in models/MODELS.md.
inline double identical_clients(const ClientLaw& law, DomainShare share, int n) {
  const double u = law.capacity_share;
  const double beta = law.bandwidth_share;
  const double p = law.norm_p;
  const double work = n * u * ((1 - beta) / share.compute + beta / share.bandwidth);
  if (p >= kHardNorm) return std::max(1.0, work);
  return std::pow(std::max(0.0, 1 - std::pow(u, p)) + std::pow(work, p), 1 / p);
}

}  // namespace slicewise::models
