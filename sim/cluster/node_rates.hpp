#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/device/closed_network.hpp"

#include "state.hpp"

namespace slicewise::sim {

// How fast the batch pods of one node run while nobody starts or ends: each GPU is a closed
// network of its pods (device/closed_network.hpp), and all pods of the node share its vCPUs.
//
// Host CPU. A pod uses `cpu` of CPU time per unit. When the pods together want more than the node
// has, all host work takes `stretch` times longer: the time between two GPU bursts grows from Z to
// Z + (stretch - 1)(Z + D), and `stretch` is the smallest that fits the vCPUs. A CPU limit holds a
// pod to limit/cpu units per second. CFS weights between pods are not modelled: all stretch alike.
class NodeRates {
 public:
  explicit NodeRates(const World& world);

  // Sets units_per_second and unhindered_by_cpu of the node's Working batch pods, the switch_share
  // of its GPUs, and the node's host_stretch. O(pods^2) per GPU and solution.
  void solve(ClusterState& cluster, NodeId node);

 private:
  struct Client {
    std::uint32_t pod = 0;
    double host_s = 0;
    double gpu_s = 0;
    double cpu_s = 0;
  };

  void collect(const ClusterState& cluster, const Node& node);
  double rates(const ClusterState& cluster, const Node& node, double stretch);
  double stretch_that_fits(const ClusterState& cluster, const Node& node, double vcpus);

  std::vector<std::vector<Client>> clients_;  // by GPU of the node
  std::vector<double> rate_;                  // of the clients, GPU by GPU
  std::vector<double> switch_share_;          // by GPU of the node
  std::vector<LoopingClient> loop_;
  ClosedNetworkSolver solver_;
};

}  // namespace slicewise::sim
