#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/ids.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/sharing.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/units.hpp"

// The one place where a scenario meets the catalogue.
namespace slicewise::sim {

// The extended resource that a node pool's GPUs are advertised as.
struct ResourceOffer {
  std::string name;     // as advertised: "nvidia.com/gpu", "nvidia.com/gpu.shared"
  int per_gpu = 1;      // tickets per physical GPU
  bool shared = false;  // replicated by the device plugin
  bool refuses_more_than_one = false;
};

struct PoolModel {
  std::string name;
  std::string instance_type;
  std::string region;
  std::string purchase_option;
  int nodes = 1;
  int gpus_per_node = 1;
  int vcpus = 0;
  const models::GpuModel* gpu = nullptr;  // of the catalogue given to build_world
  Bytes gpu_memory;                       // usable, per device
  Bytes context_memory;                   // per CUDA process
  models::Sharing sharing;
  bool exact =
      false;  // GPUs are simulated request by request, else in steady state (closed_network.hpp)
  scenarios::AllocationPolicy allocation = scenarios::AllocationPolicy::Distributed;
  Millicores allocatable_cpu;
  Bytes allocatable_memory;
  int max_pods = 0;
  ResourceOffer offer;
  std::vector<scenarios::Taint> taints;
  std::map<std::string, std::string> labels;
  models::Price price;
};

// What one unit of a workload (an epoch of a batch pod, a request of a service) costs on the GPUs
// of one pool when it runs alone there. Times are already carried over to that pool's GPU.
struct Demand {
  bool offered = false;                   // the pool offers what the pod asks for
  Duration gpu;                           // D: GPU time; of a request: the mean
  Duration host;                          // Z: time during which the GPU waits for the host
  Duration cpu;                           // host CPU time, all cores added up
  double gpu_scale = 1;                   // times longer on this GPU than on the measured one
  std::optional<double> sm_active_share;  // SM-active time / GPU-busy time
};

struct WorkloadModel {
  std::string name;
  scenarios::Workload spec;
  std::int64_t units = 0;                 // of one batch run
  std::int64_t steps_per_unit = 1;        // GPU bursts in a unit, when simulated exactly
  Bytes gpu_memory;                       // peak of a process, without its CUDA context
  bool greedy = false;                    // maps all free GPU memory at start
  std::optional<Duration> latency_limit;  // a request slower than this missed its objective
  ResourceId resource{};                  // what it asks for: into World::resources
  std::int64_t tickets = 1;               // how many of it
  std::vector<Demand> on_pool;            // by PoolId
};

struct World {
  std::string name;
  std::string description;
  std::optional<Duration> duration;
  Duration warmup;
  std::uint64_t seed = 0;
  int replications = 1;
  scenarios::Fidelity fidelity = scenarios::Fidelity::Auto;
  scenarios::ScorePolicy score_policy = scenarios::ScorePolicy::LeastAllocated;
  std::vector<PoolModel> pools;
  std::vector<WorkloadModel> workloads;
  std::vector<std::string> resources;  // names of all advertised extended resources
  Diagnostics findings;                // warnings and notes known before the run
  ProvenanceCounts provenance;
};

// Checks everything that needs the catalogue, every mistake in one pass: instance types, regions,
// prices, GPU models, MIG on a GPU without it, resource names that no pool offers, requests that
// the device plugin refuses, figures that are missing. The result points into `catalogue`.
Expected<World> build_world(const scenarios::Scenario& scenario,
                            const models::Catalogue& catalogue);

}  // namespace slicewise::sim
