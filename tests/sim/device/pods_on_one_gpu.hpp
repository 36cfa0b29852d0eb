#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "slicewise/sim/device/round_robin.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/kernel/timer_heap.hpp"
#include "slicewise/sim/metrics/histogram.hpp"

namespace slicewise::sim {

// Service times of one request in nanoseconds, drawn from a pod's stream.
using ServiceLaw = Duration (*)(RandomStream&);

// Pods that serve Poisson arrivals one request at a time, first come first served, and share one
// time-sliced GPU. Timer i is the next arrival at pod i, the last timer is the GPU. Nothing is
// allocated once built.
class PodsOnOneGpu {
 public:
  PodsOnOneGpu(std::uint32_t pods, RoundRobin gpu, double per_pod_per_second, ServiceLaw service,
               std::uint64_t seed)
      : gpu_(std::move(gpu)),
        gap_ns_(1e9 / per_pod_per_second),
        service_(service),
        gpu_timer_(pods),
        timers_(pods + 1) {
    for (std::uint32_t pod = 0; pod < pods; ++pod) {
      pods_.push_back({RandomStream(seed, 0, pod, Purpose::Arrival),
                       RandomStream(seed, 0, pod, Purpose::Service),
                       std::vector<TimePoint>(kQueueLimit)});
      plan_arrival(pod);
    }
  }

  // Until `end` or `requests` departures, whichever comes first.
  void run(TimePoint end, std::int64_t requests) {
    while (timers_.top_time() <= end && latencies_.count() < requests) {
      gpu_.advance(timers_.top_time());
      if (timers_.top() == gpu_timer_) {
        depart();
      } else {
        arrive(timers_.top());
      }
      timers_.set(gpu_timer_, gpu_.next().at);
    }
  }

  const Histogram& latencies() const { return latencies_; }
  EngineTime time() const { return gpu_.time(); }

 private:
  static constexpr std::size_t kQueueLimit = 1 << 14;  // a power of two

  struct Pod {
    RandomStream arrivals;
    RandomStream services;
    std::vector<TimePoint> arrived;  // circular; the head is on the GPU
    std::size_t head = 0;
    std::size_t waiting = 0;
  };

  void plan_arrival(std::uint32_t pod) {
    const double gap = pods_[pod].arrivals.exponential() * gap_ns_;
    timers_.set(pod, gpu_.now() + Duration{static_cast<std::int64_t>(gap)});
  }

  void arrive(std::uint32_t number) {
    Pod& pod = pods_[number];
    assert(pod.waiting < kQueueLimit);
    pod.arrived[(pod.head + pod.waiting) % kQueueLimit] = gpu_.now();
    if (++pod.waiting == 1) gpu_.start(number, service_(pod.services));
    plan_arrival(number);
  }

  void depart() {
    const std::uint32_t number = gpu_.complete();
    Pod& pod = pods_[number];
    latencies_.add(gpu_.now() - pod.arrived[pod.head]);
    pod.head = (pod.head + 1) % kQueueLimit;
    if (--pod.waiting > 0) gpu_.start(number, service_(pod.services));
  }

  RoundRobin gpu_;
  double gap_ns_;
  ServiceLaw service_;
  std::uint32_t gpu_timer_;
  TimerHeap timers_;
  std::vector<Pod> pods_;
  Histogram latencies_;
};

}  // namespace slicewise::sim
