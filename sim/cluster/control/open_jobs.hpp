#pragma once

#include <cstdint>
#include <vector>

#include "../run_state.hpp"
#include "scheduler.hpp"

namespace slicewise::sim {

// The Jobs that are still to be done: makes the next where `parallelism` holds them back, and the
// first where `dependsOn` did, and knows
// whether any keeps a run without a duration going: those that run, that some node can hold, under
// its layout or one to come, and those that are not there yet. Pods that no node could ever hold,
// of those that their quota is of, stay Pending, and Jobs that are never admitted suspended: both
// are reported.
class OpenJobs {
 public:
  OpenJobs(RunState& run, const Scheduler& scheduler);

  // At the start, and when nodes offer something else.
  void count();
  void one_submitted(const Pod& pod);
  // The Job waits, for its quota or with it, and may have its pods on these pools from now on. On
  // none: those that are made after it wait for it.
  void have_quota_on(std::uint32_t job, PoolMask pools);
  // Whether none of the workload is made yet, since others have to be ready or done first.
  bool waits(std::size_t workload) const { return waits_[workload]; }
  // They are.
  void let(std::size_t workload);
  void one_ends(const Pod& pod) {
    if (!run_.world.duration && is_left(pod)) --left_;
  }
  // A Job has ended whose last pod this is: there is room for another of its workload.
  void make_next(std::uint32_t last);
  // Without any, a run without a duration ends at this instant.
  void end_run_without_any();
  std::int64_t left() const { return left_; }

 private:
  // Whether a run goes on for it.
  bool is_left(const Pod& pod) const;

  RunState& run_;
  const Scheduler& scheduler_;
  std::vector<std::uint32_t> made_;  // Jobs, by workload
  std::vector<bool> waits_;          // by workload
  std::int64_t left_ = 0;            // pods
};

}  // namespace slicewise::sim
