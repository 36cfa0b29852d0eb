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

// How much an extended resource of a node pool stands for.
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
  scenarios::AllocationPolicy allocation = scenarios::AllocationPolicy::Distributed;
  Millicores allocatable_cpu;
  Bytes allocatable_memory;
  int max_pods = 0;
  std::vector<ResourceOffer> offers;
  std::vector<scenarios::Taint> taints;
  std::map<std::string, std::string> labels;
  models::Price price;
};

// What a workload does on the GPUs of one pool, alone: the closed loop of a batch pod or the
// requests of a service. Times are already carried over to that pool's GPU.
struct Demand {
  bool feasible = false;        // the pool offers what the pod asks for
  Duration step_gpu;            // D: GPU time of one step (batch) or mean of a request (service)
  Duration step_host;           // Z: host time of one step during which the GPU is not used
  double cpu_per_step = 0;      // vCPU-seconds of host work in a step
  double gpu_scale = 1;         // times longer than on the measured device
  double sm_active_share = -1;  // SM-active time / GPU-busy time; < 0 = unknown
};

struct WorkloadModel {
  std::string name;
  scenarios::Workload spec;
  std::int64_t steps = 0;  // of one batch run: units x steps per unit
  std::int64_t steps_per_unit = 1;
  Bytes gpu_memory_needed;      // peak, without the context
  bool greedy = false;          // maps all free memory at start
  std::vector<Demand> on_pool;  // by PoolId
  ResourceId resource{};        // into World::resources; unused when gpu_count == 0
  std::int64_t gpu_count = 0;
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
