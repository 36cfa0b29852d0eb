#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/units.hpp"

// What requests of one pod take at the very least, were its GPU its own.
namespace slicewise::sim {

// Of the law of a service time whose mean is `mean`, in seconds.
double quantile_seconds(const scenarios::ServiceTime& law, Duration mean, double q);

// Requests come at random times, and one after the other is served in their order: M/G/1.
struct LoneQueue {
  scenarios::ServiceTime law;
  Duration mean;          // of a request's service
  double per_second = 0;  // requests
};

// In the long run no smaller share of the requests takes longer than `limit` from arrival to
// answer. 1: the queue grows and grows.
double least_share_above(const LoneQueue& queue, Duration limit);

// What is known of queues: each is asked about for every way to share its GPU.
class KnownQueues {
 public:
  // As least_share_above().
  double least_share_above(const LoneQueue& queue, Duration limit);

 private:
  // The law and its sigma, the mean, requests per second, the limit.
  using Key = std::tuple<scenarios::ServiceTime::Law, double, std::int64_t, double, std::int64_t>;

  std::map<Key, double> known_;
};

}  // namespace slicewise::sim
