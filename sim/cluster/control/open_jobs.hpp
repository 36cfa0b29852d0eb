#pragma once

#include <cstdint>

#include "../run_state.hpp"
#include "scheduler.hpp"

namespace slicewise::sim {

// The Jobs that still keep a run without a duration going: those that run, that some node can hold,
// under its layout or one to come, and those that are not there yet. Pods that no node could ever
// hold stay Pending and are reported.
class OpenJobs {
 public:
  OpenJobs(RunState& run, const Scheduler& scheduler) : run_(run), scheduler_(scheduler) {}

  // At the start, and when nodes offer something else.
  void count();
  void one_submitted(const WorkloadModel& model);
  void one_ended() { --left_; }
  // Without any, a run without a duration ends at this instant.
  void end_run_without_any();
  std::int64_t left() const { return left_; }

 private:
  RunState& run_;
  const Scheduler& scheduler_;
  std::int64_t left_ = 0;
};

}  // namespace slicewise::sim
