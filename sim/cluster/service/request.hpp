#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/serving/ring_queue.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

inline constexpr std::uint32_t kNoFlow = std::numeric_limits<std::uint32_t>::max();

// One request to a Service.
struct Request {
  TimePoint arrived;  // when it was due, whatever happened since: latency counts from here
  TimePoint queued;   // at its pod, this attempt
  TimePoint ready;    // for the GPU
  double size = 1;    // of its GPU work, against the workload's mean
  std::uint32_t flow = kNoFlow;  // the pipeline request that it is a part of
  std::uint16_t pipeline = 0;    // ... of which pipeline
  std::uint16_t stage = 0;       // ... and of which stage
  std::uint16_t attempt = 0;     // retries so far
  TimePoint first_token;         // of a language model's answer, once it is there
  std::int32_t input_tokens = 0;
  std::int32_t output_tokens = 0;
  scenarios::PromptBlocks::Block prompt = 0;  // its last whole block that is known
  std::uint32_t adapter = 0;                  // of a language model; 0: the base model's
  bool late = false;                          // beyond a limit on its tokens
};

// How a request left without an answer.
enum class Loss : std::uint8_t { Refused, TooLong, Dropped, TimedOut };

inline void count_loss(RequestRecord& record, Loss cause) {
  if (cause == Loss::TooLong) ++record.too_long;
  ++(cause == Loss::Dropped    ? record.dropped
     : cause == Loss::TimedOut ? record.timed_out
                               : record.refused);
}

using RequestQueue = RingQueue<Request>;  // in order of arrival

// Requests that are on their way back to a Service: retries, and the next ones of closed-loop
// clients. The earliest first; of several, the one that was put in first.
class ReturningRequests {
 public:
  TimePoint next() const { return heap_.empty() ? kNever : heap_.front().at; }
  void push(TimePoint at, const Request& request);
  Request pop();  // REQUIRES: next() != kNever

 private:
  struct Entry {
    TimePoint at;
    std::uint64_t order;
    Request request;
  };
  static bool later(const Entry& a, const Entry& b);

  std::vector<Entry> heap_;
  std::uint64_t pushed_ = 0;
};

}  // namespace slicewise::sim
