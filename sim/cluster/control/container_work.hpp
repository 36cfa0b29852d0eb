#pragma once

#include <cstdint>
#include <optional>

#include "../batch/batch_steps.hpp"
#include "../batch/steady_batch.hpp"
#include "../notebooks/notebooks.hpp"
#include "../run_state.hpp"
#include "../service/replicas.hpp"
#include "../service/services.hpp"
#include "pod_life.hpp"

namespace slicewise::sim {

// What a container works on: batch work, requests, or the cells of a notebook. The one place that
// tells the kinds of workloads apart while the clock runs, but for what controllers do about a pod
// that has ended.
class ContainerWork {
 public:
  ContainerWork(RunState& run, SteadyBatch& batch, BatchSteps& steps, Services& services,
                Replicas& replicas, Notebooks& notebooks, Usage& usage, PodLife& pods);

  // The pod is due for the first time, or somebody's next session is.
  void create(std::uint32_t pod);
  // It is Pending from now on, or has been for as long as its user waits.
  void wait(std::uint32_t pod);
  void give_up(std::uint32_t pod);

  // From the container's first GPU work to its end.
  void begin(std::uint32_t pod);
  void on_timer(std::uint32_t pod);
  void gpu_done(std::uint32_t pod);
  void end(std::uint32_t pod);

  // Whole units of batch work that the pod has behind it.
  std::int64_t units_finished(std::uint32_t pod) const;
  double part_of_unit(std::uint32_t pod) const;  // that it has done beside them
  // Of the batch work of a pod that runs.
  double units_left(std::uint32_t pod) const;
  // SM time in so much GPU time of what it works on now, in ns.
  double sm_time(std::uint32_t pod, double gpu_ns) const;
  // What its GPU was given for the request or cell under way; nothing for batch work.
  std::optional<Duration> gpu_work(std::uint32_t pod) const;

 private:
  WorkloadKind kind_of(std::uint32_t pod) const {
    return run_.cluster.model(run_.cluster.pods[pod]).spec.kind;
  }

  bool uses_gpu(std::uint32_t pod) const {
    return run_.cluster.model(run_.cluster.pods[pod]).spec.uses_gpu();
  }
  void begin_without_gpu(std::uint32_t pod);
  double unit_seconds(std::uint32_t pod) const;
  // Whether its steps are simulated one by one.
  bool makes_steps(std::uint32_t pod) const {
    return run_.cluster.is_exact(run_.cluster.pods[pod].node) && uses_gpu(pod);
  }

  RunState& run_;
  SteadyBatch& batch_;
  BatchSteps& steps_;
  Services& services_;
  Replicas& replicas_;
  Notebooks& notebooks_;
  Usage& usage_;
  PodLife& pods_;
};

inline void ContainerWork::on_timer(std::uint32_t p) {
  switch (kind_of(p)) {
    case WorkloadKind::Service:
      return replicas_.on_timer(p);
    case WorkloadKind::Notebook:
      return notebooks_.on_timer(p);
    case WorkloadKind::Job:
    case WorkloadKind::Deployment:
      if (makes_steps(p)) return steps_.prepared(p);
      return pods_.work_done(p);
  }
}

inline void ContainerWork::gpu_done(std::uint32_t p) {
  switch (kind_of(p)) {
    case WorkloadKind::Service:
      return replicas_.gpu_done(p);
    case WorkloadKind::Notebook:
      return notebooks_.cell_done(p);
    case WorkloadKind::Job:
    case WorkloadKind::Deployment:
      if (steps_.step_done(p)) pods_.work_done(p);
      return;
  }
}

}  // namespace slicewise::sim
