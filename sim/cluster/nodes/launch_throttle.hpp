#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/kernel/far_times.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// HAMi-core holds the launches of kernels back so that a container gets no more of its GPU's time
// than gpucores says. What a container may spend grows with the time, at the rate of its limit and
// up to what it is worth in a second; a piece of work starts as long as nothing is owed, whole, and
// may leave a debt behind. A limit of 1 is none: nothing is held back nor spent.
// Source: Project-HAMi/HAMi-core multiprocess_utilization_watcher.c (rate_limiter, delta), which
// steers by what NVML saw in the last second, every 120 ms; that it ends where the limit says, and
// the piece, are assumed: kernels are launched one by one, here as many as run for 10 ms.
class LaunchThrottle {
 public:
  static constexpr Duration kPiece = milliseconds(10);
  static constexpr Duration kWindow = seconds(1);

  explicit LaunchThrottle(const World& world);

  // Whether any pod is limited. If not, nothing else here may be called.
  bool any() const { return !pods_.empty(); }

  // The pod has work. REQUIRES: none that is left.
  void begin(std::uint32_t pod, Duration work);
  // What of its work may start now; nullopt: it is held back until held_until().
  std::optional<Duration> next(std::uint32_t pod, TimePoint now, double limit);
  // Work that has not started.
  Duration rest(std::uint32_t pod) const { return pods_[pod].rest; }
  // When it may go on; kNever: it is not held back.
  TimePoint held_until(std::uint32_t pod) const { return pods_[pod].held_until; }
  // Takes up to `less` off the work that has not started, but for a nanosecond of one that is held
  // back; returns how much.
  Duration shorten(std::uint32_t pod, Duration less);
  // The process is gone.
  void end(std::uint32_t pod);

 private:
  struct OfPod {
    Duration rest;
    TimePoint held_until = kNever;
    double owed_ns = 0;  // of GPU time; below 0: what is saved
    TimePoint since;     // as of when
  };
  std::vector<OfPod> pods_;  // empty where nobody is limited
};

}  // namespace slicewise::sim
