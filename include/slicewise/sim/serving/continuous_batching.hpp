#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "slicewise/models/llm_step.hpp"
#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/serving/adapter_slots.hpp"
#include "slicewise/sim/serving/key_value_pool.hpp"
#include "slicewise/sim/serving/prefix_cache.hpp"
#include "slicewise/sim/serving/ring_queue.hpp"
#include "slicewise/sim/serving/step_clock.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// A prompt and the length of its answer.
struct LlmRequest {
  TimePoint arrived;
  std::int32_t input_tokens = 1;
  std::int32_t output_tokens = 1;
  std::uint32_t ticket = 0;       // the caller's
  PrefixCache::Block prompt = 0;  // the last whole block of the prompt that is known
  std::int32_t brought = 0;       // tokens of the prompt whose keys and values come with it
  std::uint32_t adapter = 0;      // 0: the base model's
};

struct LlmAnswer {
  LlmRequest request;
  TimePoint started;      // its first step began
  TimePoint first_token;  // was there
  Duration gpu_work;      // its part of the steps that it was in, by tokens
};

struct BatchingLimits {
  int max_sequences = 256;        // running at once
  int max_batched_tokens = 2048;  // of a step: decoded and prefilled
  std::int64_t cache_tokens = 0;  // size of the KV pool
  double prefix_reuse = 0;        // share of a prompt's tokens whose keys and values are known
  int block_size = 16;            // tokens of prompts are found in whole blocks
  AdapterLimits adapters = {};
  bool prefix_caching = true;  // what has left is found until its places are taken
};

// The scheduler of one server of a language model with continuous batching and chunked prefill, as
// vLLM (v1) has it, in whole pieces of GPU work instead of steps.
//
// Semantics. Requests wait in order of arrival. A step has a budget of tokens: first one for every
// sequence that decodes, then what is left of the prompt that a former step began, then the prompts
// of waiting requests, in order, as long as the next one's keys and values fit into the pool beside
// those there, and fewer than max_sequences run; the last prompt of a step may be cut at the
// budget. Every decoded token takes a place of the pool. When a step would find too few places,
// sequences are thrown out, the latest admitted first, until the others fit: they wait at the front
// of the queue and prefill their prompt and what they had answered again. No request is admitted in
// a step that threw one out. The first token comes with the end of the step that ends the prefill;
// a request leaves with the end of the step of its last token. Reused prefixes shorten the prefill,
// not what it holds; so do blocks of prompts that the pool still has (PrefixCache), which requests
// share, and what a request brings. A sequence that was thrown out finds what it had as far as
// nobody has taken its places since (least recently left first); where blocks are known, of them
// alone, not what it had answered. The pool has no blocks of its own: up to 15 tokens per sequence
// less than vLLM's. Attention reads the whole cache of each sequence of a step.
//
// Adapters. Who waits for a place of an adapter is passed by those behind, as in vLLM's scheduler.
// A step takes longer by load_s for each adapter that comes with it and, if it has any, by step_s
// and read_s for each.
//
// Pieces. While no prompt is prefilled and nobody leaves, steps are alike but for the cache that
// they read, which grows by one token per sequence: any number of them is one piece with a length
// in closed form (StepClock). A request that comes during a piece and could be admitted cuts it at
// the end of the step under way. Pieces equal single steps exactly (tests/sim/serving). A request
// that comes in the very nanosecond in which a step ends, and does not find a piece's end, waits
// for the next.
//
// Cost: O(running sequences) per piece, however many steps it has; O(log steps) per cut. Memory
// grows with the waiting and running requests only. No allocation but for the longest queue so far.
class ContinuousBatching {
 public:
  // What the GPU is doing: `steps` alike.
  struct Piece {
    std::int64_t steps = 0;      // 0: none
    std::int64_t sequences = 0;  // in each of them
    std::int64_t tokens = 0;     // of each
    Duration work;
    double cached = 0;  // tokens that each reads, on average
    AdapterSlots::StepTime adapters = {};
    double attention_s = 0;  // of prompts, beyond what the law holds

    models::StepLoad load() const {
      return {static_cast<double>(tokens), cached, adapters.read_s, adapters.load_s, attention_s};
    }
  };
  // So far.
  struct Counts {
    std::int64_t preemptions = 0;
    std::int64_t prompt_tokens = 0;  // of prompts that were taken in
    std::int64_t found_tokens = 0;   // of these, those that were found in the pool
    std::int64_t adapter_loads = 0;
  };

