#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/kernel/timer_heap.hpp"

namespace slicewise::sim {

// M/M/1 at load 0.9, served in order of arrival, as models use the kernel: a timer for the arrivals
// and one for the server, two events for each customer, sojourn times summed.
class Mm1 {
 public:
  // Mean sojourn in service times after `customers` departures.
  double run(std::int64_t customers) {
    plan_arrival();
    std::int64_t sojourns_ns = 0;
    for (std::int64_t served = 0; served < customers;) {
      now_ = timers_.top_time();
      if (timers_.begin_firing() == kArrival) {
        arrived_[(head_ + present_) % kRoom] = now_;
        if (++present_ == 1) begin_service();
        plan_arrival();
      } else {
        sojourns_ns += (now_ - arrived_[head_]).ns;
        head_ = (head_ + 1) % kRoom;
        ++served;
        if (--present_ > 0) begin_service();
      }
      timers_.end_firing();
    }
    return static_cast<double>(sojourns_ns) / kServiceNs / static_cast<double>(customers);
  }

 private:
  static constexpr std::uint32_t kArrival = 0;
  static constexpr std::uint32_t kServer = 1;
  static constexpr std::size_t kRoom = 4'096;  // more never wait at load 0.9
  static constexpr double kServiceNs = 1e6;
  static constexpr double kGapNs = kServiceNs / 0.9;

  TimePoint after(double ns) const { return now_ + Duration{static_cast<std::int64_t>(ns)}; }
  void plan_arrival() { timers_.set(kArrival, after(gaps_.next() * kGapNs)); }
  void begin_service() { timers_.set(kServer, after(services_.next() * kServiceNs)); }

  Exponentials gaps_{RandomStream(1, 0, 0, Purpose::Arrival)};
  Exponentials services_{RandomStream(1, 0, 0, Purpose::Service)};
  TimerHeap timers_{2};
  TimePoint now_;
  std::vector<TimePoint> arrived_ = std::vector<TimePoint>(kRoom);
  std::size_t head_ = 0;
  std::size_t present_ = 0;
};

}  // namespace slicewise::sim
