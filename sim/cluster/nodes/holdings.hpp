#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/sim/metrics/cost_ledger.hpp"

#include "../run_state.hpp"
#include "usage.hpp"

namespace slicewise::sim {

// What the pods of each workload hold of the nodes: by that their bills are split. Only pods that
// come and go change it, so that requests and steps cost nothing here.
// See models/MODELS.md, "The bill by workload".
class Holdings {
 public:
  Holdings(RunState& run, const Usage& usage);

  // A pod has come to its node; it is about to give back what it holds there.
  void take(std::uint32_t pod);
  void give_back(std::uint32_t pod);

  // Splits what the node cost from its launch until now, and starts anew. REQUIRES: no pod holds
  // anything there.
  void split(std::uint32_t node, const CostLedger& cost);

 private:
  // Node time, in nanoseconds: of the whole run, and of the part after the warm-up.
  struct Time {
    double whole = 0;
    double observed = 0;
  };
  struct OfNode {
    double held = 0;  // sum of the shares of its pods
    int pods = 0;
    TimePoint since;
    Time used;  // by a pod with share 1: less than the clock's where more than all is held
  };
  struct OfPod {
    double share = 0;
    Time before;        // OfNode::used when it came
    double gpu_ns = 0;  // Usage::gpu_ns when it came
  };

  void advance(std::uint32_t node);
  double share_of(const Pod& pod) const;
  double dominant_share(const Pod& pod, double gpus) const;
  double requested_share(const Pod& pod, double gpus) const;
  double gpu_share(const Pod& pod) const;
  double gpu_memory_share(const Pod& pod) const;
  Time& of_workload(std::uint32_t node, std::size_t workload) {
    return by_workload_[node * run_.world.workloads.size() + workload];
  }

  RunState& run_;
  const Usage& usage_;
  std::vector<OfNode> nodes_;
  std::vector<OfPod> pods_;
  std::vector<Time> by_workload_;  // node by node: what it held since the node's launch
};

}  // namespace slicewise::sim
