#pragma once

#include <utility>
#include <vector>

#include "../demo.hpp"

// Jobs of 100 s, each alone on a V100, in queues of Kueue; a node has 4.
namespace slicewise::sim::demo {

inline scenarios::Workload jobs(const char* name, const char* queue, int count, Duration at = {}) {
  scenarios::Workload w = demo::training(count);
  w.name.value = name;
  w.queue.value = queue;
  w.submit_at = at;
  w.pod.cpu_request = {};
  w.pod.memory_request = {};
  w.work = scenarios::Work{10, "epoch", 10};
  w.measured->unit_time = seconds(10);
  w.measured->gpu_busy = 1;
  return w;
}

struct Limits {
  const char* nominal;
  const char* borrowing = nullptr;
  const char* lending = nullptr;
};

inline scenarios::FlavorQuotas gpus_of(const char* flavor, const Limits& limits) {
  scenarios::ResourceQuota quota{{"nvidia.com/gpu", {}}, {limits.nominal, {}}, {}, {}, {}};
  if (limits.borrowing != nullptr) quota.borrowing_limit = {limits.borrowing, {}};
  if (limits.lending != nullptr) quota.lending_limit = {limits.lending, {}};
  return {{flavor, {}}, {quota}, {}};
}

inline scenarios::ClusterQueue queue(const char* name, const Limits& limits,
                                     const char* cohort = "") {
  scenarios::ClusterQueue q;
  q.name.value = name;
  q.cohort = cohort;
  q.groups.push_back({{{"nvidia.com/gpu", {}}}, {gpus_of("any", limits)}, {}});
  return q;
}

inline scenarios::Scenario queued(std::vector<scenarios::ClusterQueue> queues,
                                  std::vector<scenarios::Workload> workloads) {
  scenarios::Scenario s = demo::scenario(demo::pool(0), std::move(workloads));
  s.flavors.push_back({{"any", {}}, {}, {}, {}});
  s.cluster_queues = std::move(queues);
  return s;
}

inline double seconds_of(const VariantResult& r) { return to_seconds(r.makespan.mean); }

}  // namespace slicewise::sim::demo
