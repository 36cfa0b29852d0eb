#include <algorithm>
#include <cmath>

#include "cluster_run.hpp"

namespace slicewise::sim {

const scenarios::Serving& ClusterRun::serving_of(std::uint32_t p) const {
  return cluster_.model(cluster_.pods[p]).spec.serving;
}

// Whether one more request would have to wait, and as many wait already as may.
bool ClusterRun::is_full(std::uint32_t p) const {
  const scenarios::Serving& serving = serving_of(p);
  if (!serving.queue_limit) return false;
  const PodServer& server = servers_[p];
  const bool workers_busy =
      serving.concurrency > 0 && server.working >= static_cast<std::uint32_t>(serving.concurrency);
  const bool gpu_busy = !server.batch.empty() || (server.llm && server.llm->batching.working());
  const bool waits = workers_busy || gpu_busy || serving.max_delay.ns > 0;
  return waits && server.queued() >= static_cast<std::size_t>(*serving.queue_limit);
}

// The request has reached a pod that lets it in.
void ClusterRun::admit(std::uint32_t p, const Request& request) {
  PodServer& server = servers_[p];
  ++server.outstanding;
  const int workers = serving_of(p).concurrency;
  if (workers > 0 && server.working >= static_cast<std::uint32_t>(workers)) {
    server.waiting.push(request);
    return arm_server(p);
  }
  begin_request(p, request);
}

void ClusterRun::begin_request(std::uint32_t p, const Request& request) {
  ++servers_[p].working;
  const Duration before = serving_of(p).cpu_before;
  if (before.ns > 0) return start_on_cpu(p, {request, {}, true}, before);
  ready_for_gpu(p, request);
}

void ClusterRun::ready_for_gpu(std::uint32_t p, Request request) {
  request.ready = now_;
  if (servers_[p].llm) return join_steps(p, request);
  servers_[p].ready.push(request);
  fill_batch(p);
}

// Starts a batch when the GPU is free for the pod, and there are enough requests or the oldest has
// waited for others long enough.
void ClusterRun::fill_batch(std::uint32_t p) {
  PodServer& server = servers_[p];
  const scenarios::Serving& serving = serving_of(p);
  const auto most = static_cast<std::size_t>(serving.max_batch);
  if (server.batch.empty() && !server.ready.empty() &&
      (server.ready.size() >= most || server.ready.front().ready + serving.max_delay <= now_)) {
    const bool counted = now_ - TimePoint{} >= world_.warmup;
    Pod& pod = cluster_.pods[p];
    RequestRecord& record = record_.workloads[index(pod.workload)].requests;
    double size = 0;
    while (server.batch.size() < most && !server.ready.empty()) {
      server.batch.push_back(server.ready.pop());
      size += server.batch.back().size;
      if (is_counted(server.batch.back())) {
        record.queueing.add(now_ - server.batch.back().arrived);
      }
    }
    const std::size_t items = server.batch.size();
    record.batches += counted ? 1 : 0;
    record.batched += counted ? static_cast<std::int64_t>(items) : 0;
    const Duration mean = cluster_.demand(pod).gpu_batch[items - 1];
    const double work_ns = static_cast<double>(mean.ns) * (size / static_cast<double>(items)) + 0.5;
    server.batch_work = nanoseconds(std::max<std::int64_t>(1, static_cast<std::int64_t>(work_ns)));
    start_on_gpu(pod, server.batch_work);
  }
  arm_server(p);
}

void ClusterRun::batch_done(std::uint32_t p) {
  PodServer& server = servers_[p];
  Pod& pod = cluster_.pods[p];
  const Demand& demand = cluster_.demand(pod);
  const auto items = static_cast<std::int64_t>(server.batch.size());
  const Duration work{server.batch_work.ns / items};
  pod.sm_ns += static_cast<double>(server.batch_work.ns) *
               static_cast<double>(demand.sm_active.ns) / static_cast<double>(demand.gpu.ns);
  const Duration after = serving_of(p).cpu_after;
  finished_.swap(server.batch);  // an answer may bring the pod its next request
  for (const Request& request : finished_) {
    if (after.ns > 0) {
      start_on_cpu(p, {request, work, false}, after);
    } else {
      leave_pod(p, request, work);
    }
  }
  finished_.clear();
  fill_batch(p);
  leave_if_finished(p);
}

void ClusterRun::leave_pod(std::uint32_t p, const Request& request, Duration work) {
  PodServer& server = servers_[p];
  --server.outstanding;
  --server.working;
  answer(p, request, work);
  const int workers = serving_of(p).concurrency;
  if (workers > 0 && !server.waiting.empty() &&
      server.working < static_cast<std::uint32_t>(workers)) {
    begin_request(p, server.waiting.pop());
  }
}

// The next moment at which something happens to waiting requests by the clock alone.
void ClusterRun::arm_server(std::uint32_t p) {
  if (!services_[service_of_[index(cluster_.pods[p].workload)]].has_deadlines) return;
  const PodServer& server = servers_[p];
  const scenarios::Serving& serving = serving_of(p);
  TimePoint next = kNever;
  if (server.batch.empty() && !server.ready.empty()) {
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
  timers_.set(p, next);
}

// A batch has waited long enough, or requests have waited too long.
void ClusterRun::on_server_timer(std::uint32_t p) {
  PodServer& server = servers_[p];
  const std::size_t s = service_of_[index(cluster_.pods[p].workload)];
  if (const auto& timeout = serving_of(p).timeout) {
    for (RequestQueue* queue : {&server.waiting, &server.ready}) {
      while (!queue->empty() && queue->front().queued + *timeout <= now_) {
        const Request request = queue->pop();
        --server.outstanding;
        if (queue == &server.ready) --server.working;
        lose(s, request, Loss::TimedOut);
      }
    }
    if (server.llm) time_out_llm(p, *timeout);
  }
  fill_batch(p);
  leave_if_finished(p);
}

void ClusterRun::start_on_cpu(std::uint32_t p, const OnCpu& task, Duration work) {
  if (free_cpu_slots_.empty()) {
    free_cpu_slots_.push_back(static_cast<std::uint32_t>(on_cpu_.size()));
    on_cpu_.emplace_back();
  }
  const std::uint32_t slot = free_cpu_slots_.back();
  free_cpu_slots_.pop_back();
  on_cpu_[slot] = task;
  const NodeId node = cluster_.pods[p].node;
  HostCpu& cpu = host_cpu_[index(node)];
  cpu.advance(now_);
  cpu.start(p, slot, work);
  arm_host(node);
}

// Batch pods keep the vCPUs that they use on average; requests have the rest, one at least.
void ClusterRun::share_host_cpu(NodeId id) {
  const Node& node = cluster_.nodes[index(id)];
  double used = 0;
  for (const DomainId domain : node.domains()) {
    for (const std::uint32_t owner : cluster_.domains[index(domain)].owner) {
      if (owner == kNoOwner) continue;
      const Pod& pod = cluster_.pods[owner];
      if (pod.phase != PodPhase::Working || pod.domain != domain) continue;
      used += pod.units_per_second * to_seconds(cluster_.demand(pod).cpu) * pod.size;
    }
  }
  HostCpu& cpu = host_cpu_[index(id)];
  cpu.advance(now_);
  cpu.set_cores(std::max(1.0, static_cast<double>(cluster_.pool(node).vcpus) - used));
  arm_host(id);
}

void ClusterRun::arm_host(NodeId node) {
  timers_.set(first_host_timer_ + static_cast<std::uint32_t>(index(node)),
              host_cpu_[index(node)].next());
}

void ClusterRun::on_host_timer(std::size_t node) {
  HostCpu& cpu = host_cpu_[node];
  cpu.advance(now_);
  const HostCpu::Task task = cpu.complete();
  const OnCpu done = on_cpu_[task.item];
  free_cpu_slots_.push_back(task.item);
  const scenarios::Serving& serving = serving_of(task.owner);
  cluster_.nodes[node].cpu_ns +=
      static_cast<double>((done.before ? serving.cpu_before : serving.cpu_after).ns);
  arm_host(make_id<NodeId>(node));
  if (done.before) return ready_for_gpu(task.owner, done.request);
  leave_pod(task.owner, done.request, done.work);
  leave_if_finished(task.owner);
}

}  // namespace slicewise::sim