  // Without `blocks` the pool keeps nothing of what has left.
  // REQUIRES: limits are positive, prefix_reuse in [0, 1], 0 when there are blocks, every request's
  // prompt is of these and its adapter one of the limits'. More sequences than tokens in a step
  // cannot run.
  ContinuousBatching(const models::LlmStep& law, const BatchingLimits& limits,
                     std::shared_ptr<const scenarios::PromptBlocks> blocks = nullptr);

  // Whether the pool could ever hold it. vLLM refuses requests beyond its longest sequence.
  bool fits(const LlmRequest& request) const;

  // REQUIRES: it fits; input_tokens, output_tokens >= 1.
  void push(const LlmRequest& request);

  bool idle() const { return running_.empty() && preempted_.empty() && waiting_.empty(); }
  bool working() const { return piece_.steps > 0; }
  std::size_t waiting() const { return preempted_.size() + waiting_.size(); }
  std::size_t running() const { return running_.size(); }

  // The request that has waited longest for its first step, nullptr when none does; takes it away.
  const LlmRequest* oldest_waiting() const {
    return waiting_.empty() ? nullptr : &waiting_.front();
  }
  void drop_oldest_waiting() {
    if (slots_) slots_->stop_waiting(waiting_.front().adapter);
    waiting_.pop();
  }

  const Piece& piece() const { return piece_; }

  // Starts the next piece; returns the GPU work that it is, > 0. REQUIRES: !idle(), !working().
  Duration begin(TimePoint now);

  // After a push during a piece of which `done` is done: its length from now on, which is shorter
  // when the request can be admitted before its end. REQUIRES: working(); 0 <= done < piece().work.
  Duration cut(Duration done);

  // The piece is done at `now`. Who left with it, valid until the next call.
  // REQUIRES: working().
  std::span<const LlmAnswer> end(TimePoint now);

  // The process died: everything vanishes, after `lost` was called with every request.
  template <class Lost>
  void abandon(Lost&& lost) {
    for (const Sequence& sequence : running_) lost(sequence.request);
    for (const Sequence& sequence : preempted_) lost(sequence.request);
    while (!waiting_.empty()) lost(waiting_.pop());
    running_.clear();
    preempted_.clear();
    piece_ = {};
    pool_.clear();
    if (slots_) slots_->clear();
  }

  const KeyValuePool& pool() const { return pool_; }
  const Counts& counts() const { return counts_; }

 private:
  struct Sequence {
    LlmRequest request;
    TimePoint started = kNever;
    TimePoint first_token = kNever;
    std::int32_t prompt = 0;    // tokens to prefill: the input, and what was answered before
    std::int32_t cached = 0;    // of it, and of the answer; of one thrown out: then
    std::int32_t chunk = 0;     // of the prompt, prefilled in the step under way
    std::int32_t answered = 0;  // output tokens
    std::int32_t shared = 0;    // tokens of the prompt's known blocks
    std::int64_t left_at = 0;   // of one thrown out: KeyValuePool::left()
    double work_ticks = 0;

    bool decodes() const { return cached >= prompt; }
  };

  // A request that is the next to be admitted.
  struct Next {
    bool is_new = true;     // else it was thrown out
    std::size_t place = 0;  // among those
  };

  std::int64_t decoding() const;
  std::optional<Next> next() const;
  bool make_room();
  void preempt_last();
  std::int64_t prefill(TimePoint now, std::int64_t budget, bool admits);
  std::int64_t continue_prompt(std::int64_t budget);
  void admit(const Next& which, TimePoint now);
  void plan(std::int64_t decodes, std::int64_t prefilled);
  void progress(Sequence& sequence, TimePoint now, double ticks_per_token);

  BatchingLimits limits_;
  double pair_s_;
  StepClock clock_;
  KeyValuePool pool_;
  RingQueue<LlmRequest> waiting_;    // for their first step
  std::vector<Sequence> preempted_;  // go before those; the last first
  std::vector<Sequence> running_;    // in order of admission
  std::optional<AdapterSlots> slots_;
  std::vector<LlmAnswer> left_;
  Piece piece_;
  Counts counts_;
};

}  // namespace slicewise::sim
