#pragma once

#include <cstdint>

#include "replay_state.hpp"

namespace slicewise::sim {

// Strict first come, first served: the queue is a stretch of the trace, so it needs no memory.
template <class Resources>
class Fifo {
 public:
  explicit Fifo(ReplayState<Resources>& state) : state_(state) {}

  void add(JobNumber job) {
    if (waiting_ == 0) head_ = job;
    ++waiting_;
    head_may_fit_ = head_may_fit_ || waiting_ == 1;
  }
  void freed(const RunningJob& /*ended*/) { head_may_fit_ = true; }

  void schedule(TimePoint now) {
    while (head_may_fit_ && waiting_ > 0) {
      if (!state_.is_queued(head_)) {
        ++head_;
      } else if (state_.start(head_, now)) {
        ++head_;
        --waiting_;
      } else {
        head_may_fit_ = false;
      }
    }
  }
  std::int64_t waiting() const { return waiting_; }

 private:
  ReplayState<Resources>& state_;
  JobNumber head_ = 0;
  std::int64_t waiting_ = 0;
  bool head_may_fit_ = true;  // nothing was given back since it was turned down
};

}  // namespace slicewise::sim
