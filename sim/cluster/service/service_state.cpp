#include "service_state.hpp"

#include "slicewise/sim/kernel/far_times.hpp"
#include "slicewise/sim/serving/amounts.hpp"

namespace slicewise::sim {

std::uint32_t PipelineFlows::begin(TimePoint arrived) {
  const std::size_t stages = model_->stages.size();
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
    missing_.resize(missing_.size() + stages);
  }
  const std::uint32_t flow = free_.back();
  free_.pop_back();
  flows_[flow] = {};
  flows_[flow].arrived = arrived;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    missing_[flow * stages + stage] = model_->stages[stage].inputs;
  }
  return flow;
}

void PipelineFlows::answered(std::uint32_t flow, std::uint32_t stage,
                             std::vector<std::uint32_t>& next) {
  --flows_[flow].outstanding;
  if (flows_[flow].is_lost) return;
  for (const std::uint32_t successor : model_->stages[stage].next) {
    if (--missing_[flow * model_->stages.size() + successor] == 0) next.push_back(successor);
  }
}

void PipelineFlows::lost(std::uint32_t flow, Loss cause) {
  --flows_[flow].outstanding;
  if (!flows_[flow].is_lost) flows_[flow].cause = cause;
  flows_[flow].is_lost = true;
}

using scenarios::Routing;

bool ReturningRequests::later(const Entry& a, const Entry& b) {
  return a.at != b.at ? a.at > b.at : a.order > b.order;
}

void ReturningRequests::push(TimePoint at, const Request& request) {
  heap_.push_back({at, pushed_++, request});
  std::ranges::push_heap(heap_, later);
}

Request ReturningRequests::pop() {
  std::ranges::pop_heap(heap_, later);
  const Request request = heap_.back().request;
  heap_.pop_back();
  return request;
}

// Who decodes has the first token to begin with, and the keys and values of all before it.
LlmRequest LlmServer::tokens_of(const Request& request) const {
  const std::int32_t answers = tokens_answered(role_, request);
  const std::int32_t input = request.input_tokens;
  if (role_ == scenarios::LlmRole::Decode) {
    return {request.arrived, input + 1, answers, 0, 0, input};
  }
  return {request.arrived, input, answers, 0, request.prompt, 0, request.adapter};
}

bool PodServer::is_full() const {
  if (!serving->queue_limit) return false;
  const bool workers_busy =
      serving->concurrency > 0 && working >= static_cast<std::uint32_t>(serving->concurrency);
  const bool gpu_busy = !batch.empty() || (llm && (llm->batching.working() || !ready.empty()));
  const bool waits = workers_busy || gpu_busy || serving->max_delay.ns > 0;
  return waits && queued() >= static_cast<std::size_t>(*serving->queue_limit);
}

RequestSource::RequestSource(const Traffic* traffic, Duration starts_at, std::uint64_t seed,
                             std::uint32_t replication, std::uint32_t entity)
    : thinking_(seed, replication, entity, Purpose::Retry) {
  if (traffic == nullptr) return;
  clients_ = std::get_if<scenarios::ClosedLoop>(&traffic->shape);
  if (clients_ == nullptr) {
    arrivals_.emplace(*traffic, starts_at, seed, replication, entity);
    return;
  }
  // Clients come thinking, so that they do not start as one.
  for (int client = 0; client < clients_->clients; ++client) over(TimePoint{}, false);
}

TimePoint RequestSource::next() const {
  return arrivals_ ? std::min(arrivals_->next(), returning_.next()) : returning_.next();
}

Request RequestSource::take() {
  if (!arrivals_ || returning_.next() <= arrivals_->next()) return returning_.pop();
  Request request;
  request.arrived = arrivals_->next();
  if (const auto* row = arrivals_->row()) {
    request.input_tokens = row->input_tokens;
    request.output_tokens = row->output_tokens;
    request.prompt = row->prompt;
  }
  arrivals_->advance();
  return request;
}

bool RequestSource::over(TimePoint now, bool lost) {
  if (clients_ == nullptr) return false;
  const double think_ns = static_cast<double>(clients_->think_time.ns) * thinking_.exponential();
  const Duration think = rounded_time(think_ns);
  Request request;
  request.arrived = now + (lost && clients_->think_time < kLeastThink ? kLostPause : think);
  returning_.push(request.arrived, request);
  return true;
}

