#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../batch/steady_batch.hpp"
#include "../run_state.hpp"
#include "nos_partitioner.hpp"
#include "open_jobs.hpp"
#include "pod_life.hpp"

namespace slicewise::sim {

// Changes of the MIG layouts of pools.
class LayoutChanges {
 public:
  LayoutChanges(RunState& run, Scheduler& scheduler, SteadyBatch& batch, OpenJobs& jobs,
                PodLife& pods);

  // Those that follow Pending pods.
  NosPartitioner& nos() { return nos_; }

  // A pool's timer: a change begins, pods are asked to go again, or it is over.
  void on_timer(std::size_t pool);

 private:
  enum class Stage : std::uint8_t { Rests, Drains, Changes };
  struct Progress {
    std::size_t next = 0;  // into PoolModel::layout_changes
    Stage stage = Stage::Rests;
    TimePoint drains_since;
  };

  void drain(std::size_t pool);
  void give_up(std::size_t pool);
  void offer(std::size_t pool);

  RunState& run_;
  SteadyBatch& batch_;
  OpenJobs& jobs_;
  PodLife& pods_;
  std::vector<Progress> progress_;  // by pool
  NosPartitioner nos_;
};

}  // namespace slicewise::sim
