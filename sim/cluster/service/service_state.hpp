#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/serving/arrivals.hpp"
#include "slicewise/sim/serving/continuous_batching.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

#include "request.hpp"

namespace slicewise::sim {

// Tokens of the answer that a server with this role gives.
inline std::int32_t tokens_answered(scenarios::LlmRole role, const Request& request) {
  if (role == scenarios::LlmRole::Both) return request.output_tokens;
  return role == scenarios::LlmRole::Prefill ? 1 : std::max(1, request.output_tokens - 1);
}

// The GPU side of a pod that serves a language model: its scheduler, and the requests that it has.
// Memory grows to the most requests that were ever inside at once.
class LlmServer {
 public:
  // `all_reduces`: of its GPUs, in a step.
  LlmServer(const LlmDemand& demand, const models::LlmStep& all_reduces, const WorkloadModel& model)
      : law(models::exchanging(demand.step, all_reduces)),
        batching(law, limits_of(demand, *model.spec.llm), model.prompts),
        exchange(all_reduces),
        sleeps(demand.sleep.has_value()),
        role_(model.spec.llm->role) {}

  // Its part of the request.
  LlmRequest tokens_of(const Request& request) const;

  void push(const Request& request) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(inside_.size()));
      inside_.emplace_back();
    }
    LlmRequest tokens = tokens_of(request);
    tokens.ticket = free_.back();
    free_.pop_back();
    inside_[tokens.ticket] = request;
    batching.push(tokens);
  }

  const Request& request(const LlmRequest& of) const { return inside_[of.ticket]; }
  Request take(const LlmRequest& of) {
    free_.push_back(of.ticket);
    return inside_[of.ticket];
  }

  models::LlmStep law;
  ContinuousBatching batching;
  models::LlmStep exchange;     // of a step, among the GPUs of the pod
  bool sleeps = false;          // while others have the GPU: `ready` waits in front of it
  bool between_pieces = false;  // one has ended, the next is not planned yet
  ContinuousBatching::Counts recorded;

 private:
  static BatchingLimits limits_of(const LlmDemand& demand, const scenarios::Llm& llm) {
    BatchingLimits limits{demand.max_sequences, demand.max_batched_tokens, demand.cache_tokens,
                          llm.prefix_reuse, llm.block_size};
    limits.prefix_caching = llm.prefix_caching;
    if (llm.adapters) {
      limits.adapters = {llm.adapters->at_once, llm.adapters->count, demand.adapter_load_s,
                         demand.adapter_read_s, to_seconds(llm.adapters->step_time)};
    }
    return limits;
  }

  scenarios::LlmRole role_;
  std::vector<Request> inside_;  // by ticket
  std::vector<std::uint32_t> free_;
};

// The requests under way through one pipeline: which stages of each still wait for answers. Memory
// grows to the most that were ever under way at once.
class PipelineFlows {
 public:
  explicit PipelineFlows(const PipelineModel& model) : model_(&model) {}

  // A request begins. Its first stages are those without inputs.
  std::uint32_t begin(TimePoint arrived);

  // A stage was sent to its Service.
  void sent(std::uint32_t flow) { ++flows_[flow].outstanding; }

  // A stage was answered. Appends the stages that have now all their inputs to `next`; none when
  // some stage was lost before.
  void answered(std::uint32_t flow, std::uint32_t stage, std::vector<std::uint32_t>& next);

  // A stage was lost for good: so is the request.
  void lost(std::uint32_t flow, Loss cause);

  // A stage was answered, but missed an objective of its Service.
  void late(std::uint32_t flow) { flows_[flow].is_late = true; }

  // What became of it. Under way until no stage is out.
  bool is_over(std::uint32_t flow) const { return flows_[flow].outstanding == 0; }
  bool is_lost(std::uint32_t flow) const { return flows_[flow].is_lost; }
  bool is_late(std::uint32_t flow) const { return flows_[flow].is_late; }
  Loss cause(std::uint32_t flow) const { return flows_[flow].cause; }
  TimePoint arrived(std::uint32_t flow) const { return flows_[flow].arrived; }

  // REQUIRES: is_over(flow). Its number may be used again.
  void end(std::uint32_t flow) { free_.push_back(flow); }

 private:
  struct Flow {
    TimePoint arrived;
    std::uint32_t outstanding = 0;
    bool is_lost = false;
    bool is_late = false;
    Loss cause = Loss::Refused;
  };

  const PipelineModel* model_;
  std::vector<Flow> flows_;
  std::vector<std::int32_t> missing_;  // inputs, by flow and stage
  std::vector<std::uint32_t> free_;
};

// The requests inside one pod of a Service: first they wait for a worker (serving.concurrency),
// then the host may work on them, then they wait for the GPU, which takes several at once
// (serving.maxBatch), then the host may work on them again.
struct PodServer {
  const scenarios::Serving* serving = nullptr;  // settings of its workload
  std::uint32_t service = 0;
  RequestQueue waiting;        // for a worker
  RequestQueue ready;          // for the GPU; of an engine that sleeps, in front of it
  std::vector<Request> batch;  // on the GPU
  Duration batch_work;
  Duration burst;                  // of it, that the GPU does now or does next
  int bursts = 0;                  // of it, copies included
  int bursts_left = 0;             // that one included
  bool copies = false;             // the first and the last are
  bool is_answering = false;       // the GPU is done with a batch, whose requests leave one by one
  std::unique_ptr<LlmServer> llm;  // in place of `batch`; of a pod that serves
  std::uint32_t outstanding = 0;   // in the pod
  std::uint32_t working = 0;       // of these, those that have a worker

