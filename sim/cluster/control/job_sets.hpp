#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../run_state.hpp"
#include "open_jobs.hpp"

namespace slicewise::sim {

class PodLife;

// The first pod of the object whose failures count together: of a Job with completions, of a run of
// a CronJob, else of its own Job.
std::uint32_t first_of_object(const ClusterState& cluster, std::uint32_t pod);

// The controllers of objects with several Jobs or pods. That of JobSets holds Jobs back until
// others are ready or complete (dependsOn): ready when a container of each pod that is there at a
// time has started, as without a readiness probe. Where one Job of an object fails (partOf), all of
// it has failed: what is there goes at once (in Kubernetes within its grace period), what is not is
// never made, and its quota is free. Source: sigs.k8s.io/jobset pkg/controllers/depends_on.go,
// dependencyReachedStatus(); jobset_controller.go, calculateReplicatedJobStatuses() and
// reconcile(); failure_policy.go, executeFailurePolicy() without a policy. Unlike there a JobSet
// that was suspended starts all that was there at once again.
class JobSets {
 public:
  JobSets(RunState& run, OpenJobs& jobs);

  // The container of a pod starts for the first time.
  void one_ready(const Pod& pod);
  // Its Job has succeeded.
  void one_done(std::uint32_t pod);
  // A pod of it has failed, or all of a gang: how long the controller waits before it makes
  // another; nullopt: that was one too many.
  std::optional<Duration> wait_after_failure(std::uint32_t pod);
  // Its Job has failed, and with it all that is not over of its object.
  void fail(std::uint32_t pod, PodLife& pods);

 private:
  struct Progress {
    int ready = 0;                  // pods, or done
    int done = 0;                   // likewise
    std::vector<std::size_t> next;  // workloads that wait for it
  };

  struct Failures {
    int all = 0;
    int in_a_row = 0;  // since the last success
  };

  bool may_start(std::size_t workload) const;
  void let_those_after(std::size_t workload);

  RunState& run_;
  OpenJobs& jobs_;
  std::vector<Progress> progress_;  // by workload
  std::vector<Failures> failures_;  // by pod, of the object of which it is the first
};

}  // namespace slicewise::sim
