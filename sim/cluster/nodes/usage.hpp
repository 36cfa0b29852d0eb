#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/metrics/replication.hpp"

#include "../run_state.hpp"
#include "gpu_access.hpp"

namespace slicewise::sim {

// What becomes of what a container did.
enum class Worth : std::uint8_t {
  Lost,
  Kept,  // its pod goes on from there, if it does not have to start over
  Useful,
};

// What the time of GPUs and hosts went into: of the containers that run, and of domains and nodes
// since they were billed last.
class Usage {
 public:
  // GPU time of a running container.
  struct Container {
    double busy_ns = 0;  // steady state; where engines count there is none
    double sm_ns = 0;    // SM time, averaged over the domain's SMs
    Duration answered;   // GPU work of finished requests
    Duration late;       // ... of those that missed their objective
  };

  // Totals of a domain, without the containers that run.
  struct OfDomain {
    int loading = 0;  // containers that pull or load
    int working = 0;
    TimePoint cold_since = kNever;  // idle because of that
    Duration switching_billed;      // of the engine's, what earlier nodes in this place had
    double useful_ns = 0;
    double late_ns = 0;
    double failed_ns = 0;
    double switch_ns = 0;
    double cold_ns = 0;
    double sm_ns = 0;
    double counted_ns = 0;  // of used_ns(), whole GPUs: of vGPUs what is lent is no more
    bool sm_known = true;
    std::vector<Duration> busy_before;  // by context: the engine's when its container began

    double used_ns() const { return useful_ns + late_ns + failed_ns; }
  };

  Usage(RunState& run, GpuAccess& gpus);

  // A container begins to work.
  void begin(std::uint32_t pod);
  void used_gpu(std::uint32_t pod, double busy_ns) { containers_[pod].busy_ns += busy_ns; }
  void used_sms(std::uint32_t pod, double sm_ns) { containers_[pod].sm_ns += sm_ns; }
  void answered(std::uint32_t pod, Duration work, bool late) {
    Container& container = containers_[pod];
    container.answered += work;
    if (late) container.late += work;
  }
  // It is gone.
  void end(std::uint32_t pod, Worth worth);
  // The pod starts over: what its containers did that were stopped to go on later is lost as well,
  // also to the bill of nodes that are still there. Returns the GPU time, whole GPUs.
  Duration lose_kept(std::uint32_t pod);

  // In steady state.
  void switched(DomainId domain, double ns) { domains_[index(domain)].switch_ns += ns; }
  // Before the pod moves to another phase.
  void pod_enters(const Pod& pod, PodPhase phase);
  // Where the domain's time went since it was taken last.
  DomainTime take(std::size_t domain);

  void used_host(NodeId node, double cpu_ns) { cpu_ns_[index(node)] += cpu_ns; }
  Duration host_time(std::size_t node) const;

  // GPU time of the pod's containers that are gone, whole GPUs.
  double gpu_ns(std::uint32_t pod) const { return gpu_ns_[pod]; }

  const Container& of_pod(std::uint32_t pod) const { return containers_[pod]; }
  const OfDomain& of_domain(std::size_t domain) const { return domains_[domain]; }
  // What an engine counted for the container that is there; 0 in steady state.
  double counted_ns(DomainId domain, std::uint32_t context);

 private:
  // What a container did on one of its GPUs.
  struct Stretch {
    DomainId domain{};
    TimePoint launched;  // of the node
    double busy_ns = 0;
    Duration gpu_busy;  // whole GPUs
  };

  void account_cold(OfDomain& domain) const;
  double switching_ns(std::size_t domain);
  double owned_time(std::size_t domain, double switch_ns) const;
  void account_busy(std::uint32_t pod, DomainId domain, double busy_ns, Worth worth);
  TimePoint launched(DomainId domain) const;

  RunState& run_;
  GpuAccess& gpus_;
  std::vector<Container> containers_;  // by pod
  std::vector<OfDomain> domains_;
  std::vector<double> gpu_ns_;              // by pod
  std::vector<std::vector<Stretch>> kept_;  // by pod
  std::vector<double> cpu_ns_;              // by node: vCPU time used
};

}  // namespace slicewise::sim
