#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "slicewise/sim/device/closed_network.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/kernel/timer_heap.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

enum class PhaseLaw : std::uint8_t { Exponential, Deterministic };

// Looping clients on one GPU: host phase, GPU phase, host phase ... of every client for `horizon`.
// Timer i is the end of client i's host phase, the last timer is the GPU.
template <class Engine>
class ClosedLoop {
 public:
  struct Measured {
    std::vector<double> cycles_per_second;
    double busy_share = 0;
    double switch_share = 0;
  };

  ClosedLoop(Engine engine, std::span<const LoopingClient> clients, PhaseLaw host, PhaseLaw gpu,
             std::uint32_t replication)
      : clients_(clients),
        host_law_(host),
        gpu_law_(gpu),
        gpu_timer_(static_cast<std::uint32_t>(clients.size())),
        engine_(std::move(engine)),
        timers_(clients.size() + 1),
        random_(5, replication, 0, Purpose::Test),
        cycles_(clients.size(), 0) {
    for (std::uint32_t client = 0; client < gpu_timer_; ++client) think(client);
  }

  Measured run(Duration horizon) {
    const TimePoint end = TimePoint{} + horizon;
    while (timers_.top_time() <= end) {
      engine_.advance(timers_.top_time());
      if (timers_.top() == gpu_timer_) {
        const std::uint32_t client = engine_.complete();
        ++cycles_[client];
        think(client);
      } else {
        const std::uint32_t client = timers_.top();
        timers_.clear(client);
        engine_.start(client, draw(clients_[client].gpu_seconds, gpu_law_));
      }
      timers_.set(gpu_timer_, engine_.next().at);
    }
    engine_.advance(end);
    const double seconds = to_seconds(horizon);
    Measured measured{{},
                      to_seconds(engine_.time().busy) / seconds,
                      to_seconds(engine_.time().switching) / seconds};
    for (const double count : cycles_) measured.cycles_per_second.push_back(count / seconds);
    return measured;
  }

 private:
  Duration draw(double mean_seconds, PhaseLaw law) {
    const double factor = law == PhaseLaw::Exponential ? random_.exponential() : 1;
    return std::max(from_seconds(mean_seconds * factor), Duration{1});
  }
  void think(std::uint32_t client) {
    timers_.set(client, engine_.now() + draw(clients_[client].host_seconds, host_law_));
  }

  std::span<const LoopingClient> clients_;
  PhaseLaw host_law_;
  PhaseLaw gpu_law_;
  std::uint32_t gpu_timer_;
  Engine engine_;
  TimerHeap timers_;
  RandomStream random_;
  std::vector<double> cycles_;
};

}  // namespace slicewise::sim
