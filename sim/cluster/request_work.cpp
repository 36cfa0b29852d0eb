#include <algorithm>

#include "cluster_run.hpp"

namespace slicewise::sim {

void ClusterRun::on_arrival(std::size_t s) {
  Traffic& traffic = traffic_[s];
  WorkloadRecord& record = record_.workloads[service_workload_[s]];
  const bool counted = now_ - TimePoint{} >= world_.warmup;
  record.requests.arrived += counted ? 1 : 0;
  if (ready_[s].empty()) {
    // A Kubernetes Service without endpoints refuses the connection.
    traffic.take(seconds(1));
    record.requests.refused += counted ? 1 : 0;
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

// Requests that wait in the queue of a replica go down with it.
void ClusterRun::stop_serving(std::uint32_t p) {
  std::erase(ready_[service_of_[index(cluster_.pods[p].workload)]], p);
  if (ended_) return;
  for (; !queue_[p].empty(); queue_[p].pop()) {
    const bool counted = queue_[p].front().arrived - TimePoint{} >= world_.warmup;
    record_.workloads[index(cluster_.pods[p].workload)].requests.refused += counted ? 1 : 0;
  }
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
  const bool late = model.limits.latency && latency > *model.limits.latency;
  pod.answered += request.work;
  if (late) pod.late += request.work;
  const Demand& demand = cluster_.demand(pod);
  pod.sm_ns += static_cast<double>(request.work.ns) * static_cast<double>(demand.sm_active.ns) /
               static_cast<double>(demand.gpu.ns);
  WorkloadRecord& record = record_.workloads[index(pod.workload)];
  // Latency is of the requests that came in the observed time, throughput of those that left in it.
  if (request.arrived - TimePoint{} >= world_.warmup) {
    ++record.requests.answered;
    record.requests.in_objectives += late ? 0 : 1;
    record.requests.latency.add(latency);
  }
  if (now_ - TimePoint{} >= world_.warmup) {
    ++record.units_done;
    record.units_in_objective += late ? 0 : 1;
  }
  if (!queue_[p].empty()) serve_next(p);
}

void ClusterRun::on_domain_timer(std::size_t d) {
  Domain& domain = cluster_.domains[d];
  std::uint32_t context = 0;
  with_engine(domain, [&](auto& engine) {
    engine.advance(now_);
    context = engine.complete();
  });
  const std::uint32_t p = domain.owner[context];
  if (cluster_.model(cluster_.pods[p]).spec.kind == scenarios::WorkloadKind::Service) {
    request_done(p);
  } else {
    step_done(p);
  }
  arm_domain(d);
}

void ClusterRun::start_on_gpu(const Pod& pod, Duration work) {
  with_engine(cluster_.domains[index(pod.domain)], [&](auto& engine) {
    engine.advance(now_);
    engine.start(pod.context, work);
  });
  arm_domain(index(pod.domain));
}

void ClusterRun::cancel_on_gpu(const Pod& pod) {
  with_engine(cluster_.domains[index(pod.domain)], [&](auto& engine) {
    engine.advance(now_);
    engine.cancel(pod.context);
  });
  arm_domain(index(pod.domain));
}

// GPU time of the pod's context so far; 0 in steady state.
Duration ClusterRun::busy_on_gpu(const Pod& pod) {
  Duration busy;
  with_engine(cluster_.domains[index(pod.domain)], [&](auto& engine) {
    engine.advance(now_);
    busy = engine.busy_of(pod.context);
  });
  return busy;
}

// The process opens its CUDA context: an MPS client connects, a vGPU is powered on.
void ClusterRun::open_on_gpu(const Pod& pod) {
  Domain& domain = cluster_.domains[index(pod.domain)];
  const Demand& demand = cluster_.demand(pod);
  const double alone_ns = static_cast<double>((demand.gpu + demand.host).ns);
  std::visit(models::Overloaded{[](std::monostate) {}, [](Exclusive&) {}, [](RoundRobin&) {},
                                [&](Fluid& engine) {
                                  engine.advance(now_);
                                  engine.set_client(pod.context, demand.client,
                                                    static_cast<double>(demand.gpu.ns) / alone_ns);
                                },
                                [&](StrictSlots& engine) {
                                  engine.advance(now_);
                                  engine.join(pod.context);
                                }},
             domain.engine);
  arm_domain(index(pod.domain));
}

void ClusterRun::close_on_gpu(const Pod& pod) {
  Domain& domain = cluster_.domains[index(pod.domain)];
  if (auto* engine = std::get_if<StrictSlots>(&domain.engine)) {
    engine->advance(now_);
    engine->leave(pod.context);
    arm_domain(index(pod.domain));
  }
}

void ClusterRun::arm_domain(std::size_t d) {
  with_engine(cluster_.domains[d], [&](auto& engine) {
    timers_.set(first_domain_timer_ + static_cast<std::uint32_t>(d), engine.next().at);
  });
}

}  // namespace slicewise::sim
