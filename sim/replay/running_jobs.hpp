#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/sim/kernel/timer_heap.hpp"

#include "resources.hpp"

namespace slicewise::sim {

struct RunningJob {
  JobNumber job = 0;
  Holding held = 0;
  TimePoint since;  // of this stretch
};

// The jobs that run, each with a timer at its end. Slots are used again, the latest first.
class RunningJobs {
 public:
  explicit RunningJobs(std::size_t most) : ends_(most), slots_(most), is_used_(most, 0) {}

  bool empty() const { return ends_.empty(); }
  std::size_t size() const { return ends_.size(); }
  TimePoint next_end() const { return ends_.empty() ? kNever : ends_.top_time(); }
  std::uint32_t next_to_end() const { return ends_.top(); }
  TimePoint end_of(std::uint32_t slot) const { return ends_.time_of(slot); }
  const RunningJob& operator[](std::uint32_t slot) const { return slots_[slot]; }
  RunningJob& operator[](std::uint32_t slot) { return slots_[slot]; }

  std::uint32_t add(const RunningJob& job, TimePoint end) {
    std::uint32_t slot = used_;
    if (free_.empty()) {
      ++used_;
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    slots_[slot] = job;
    is_used_[slot] = 1;
    ends_.set(slot, end);
    return slot;
  }

  void remove(std::uint32_t slot) {
    ends_.clear(slot);
    is_used_[slot] = 0;
    free_.push_back(slot);
  }

  // Slots of all that run, in order.
  void list(std::vector<std::uint32_t>& out) const {
    out.clear();
    for (std::uint32_t slot = 0; slot < used_; ++slot) {
      if (is_used_[slot] != 0) out.push_back(slot);
    }
  }

 private:
  TimerHeap ends_;
  std::vector<RunningJob> slots_;
  std::vector<char> is_used_;
  std::vector<std::uint32_t> free_;
  std::uint32_t used_ = 0;
};

}  // namespace slicewise::sim