  // Cuts batch_work into bursts. Copies take next to none of it, and matter in turns only. Of less
  // than a nanosecond each there are none.
  void cut(bool in_turns) {
    bursts = static_cast<int>(std::min<std::int64_t>(serving->bursts, batch_work.ns));
    copies = in_turns && serving->copies && batch_work.ns >= bursts + 2;
    if (copies) bursts += 2;
    bursts_left = bursts;
  }
  bool is_copy() const { return copies && (bursts_left == bursts || bursts_left == 1); }
  // The last one of the kernels has what division left over.
  Duration next_burst() const {
    if (is_copy()) return nanoseconds(1);
    const std::int64_t work = batch_work.ns - (copies ? 2 : 0);
    const int parts = bursts - (copies ? 2 : 0);
    const std::int64_t each = work / parts;
    return Duration{bursts_left == (copies ? 2 : 1) ? work - each * (parts - 1) : each};
  }

  std::size_t queued() const {
    return waiting.size() + ready.size() + (llm ? llm->batching.waiting() : 0);
  }
  // That the GPU has been given. REQUIRES: it works for the pod.
  Duration gpu_work() const { return llm ? llm->batching.piece().work : burst; }
  // Whether one more request would have to wait, and as many wait already as may.
  bool is_full() const;
  // Whether something may happen to waiting requests by the clock alone.
  bool has_deadlines() const { return serving->timeout || serving->max_delay.ns > 0; }
  // A server refuses a sequence that its KV pool could never hold.
  bool has_room_for(const Request& request) const {
    return !llm || llm->batching.fits(llm->tokens_of(request));
  }
};

// How many requests are inside, as an integral over the time from the end of the warm-up on.
class Population {
 public:
  explicit Population(TimePoint from) : from_(from) {}

  void change(TimePoint now, int by) {
    settle(now);
    inside_ += by;
  }
  std::int64_t inside() const { return inside_; }
  double integral_ns(TimePoint now) {
    settle(now);
    return integral_ns_;
  }

 private:
  void settle(TimePoint now) {
    if (now > from_) {
      const TimePoint since = since_ < from_ ? from_ : since_;
      integral_ns_ += static_cast<double>(inside_) * static_cast<double>((now - since).ns);
    }
    since_ = now;
  }

  TimePoint from_;
  TimePoint since_;
  std::int64_t inside_ = 0;
  double integral_ns_ = 0;
};

// The time from a refusal to the next attempt of a client that hardly thinks: without it one that
// finds no replica would ask for ever in one instant. gRPC's INITIAL_BACKOFF
// (github.com/grpc/grpc/blob/master/doc/connection-backoff.md).
inline constexpr Duration kLostPause = seconds(1);
inline constexpr Duration kLeastThink = milliseconds(1);

// Where the requests of one Service or pipeline come from. Draws the same requests in every
// variant; the next arrival of an open loop never waits for a response.
class RequestSource {
 public:
  // `entity` keys the random streams. Without traffic nothing comes but what returns.
  RequestSource(const Traffic* traffic, Duration starts_at, std::uint64_t seed,
                std::uint32_t replication, std::uint32_t entity);

  // When the next request is due; kNever when none is.
  TimePoint next() const;

  // The request due at next(); moves on. One that returns is as it was put in; a new one has its
  // time and, from a trace, its tokens.
  // REQUIRES: next() != kNever.
  Request take();

  // Comes back at `at`.
  void put_back(TimePoint at, const Request& request) { returning_.push(at, request); }

  // Closed loop: the client of a request that is over thinks and asks again; one that hardly
  // thinks and got no answer, after kLostPause. False in an open loop.
  bool over(TimePoint now, bool lost);

 private:
  std::optional<Arrivals> arrivals_;
  ReturningRequests returning_;
  const scenarios::ClosedLoop* clients_ = nullptr;
  RandomStream thinking_;
};

// One Service of the run.
struct ServiceState {
  ServiceState(const World& world, WorkloadId id, std::uint32_t replication, std::uint32_t entity);

  // Of its GPU work, mean 1.
  double draw_size();
  // A ready pod for the request. REQUIRES: !ready.empty().
  std::uint32_t route(const std::vector<PodServer>& servers, const Request& request);

  WorkloadId workload{};
  const WorkloadModel* model = nullptr;
  RequestSource source;
  RandomStream sizes;
  RandomStream routing;
  RandomStream tokens;
  RandomStream waits;
  std::optional<AdapterChoice> adapters;
  std::vector<std::uint32_t> ready;  // pods that take requests
  std::uint32_t turn = 0;            // round robin: of `ready`
  Population population;
  std::int64_t asked = 0;  // attempts so far

 private:
  std::uint32_t least_outstanding(const std::vector<PodServer>& servers);
  std::uint32_t prefix_aware(const std::vector<PodServer>& servers, const Request& request);
};

// One pipeline of the run.
struct PipelineState {
  PipelineState(const World& world, std::size_t pipeline, std::uint32_t replication,
                std::uint32_t entity);

  RequestSource source;
  PipelineFlows flows;
  Population population;
};

}  // namespace slicewise::sim
