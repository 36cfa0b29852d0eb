#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/kernel/timer_heap.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// A request takes kService seconds alone, on average; at most kPool are there at once.
inline constexpr double kService = 0.010;
inline constexpr std::uint32_t kPool = 1'024;

struct Draw {
  std::size_t size_class;
  double seconds;
};
inline constexpr auto kExponential = [](RandomStream& random) {
  return Draw{0, kService * random.exponential()};
};
inline constexpr auto kDeterministic = [](RandomStream&) { return Draw{0, kService}; };

// One size of request and its mean response.
struct ServedClass {
  double total_seconds = 0;
  double count = 0;
  double mean() const { return total_seconds / count; }
};

// Poisson arrivals at one GPU, every request in a context of its own out of a pool large enough
// never to run out: M/G/1 under the engine's discipline.
template <class Engine, class ServiceLaw>
class OpenArrivals {
 public:
  // `service` draws {class, seconds}; results are kept by class.
  OpenArrivals(Engine gpu, std::uint32_t pool, double per_second, ServiceLaw service,
               std::uint32_t replication)
      : gpu_(std::move(gpu)),
        gap_seconds_(1 / per_second),
        service_(service),
        arrivals_(77, replication, 0, Purpose::Arrival),
        sizes_(77, replication, 0, Purpose::Service),
        timers_(2),
        requests_(pool) {
    for (std::uint32_t context = pool; context-- > 0;) free_.push_back(context);
  }

  // Returns mean responses by class after the first `warm_up` departures.
  std::vector<ServedClass> run(int classes, int warm_up, int measured) {
    std::vector<ServedClass> served(static_cast<std::size_t>(classes));
    plan_arrival();
    for (int departures = 0; departures < warm_up + measured;) {
      gpu_.advance(timers_.top_time());
      if (timers_.top() == kArrival) {
        arrive();
      } else {
        const Request& request = requests_[depart()];
        if (++departures <= warm_up) continue;
        ServedClass& size = served[request.size_class];
        size.total_seconds += to_seconds(gpu_.now() - request.arrived);
        size.count += 1;
      }
    }
    return served;
  }

 private:
  static constexpr std::uint32_t kArrival = 0;
  static constexpr std::uint32_t kGpu = 1;
  struct Request {
    TimePoint arrived;
    std::size_t size_class = 0;
  };

  void plan_arrival() {
    const Duration gap = from_seconds(arrivals_.exponential() * gap_seconds_);
    timers_.set(kArrival, gpu_.now() + gap);
  }

  void arrive() {
    ASSERT_FALSE(free_.empty()) << "the pool of contexts is too small for the law";
    const std::uint32_t context = free_.back();
    free_.pop_back();
    const auto [size_class, seconds] = service_(sizes_);
    requests_[context] = {gpu_.now(), size_class};
    gpu_.start(context, std::max(from_seconds(seconds), Duration{1}));
    timers_.set(kGpu, gpu_.next().at);
    plan_arrival();
  }

  std::uint32_t depart() {
    const std::uint32_t context = gpu_.complete();
    free_.push_back(context);
    timers_.set(kGpu, gpu_.next().at);
    return context;
  }

  Engine gpu_;
  double gap_seconds_;
  ServiceLaw service_;
  RandomStream arrivals_;
  RandomStream sizes_;
  TimerHeap timers_;
  std::vector<Request> requests_;  // by context
  std::vector<std::uint32_t> free_;
};

}  // namespace slicewise::sim
