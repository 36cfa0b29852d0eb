#pragma once

#include <vector>

#include "../run_state.hpp"
#include "scheduler.hpp"

namespace slicewise::sim {

// The MIG devices that NVIDIA's DRA driver makes for claims (PoolModel::dynamic_mig): when kubelet
// prepares the first pod of a claim, before its image is pulled, and destroys when the last has
// ended, before the scheduler knows that it has. One at a time on a node, under the driver's lock.
// Source: dra-driver-nvidia-gpu v0.4.1, cmd/gpu-kubelet-plugin/driver.go, nodePrepareResource;
// kubernetes, pkg/kubelet/kubelet.go, SyncTerminatingPod.
class MigDevices {
 public:
  MigDevices(RunState& run, Scheduler& scheduler);

  // When all devices of a pod that now has its node are there.
  TimePoint prepare(const Pod& pod);
  // The pod gives back what it has: devices that nobody else has are destroyed.
  void unprepare(const Pod& pod);
  void on_timer();

 private:
  struct Ending {
    DomainId device{};
    TimePoint gone_at;
  };

  // The driver of the device's node does one thing more, after all that it has to do.
  TimePoint does(DomainId device, Duration time);
  void arm();

  RunState& run_;
  Scheduler& scheduler_;
  std::vector<TimePoint> busy_;   // by node: until then
  std::vector<TimePoint> there_;  // by domain: since when; kNever: nobody has it
  std::vector<Ending> endings_;
};

}  // namespace slicewise::sim
