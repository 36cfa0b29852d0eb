#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replay_state.hpp"

namespace slicewise::sim {

// Strict first come, first served: the queue is a stretch of the trace, so it needs no memory.
template <class State>
class Fifo {
 public:
  explicit Fifo(State& state) : state_(state) {}

  void add(JobNumber job) {
    if (waiting_ == 0) head_ = job;
    ++waiting_;
    head_may_fit_ = head_may_fit_ || waiting_ == 1;
  }
  // A job that was killed keeps its place: all that wait are younger.
  void add_again(JobNumber job) {
    again_.insert(std::ranges::upper_bound(again_, job), job);
    head_may_fit_ = true;
  }
  void freed(const RunningJob& /*ended*/) { head_may_fit_ = true; }

  void schedule(TimePoint now) {
    while (head_may_fit_ && !again_.empty()) {
      head_may_fit_ = state_.start(again_.front(), now);
      if (head_may_fit_) again_.erase(again_.begin());
    }
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
  std::int64_t waiting() const { return waiting_ + static_cast<std::int64_t>(again_.size()); }

 private:
  State& state_;
  std::vector<JobNumber> again_;  // in order
  JobNumber head_ = 0;
  std::int64_t waiting_ = 0;
  bool head_may_fit_ = true;  // nothing was given back since it was turned down
};

}  // namespace slicewise::sim
