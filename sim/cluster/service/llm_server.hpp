#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/serving/continuous_batching.hpp"
#include "slicewise/sim/world.hpp"

#include "request.hpp"

namespace slicewise::sim {

// The GPU side of a pod that serves a language model: its scheduler, and the requests that it has.
// Memory grows to the most requests that were ever inside at once.
class LlmServer {
 public:
  LlmServer(const LlmDemand& demand, const scenarios::Llm& llm)
      : batching(
            {demand.weights_s, demand.token_s, demand.kv_read_s, demand.overhead_s},
            {llm.max_sequences, llm.max_batched_tokens, demand.cache_tokens, llm.prefix_reuse}) {}

  static LlmRequest tokens_of(const Request& request) {
    return {request.arrived, request.input_tokens, request.output_tokens, 0};
  }

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

  ContinuousBatching batching;
  bool between_pieces = false;           // one has ended, the next is not planned yet
  std::int64_t preemptions_counted = 0;  // in the record

 private:
  std::vector<Request> inside_;  // by ticket
  std::vector<std::uint32_t> free_;
};

}  // namespace slicewise::sim
