#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/kernel/random.hpp"

#include "../nodes/gpu_access.hpp"
#include "../nodes/usage.hpp"
#include "../run_state.hpp"
#include "steady_batch.hpp"

namespace slicewise::sim {

// Batch pods whose GPU bursts are simulated one by one: a step is prepared by the host, then runs
// on the GPU, as the workload's host phase and the engine have it.
class BatchSteps {
 public:
  // `pace`: how much the hosts are stretched.
  BatchSteps(RunState& run, GpuAccess& gpus, Usage& usage, const SteadyBatch& pace);

  void begin(std::uint32_t pod);
  // The pod's timer: the host has a step ready.
  void prepared(std::uint32_t pod);
  // The GPU has done a step. True: it was the last one.
  bool step_done(std::uint32_t pod);
  std::int64_t units_finished(std::uint32_t pod) const;
  double units_left(std::uint32_t pod) const;

 private:
  struct Progress {
    std::int64_t left = 0;        // steps to be executed
    std::int64_t to_prepare = 0;  // by the host
    int ready = 0;                // prepared and not yet started
    bool on_gpu = false;          // a step is being executed
    bool preparing = false;       // the host works on a step
    TimePoint started;            // the last one that was started
  };

  void prepare(std::uint32_t pod);
  void start(std::uint32_t pod);
  double think(std::uint32_t pod);
  double least_ns(const Pod& pod) const;
  double stage(std::uint32_t pod) const;
  double pace_of_host(std::uint32_t pod) const;
  bool runs_together(const Pod& pod) const;
  std::int64_t total(const Pod& pod) const;
  Duration duration(const Pod& pod, std::int64_t step) const;
  Duration part(const Pod& pod, Duration unit, std::int64_t step) const;

  RunState& run_;
  GpuAccess& gpus_;
  Usage& usage_;
  const SteadyBatch& pace_;
  std::vector<Progress> progress_;    // by pod
  std::vector<RandomStream> jitter_;  // by pod: of the host
};

}  // namespace slicewise::sim
