#include "services.hpp"

#include <algorithm>

#include "slicewise/sim/kernel/far_times.hpp"
#include "slicewise/sim/serving/amounts.hpp"

#include "../entity_streams.hpp"
#include "../record/recorder.hpp"
#include "autoscalers.hpp"
#include "pipelines.hpp"
#include "replicas.hpp"

namespace slicewise::sim {
namespace {

// After the back-off before the n-th retry: doubles, up to 2^20 times the first.
TimePoint retry_at(TimePoint now, const scenarios::Serving& serving, int attempt) {
  return after(now, std::int64_t{1} << std::min(attempt, 20), serving.retry_after.ns, 0);
}

// Which of the prefixes the prompt begins with; 0: none, as a prompt that is no longer than they.
scenarios::PromptBlocks::Block draw_prefix(const scenarios::SharedPrefix& prefix,
                                           const Request& request, RandomStream& random) {
  const double drawn = random.uniform() / prefix.share;
  if (drawn >= 1 || request.input_tokens < prefix.tokens) return 0;
  return 1 + static_cast<std::uint32_t>(drawn * prefix.count);
}

// Of a language model's request that was answered.
void count_tokens(TokenRecord& record, const WorkloadModel& model, const Request& request,
                  bool late) {
  if (!model.spec.llm) return;
  const std::int64_t answered = tokens_answered(model.spec.llm->role, request);
  ++record.answered;
  record.input += request.input_tokens;
  record.output += answered;
  record.output_late += late ? answered : 0;
}

}  // namespace

Services::Services(RunState& run, Usage& usage, Replicas& replicas, Pipelines& pipelines,
                   Autoscalers& scalers)
    : run_(run),
      usage_(usage),
      replicas_(replicas),
      pipelines_(pipelines),
      scalers_(scalers),
      service_of_(run.world.workloads.size()) {
  services_.reserve(run.world.workloads.size());
  for (std::uint32_t w = 0; w < run.world.workloads.size(); ++w) {
    const WorkloadModel& model = run.world.workloads[w];
    if (model.spec.kind != WorkloadKind::Service) continue;
    service_of_[w] = static_cast<std::uint32_t>(services_.size());
    services_.emplace_back(run.world, make_id<WorkloadId>(w), run.replication,
                           entity_of(model.name));
    arm(service_of_[w]);
  }
}

RequestRecord& Services::record_of(std::size_t service) {
  return run_.record.workloads[index(services_[service].workload)].requests;
}

void Services::record_populations() {
  for (std::size_t s = 0; s < services_.size(); ++s) {
    record_of(s).in_system_ns = services_[s].population.integral_ns(run_.now);
  }
}

// Of a request that is over.
void Services::record(WorkloadId workload, const Request& request, RecordedRequest::Outcome outcome,
                      std::optional<std::uint32_t> pod) {
  if (run_.recorder == nullptr) return;
  run_.recorder->request_over({static_cast<std::uint32_t>(index(workload)), pod, outcome,
                               request.attempt, request.arrived, run_.now, request.input_tokens,
                               request.output_tokens});
}

void Services::arm(std::size_t s) {
  run_.timers.set(TimerKind::Service, s, services_[s].source.next());
}

void Services::on_timer(std::size_t s) {
  Request request = services_[s].source.take();
  // Warm replicas take their places at this instant, too, after what comes to the Service in it.
  if (run_.starts_warm(services_[s].model->spec) && services_[s].ready.empty()) {
    services_[s].source.put_back(run_.now + nanoseconds(1), request);
    return arm(s);
  }
  if (request.attempt == 0) {
    arrive(s, request);
  } else {
    enter(s, request);
  }
  arm(s);
}

void Services::arrive_later(std::size_t s, const Request& request) {
  services_[s].source.put_back(request.arrived, request);
  arm(s);
}

void Services::arrive(std::size_t s, Request request) {
  ServiceState& service = services_[s];
  request.size = service.draw_size();
  draw_tokens(service, request);
  service.population.change(run_.now, 1);
  if (run_.is_observed(request.arrived)) ++record_of(s).arrived;
  if (run_.recorder != nullptr) run_.recorder->arrived(index(service.workload));
  enter(s, request);
}

// What nobody drew comes from the trace, or from the request of the pipeline.
void Services::draw_tokens(ServiceState& service, Request& request) {
  if (!service.model->spec.llm) return;
  const auto draw = [&](const std::optional<scenarios::RandomAmount>& law, std::int32_t& tokens) {
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    if (law) tokens = static_cast<std::int32_t>(std::min(kMost, draw_amount(*law, service.tokens)));
    tokens = std::max(tokens, 1);
  };
  const scenarios::Llm& llm = *service.model->spec.llm;
  draw(llm.input, request.input_tokens);
  draw(llm.output, request.output_tokens);
  if (llm.input) request.prompt = 0;  // this is not the prompt of the trace
  if (service.adapters) request.adapter = service.adapters->of(service.tokens.uniform());
  if (llm.shared_prefix) request.prompt = draw_prefix(*llm.shared_prefix, request, service.tokens);
}

void Services::enter(std::size_t s, Request request) {
  ServiceState& service = services_[s];
  ++service.asked;
  if (service.ready.empty()) {
    if (scalers_.holds(s)) return scalers_.hold(s, request);
    // A Kubernetes Service without endpoints refuses the connection.
    return lose(s, request, Loss::Refused);
  }
  const std::uint32_t p = service.route(replicas_.all(), request);
  const PodServer& server = replicas_.of_pod(p);
  if (!server.has_room_for(request)) return lose(s, request, Loss::TooLong);
  if (server.is_full()) return lose(s, request, Loss::Dropped);
  request.queued = run_.now;
  replicas_.admit(p, request);
}

void Services::lose(std::size_t s, Request request, Loss cause) {
  ServiceState& service = services_[s];
  const scenarios::Serving& serving = service.model->spec.serving;
  RequestRecord& figures = record_of(s);
  // What is too long is so again: HTTP 400.
  if (request.attempt < serving.retries && cause != Loss::TooLong) {
    if (run_.is_observed(request.arrived)) ++figures.retried;
    const TimePoint at = retry_at(run_.now, serving, request.attempt++);
    service.source.put_back(at, request);
    return arm(s);
  }
  service.population.change(run_.now, -1);
  record(service.workload, request, outcome_of(cause), std::nullopt);
  if (run_.is_observed(request.arrived)) count_loss(figures, cause);
  over(s, request, cause);
}

void Services::answer(std::uint32_t p, const Request& request, Duration work) {
  using Outcome = RecordedRequest::Outcome;
  const std::size_t s = replicas_.of_pod(p).service;
  ServiceState& service = services_[s];
  WorkloadRecord& figures = run_.record.workloads[index(service.workload)];
  const Duration latency = run_.now - request.arrived;
  const auto& limit = service.model->limits.latency;
  const bool late = request.late || (limit && latency > *limit);
  usage_.answered(p, work, late);
  service.population.change(run_.now, -1);
  record(service.workload, request, late ? Outcome::Late : Outcome::InTime, p);
  // Latency is of the requests that came in the observed time, throughput of those that left in it.
  if (run_.is_observed(request.arrived)) {
    ++figures.requests.answered;
    figures.requests.in_objectives += late ? 0 : 1;
    figures.requests.latency.add(latency);
  }
  if (run_.is_observed(run_.now)) {
    ++figures.units_done;
    figures.units_in_objective += late ? 0 : 1;
    count_tokens(figures.tokens, *service.model, request, late);
  }
  if (late && request.flow != kNoFlow) pipelines_.stage_late(request);
  over(s, request, std::nullopt);
}

// The request has left the Service; `loss`: without an answer.
void Services::over(std::size_t s, const Request& request, std::optional<Loss> loss) {
  if (request.flow != kNoFlow) return pipelines_.stage_over(request, loss);
  if (services_[s].source.over(run_.now, loss.has_value())) arm(s);
}

void Services::start_serving(std::uint32_t p) {
  const std::size_t s = of_pod(p);
  services_[s].ready.push_back(p);
  replicas_.begin(p);
  scalers_.replica_ready(s, p);
}

void Services::stop_serving(std::uint32_t p) {
  const std::size_t s = of_pod(p);
  std::erase(services_[s].ready, p);
  if (run_.ended) return;
  for (const Request& request : replicas_.take_all(p)) lose(s, request, Loss::Refused);
}

}  // namespace slicewise::sim
