#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// The vCPUs of one node, shared by short tasks of one thread each. Owners with a CPU limit run at
// most that many at a time; all else is shared alike: everybody runs at min(1, cores / wanted) of
// the speed that his own limit leaves him. A task carries 64 bits of its owner's choice.
//
// Work is kept in virtual time (how far a task that is always there would have come), so that a
// change of the number of tasks costs O(log tasks), and O(owners with a limit) where there are any.
// Completions are rounded up to whole nanoseconds. Virtual time starts over whenever nobody is
// there: it stays exact.
class HostCpu {
 public:
  struct Task {
    double finish_ns = 0;     // in virtual time
    std::uint64_t order = 0;  // of starting: ties end in that order
    std::uint32_t owner = 0;
    std::uint32_t item = 0;
  };

  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  // REQUIRES: cores > 0.
  explicit HostCpu(double cores) : cores_(cores) {}

  // When the next task is done if nothing else starts; kNever when idle.
  TimePoint next() const;

  // Moves the clock. REQUIRES: now() <= t <= next().
  void advance(TimePoint t);

  // REQUIRES: work >= 0; limit > 0, in vCPUs, the same for all tasks of the owner.
  void start(std::uint32_t owner, std::uint32_t item, Duration work, double limit = kNoLimit);

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
  // The tasks of one owner with a limit, or those of all without.
  struct Group {
    double limit = kNoLimit;
    std::uint32_t owner = 0;
    double virtual_ns = 0;
    std::vector<Task> heap;  // the first to finish at the front

    // In vCPUs.
    double wanted() const {
      const auto tasks = static_cast<double>(heap.size());
      return tasks < limit ? tasks : limit;
    }
  };

  Group& group_of(std::uint32_t owner, double limit);
  double node_speed() const;
  double left_ns(const Group& group, double node_speed) const;
  // The group whose task ends first, those that came first first; nullptr when idle.
  const Group* first_to_finish() const;
  std::vector<std::uint32_t> take(std::uint32_t owner);

  double cores_;
  TimePoint now_;
  std::uint64_t started_ = 0;
  std::vector<Group> groups_{Group{}};  // that without a limit first; idle ones are used again
};

}  // namespace slicewise::sim
