#include "autoscalers.hpp"
#include "replicas.hpp"
#include "services.hpp"

// Requests inside a pod that serves a language model.
namespace slicewise::sim {
namespace {

// How long its tokens took; `late` when they took too long.
void time_tokens(RunState& run, WorkloadId workload, Request& request, const LlmAnswer& answer) {
  const RequestLimits& limits = run.world.workloads[index(workload)].limits;
  WorkloadRecord& record = run.record.workloads[index(workload)];
  const scenarios::LlmRole role = run.world.workloads[index(workload)].spec.llm->role;
  const bool has_first = role != scenarios::LlmRole::Decode;  // which another server gave
  if (has_first) request.first_token = answer.first_token;
  const Duration first = request.first_token - request.arrived;
  const std::int64_t rest = role == scenarios::LlmRole::Prefill ? 0 : request.output_tokens - 1;
  const Duration each{rest > 0 ? (run.now - request.first_token).ns / rest : 0};
  request.late = (has_first && limits.first_token && first > *limits.first_token) ||
                 (limits.per_token && each > *limits.per_token);
  if (!run.is_observed(request.arrived)) return;
  if (has_first) record.tokens.first_token.add(first);
  if (rest > 0) record.tokens.per_token.add(each);
  record.requests.queueing.add(answer.started - request.arrived);
}

void count_steps(RunState& run, WorkloadId workload, const ContinuousBatching::Piece& piece,
                 LlmServer& llm) {
  WorkloadRecord& record = run.record.workloads[index(workload)];
  TokenRecord& tokens = record.tokens;
  const std::int64_t peak = llm.batching.pool().peak();
  const std::int64_t size = llm.batching.pool().size();
  // The fullest pod; pods on different GPUs have pools of different sizes.
  if (static_cast<double>(peak) * static_cast<double>(tokens.cache_size) >
          static_cast<double>(tokens.cache_peak) * static_cast<double>(size) ||
      tokens.cache_size == 0) {
    tokens.cache_peak = peak;
    tokens.cache_size = size;
  }
  if (run.is_observed(run.now)) {
    record.requests.batches += piece.steps;
    record.requests.batched += piece.steps * piece.sequences;
    const ContinuousBatching::Counts& counts = llm.batching.counts();
    tokens.preemptions += counts.preemptions - llm.recorded.preemptions;
    tokens.prompts += counts.prompt_tokens - llm.recorded.prompt_tokens;
    tokens.found += counts.found_tokens - llm.recorded.found_tokens;
    tokens.adapter_loads += counts.adapter_loads - llm.recorded.adapter_loads;
  }
  llm.recorded = llm.batching.counts();
  const double exchanged_s =
      models::step_seconds(llm.exchange, static_cast<double>(piece.tokens), 0);
  record.all_reduce_ns += static_cast<double>(piece.steps) * exchanged_s * 1e9;
}

}  // namespace

// The request joins those that the model works on, or waits for a place among them. What the GPU
// does is cut short at the end of the step under way when it can be admitted then.
void Replicas::join_steps(std::uint32_t p, const Request& request) {
  LlmServer& llm = *servers_[p].llm;
  if (llm.sleeps && !engines_.lets_in(p)) {
    servers_[p].ready.push(request);
    engines_.ask(p);
    return arm(p);
  }
  llm.push(request);
  if (llm.between_pieces) return;
  if (!llm.batching.working()) return begin_piece(p);
  const Pod& pod = run_.cluster.pods[p];
  const Duration left = gpus_.left(pod);
  const Duration whole = llm.batching.piece().work;
  if (left.ns > 0) gpus_.shorten(pod, whole - llm.batching.cut(whole - left));
  arm(p);
}

// Whatever is to be done next, if anything.
void Replicas::begin_piece(std::uint32_t p) {
  LlmServer& llm = *servers_[p].llm;
  if (!llm.batching.idle()) {
    const Duration work = llm.batching.begin(run_.now);
    const Pod& pod = run_.cluster.pods[p];
    if (std::holds_alternative<Fluid>(run_.cluster.domains[index(pod.domain)].engine)) {
      // A prompt computes, an answer reads: each piece has its own share of the GPU.
      gpus_.run_as(p, models::client_of_step(llm.law, llm.batching.piece().load(),
                                             run_.cluster.demand(pod).client));
    }
    gpus_.start(p, work);
  } else if (llm.sleeps) {
    engines_.finished(p);
  }
  arm(p);
}

void Replicas::woke_up(std::uint32_t p) {
  PodServer& server = servers_[p];
  while (!server.ready.empty()) server.llm->push(server.ready.pop());
  begin_piece(p);
}

void Replicas::piece_done(std::uint32_t p) {
  LlmServer& llm = *servers_[p].llm;
  const Pod& pod = run_.cluster.pods[p];
  const ContinuousBatching::Piece piece = llm.batching.piece();
  const Demand& demand = run_.cluster.demand(pod);
  usage_.used_sms(p, sm_time(demand, static_cast<double>(piece.work.ns)));
  llm.between_pieces = true;  // an answer may bring the pod its next request
  for (const LlmAnswer& answer : llm.batching.end(run_.now)) {
    Request request = llm.take(answer.request);
    time_tokens(run_, pod.workload, request, answer);
    leave_gpu(p, request, answer.gpu_work);
  }
  llm.between_pieces = false;
  count_steps(run_, pod.workload, piece, llm);
  begin_piece(p);
  leave_if_finished(p);
}

// Requests that have not had a step for too long.
void Replicas::time_out_llm(std::uint32_t p, Duration timeout) {
  LlmServer& llm = *servers_[p].llm;
  const std::size_t s = servers_[p].service;
  while (const LlmRequest* oldest = llm.batching.oldest_waiting()) {
    if (run_.now < llm.request(*oldest).queued + timeout) return;
    const Request request = llm.take(*oldest);
    llm.batching.drop_oldest_waiting();
    --servers_[p].outstanding;
    --servers_[p].working;
    services_.lose(s, request, Loss::TimedOut);
  }
}

}  // namespace slicewise::sim
