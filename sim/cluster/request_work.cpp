#include <algorithm>

#include "cluster_run.hpp"

namespace slicewise::sim {
namespace {

// Back-off before the n-th retry: doubles, up to 2^20 times the first.
Duration retry_delay(const scenarios::Serving& serving, int attempt) {
  return serving.retry_after * (std::int64_t{1} << std::min(attempt, 20));
}

// Of a language model's request that was answered.
void count_tokens(TokenRecord& record, const Request& request, bool late) {
  record.input += request.input_tokens;
  record.output += request.output_tokens;
  record.output_late += late ? request.output_tokens : 0;
}

}  // namespace

RecordedRequest ClusterRun::recorded(WorkloadId workload, const Request& request,
                                     RecordedRequest::Outcome outcome) const {
  return {static_cast<std::uint32_t>(index(workload)),
          std::nullopt,
          outcome,
          request.attempt,
          request.arrived,
          now_,
          request.input_tokens,
          request.output_tokens};
}

bool ClusterRun::is_counted(const Request& request) const {
  return request.arrived - TimePoint{} >= world_.warmup;
}

RequestRecord& ClusterRun::requests_of(std::size_t service) {
  return record_.workloads[index(services_[service].workload)].requests;
}

void ClusterRun::arm_service(std::size_t s) {
  timers_.set(first_service_timer_ + static_cast<std::uint32_t>(s), services_[s].source.next());
}

// A new request of the open or closed loop, or one that comes back.
void ClusterRun::on_service_timer(std::size_t s) {
  Request request = services_[s].source.take();
  if (request.attempt == 0) {
    arrive(s, request);
  } else {
    enter(s, request);
  }
  arm_service(s);
}

// The first attempt of a request.
void ClusterRun::arrive(std::size_t s, Request request) {
  ServiceState& service = services_[s];
  request.size = service.draw_size();
  draw_tokens(s, request);
  service.population.change(now_, 1);
  if (is_counted(request)) ++requests_of(s).arrived;
  if (recorder_ != nullptr) recorder_->arrived(index(service.workload));
  enter(s, request);
}

void ClusterRun::enter(std::size_t s, Request request) {
  ServiceState& service = services_[s];
  ++service.asked;
  if (service.ready.empty()) {
    Scaler* scaler = scaler_of_service(s);
    if (scaler != nullptr && scaler->holds()) return hold(*scaler, request);
    // A Kubernetes Service without endpoints refuses the connection.
    return lose(s, request, Loss::Refused);
  }
  const std::uint32_t p = service.route(servers_);
  if (!has_room_for(p, request)) return lose(s, request, Loss::Refused);
  if (is_full(p)) return lose(s, request, Loss::Dropped);
  request.queued = now_;
  admit(p, request);
}

// Unless its client tries again, the request is over without an answer.
void ClusterRun::lose(std::size_t s, Request request, Loss cause) {
  ServiceState& service = services_[s];
  const scenarios::Serving& serving = service.model->spec.serving;
  RequestRecord& record = requests_of(s);
  if (request.attempt < serving.retries) {
    if (is_counted(request)) ++record.retried;
    const Duration delay = retry_delay(serving, request.attempt++);
    service.source.put_back(now_ + delay, request);
    return arm_service(s);
  }
  service.population.change(now_, -1);
  if (recorder_ != nullptr) {
    recorder_->request_over(recorded(service.workload, request, outcome_of(cause)));
  }
  if (is_counted(request)) {
    std::int64_t& count = cause == Loss::Refused   ? record.refused
                          : cause == Loss::Dropped ? record.dropped
                                                   : record.timed_out;
    ++count;
  }
  over(s, request, cause);
}

void ClusterRun::answer(std::uint32_t p, const Request& request, Duration work) {
  Pod& pod = cluster_.pods[p];
  const std::size_t s = service_of_[index(pod.workload)];
  ServiceState& service = services_[s];
  WorkloadRecord& record = record_.workloads[index(pod.workload)];
  const Duration latency = now_ - request.arrived;
  const auto& limit = service.model->limits.latency;
  const bool late = request.late || (limit && latency > *limit);
  pod.answered += work;
  if (late) pod.late += work;
  service.population.change(now_, -1);
  if (recorder_ != nullptr) {
    using Outcome = RecordedRequest::Outcome;
    RecordedRequest entry = recorded(pod.workload, request, late ? Outcome::Late : Outcome::InTime);
    entry.pod = p;
    recorder_->request_over(entry);
  }
  // Latency is of the requests that came in the observed time, throughput of those that left in it.
  if (is_counted(request)) {
    ++record.requests.answered;
    record.requests.in_objectives += late ? 0 : 1;
    record.requests.latency.add(latency);
  }
  if (now_ - TimePoint{} >= world_.warmup) {
    ++record.units_done;
    record.units_in_objective += late ? 0 : 1;
    count_tokens(record.tokens, request, late);
  }
  over(s, request, std::nullopt);
}

// The request has left the Service; `loss`: without an answer.
void ClusterRun::over(std::size_t s, const Request& request, std::optional<Loss> loss) {
  if (request.flow != kNoFlow) return stage_over(request, loss);
  if (services_[s].source.over(now_)) arm_service(s);
}

void ClusterRun::start_serving(std::uint32_t p) {
  const std::size_t s = service_of_[index(cluster_.pods[p].workload)];
  services_[s].ready.push_back(p);
  if (cluster_.model(cluster_.pods[p]).spec.llm) start_llm(p);
  if (Scaler* scaler = scaler_of_service(s)) replica_ready(*scaler, p);
}

// Requests inside a replica go down with it.
void ClusterRun::stop_serving(std::uint32_t p) {
  const std::size_t s = service_of_[index(cluster_.pods[p].workload)];
  std::erase(services_[s].ready, p);
  if (ended_) return;
  PodServer& server = servers_[p];
  std::vector<Request> lost = std::move(server.batch);
  while (!server.ready.empty()) lost.push_back(server.ready.pop());
  while (!server.waiting.empty()) lost.push_back(server.waiting.pop());
  if (!host_cpu_.empty()) {
    HostCpu& cpu = host_cpu_[index(cluster_.pods[p].node)];
    cpu.advance(now_);
    cpu.cancel(p, [&](std::uint32_t slot) {
      lost.push_back(on_cpu_[slot].request);
      free_cpu_slots_.push_back(slot);
    });
    arm_host(cluster_.pods[p].node);
  }
  if (server.llm) {
    server.llm->batching.abandon(
        [&](const LlmRequest& request) { lost.push_back(server.llm->request(request)); });
    server.llm.reset();
  }
  server.batch.clear();
  server.outstanding = 0;
  server.working = 0;
  for (const Request& request : lost) lose(s, request, Loss::Refused);
}

}  // namespace slicewise::sim
