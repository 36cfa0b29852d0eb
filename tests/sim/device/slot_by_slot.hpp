#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/sim/device/round_robin.hpp"

namespace slicewise::sim {

// The law of StrictSlots told one switch and one turn at a time: the reference that the closed
// forms must equal. Slow: every slot is a step, every forecast a rehearsal.
class SlotBySlot {
 public:
  SlotBySlot(std::uint32_t contexts, models::TimeSlice slice, models::Vgpu::Policy policy)
      : slice_(slice),
        fixed_(policy == models::Vgpu::Policy::FixedShare),
        present_(contexts, fixed_),
        work_(contexts),
        busy_(contexts) {
    begin_cycle();
  }

  void join(std::uint32_t context) { set_present(context, true); }
  void leave(std::uint32_t context) {
    cancel(context);
    set_present(context, false);
  }

  Completion next() const {
    if (const auto done = finished()) return {now_, *done};
    if (std::none_of(work_.begin(), work_.end(), [](const auto& work) { return work.has_value(); }))
      return {kNever, 0};
    SlotBySlot rehearsal = *this;
    while (!rehearsal.finished()) rehearsal.step(kNever);
    return {rehearsal.now_, *rehearsal.finished()};
  }

  void advance(TimePoint t) {
    while (now_ < t) step(t);
  }

  std::uint32_t complete() {
    const std::uint32_t done = finished().value();
    work_[done].reset();
    return done;
  }

  void start(std::uint32_t context, Duration work) { work_[context] = work; }

  Duration left(std::uint32_t context) const { return *work_[context]; }
  void shorten(std::uint32_t context, Duration less) { *work_[context] -= less; }

  void cancel(std::uint32_t context) {
    work_[context].reset();
    if (!cycle_.empty() && owner() == context) switch_counts_ = false;
  }

  EngineTime time() const { return time_; }
  Duration busy_of(std::uint32_t context) const { return busy_[context]; }

 private:
  std::optional<std::uint32_t> finished() const {
    for (std::uint32_t context = 0; context < work_.size(); ++context) {
      if (work_[context] == Duration{}) return context;
    }
    return {};
  }

  std::uint32_t owner() const { return cycle_[slot_]; }

  void set_present(std::uint32_t context, bool present) {
    if (fixed_ || present_[context] == present) return;
    present_[context] = present;
    begin_cycle();
  }

  void begin_cycle() {
    cycle_.clear();
    for (std::uint32_t context = 0; context < present_.size(); ++context) {
      if (present_[context]) cycle_.push_back(context);
    }
    slot_ = 0;
    begin_slot();
  }

  void begin_slot() {
    switch_left_ = cycle_.size() > 1 ? slice_.switch_cost : Duration{};
    turn_left_ = slice_.turn;
  }

  // One stretch of time in which a single thing happens, up to `limit`.
  void step(TimePoint limit) {
    if (cycle_.empty()) return pass(time_.idle, limit - now_);
    std::optional<Duration>& work = work_[owner()];
    if (switch_left_ > Duration{}) {
      if (switch_left_ == slice_.switch_cost) switch_counts_ = work.has_value();
      const Duration spent = std::min(switch_left_, limit - now_);
      switch_left_ -= spent;
      return pass(switch_counts_ ? time_.switching : time_.idle, spent);
    }
    Duration spent = std::min(turn_left_, limit - now_);
    if (work) {
      spent = std::min(spent, *work);
      *work -= spent;
      busy_[owner()] += spent;
    }
    turn_left_ -= spent;
    pass(work ? time_.busy : time_.idle, spent);
    if (turn_left_ == Duration{}) {
      slot_ = (slot_ + 1) % cycle_.size();
      begin_slot();
    }
  }

  void pass(Duration& account, Duration spent) {
    account += spent;
    now_ = now_ + spent;
  }

  models::TimeSlice slice_;
  bool fixed_;
  std::vector<bool> present_;
  TimePoint now_;
  std::vector<std::uint32_t> cycle_;
  std::size_t slot_ = 0;
  Duration switch_left_;
  Duration turn_left_;
  bool switch_counts_ = false;  // the owner's request was there as the slot began
  std::vector<std::optional<Duration>> work_;
  std::vector<Duration> busy_;
  EngineTime time_;
};

}  // namespace slicewise::sim
