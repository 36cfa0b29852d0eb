#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../run_state.hpp"
#include "launch_throttle.hpp"

namespace slicewise::sim {

// The work of pods on GPUs that are simulated exactly. In steady state there is none, and nothing
// here does anything. A pod with several GPUs works on all of them at once: the last one ends it.
// The work of a pod that is limited to a share of a GPU's time starts piece by piece.
class GpuAccess {
 public:
  explicit GpuAccess(RunState& run)
      : run_(run), ranks_at_work_(run.cluster.pods.size()), throttle_(run.world) {}

  // The process of a pod opens its CUDA context, or closes it.
  void open(std::uint32_t pod);
  // From its next work on, an MPS client has another share of the GPU. REQUIRES: it has no work
  // there.
  void run_as(std::uint32_t pod, const models::DomainClient& client);
  void close(std::uint32_t pod);

  // REQUIRES: the pod has no work there.
  void start(std::uint32_t pod, Duration work);
  // Its host waits for what has just ended: in turns, what it starts next has a turn of its own.
  void yield(std::uint32_t pod);
  // What the pod was given now waits for kernels of others as chance has it, under MPS.
  void wait_by_chance(std::uint32_t pod, RandomStream& random);
  // Work that is still to be done. REQUIRES: it has some.
  Duration left(const Pod& pod);
  void shorten(const Pod& pod, Duration less);
  void cancel(std::uint32_t pod);
  bool works(std::uint32_t pod) const { return ranks_at_work_[pod] > 0; }

  // GPU time of a context so far; 0 in steady state.
  Duration busy(DomainId domain, std::uint32_t context);
  // Of all contexts.
  Duration busy(DomainId domain);

  // A domain's timer: the pod whose work is over on all its GPUs, if there is one.
  // The caller arms the domain unless that gives it work again or takes some off: both arm it.
  std::optional<std::uint32_t> complete(std::size_t domain);
  void arm(std::size_t domain);

 private:
  bool is_throttled(const Pod& pod) const;
  // The next piece, now or once it may start.
  void launch(std::uint32_t pod);
  bool launch_due(std::size_t domain);

  RunState& run_;
  std::vector<int> ranks_at_work_;  // by pod: GPUs that still work on its step or request
  LaunchThrottle throttle_;
};

}  // namespace slicewise::sim
