#include "ranked_pods.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace slicewise::sim {

Int128 work_left(const ClusterState& cluster, std::uint32_t p, double units) {
  const Pod& pod = cluster.pods[p];
  const WorkloadModel& model = cluster.model(pod);
  if (cluster.world->pod_queue == PodQueue::Priority) return pod.submitted.ns;
  if (model.spec.kind != WorkloadKind::Job) return -1;
  const double unit_ns = static_cast<double>(model.spec.measured->unit_time->ns) * pod.size;
  constexpr double kExact = 1'000;  // ns: what doubles add up to decides between nobody
  const auto left = static_cast<Int128>(std::llround(unit_ns * units / kExact));
  const bool by_time = cluster.world->pod_queue == PodQueue::ShortestTime;
  return by_time ? left : left * model.tickets * model.pods_per_job;
}

RankedPods::RankedPods(const ClusterState& cluster)
    : cluster_(cluster), left_(cluster.pods.size()) {
  for (const WorkloadModel& workload : cluster.world->workloads) {
    of_workload_.emplace_back().reserve(static_cast<std::size_t>(workload.jobs()));
  }
}

// Where the pod is, or would be.
std::vector<std::uint32_t>::iterator RankedPods::place_of(std::uint32_t pod) {
  return std::ranges::lower_bound(of_workload_[index(cluster_.pods[pod].workload)], rank(pod),
                                  std::ranges::greater(),
                                  [this](std::uint32_t other) { return rank(other); });
}

void RankedPods::add(std::uint32_t pod) {
  left_[pod] = work_left(cluster_, pod, cluster_.units_to_do(pod));
  of_workload_[index(cluster_.pods[pod].workload)].insert(place_of(pod), pod);
}

void RankedPods::remove(std::uint32_t pod) {
  of_workload_[index(cluster_.pods[pod].workload)].erase(place_of(pod));
}

}  // namespace slicewise::sim
