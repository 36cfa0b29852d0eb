#pragma once

#include <algorithm>
#include <cstdint>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// How long the Job controller waits before it makes a pod in place of one that failed: 10 s,
// doubled with each failure since the last success of the Job, up to 10 min. Source: kubernetes,
// pkg/controller/job, job_controller.go and backoff_utils.go.
// REQUIRES: failures > 0.
inline Duration job_backoff(int failures) {
  constexpr Duration kFirst = seconds(10);
  constexpr Duration kMost = minutes(10);
  constexpr int kDoublings = 6;  // then it is kMost
  return std::min(kMost, kFirst * (std::int64_t{1} << std::min(failures - 1, kDoublings)));
}

}  // namespace slicewise::sim
