#pragma once

#include <vector>

#include "../run_state.hpp"
#include "open_jobs.hpp"

namespace slicewise::sim {

// The controller of JobSets, as far as it holds Jobs back until others are ready or complete
// (dependsOn): ready when a container of each pod that is there at a time has started, as without a
// readiness probe. Jobs that wait for one that failed are never made. Source:
// sigs.k8s.io/jobset pkg/controllers/depends_on.go, dependencyReachedStatus(), and
// jobset_controller.go, calculateReplicatedJobStatuses(). Unlike there a JobSet that was suspended
// starts all that was there at once again.
class StartOrder {
 public:
  StartOrder(RunState& run, OpenJobs& jobs);

  // The container of a pod starts for the first time.
  void one_ready(const Pod& pod);
  // Its Job has succeeded.
  void one_done(const Pod& pod);

 private:
  struct Progress {
    int ready = 0;                  // pods, or done
    int done = 0;                   // likewise
    std::vector<std::size_t> next;  // workloads that wait for it
  };

  bool may_start(std::size_t workload) const;
  void let_those_after(std::size_t workload);

  RunState& run_;
  OpenJobs& jobs_;
  std::vector<Progress> progress_;  // by workload
};

}  // namespace slicewise::sim
