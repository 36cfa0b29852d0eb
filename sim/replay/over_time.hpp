#pragma once

#include <vector>

#include "slicewise/sim/replay/replay.hpp"

namespace slicewise::sim {

// Counts over the time of a replay, however long it gets. They are looked at in equal steps, which
// costs a comparison per event; whenever the samples are too many, each two become one and steps
// twice as wide.
class OverTime {
 public:
  struct Counts {
    double waiting = 0;
    double running = 0;
    double gpus = 0;
  };

  explicit OverTime(TimePoint start) : next_(start + step_) {}

  // Whether a step ends before `now`, or then.
  bool is_due(TimePoint now) const { return now >= next_; }
  // The counts held up to now. REQUIRES: is_due.
  void look(TimePoint now, const Counts& counts);

  // Means of the samples in at most 120 steps.
  ReplaySeries series() const;

 private:
  Duration step_ = seconds(1);
  TimePoint next_;
  std::vector<Counts> samples_;  // of a step each
};

}  // namespace slicewise::sim