ServiceState::ServiceState(const World& world, WorkloadId id, std::uint32_t replication,
                           std::uint32_t entity)
    : workload(id),
      model(&world.workloads[index(id)]),
      source(model->spec.traffic ? &*model->spec.traffic : nullptr, world.starts_at, world.seed,
             replication, entity),
      sizes(world.seed, replication, entity, Purpose::Service),
      routing(world.seed, replication, entity, Purpose::Routing),
      tokens(world.seed, replication, entity, Purpose::Tokens),
      waits(world.seed, replication, entity, Purpose::Wait),
      population(TimePoint{} + world.warmup) {
  ready.reserve(static_cast<std::size_t>(model->spec.count));
  const auto& llm = model->spec.llm;
  if (llm && llm->adapters) adapters.emplace(*llm->adapters);
}

PipelineState::PipelineState(const World& world, std::size_t pipeline, std::uint32_t replication,
                             std::uint32_t entity)
    : source(&world.pipelines[pipeline].spec.traffic, world.starts_at, world.seed, replication,
             entity),
      flows(world.pipelines[pipeline]),
      population(TimePoint{} + world.warmup) {}

double ServiceState::draw_size() {
  const auto& law = model->spec.measured->request_gpu_time;
  return law ? sim::draw_size(*law, sizes) : 1;
}

// Ties go round, as in proxies: always taking the first would leave the last ones cold.
std::uint32_t ServiceState::least_outstanding(const std::vector<PodServer>& servers) {
  const auto replicas = static_cast<std::uint32_t>(ready.size());
  turn = turn + 1 < replicas ? turn + 1 : 0;
  std::uint32_t best = turn;
  for (std::uint32_t n = 1; n < replicas; ++n) {
    const std::uint32_t place = turn + n < replicas ? turn + n : turn + n - replicas;
    if (servers[ready[place]].outstanding < servers[ready[best]].outstanding) best = place;
  }
  return ready[best];
}

// The rule and the numbers of the policy cache_aware of the routers of vLLM and SGLang, with what
// replicas have in place of what the router believes them to have: the replica with the most of the
// prompt, if that is enough of it and the replicas are about as busy as each other.
std::uint32_t ServiceState::prefix_aware(const std::vector<PodServer>& servers,
                                         const Request& request) {
  constexpr double kEnough = 0.3;      // of the prompt
  constexpr std::uint32_t kMore = 64;  // requests
  constexpr double kTimesAsMany = 1.5;
  std::uint32_t best = ready.front();
  std::int64_t most = 0;
  std::uint32_t fewest = servers[best].outstanding;
  std::uint32_t busiest = fewest;
  for (const std::uint32_t pod : ready) {
    const PodServer& server = servers[pod];
    fewest = std::min(fewest, server.outstanding);
    busiest = std::max(busiest, server.outstanding);
    const std::int64_t found = server.llm ? server.llm->batching.pool().found(request.prompt) : 0;
    if (found > most) best = pod;
    most = std::max(most, found);
  }
  const bool uneven = busiest - fewest > kMore && busiest > kTimesAsMany * fewest;
  if (uneven || static_cast<double>(most) <= kEnough * request.input_tokens) {
    return least_outstanding(servers);
  }
  return best;
}

std::uint32_t ServiceState::route(const std::vector<PodServer>& servers, const Request& request) {
  const auto replicas = static_cast<std::uint32_t>(ready.size());
  const auto load = [&](std::uint32_t place) { return servers[ready[place]].outstanding; };
  switch (model->spec.serving.routing) {
    case Routing::Random:
      return ready[routing.below(replicas)];
    case Routing::RoundRobin:
      turn = turn + 1 < replicas ? turn + 1 : 0;
      return ready[turn];
    case Routing::TwoChoices: {
      if (replicas == 1) return ready.front();
      const std::uint32_t first = routing.below(replicas);
      std::uint32_t second = routing.below(replicas - 1);
      if (second >= first) ++second;
      return ready[load(second) < load(first) ? second : first];
    }
    case Routing::LeastOutstanding:
      return least_outstanding(servers);
    case Routing::PrefixAware:
      return prefix_aware(servers, request);
  }
  return ready.front();
}

}  // namespace slicewise::sim
