#pragma once

#include <cstdint>

#include "../batch/steady_batch.hpp"
#include "../control/container_work.hpp"
#include "../nodes/gpu_access.hpp"
#include "../nodes/usage.hpp"
#include "../run_state.hpp"
#include "../service/autoscalers.hpp"
#include "../service/pipelines.hpp"
#include "../service/replicas.hpp"
#include "../service/services.hpp"
#include "recorder.hpp"

namespace slicewise::sim {

// What a recording gets to see at the end of each of its buckets. Only reads, but for engines whose
// clock it moves to where it is: that changes no result (see RoundRobin, Fluid, StrictSlots).
class Sampler {
 public:
  // The parts that it looks at.
  struct Sources {
    GpuAccess& gpus;
    Usage& usage;
    const SteadyBatch& batch;
    Services& services;
    const Replicas& replicas;
    const Pipelines& pipelines;
    const Autoscalers& scalers;
    const ContainerWork& work;
  };

  // Without a recorder it never does anything.
  Sampler(RunState& run, const Sources& sources);

  // The timers of a bucket's end, and of the next change of a turn that is followed.
  void on_timer();
  void on_turn_timer();
  // At the end of the run.
  void take();

 private:
  void arm() { run_.timers.set(TimerKind::Sample, 0, run_.recorder->bucket_ends()); }
  void sample_pools();
  GpuSeries::Totals ended_totals(std::size_t domain);
  double sm_so_far(std::uint32_t pod);

  RunState& run_;
  Sources from_;
};

}  // namespace slicewise::sim
