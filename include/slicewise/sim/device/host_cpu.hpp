#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// The vCPUs of one node, shared by short tasks of one thread each: all run at the same speed,
// min(1, cores / tasks). A task carries 64 bits of its owner's choice.
//
// Work is kept in virtual time (how far a task that is always there would have come), so that a
// change of the number of tasks costs O(log tasks). Completions are rounded up to whole
// nanoseconds. Virtual time starts over whenever nobody is there: it stays exact.
class HostCpu {
 public:
  struct Task {
    double finish_ns = 0;     // in virtual time
    std::uint64_t order = 0;  // of starting: ties end in that order
    std::uint32_t owner = 0;
    std::uint32_t item = 0;
  };

  // REQUIRES: cores > 0.
  explicit HostCpu(double cores) : cores_(cores) {}

  // When the next task is done if nothing else starts; kNever when idle.
  TimePoint next() const;

  // Moves the clock. REQUIRES: now() <= t <= next().
  void advance(TimePoint t);

  // REQUIRES: work >= 0.
  void start(std::uint32_t owner, std::uint32_t item, Duration work);

  // REQUIRES: now() == next(). Takes the finished task off.
  Task complete();

  // Takes all tasks of `owner` off, in order of starting, and hands each to `lose(item)`.
  template <class Lose>
  void cancel(std::uint32_t owner, Lose lose) {
    for (const std::uint32_t item : take(owner)) lose(item);
  }

  // How many vCPUs the tasks may use from now on. REQUIRES: cores > 0.
  void set_cores(double cores) { cores_ = cores; }

  TimePoint now() const { return now_; }

 private:
  double speed() const;
  std::vector<std::uint32_t> take(std::uint32_t owner);

  double cores_;
  double virtual_ns_ = 0;
  TimePoint now_;
  std::uint64_t started_ = 0;
  std::vector<Task> heap_;  // the first to finish at the front
};

}  // namespace slicewise::sim
