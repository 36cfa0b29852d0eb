#include <algorithm>

#include "slicewise/sim/serving/amounts.hpp"

#include "cluster_run.hpp"

namespace slicewise::sim {

// What nobody drew comes from the trace, or from the request of the pipeline.
void ClusterRun::draw_tokens(std::size_t s, Request& request) {
  ServiceState& service = services_[s];
  if (!service.model->spec.llm) return;
  const auto draw = [&](const std::optional<scenarios::RandomAmount>& law, std::int32_t& tokens) {
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    if (law) tokens = static_cast<std::int32_t>(std::min(kMost, draw_amount(*law, service.tokens)));
    tokens = std::max(tokens, 1);
  };
  draw(service.model->spec.llm->input, request.input_tokens);
  draw(service.model->spec.llm->output, request.output_tokens);
}

// A server refuses a sequence that its KV pool could never hold.
bool ClusterRun::has_room_for(std::uint32_t p, const Request& request) const {
  const auto& llm = servers_[p].llm;
  return !llm || llm->batching.fits(LlmServer::tokens_of(request));
}

void ClusterRun::start_llm(std::uint32_t p) {
  const Pod& pod = cluster_.pods[p];
  const WorkloadModel& model = cluster_.model(pod);
  const Domain& domain = cluster_.domains[index(pod.domain)];
  const PoolDemand& there = model.on_pool[index(cluster_.nodes[index(pod.node)].pool)];
  servers_[p].llm = std::make_unique<LlmServer>(there.llm[domain.kind], *model.spec.llm);
}

// The request joins those that the model works on, or waits for a place among them. What the GPU
// does is cut short at the end of the step under way when it can be admitted then.
void ClusterRun::join_steps(std::uint32_t p, const Request& request) {
  LlmServer& llm = *servers_[p].llm;
  llm.push(request);
  if (llm.between_pieces) return;
  if (!llm.batching.working()) return begin_piece(p);
  const Pod& pod = cluster_.pods[p];
  const Duration left = left_on_gpu(pod);
  const Duration whole = llm.batching.piece().work;
  if (left.ns > 0) shorten_on_gpu(pod, whole - llm.batching.cut(whole - left));
  arm_server(p);
}

// Whatever is to be done next, if anything.
void ClusterRun::begin_piece(std::uint32_t p) {
  LlmServer& llm = *servers_[p].llm;
  if (!llm.batching.idle()) start_on_gpu(cluster_.pods[p], llm.batching.begin(now_));
  arm_server(p);
}

void ClusterRun::piece_done(std::uint32_t p) {
  LlmServer& llm = *servers_[p].llm;
  Pod& pod = cluster_.pods[p];
  const ContinuousBatching::Piece piece = llm.batching.piece();
  const Demand& demand = cluster_.demand(pod);
  pod.sm_ns += static_cast<double>(piece.work.ns) * static_cast<double>(demand.sm_active.ns) /
               static_cast<double>(demand.gpu.ns);
  const Duration after = serving_of(p).cpu_after;
  llm.between_pieces = true;  // an answer may bring the pod its next request
  for (const LlmAnswer& answer : llm.batching.end(now_)) {
    Request request = llm.take(answer.request);
    time_tokens(index(pod.workload), request, answer);
    if (after.ns > 0) {
      start_on_cpu(p, {request, answer.gpu_work, false}, after);
    } else {
      leave_pod(p, request, answer.gpu_work);
    }
  }
  llm.between_pieces = false;
  count_steps(index(pod.workload), piece, llm);
  begin_piece(p);
  leave_if_finished(p);
}

// How long its tokens took; `late` when they took too long.
void ClusterRun::time_tokens(std::size_t workload, Request& request, const LlmAnswer& answer) {
  const RequestLimits& limits = world_.workloads[workload].limits;
  WorkloadRecord& record = record_.workloads[workload];
  const Duration first = answer.first_token - request.arrived;
  const std::int64_t rest = request.output_tokens - 1;
  const Duration each{rest > 0 ? (now_ - answer.first_token).ns / rest : 0};
  request.late = (limits.first_token && first > *limits.first_token) ||
                 (limits.per_token && each > *limits.per_token);
  if (!is_counted(request)) return;
  record.tokens.first_token.add(first);
  if (rest > 0) record.tokens.per_token.add(each);
  record.requests.queueing.add(answer.started - request.arrived);
}

void ClusterRun::count_steps(std::size_t workload, const ContinuousBatching::Piece& piece,
                             LlmServer& llm) {
  WorkloadRecord& record = record_.workloads[workload];
  TokenRecord& tokens = record.tokens;
  const std::int64_t peak = llm.batching.cache_peak();
  const std::int64_t size = llm.batching.cache_size();
  // The fullest pod; pods on different GPUs have pools of different sizes.
  if (static_cast<double>(peak) * static_cast<double>(tokens.cache_size) >
          static_cast<double>(tokens.cache_peak) * static_cast<double>(size) ||
      tokens.cache_size == 0) {
    tokens.cache_peak = peak;
    tokens.cache_size = size;
  }
  if (now_ - TimePoint{} >= world_.warmup) {
    record.requests.batches += piece.steps;
    record.requests.batched += piece.steps * piece.sequences;
    tokens.preemptions += llm.batching.preemptions() - llm.preemptions_counted;
  }
  llm.preemptions_counted = llm.batching.preemptions();
}

// Requests that have not had a step for too long.
void ClusterRun::time_out_llm(std::uint32_t p, Duration timeout) {
  LlmServer& llm = *servers_[p].llm;
  const std::size_t s = service_of_[index(cluster_.pods[p].workload)];
  while (const LlmRequest* oldest = llm.batching.oldest_waiting()) {
    if (now_ < llm.request(*oldest).queued + timeout) return;
    const Request request = llm.take(*oldest);
    llm.batching.drop_oldest_waiting();
    --servers_[p].outstanding;
    --servers_[p].working;
    lose(s, request, Loss::TimedOut);
  }
}

}  // namespace slicewise::sim
