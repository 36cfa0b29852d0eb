#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/kernel/random.hpp"

#include "../run_state.hpp"

namespace slicewise::sim {

class PodLife;

// When containers meet a fatal GPU fault, and who dies of it.
class Faults {
 public:
  explicit Faults(RunState& run);

  // A container begins to work, or is gone.
  void arm(std::uint32_t pod);
  void disarm(std::uint32_t pod) {
    if (!streams_.empty()) run_.timers.clear(TimerKind::Fault, pod);
  }

  // It ends its process. MPS clients of the GPUs that it uses share its fate; time-slicing, MIG and
  // vGPU confine the fault.
  void strike(std::uint32_t pod, PodLife& pods);

 private:
  RunState& run_;
  std::vector<RandomStream> streams_;   // by pod; empty when no workload has faults
  std::vector<std::uint32_t> victims_;  // of a fault, while they are ended
};

}  // namespace slicewise::sim
