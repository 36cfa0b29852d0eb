#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/world.hpp"

// Which pods may run where, and on how many GPUs.
namespace slicewise::sim {

// A pod's tolerations after EKS's API server has admitted it: its ExtendedResourceToleration adds
// {key: RESOURCE, operator: Exists, effect: NoSchedule} for every extended resource that a
// container asks for. Of `nvidia.com/gpu.shared` and MIG resources that is no toleration of
// nvidia.com/gpu. Source: https://docs.aws.amazon.com/eks/latest/userguide/platform-versions.html
// (admission controllers), https://github.com/kubernetes/kubernetes/pull/55839
std::vector<scenarios::Toleration> admitted_tolerations(const PodTemplate& pod);
scenarios::Toleration toleration_of_resource(std::string resource);

// kube-scheduler's words since 1.35.
inline constexpr std::string_view kHasUntoleratedTaint = "node(s) had untolerated taint(s)";

// Whether pods use GPUs of the pool that ask for none: nobody counts them, and they take turns.
bool has_uncounted_pods(const PoolModel& pool, const World& world);

// Whether a rule of the pods of `a` is about those of `b`.
bool selects(const Workload& a, const scenarios::PodAffinityTerm& term, const Workload& b);
bool selects(const Workload& a, const scenarios::TopologySpread& spread, const Workload& b);

// Whether nodes with these labels are among them.
bool meets(const std::map<std::string, std::string>& labels,
           const scenarios::PreferredNodes& nodes);

// Whether a required anti-affinity of the pods of `a` keeps them off nodes that have one of `b`, or
// a port of the node that both want.
bool shuns(const Workload& a, const Workload& b);
bool shares_port(const PodTemplate& a, const PodTemplate& b);
inline bool refuses(const Workload& a, const Workload& b) {
  return shuns(a, b) || shares_port(a.pod, b.pod);
}
// Whether they refuse anybody.
inline bool refuses_some(const PodTemplate& pod) {
  return !pod.anti_affinity.empty() || !pod.host_ports.empty();
}

// Pods with several GPUs: a process on each, all in step.

// Sets of GPUs of a node, see GpuMask.
inline constexpr std::size_t kGpuSets = std::size_t{1} << GpuSets::kMostGpus;

// GPUs that a pod of the workload works on, wherever it lands.
int most_gpus(const WorkloadModel& workload);

// Of one step of a pod of the workload on these GPUs of the pool, of a language model with one
// token; 0 when its work has none of its own, or it is one GPU. REQUIRES: the workload may have
// several GPUs there.
Duration all_reduce_time(const World& world, PoolId pool, const WorkloadModel& workload,
                         GpuMask gpus);

// What the GPUs of a pod that share a language model exchange in a step.
// REQUIRES: demand.shared; the set has several GPUs.
models::LlmStep all_reduces_of(const PoolModel& pool, const LlmDemand& demand, GpuMask gpus);

// How many GPUs a pod of the workload works on that asks the pool for `count` of an offer: whole,
// unshared ones, or at the most as many as the device plugin takes replicas of shared ones from. A
// process uses one MIG device. Notebooks, recorded jobs and language models use one shared GPU.
int gpus_of_pod(const PoolModel& pool, std::size_t offer, const Workload& workload,
                std::int64_t count);

// Says in the demand which GPUs those are. REQUIRES: it has an offer.
void take_gpus(const PoolModel& pool, const Workload& workload, std::int64_t count,
               PoolDemand& demand);

}  // namespace slicewise::sim
