#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/sim/recording.hpp"

namespace slicewise::sim {

inline constexpr std::uint32_t kNotRecorded = UINT32_MAX;

// A recording that is being written, and what its writers must know of each other.
struct Draft {
  Recording recording;
  RecordingLimits limits;
  std::size_t bucket = 0;              // under way
  std::vector<std::uint32_t> gpu_of;   // by domain: into Recording::gpus
  std::vector<std::uint32_t> lane_of;  // by pod: into Recording::pods

  // Of the bucket under way.
  template <class T>
  T& now_of(std::vector<T>& series) const {
    return series[bucket];
  }
};

}  // namespace slicewise::sim
