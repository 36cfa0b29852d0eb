#pragma once

#include <cstddef>
#include <vector>

#include "../batch/steady_batch.hpp"
#include "../run_state.hpp"
#include "open_jobs.hpp"
#include "pod_life.hpp"

namespace slicewise::sim {

// Changes of the MIG layouts of pools.
class LayoutChanges {
 public:
  LayoutChanges(RunState& run, SteadyBatch& batch, OpenJobs& jobs, PodLife& pods);

  // A pool's timer: a change begins or is over.
  void on_timer(std::size_t pool);

 private:
  struct Progress {
    std::size_t next = 0;  // into PoolModel::layout_changes
    bool changing = false;
  };

  RunState& run_;
  SteadyBatch& batch_;
  OpenJobs& jobs_;
  PodLife& pods_;
  std::vector<Progress> progress_;  // by pool
};

}  // namespace slicewise::sim
