#include <algorithm>

#include "cluster_run.hpp"

namespace slicewise::sim {

void ClusterRun::on_arrival(std::size_t s) {
  Traffic& traffic = traffic_[s];
  WorkloadRecord& record = record_.workloads[service_workload_[s]];
  const bool counted = now_ - TimePoint{} >= world_.warmup;
  record.arrived += counted ? 1 : 0;
  if (ready_[s].empty()) {
    // A Kubernetes Service without endpoints refuses the connection.
    traffic.take(seconds(1));
    record.refused += counted ? 1 : 0;
  } else {
    const auto replicas = static_cast<std::uint32_t>(ready_[s].size());
    const std::uint32_t p = ready_[s][traffic.route(replicas)];
    const bool was_idle = queue_[p].empty();
    queue_[p].push(traffic.take(cluster_.demand(cluster_.pods[p]).gpu));
    if (was_idle) serve_next(p);
  }
  timers_.set(first_service_timer_ + static_cast<std::uint32_t>(s), traffic.next_arrival());
}

void ClusterRun::start_serving(std::uint32_t p) {
  ready_[service_of_[index(cluster_.pods[p].workload)]].push_back(p);
}

void ClusterRun::stop_serving(std::uint32_t p) {
  std::erase(ready_[service_of_[index(cluster_.pods[p].workload)]], p);
}

void ClusterRun::serve_next(std::uint32_t p) {
  start_on_gpu(cluster_.pods[p], queue_[p].front().work);
}

void ClusterRun::request_done(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  const WorkloadModel& model = cluster_.model(pod);
  const Request request = queue_[p].front();
  queue_[p].pop();
  const Duration latency = now_ - request.arrived;
  const bool late = model.latency_limit && latency > *model.latency_limit;
  if (late) pod.late += request.work;
  if (request.arrived - TimePoint{} >= world_.warmup) {
    WorkloadRecord& record = record_.workloads[index(pod.workload)];
    record.latency.add(latency);
    ++record.units_done;
    record.units_in_objective += late ? 0 : 1;
  }
  if (!queue_[p].empty()) serve_next(p);
}

void ClusterRun::on_gpu_timer(std::size_t g) {
  Gpu& gpu = cluster_.gpus[g];
  std::uint32_t context = 0;
  with_engine(gpu, [&](auto& engine) {
    engine.advance(now_);
    context = engine.complete();
  });
  const std::uint32_t p = gpu.owner[context];
  if (cluster_.model(cluster_.pods[p]).spec.kind == scenarios::WorkloadKind::Service) {
    request_done(p);
  } else {
    step_done(p);
  }
  arm_gpu(g);
}

void ClusterRun::start_on_gpu(const Pod& pod, Duration work) {
  with_engine(cluster_.gpus[index(pod.gpu)], [&](auto& engine) {
    engine.advance(now_);
    engine.start(pod.context, work);
  });
  arm_gpu(index(pod.gpu));
}

void ClusterRun::cancel_on_gpu(const Pod& pod) {
  with_engine(cluster_.gpus[index(pod.gpu)], [&](auto& engine) {
    engine.advance(now_);
    engine.cancel(pod.context);
  });
  arm_gpu(index(pod.gpu));
}

// GPU time of the pod's context so far; 0 in steady state.
Duration ClusterRun::busy_on_gpu(const Pod& pod) {
  Duration busy;
  with_engine(cluster_.gpus[index(pod.gpu)], [&](auto& engine) {
    engine.advance(now_);
    busy = engine.busy_of(pod.context);
  });
  return busy;
}

void ClusterRun::arm_gpu(std::size_t g) {
  with_engine(cluster_.gpus[g], [&](auto& engine) {
    timers_.set(first_gpu_timer_ + static_cast<std::uint32_t>(g), engine.next().at);
  });
}

}  // namespace slicewise::sim
