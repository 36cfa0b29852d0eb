#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// Speed of each of several jobs that share a GPU: `work` of it done in `time`. A job alone does as
// much work as time passes. REQUIRES: 0 < work <= time.
struct SharedRate {
  Duration work;
  Duration time;
};

// What n = 1 ... sharers jobs under time-slicing get each: all of the GPU alone, q / (n (q + c))
// when they take turns of q with a switch of c between (models/MODELS.md, "The fluid limit").
std::vector<SharedRate> time_sliced_rates(std::uint32_t sharers, const models::TimeSlice& slice);

// Many GPUs, on each of which up to `sharers` jobs progress at one rate that depends only on how
// many they are: long jobs of a trace under time-slicing, or equal ones under MPS. The engines of
// single GPUs (RoundRobin, Fluid) are for requests, turns and unequal neighbours.
//
// Time. Since all sharers of a GPU do the same work in the same time, a job's place in the order of
// completions is fixed when it starts: it ends when the work done by each (the GPU's virtual time)
// reaches its finish tag, the virtual time of its start plus its work. Starting, ending and
// forecasting touch one GPU and no other job. Source: virtual clocks of fair queueing, Demers,
// Keshav, Shenker, "Analysis and simulation of a fair queueing algorithm", SIGCOMM'89.
//
// Exactness. Virtual time is an integer in 2^-62 ns, and a change of sharers rounds nothing: errors
// do not grow with events. Completions are rounded up to whole nanoseconds and are those of exact
// arithmetic unless that ends within 2^-20 ns above a whole one. Jobs whose tags agree to 2^-32 ns
// end by number.
//
// Cost: start and cancel O(sharers) of sequential memory, complete and next O(1). No allocation
// after construction. One timer per GPU: set it to next() after each start, complete or cancel.
class EqualShare {
 public:
  // Rates of 1, 2, ... sharers; as many as may share a GPU. REQUIRES: not empty.
  EqualShare(std::uint32_t gpus, std::span<const SharedRate> rates);

  std::uint32_t sharers(std::uint32_t gpu) const { return heads_[gpu].sharers; }
  bool full(std::uint32_t gpu) const { return sharers(gpu) == most_; }

  // All calls for a GPU: `now` not before the one of an earlier call, nor after next().

  // REQUIRES: !full(gpu), work > 0, `job` is not on this GPU.
  void start(std::uint32_t gpu, std::uint32_t job, Duration work, TimePoint now);

  // When the first of the GPU's jobs ends if nothing else happens; kNever when it is idle.
  TimePoint next(std::uint32_t gpu) const;

  // REQUIRES: now == next(gpu). Takes the job off that ended. Returns it.
  std::uint32_t complete(std::uint32_t gpu, TimePoint now);

  // Work that the job still needs, rounded up. REQUIRES: it is on the GPU.
  Duration left(std::uint32_t gpu, std::uint32_t job, TimePoint now) const;

  // Takes a job off before its end. Returns what left() does. REQUIRES: it is on the GPU.
  Duration cancel(std::uint32_t gpu, std::uint32_t job, TimePoint now);

 private:
  // Work in 2^-62 ns; a job's key is its finish tag in 2^-32 ns, then its number in 32 bits.
  static constexpr int kFraction = 62;
  static constexpr int kTagFraction = 32;
  static constexpr int kJobBits = 32;

  struct Head {
    Int128 virtual_time = 0;  // work done by each since the GPU was last idle, as of
    TimePoint since;
    std::uint32_t sharers = 0;
  };

  static Int128 tag_of(Int128 key) { return (key >> kJobBits) << (kFraction - kTagFraction); }
  static std::uint32_t job_of(Int128 key) { return static_cast<std::uint32_t>(key); }
  static Duration whole(Int128 work) {
    const Int128 up = (static_cast<Int128>(1) << kFraction) - 1;
    return {static_cast<std::int64_t>((std::max<Int128>(work, 0) + up) >> kFraction)};
  }

  Int128* jobs(std::uint32_t gpu) { return keys_.data() + std::size_t{gpu} * most_; }
  const Int128* jobs(std::uint32_t gpu) const { return keys_.data() + std::size_t{gpu} * most_; }
  Int128 virtual_time(const Head& head, TimePoint now) const {
    assert(head.since <= now);
    return head.virtual_time + static_cast<Int128>((now - head.since).ns) * rates_[head.sharers];
  }
  void settle(Head& head, TimePoint now) const {
    head.virtual_time = virtual_time(head, now);
    head.since = now;
  }
  std::uint32_t find(std::uint32_t gpu, std::uint32_t job) const;

  std::uint32_t most_;
  std::vector<std::int64_t> rates_;  // by sharers, in 2^-62
  std::vector<Head> heads_;
  std::vector<Int128> keys_;  // by GPU, the job that ends first at the back
};

inline void EqualShare::start(std::uint32_t gpu, std::uint32_t job, Duration work, TimePoint now) {
  assert(!full(gpu) && work.ns > 0);
  Head& head = heads_[gpu];
  settle(head, now);
  if (head.sharers == 0) head.virtual_time = 0;
  const Int128 tag = head.virtual_time + (static_cast<Int128>(work.ns) << kFraction);
  const Int128 key = ((tag >> (kFraction - kTagFraction)) << kJobBits) | job;
  Int128* const of_gpu = jobs(gpu);
  std::uint32_t place = head.sharers++;
  for (; place > 0 && of_gpu[place - 1] < key; --place) of_gpu[place] = of_gpu[place - 1];
  of_gpu[place] = key;
}

inline TimePoint EqualShare::next(std::uint32_t gpu) const {
  const Head& head = heads_[gpu];
  if (head.sharers == 0) return kNever;
  const Int128 left = tag_of(jobs(gpu)[head.sharers - 1]) - head.virtual_time;
  if (left <= 0) return head.since;
  const std::int64_t rate = rates_[head.sharers];
  const Int128 wait = (left + (rate - 1)) / rate;
  const Int128 longest = (kNever - head.since).ns - 1;
  return head.since + Duration{static_cast<std::int64_t>(std::min(wait, longest))};
}

inline std::uint32_t EqualShare::complete(std::uint32_t gpu, TimePoint now) {
  Head& head = heads_[gpu];
  assert(head.sharers > 0 && now == next(gpu));
  settle(head, now);
  return job_of(jobs(gpu)[--head.sharers]);
}

}  // namespace slicewise::sim
