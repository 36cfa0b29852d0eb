#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/kernel/random.hpp"

#include "../run_state.hpp"

namespace slicewise::sim {

// When containers meet a fatal GPU fault. What comes of it is PodLife::gpu_fault.
class Faults {
 public:
  explicit Faults(RunState& run);

  // A container begins to work, or is gone.
  void arm(std::uint32_t pod);
  void disarm(std::uint32_t pod) {
    if (!streams_.empty()) run_.timers.clear(TimerKind::Fault, pod);
  }

 private:
  RunState& run_;
  std::vector<RandomStream> streams_;  // by pod; empty when no workload has faults
};

}  // namespace slicewise::sim
