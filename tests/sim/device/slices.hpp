#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "slicewise/sim/device/exclusive.hpp"
#include "slicewise/sim/kernel/random.hpp"

// Engines put together from engines, with the same interface: what a cluster does with a GPU that
// is cut or that takes a limited number of pods, as small as can be.
namespace slicewise::sim {

// MIG instances of one size: `parts` exclusive domains in which everything takes `stretch` times as
// long as on the whole GPU.
class Slices {
 public:
  enum class Queue : std::uint8_t {
    One,       // a request waits for the first free instance
    Dedicated  // a request belongs to a tenant, chosen at random, and to that tenant's instance
  };
  Slices(std::uint32_t parts, double stretch, std::uint32_t contexts, Queue queue,
         std::uint32_t replication)
      : stretch_(stretch),
        queue_(queue),
        instances_(parts, Exclusive(contexts)),
        in_service_(parts, false),
        tenants_(91, replication, 0, Purpose::Routing) {}

  Completion next() const { return instances_[earliest()].next(); }
  TimePoint now() const { return instances_[0].now(); }
  void advance(TimePoint t) {
    for (Exclusive& instance : instances_) instance.advance(t);
  }

  void start(std::uint32_t context, Duration work) {
    const Duration longer = from_seconds(to_seconds(work) * stretch_);
    if (queue_ == Queue::Dedicated) {
      const auto tenant = tenants_.below(static_cast<std::uint32_t>(instances_.size()));
      instances_[tenant].start(context, longer);
      return;
    }
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      if (in_service_[i]) continue;
      in_service_[i] = true;
      instances_[i].start(context, longer);
      return;
    }
    waiting_.push_back({context, longer});
  }

  std::uint32_t complete() {
    const std::size_t i = earliest();
    const std::uint32_t finished = instances_[i].complete();
    if (queue_ == Queue::Dedicated) return finished;
    in_service_[i] = !waiting_.empty();
    if (in_service_[i]) {
      instances_[i].start(waiting_.front().context, waiting_.front().work);
      waiting_.pop_front();
    }
    return finished;
  }

 private:
  struct Waiting {
    std::uint32_t context;
    Duration work;
  };
  std::size_t earliest() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < instances_.size(); ++i) {
      if (instances_[i].next().at < instances_[best].next().at) best = i;
    }
    return best;
  }

  double stretch_;
  Queue queue_;
  std::vector<Exclusive> instances_;
  std::vector<bool> in_service_;
  std::deque<Waiting> waiting_;
  RandomStream tenants_;
};

// A shared engine with as many seats as it has contexts. A request waits for a seat, first come
// first served: for any of them, or for the one of its tenant, chosen at random.
template <class Engine>
class Seats {
 public:
  enum class Choice : std::uint8_t { Any, Tenant };
  Seats(Engine engine, std::uint32_t seats, Choice choice, std::uint32_t replication)
      : engine_(std::move(engine)),
        choice_(choice),
        sitting_(seats, kNobody),
        waiting_(choice == Choice::Any ? 1 : seats),
        tenants_(92, replication, 0, Purpose::Routing) {}

  Completion next() const {
    const Completion seat = engine_.next();
    return {seat.at, seat.at == kNever ? 0 : sitting_[seat.context]};
  }
  TimePoint now() const { return engine_.now(); }
  void advance(TimePoint t) { engine_.advance(t); }

  void start(std::uint32_t context, Duration work) {
    const std::uint32_t seat = choose();
    if (sitting_[seat] == kNobody) {
      seat_down(seat, {context, work});
    } else {
      line_of(seat).push_back({context, work});
    }
  }

  std::uint32_t complete() {
    const std::uint32_t seat = engine_.complete();
    const std::uint32_t finished = sitting_[seat];
    sitting_[seat] = kNobody;
    if (auto& line = line_of(seat); !line.empty()) {
      seat_down(seat, line.front());
      line.pop_front();
    }
    return finished;
  }

 private:
  static constexpr std::uint32_t kNobody = ~0U;
  struct Request {
    std::uint32_t context;
    Duration work;
  };

  std::uint32_t choose() {
    const auto seats = static_cast<std::uint32_t>(sitting_.size());
    if (choice_ == Choice::Tenant) return tenants_.below(seats);
    std::uint32_t seat = 0;
    while (seat + 1 < seats && sitting_[seat] != kNobody) ++seat;
    return seat;
  }
  std::deque<Request>& line_of(std::uint32_t seat) {
    return waiting_[choice_ == Choice::Any ? 0 : seat];
  }
  void seat_down(std::uint32_t seat, Request request) {
    sitting_[seat] = request.context;
    engine_.start(seat, request.work);
  }

  Engine engine_;
  Choice choice_;
  std::vector<std::uint32_t> sitting_;        // request by seat
  std::vector<std::deque<Request>> waiting_;  // by seat; one line for all where any will do
  RandomStream tenants_;
};

}  // namespace slicewise::sim
