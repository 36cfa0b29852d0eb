#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/sim/world.hpp"

namespace slicewise::sim {

// Who of those on a node refuses whom: required podAntiAffinity by kubernetes.io/hostname, as
// kube-scheduler's InterPodAffinity has it, and ports of the node, as NodePorts has them. A pod
// that is there refuses who comes, too. Source: Kubernetes 1.36,
// pkg/scheduler/framework/plugins/interpodaffinity/filtering.go and nodeports/node_ports.go.
class AntiAffinity {
 public:
  AntiAffinity() = default;
  AntiAffinity(const World& world, std::size_t nodes);

  // Whether anybody refuses anybody.
  bool any() const { return parties_ > 0; }
  // So many pods of the workload more are on the node, or fewer.
  void count(std::size_t node, std::size_t workload, std::int64_t pods) {
    if (any() && party_[workload] != kNone) there_[node * parties_ + party_[workload]] += pods;
  }
  // The pods that another has on the node. REQUIRES: of the same world.
  void copy(std::size_t node, const AntiAffinity& from);
  // Whether a pod of the workload refuses one that is there, or one that is there refuses it.
  bool refuses_some(std::size_t node, std::size_t workload) const;
  bool is_refused(std::size_t node, std::size_t workload) const;
  // Whether one that is there has a port that it wants.
  bool lacks_port(std::size_t node, std::size_t workload) const;
  bool admits(std::size_t node, std::size_t workload) const {
    return !refuses_some(node, workload) && !is_refused(node, workload) &&
           !lacks_port(node, workload);
  }
  // Of so many, how many may come.
  std::int64_t room(std::size_t node, std::size_t workload, std::int64_t pods) const {
    return admits(node, workload) ? on_empty(workload, pods) : 0;
  }
  // ... to a node where nobody is.
  std::int64_t on_empty(std::size_t workload, std::int64_t pods) const;

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  struct Refusal {
    bool shuns = false;  // by its anti-affinity
    bool shares_port = false;
  };

  const Refusal& of(std::size_t party, std::size_t other) const {
    return refuses_[party * parties_ + other];
  }
  bool any_there(std::size_t node, std::size_t workload, auto&& holds) const;

  std::size_t parties_ = 0;          // workloads that refuse another or are refused
  std::vector<std::size_t> party_;   // by workload; kNone: it is none
  std::vector<Refusal> refuses_;     // by party and party
  std::vector<std::int64_t> there_;  // pods, by node and party
};

}  // namespace slicewise::sim
