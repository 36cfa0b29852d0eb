#include "replicas.hpp"

#include <algorithm>
#include <utility>

#include "slicewise/sim/kernel/far_times.hpp"

#include "../../world/admission.hpp"
#include "autoscalers.hpp"
#include "services.hpp"

namespace slicewise::sim {

Replicas::Replicas(RunState& run, GpuAccess& gpus, Usage& usage, HostCpus& hosts,
                   Services& services, Autoscalers& scalers, PodLife& pods)
    : run_(run),
      gpus_(gpus),
      usage_(usage),
      hosts_(hosts),
      services_(services),
      scalers_(scalers),
      servers_(run.cluster.pods.size()),
      engines_(run, servers_, *this, pods) {
  for (std::size_t p = 0; p < servers_.size(); ++p) {
    servers_[p].serving = &run.cluster.model(run.cluster.pods[p]).spec.serving;
  }
}

void Replicas::begin(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  const WorkloadModel& model = run_.cluster.model(pod);
  servers_[p].service = static_cast<std::uint32_t>(services_.of_workload(pod.workload));
  if (!model.spec.llm) return;
  const Domain& domain = run_.cluster.domains[index(pod.domain)];
  const PoolId pool = run_.cluster.nodes[index(pod.node)].pool;
  const LlmDemand& there = model.on_pool[index(pool)].llm[domain.kind];
  models::LlmStep exchange;
  if (there.shared) {
    exchange = all_reduces_of(run_.world.pools[index(pool)], there, run_.cluster.gpus_of(pod));
  }
  servers_[p].llm = std::make_unique<LlmServer>(there, exchange, model);
  // Known from the start, since it may be too small for every request.
  std::int64_t& size = run_.record.workloads[index(pod.workload)].tokens.cache_size;
  if (size == 0) size = servers_[p].llm->batching.pool().size();
}

std::vector<Request> Replicas::take_all(std::uint32_t p) {
  PodServer& server = servers_[p];
  std::vector<Request> taken = std::move(server.batch);
  while (!server.ready.empty()) taken.push_back(server.ready.pop());
  while (!server.waiting.empty()) taken.push_back(server.waiting.pop());
  hosts_.cancel(p, run_.cluster.pods[p].node,
                [&](const Request& request) { taken.push_back(request); });
  if (server.llm) {
    server.llm->batching.abandon(
        [&](const LlmRequest& request) { taken.push_back(server.llm->request(request)); });
    if (server.llm->sleeps) engines_.gone(p);
    server.llm.reset();
  }
  server.batch.clear();
  server.outstanding = 0;
  server.working = 0;
  return taken;
}

void Replicas::admit(std::uint32_t p, const Request& request) {
  PodServer& server = servers_[p];
  ++server.outstanding;
  const int workers = servers_[p].serving->concurrency;
  if (workers > 0 && server.working >= static_cast<std::uint32_t>(workers)) {
    server.waiting.push(request);
    return arm(p);
  }
  begin_request(p, request);
}

void Replicas::begin_request(std::uint32_t p, const Request& request) {
  ++servers_[p].working;
  const Duration before = servers_[p].serving->cpu_before;
  if (before.ns > 0) return hosts_.start(p, {request, {}, When::Before}, before);
  ready_for_gpu(p, request);
}

void Replicas::ready_for_gpu(std::uint32_t p, Request request) {
  request.ready = run_.now;
  if (servers_[p].llm) return join_steps(p, request);
  servers_[p].ready.push(request);
  fill_batch(p);
}

// Starts a batch when the GPU is free for the pod, and there are enough requests or the oldest has
// waited for others long enough.
void Replicas::fill_batch(std::uint32_t p) {
  PodServer& server = servers_[p];
  const scenarios::Serving& serving = *servers_[p].serving;
  const auto most = static_cast<std::size_t>(serving.max_batch);
  if (server.batch.empty() && !server.is_answering && !server.ready.empty() &&
      (server.ready.size() >= most || server.ready.front().ready + serving.max_delay <= run_.now)) {
    const Pod& pod = run_.cluster.pods[p];
    RequestRecord& record = run_.record_of(pod).requests;
    double size = 0;
    while (server.batch.size() < most && !server.ready.empty()) {
      server.batch.push_back(server.ready.pop());
      size += server.batch.back().size;
      if (run_.is_observed(server.batch.back().arrived)) {
        record.queueing.add(run_.now - server.batch.back().arrived);
      }
    }
    const std::size_t items = server.batch.size();
    if (run_.is_observed(run_.now)) {
      ++record.batches;
      record.batched += static_cast<std::int64_t>(items);
    }
    const BatchDemand& demand = run_.cluster.demand(pod).batches[items - 1];
    gpus_.run_as(p, demand.client);
    const double work_ns =
        static_cast<double>(demand.gpu.ns) * (size / static_cast<double>(items)) + 0.5;
    server.batch_work = nanoseconds(
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(work_ns, kLongestNs))));
    const Domain& domain = run_.cluster.domains[index(pod.domain)];
    server.cut(std::holds_alternative<RoundRobin>(domain.engine));
    begin_burst(p);
  }
  arm(p);
}

