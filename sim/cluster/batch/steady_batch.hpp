#pragma once

#include <cstdint>
#include <vector>

#include "../nodes/usage.hpp"
#include "../run_state.hpp"
#include "../service/host_cpus.hpp"
#include "node_rates.hpp"

namespace slicewise::sim {

// Rounded up to the next nanosecond, so that the work is done when the timer fires; kNever of a pod
// that makes no progress.
TimePoint completion_time(TimePoint now, double units_left, double units_per_second);

// Batch pods whose work flows at a steady pace until the set of pods that run on their node
// changes: one event per change. On nodes that are simulated exactly it says how much the host is
// stretched, and the pace of the pods is BatchSteps'.
class SteadyBatch {
 public:
  SteadyBatch(RunState& run, Usage& usage, HostCpus& hosts);

  // The pod begins its work. The caller resolves the node.
  void begin(std::uint32_t pod);
  std::int64_t units_finished(std::uint32_t pod) const;
  // Now, settled or not: whoever looks changes nothing, not even what rounding makes of it.
  double units_left(std::uint32_t pod) const;

  // Accounts for the time since the node's paces last changed: before anything does.
  void settle(NodeId node);
  // The set of working pods on the node has changed: new paces, new completion times.
  // REQUIRES: the node is settled.
  void resolve(NodeId node);

  const PodPace& pace(std::uint32_t pod) const { return paces_.pods[pod]; }
  double switch_share(std::size_t domain) const { return paces_.switch_share[domain]; }
  double host_stretch(NodeId node) const { return paces_.host_stretch[index(node)]; }
  // Time since the node was settled; exact ones never are behind.
  double unsettled_ns(NodeId node) const;

 private:
  // Returns the time that the work which the pod did takes alone, in nanoseconds.
  double settle_pod(std::uint32_t pod, double elapsed_ns);
  double vcpus_in_use(const Node& node) const;

  RunState& run_;
  Usage& usage_;
  HostCpus& hosts_;
  NodeRates rates_;
  Paces paces_;
  std::vector<double> units_left_;  // by pod
  std::vector<TimePoint> settled_;  // by node: accounted for up to here
};

}  // namespace slicewise::sim
