#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/device/closed_network.hpp"
#include "slicewise/sim/device/company.hpp"

#include "../state.hpp"

namespace slicewise::sim {

// What a unit of batch work takes at the least, by its pod's CPU limit; 0 without one.
double least_unit_s(const WorkloadModel& model, const Demand& demand);

// How fast a batch pod runs.
struct PodPace {
  double units_per_second = 0;
  double unhindered_by_cpu = 0;  // what units_per_second would be with host CPU to spare
  double busy_share = 0;         // of the domain's time, its part of the time that kernels run
};

// How fast the pods of all nodes run, as of the last change on each.
struct Paces {
  explicit Paces(const ClusterState& cluster)
      : pods(cluster.pods.size()),
        switch_share(cluster.domains.size(), 0),
        host_stretch(cluster.nodes.size(), 1) {}

  std::vector<PodPace> pods;
  std::vector<double> switch_share;  // by domain: of its time
  std::vector<double> host_stretch;  // by node: how much longer host work takes than alone
};

// How fast the batch pods of one node run while nobody starts or ends. Alone in its domain a pod
// takes D + Z for a unit: kernels run for D, the rest is Z. In company it takes longer:
//
// Taking turns (time-slicing, vGPU best effort, a GPU that nobody counts): overlapped work keeps
// the GPU supplied while it waits, so that only the sum of demands counts
// (models::overlapped_slowdown). Serial work is a closed network (closed_network.hpp); beside
// overlapped ones a serial pod waits for a turn of each that is at the GPU (company.hpp).
// Side by side (MPS): models::shared_speeds.
// Strict slots (vGPU equal and fixed share): each pod alone on 1/n of the GPU.
// A pod with several GPUs is a client of each of them and goes at the pace of the slowest.
//
// Share of the GPU's time. Who is limited to the share l of it takes D/l for a unit at least: what
// is missing is held back between launches, and others have the GPU meanwhile.
//
// Host CPU. A pod uses `cpu` of CPU time per unit, and all pods of the node share its vCPUs. When
// they want more than the node has, all host work takes `stretch` times longer, the smallest that
// fits: overlapped work then runs at the pace of the slower of host and GPU, serial work at that of
// their sum. A CPU limit holds a pod to limit/cpu units per second. CFS weights between pods are
// not modelled: all stretch alike.
class NodeRates {
 public:
  explicit NodeRates(const World& world);

  // Sets the paces of the node's Working batch pods, its domains and its host. O(pods^2) per domain
  // and solution.
  void solve(const ClusterState& cluster, NodeId node, Paces& paces);

 private:
  struct Client : CompanyMember {
    std::uint32_t pod = 0;
    bool first_rank = true;  // of the pod's GPUs
    double host_s = 0;
    double gpu_s = 0;
    double cpu_s = 0;
    double limit_s = 0;      // of a unit at the least, by its CPU limit
    double least_s = 0;      // ... side by side, once that holds
    double free_host_s = 0;  // host phase while no limit of its GPU time holds it

    double alone_s() const { return host_s + gpu_s; }
    double free_s() const { return free_host_s + gpu_s; }
    double host_least_s(double stretch) const { return free_host_s + (stretch - 1) * free_s(); }
    void limit_cpu(Company company);
    double unit_s(double stretch) const;
  };
  struct Share : CompanyState {
    std::vector<Client> clients;
    double switch_share = 0;
  };

  void collect(const ClusterState& cluster, const Node& node);
  void find_slowdowns(const ClusterState& cluster, const Node& node);
  void keep_in_step();
  bool put_cpu_limits();
  double rates(const Node& node, double stretch);
  void rates_of_serial_turns(double stretch, Share& share);
  const ClosedSolution& solve_held(double stretch, const Share& share);
  void rates_of_turns(double stretch, Share& share);
  void rates_together(double stretch, Share& share);
  double stretch_that_fits(const Node& node, double vcpus);
  double stretch_of_overlapped(double vcpus) const;

  std::vector<Share> shares_;       // by domain of the node
  std::vector<double> rate_;        // of the clients, domain by domain
  std::vector<double> busy_share_;  // likewise
  std::vector<LoopingClient> loop_;
  CompanyLaw law_;
  ClosedNetworkSolver solver_;
};

}  // namespace slicewise::sim