void Replicas::begin_burst(std::uint32_t p) {
  PodServer& server = servers_[p];
  server.burst = server.next_burst();
  gpus_.start(p, server.burst);
  gpus_.wait_by_chance(p, services_[server.service].waits);
}

void Replicas::burst_done(std::uint32_t p) {
  PodServer& server = servers_[p];
  const BatchDemand& demand =
      run_.cluster.demand(run_.cluster.pods[p]).batches[server.batch.size() - 1];
  usage_.used_sms(p, sm_time(demand, static_cast<double>(server.burst.ns)));
  const bool copied = server.is_copy();
  if (--server.bursts_left == 0) return batch_done(p);
  const Duration between = servers_[p].serving->cpu_between;
  if (between.ns > 0 && !copied && !server.is_copy()) {
    return hosts_.start(p, {server.batch.front(), {}, When::Between}, between);
  }
  gpus_.yield(p);
  begin_burst(p);
}

void Replicas::batch_done(std::uint32_t p) {
  PodServer& server = servers_[p];
  const auto items = static_cast<std::int64_t>(server.batch.size());
  const Duration work{server.batch_work.ns / items};
  gpus_.yield(p);  // its host waited for the end, and does not start the next at once
  finished_.swap(server.batch);
  // An answer may bring the pod its next request: it has the others' company in the next batch.
  server.is_answering = true;
  for (const Request& request : finished_) leave_gpu(p, request, work);
  server.is_answering = false;
  finished_.clear();
  fill_batch(p);
  leave_if_finished(p);
}

void Replicas::leave_gpu(std::uint32_t p, const Request& request, Duration work) {
  const Duration after = servers_[p].serving->cpu_after;
  if (after.ns > 0) return hosts_.start(p, {request, work, When::After}, after);
  leave_pod(p, request, work);
}

void Replicas::leave_pod(std::uint32_t p, const Request& request, Duration work) {
  PodServer& server = servers_[p];
  --server.outstanding;
  --server.working;
  services_.answer(p, request, work);
  const int workers = servers_[p].serving->concurrency;
  if (workers > 0 && !server.waiting.empty() &&
      server.working < static_cast<std::uint32_t>(workers)) {
    begin_request(p, server.waiting.pop());
  }
}

void Replicas::leave_if_finished(std::uint32_t p) {
  if (servers_[p].outstanding == 0) scalers_.replica_idle(p);
}

// The next moment at which something happens to waiting requests by the clock alone.
void Replicas::arm(std::uint32_t p) {
  if (!servers_[p].has_deadlines()) return;
  const PodServer& server = servers_[p];
  const scenarios::Serving& serving = *servers_[p].serving;
  TimePoint next = kNever;
  if (!server.llm && server.batch.empty() && !server.ready.empty()) {
    next = server.ready.front().ready + serving.max_delay;
  }
  if (serving.timeout) {
    for (const RequestQueue* queue : {&server.waiting, &server.ready}) {
      if (!queue->empty()) next = std::min(next, queue->front().queued + *serving.timeout);
    }
    if (const auto* oldest = server.llm ? server.llm->batching.oldest_waiting() : nullptr) {
      next = std::min(next, server.llm->request(*oldest).queued + *serving.timeout);
    }
  }
  // Who had its host work first may have waited too long by now.
  run_.timers.set(TimerKind::Pod, p, std::max(next, run_.now));
}

void Replicas::on_timer(std::uint32_t p) {
  PodServer& server = servers_[p];
  const std::size_t s = server.service;
  if (const auto& timeout = servers_[p].serving->timeout) {
    for (RequestQueue* queue : {&server.waiting, &server.ready}) {
      while (!queue->empty() && queue->front().queued + *timeout <= run_.now) {
        const Request request = queue->pop();
        --server.outstanding;
        if (queue == &server.ready) --server.working;
        services_.lose(s, request, Loss::TimedOut);
      }
    }
    if (server.llm) time_out_llm(p, *timeout);
  }
  server.llm ? arm(p) : fill_batch(p);
  leave_if_finished(p);
}

void Replicas::host_done(NodeId node) {
  const auto [p, task] = hosts_.complete(node);
  const scenarios::Serving& serving = *servers_[p].serving;
  const Duration used = task.when == When::Before    ? serving.cpu_before
                        : task.when == When::Between ? serving.cpu_between
                                                     : serving.cpu_after;
  usage_.used_host(node, static_cast<double>(used.ns));
  if (run_.is_observed(task.request.arrived)) {
    run_.record_of(run_.cluster.pods[p]).stretched_by_cpu += run_.now - task.started - used;
  }
  if (task.when == When::Before) return ready_for_gpu(p, task.request);
  if (task.when == When::Between) return begin_burst(p);
  leave_pod(p, task.request, task.gpu_work);
  leave_if_finished(p);
}

}  // namespace slicewise::sim
