#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "slicewise/sim/device/round_robin.hpp"

namespace slicewise::sim {

// The law of RoundRobin told one turn and one switch at a time, as simply as can be: the reference
// that the fast engine must equal. Slow: every turn is a step, every forecast a rehearsal.
class SliceBySlice {
 public:
  SliceBySlice(std::uint32_t contexts, models::TimeSlice slice, Duration yield_cost)
      : slice_(slice), yield_cost_(yield_cost), work_(contexts), busy_(contexts) {}

  Completion next() const {
    SliceBySlice rehearsal = *this;
    while (rehearsal.anybody()) {
      if (rehearsal.finished()) return {rehearsal.now_, rehearsal.holder_};
      rehearsal.step(kNever);
    }
    return {kNever, 0};
  }

  void advance(TimePoint t) {
    while (now_ < t) step(t);
  }

  std::uint32_t complete() {
    work_[holder_].reset();
    return holder_;
  }

  void start(std::uint32_t context, Duration work) {
    work_[context] = work;
    if (holder_ != kNobody || switching_to_ != kNobody) return;
    holder_ = context;
    turn_left_ = slice_.turn;
  }

  void yield(std::uint32_t context) { ran_dry_ = ran_dry_ || holder_ == context; }

  Duration left(std::uint32_t context) const { return *work_[context]; }
  void shorten(std::uint32_t context, Duration less) { *work_[context] -= less; }

  void cancel(std::uint32_t context) { work_[context].reset(); }

  EngineTime time() const { return time_; }
  Duration busy_of(std::uint32_t context) const { return busy_[context]; }

 private:
  static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

  bool anybody() const {
    for (const auto& work : work_) {
      if (work) return true;
    }
    return false;
  }
  bool finished() const { return holder_ != kNobody && work_[holder_] == Duration{}; }

  std::uint32_t next_after(std::uint32_t context) const {
    const auto contexts = static_cast<std::uint32_t>(work_.size());
    for (std::uint32_t offset = 1; offset <= contexts; ++offset) {
      const std::uint32_t candidate = (context + offset) % contexts;
      if (work_[candidate]) return candidate;
    }
    return context;
  }

  void switch_from(std::uint32_t context, Duration cost) {
    holder_ = kNobody;
    switching_to_ = next_after(context);
    switch_left_ = cost;
  }

  // One decision, or one stretch of time in which a single thing happens, up to `limit`.
  void step(TimePoint limit) {
    if (switching_to_ != kNobody) return step_switch(limit);
    if (holder_ == kNobody) return idle(limit);
    const std::uint32_t holder = holder_;
    const bool dry = std::exchange(ran_dry_, false);
    if (!work_[holder]) {
      if (anybody()) return switch_from(holder, yield_cost_);
      holder_ = kNobody;
      return;
    }
    if (dry) {
      if (next_after(holder) != holder) return switch_from(holder, yield_cost_);
      turn_left_ = slice_.turn;
    }
    if (turn_left_ == Duration{}) {
      if (next_after(holder) != holder) return switch_from(holder, slice_.switch_cost);
      turn_left_ = slice_.turn;
    }
    const Duration spent = std::min({turn_left_, *work_[holder], limit - now_});
    now_ = now_ + spent;
    turn_left_ -= spent;
    *work_[holder] -= spent;
    time_.busy += spent;
    busy_[holder] += spent;
  }

  void step_switch(TimePoint limit) {
    const Duration spent = std::min(switch_left_, limit - now_);
    now_ = now_ + spent;
    switch_left_ -= spent;
    time_.switching += spent;
    if (switch_left_ > Duration{} || now_ == limit) return;
    const std::uint32_t target = switching_to_;
    switching_to_ = kNobody;
    if (work_[target]) {
      holder_ = target;
      turn_left_ = slice_.turn;
    } else if (anybody()) {
      switch_from(target, slice_.switch_cost);
    }
  }

  void idle(TimePoint limit) {
    time_.idle += limit - now_;
    now_ = limit;
  }

  models::TimeSlice slice_;
  Duration yield_cost_;
  TimePoint now_;
  std::uint32_t holder_ = kNobody;        // owns the turn, perhaps dry
  std::uint32_t switching_to_ = kNobody;  // of a switch under way
  Duration turn_left_;
  bool ran_dry_ = false;  // the holder, at now_
  Duration switch_left_;
  std::vector<std::optional<Duration>> work_;
  std::vector<Duration> busy_;
  EngineTime time_;
};

}  // namespace slicewise::sim
