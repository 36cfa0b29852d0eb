#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// One request: when it was due, and the GPU time it takes.
struct Request {
  TimePoint arrived;
  Duration work;
};

// Requests in order of arrival. Grows to the longest queue seen, then allocates no more.
class RequestQueue {
 public:
  bool empty() const { return count_ == 0; }
  const Request& front() const { return ring_[head_]; }
  void push(Request request);
  void pop();

 private:
  std::vector<Request> ring_ = std::vector<Request>(16);  // size is a power of two
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

// The open-loop request stream of one Service. The next arrival never waits for a response:
// latency counts from the time a request was due. Draws the same requests in every variant.
class Traffic {
 public:
  // REQUIRES: the workload is a Service with traffic.
  Traffic(const WorkloadModel& workload, std::uint64_t seed, std::uint32_t replication,
          std::uint32_t entity);

  TimePoint next_arrival() const { return next_; }
  // The request that is due at next_arrival(), with its GPU time for a mean of 1 s scaled by
  // `mean`; moves on to the one after it.
  Request take(Duration mean);
  // A replica at random, in [0, replicas).
  std::uint32_t route(std::uint32_t replicas) { return routing_.below(replicas); }

 private:
  void schedule_next();

  const WorkloadModel& workload_;
  double mean_gap_s_;
  RandomStream arrivals_;
  RandomStream service_;
  RandomStream routing_;
  TimePoint next_;
};

}  // namespace slicewise::sim
