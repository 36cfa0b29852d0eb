#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "../run_state.hpp"
#include "scheduler.hpp"

namespace slicewise::sim {

// nos: its gpu-partitioner looks at pods that are unschedulable, batch by batch, and cuts GPUs
// anew where that lets some in and no instance in use has to go; its mig-agents do so. Source:
// https://github.com/nebuly-ai/nos/tree/12e0a728: internal/controllers/gpupartitioner/
// partitioner_controller.go, internal/partitioning/core/planner.go, pkg/gpu/mig/gpu.go,
// internal/controllers/migagent/actuator.go.
class NosPartitioner {
 public:
  NosPartitioner(RunState& run, Scheduler& scheduler);

  // After the scheduler has turned pods down.
  void notice_pending();
  // A pod is looked at, or a node has been cut.
  void on_timer();

 private:
  using Counts = std::vector<int>;  // instances by PoolModel::kinds
  struct Cut {                      // of one GPU
    Counts used;
    Counts free;
  };
  // The agent of a node makes these free instances.
  struct Change {
    std::uint32_t node = 0;
    std::vector<Counts> free;  // by GPU
    TimePoint done;
  };
  struct Candidate {
    std::uint32_t pod = 0;
    std::int64_t lacks = 0;  // instances that all nodes together have not
  };
  using Look = std::pair<TimePoint, std::uint32_t>;  // when, at which pod

  // The controller's Reconcile of a pod.
  void look_at(std::uint32_t pod);
  void plan();
  bool is_helped(std::uint32_t pod) const;
  std::vector<Candidate> candidates() const;
  std::vector<Cut> cuts_of(const Node& node) const;
  bool update(const NosModel& nos, Cut& gpu, const Counts& required) const;
  // Takes those off the list that the node would have room for; whether there are any.
  bool take_pods(const Node& node, const std::vector<Cut>& cuts,
                 std::vector<Candidate>& waiting) const;
  void begin(std::uint32_t node, const std::vector<Cut>& target);
  void end(const Change& change);
  void arm();

  RunState& run_;
  Scheduler& scheduler_;
  bool any_ = false;                // pools of nos
  std::vector<bool> made_;          // by domain
  std::vector<TimePoint> noticed_;  // by pod: when it was queued that is known here; kNever: no
  std::priority_queue<Look, std::vector<Look>, std::greater<>> looks_;
  std::vector<std::uint32_t> batch_;
  TimePoint batch_began_;
  TimePoint batch_ready_;
  std::vector<Change> changes_;  // under way
  TimePoint reported_;           // all agents have told that they have done the last plan
};

}  // namespace slicewise::sim
