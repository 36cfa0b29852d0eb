#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../run_state.hpp"

namespace slicewise::sim {

class PodLife;

// The controller of CronJobs: whether the Jobs of a run are made when their time has come, where
// those of the run before are not done (concurrencyPolicy).
class CronRuns {
 public:
  explicit CronRuns(RunState& run);

  // The time of a pod has come. False: its run is not made now; under Forbid perhaps when the one
  // before has ended.
  bool makes(std::uint32_t pod, PodLife& pods);
  // A Job has ended whose last pod this is.
  void one_ended(std::uint32_t last);

 private:
  struct Runs {
    std::uint32_t now = 0;                // of which Jobs are left
    std::int64_t left = 0;                // Jobs
    std::optional<std::uint32_t> missed;  // the last whose time came meanwhile
  };

  std::uint32_t run_of(std::uint32_t pod) const;
  void for_each_pod(std::uint32_t of_workload, std::uint32_t run, auto&& use) const;

  RunState& run_;
  std::vector<Runs> runs_;  // by workload
};

}  // namespace slicewise::sim
