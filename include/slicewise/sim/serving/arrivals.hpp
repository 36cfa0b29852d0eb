#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/serving/client_arrivals.hpp"
#include "slicewise/sim/serving/rate_curve.hpp"
#include "slicewise/sim/serving/renewal_gaps.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// The scheduled arrivals of one open stream of requests, one at a time. They depend on nothing but
// the traffic and the key of the stream: the same in every variant of a scenario, and never late
// because a response was.
//
// A renewal process of mean gap 1 runs in operational time, the integral of the rate; an arrival
// comes when the rate curve has integrated to it. The first gap starts with the run. With Poisson
// gaps this is the Poisson process of that rate, exactly.
// A trace gives its rows at `at / scale`. One that repeats starts again one mean gap after its last
// row, with its first; one without any length (all rows at once) does not repeat.
// Clients whose rates are known window by window: see ClientArrivals.
//
// Allocates in the constructor only; a Poisson arrival at a constant rate costs one exponential
// number. REQUIRES: the traffic outlives it.
class Arrivals {
 public:
  // `starts_at`: of the run, since Monday 00:00 UTC. A ClosedLoop never arrives by itself.
  Arrivals(const scenarios::Traffic& traffic, Duration starts_at, std::uint64_t seed,
           std::uint32_t replication, std::uint32_t entity);

  // Since the start of the run; never goes back. kNever when there are no more.
  TimePoint next() const { return next_; }

  // The row of the trace that comes at next(). nullptr without a trace and when it is through.
  const scenarios::RequestTrace::Row* row() const {
    return trace_ != nullptr && row_ < trace_->rows.size() ? &trace_->rows[row_] : nullptr;
  }

  // Goes to the arrival after next(). REQUIRES: next() is not kNever.
  void advance();

 private:
  void advance_trace();
  void place_row();

  RandomStream random_;
  RenewalGaps gaps_;
  RateCurve curve_;
  TimePoint next_;
  const scenarios::RequestTrace* trace_ = nullptr;
  std::size_t row_ = 0;
  TimePoint pass_began_;  // of the trace
  std::optional<ClientArrivals> clients_;
};

}  // namespace slicewise::sim
