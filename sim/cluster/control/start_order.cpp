#include "start_order.hpp"

#include <algorithm>

namespace slicewise::sim {

using scenarios::StartDependency;

StartOrder::StartOrder(RunState& run, OpenJobs& jobs)
    : run_(run), jobs_(jobs), progress_(run.world.workloads.size()) {
  for (std::size_t w = 0; w < progress_.size(); ++w) {
    for (const StartDependency& wanted : run.world.workloads[w].spec.depends_on) {
      for (std::size_t other = 0; other < progress_.size(); ++other) {
        if (run.world.workloads[other].name == wanted.name.value)
          progress_[other].next.push_back(w);
      }
    }
  }
}

void StartOrder::one_ready(const Pod& pod) {
  ++progress_[index(pod.workload)].ready;
  let_those_after(index(pod.workload));
}

void StartOrder::one_done(const Pod& pod) {
  progress_[index(pod.workload)].done += run_.cluster.model(pod).pods_per_job;
  let_those_after(index(pod.workload));
}

// Studies simulate parts of a scenario: what is not there holds up nobody.
bool StartOrder::may_start(std::size_t workload) const {
  const auto has_come_so_far = [&](const StartDependency& wanted) {
    for (std::size_t w = 0; w < progress_.size(); ++w) {
      const WorkloadModel& model = run_.world.workloads[w];
      if (model.name != wanted.name.value) continue;
      return wanted.status == StartDependency::Status::Ready
                 ? progress_[w].ready >= model.spec.pods_at_once()
                 : progress_[w].done >= model.spec.count;
    }
    return true;
  };
  return std::ranges::all_of(run_.world.workloads[workload].spec.depends_on, has_come_so_far);
}

void StartOrder::let_those_after(std::size_t workload) {
  for (const std::size_t next : progress_[workload].next) {
    if (jobs_.waits(next) && may_start(next)) jobs_.let(next);
  }
}

}  // namespace slicewise::sim
