#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/units.hpp"

#include "run_state.hpp"

namespace slicewise::sim {

// Sees that the clock moves on. Each thing may have many events at one instant, as when all pods
// start; what goes on beyond a million and a hundred for each timer is a cycle that takes no time.
// One that takes a nanosecond is found by how little time many events take together.
class ClockWatch {
 public:
  explicit ClockWatch(const RunState& run);

  // Each timer that fires, at the clock's time. Throws Standstill.
  void fired(Timers::Fired timer) {
    if (run_.now != last_) {
      last_ = run_.now;
      left_ = most_;
      if (--until_glance_ == 0) glance();
    } else {
      --left_;
    }
    if (left_ < kKept || crawls_) keep(timer);
  }

 private:
  static constexpr std::int64_t kKept = 1000;  // events that the problem is told from
  static constexpr std::int64_t kInASecond = 20'000'000;

  void glance();
  void keep(Timers::Fired timer);
  Diagnostic problem() const;

  const RunState& run_;
  const std::int64_t most_;
  std::int64_t left_;  // at this instant
  std::int64_t until_glance_ = kInASecond;
  TimePoint last_;
  TimePoint glanced_;
  bool crawls_ = false;
  std::vector<Timers::Fired> kept_;
};

}  // namespace slicewise::sim
