#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/sim/device/round_robin.hpp"
#include "slicewise/sim/kernel/random.hpp"

namespace slicewise::sim {

// One domain under MPS (a whole GPU or a MIG instance): contexts with work run side by side, each
// at the speed that models::shared_speeds gives it in its present company, constant until somebody
// starts, ends or is cancelled. The same interface as RoundRobin.
//
// Work is the time that a request takes while alone in the domain, so that alone it finishes after
// exactly that time. Completions are rounded up to whole nanoseconds; requests that end in the same
// nanosecond are completed one by one, lowest context first, without the clock moving.
//
// Time. Kernels of a client alone run during its duty; whatever slows it down makes kernels longer,
// not the host's part, so that at speed x they run during 1 - (1 - duty) x of the time. Clients are
// taken as independent: the domain is busy during 1 - prod (1 - duty_j) x_j. Busy time is split
// over clients in proportion to duty_j x_j, the work that each got done. There is no switching.
//
// Chance. What a request waits for kernels of others, as long on average as the law has it, is by
// chance where wait_by_chance() is called for it: so many kernels, each as long as it happens to
// be.
//
// The result does not depend on how often the clock is moved in between.
// Cost: O(active contexts) per start, cancel or completion (more with measured sensitivities or
// kernels where a company meets for the first time: shared_speeds), O(1) per advance. No allocation
// after construction.
class Fluid {
 public:
  explicit Fluid(std::uint32_t contexts);

  // Who will run in `context`. REQUIRES: the context has no request; the duty is in (0, 1].
  void set_client(std::uint32_t context, const models::DomainClient& client);

  // When the next request finishes if nothing else starts; at == kNever when idle.
  Completion next() const { return next_; }

  // Moves the clock. REQUIRES: now() <= t <= next().at.
  void advance(TimePoint t);

  // REQUIRES: now() == next().at. Takes the finished request off. Returns the context.
  std::uint32_t complete();

  // Gives `context` a request of `work` > 0 at now(). REQUIRES: the context has none.
  void start(std::uint32_t context, Duration work);

  // The request that the context was given at now() waits for kernels of those who are there now as
  // chance has it: inverse Gaussian, mean E as the law says, variance 2 E K for kernels that are
  // exponential with mean K and come at random. No effect, and no draw, where their lengths are not
  // known or a limit keeps SMs free.
  void wait_by_chance(std::uint32_t context, RandomStream& random);

  // Work that the context's request still needs, rounded up; with the waits that chance gave it
  // beyond the law's, as far as its speed has them. REQUIRES: it has one.
  Duration left(std::uint32_t context) const;

  // Takes `less` off the request, which goes on. REQUIRES: 0 <= less < left(context).
  void shorten(std::uint32_t context, Duration less);

  // The process died: its request vanishes. No effect when it has none.
  void cancel(std::uint32_t context);

  TimePoint now() const { return now_; }

  // busy is the sum of busy_of over contexts, to the nanosecond. O(contexts).
  EngineTime time() const;
  Duration busy_of(std::uint32_t context) const;

 private:
  struct Client {
    models::DomainClient law;
    Duration busy;            // until since_, and
    double busy_part_ns = 0;  // the rest of it, in [0, 1): sums of doubles alone would drift
    double busy_rate = 0;     // share of the time since then
  };

  double elapsed_ns() const { return static_cast<double>((now_ - since_).ns); }
  std::size_t find(std::uint32_t context) const;
  bool is_active(std::size_t place, std::uint32_t context) const {
    return place < active_.size() && active_[place] == context;
  }
  void remove(std::size_t place);
  void settle();
  void change_speeds();
  void split_busy_time();
  std::size_t slot_of(std::uint64_t company) const;
  void project();

  TimePoint now_;
  TimePoint since_;  // of the present speeds; work and busy time are as of then
  Completion next_{kNever, 0};
  std::vector<Client> clients_;        // by context
  std::vector<std::uint32_t> active_;  // ascending: sums do not depend on who came first
  // By position in active_:
  std::vector<models::DomainClient> laws_;
  std::vector<double> left_ns_;  // work
  std::vector<double> speeds_;

  // Who is there decides the speeds: those of companies that have met before are looked up.
  std::uint64_t company_ = 0;             // a bit for each active context
  std::vector<std::uint64_t> known_;      // by slot, the company that it is of; 0 nobody's
  std::vector<double> known_speeds_;      // by slot and position
  std::vector<double> known_busy_rates_;  // likewise
};

}  // namespace slicewise::sim
