#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/device/host_cpu.hpp"

#include "../run_state.hpp"
#include "request.hpp"

namespace slicewise::sim {

// The vCPUs of all nodes, as far as requests need them before the GPU, between its bursts or after
// it.
class HostCpus {
 public:
  // A request that the host works on.
  struct Task {
    enum class When : std::uint8_t { Before, Between, After };
    Request request;    // of a batch between its bursts: the first
    Duration gpu_work;  // that the GPU did for it
    When when = When::Before;
    TimePoint started{};  // by start()
  };
  struct Done {
    std::uint32_t pod = 0;
    Task task;
  };

  explicit HostCpus(RunState& run);

  // Whether no request of the run needs the host.
  bool empty() const { return cpus_.empty(); }
  void start(std::uint32_t pod, const Task& task, Duration work);
  // Takes the requests of a pod off and hands each to `lose(request)`, but for those of a batch,
  // which the pod has.
  template <class Lose>
  void cancel(std::uint32_t pod, NodeId node, Lose lose) {
    if (empty()) return;
    HostCpu& cpu = cpus_[index(node)];
    cpu.advance(run_.now);
    cpu.cancel(pod, [&](std::uint32_t slot) {
      if (tasks_[slot].when != Task::When::Between) lose(tasks_[slot].request);
      free_slots_.push_back(slot);
    });
    arm(node);
  }
  // A node's timer: takes off what is done.
  Done complete(NodeId node);
  // Batch pods keep the vCPUs that they use on average; requests have the rest, one at least.
  void leave_to_batch(NodeId node, double vcpus);

 private:
  void arm(NodeId node) {
    run_.timers.set(TimerKind::HostCpu, index(node), cpus_[index(node)].next());
  }

  RunState& run_;
  std::vector<HostCpu> cpus_;  // by node; empty when no request needs the host
  std::vector<Task> tasks_;    // that the hosts work on, by slot
  std::vector<std::uint32_t> free_slots_;
};

}  // namespace slicewise::sim
