#pragma once

#include <string>
#include <utility>
#include <vector>

#include "../demo.hpp"

// Jobs and services on one A100-80 node under each way of sharing.
namespace slicewise::sim::sharing {

using Law = scenarios::ServiceTime::Law;
using scenarios::Scenario;
using scenarios::Workload;

inline scenarios::PluginSharing replicas(int count) {
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{"nvidia.com/gpu", {}}, count, {}});
  return sharing;
}

// One A100-80 node, all pods on one GPU where the plugin packs replicas.
inline Scenario a100(std::vector<Workload> workloads) {
  Scenario s = demo::scenario(demo::pool(0), std::move(workloads));
  s.node_pools[0].instance_type.value = "p4de.24xlarge";
  for (Workload& w : s.workloads) {
    w.measured->device.value = "";
    w.pod.cpu_request = {100};
  }
  return s;
}

inline Scenario with_mps(std::vector<Workload> workloads, int count, bool uncapped) {
  Scenario s = a100(std::move(workloads));
  auto& plugin = s.node_pools[0].device_plugin.emplace();
  plugin.mps = replicas(count);
  plugin.allocation_policy = scenarios::AllocationPolicy::Packed;
  s.node_pools[0].mps.emplace().uncapped = uncapped;
  return s;
}

inline Scenario with_time_slicing(std::vector<Workload> workloads, int count) {
  Scenario s = a100(std::move(workloads));
  auto& plugin = s.node_pools[0].device_plugin.emplace();
  plugin.time_slicing = replicas(count);
  plugin.allocation_policy = scenarios::AllocationPolicy::Packed;
  return s;
}

inline Scenario with_mig(std::vector<Workload> workloads, const std::string& config) {
  Scenario s = a100(std::move(workloads));
  s.node_pools[0].mig.emplace().config.value = config;
  return s;
}

inline Scenario with_vgpu(std::vector<Workload> workloads, int count,
                          scenarios::VgpuSettings::Policy policy) {
  Scenario s = a100(std::move(workloads));
  s.node_pools[0].vgpu = scenarios::VgpuSettings{policy, count, {}, {}};
  s.node_pools[0].device_plugin.emplace().allocation_policy = scenarios::AllocationPolicy::Packed;
  return s;
}

inline Workload job(double u, double beta, double p, int count) {
  Workload w = demo::training(count);
  w.measured->gpu_busy = 1.0;
  w.measured->sm_active.reset();
  w.measured->capacity_share = u;
  w.measured->bandwidth_share = beta;
  w.measured->norm_p = p;
  return w;
}

inline double completion_s(const VariantResult& r, std::size_t workload = 0) {
  return to_seconds(r.workloads[workload].job_completion.value().mean);
}

inline constexpr double kAlone = 1800;  // 100 epochs of 18 s

}  // namespace slicewise::sim::sharing
