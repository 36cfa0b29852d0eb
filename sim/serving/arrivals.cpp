#include "slicewise/sim/serving/arrivals.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace slicewise::sim {
namespace {

Duration sped_up(Duration at, double scale) {
  return nanoseconds(std::llround(static_cast<double>(at.ns) / scale));
}

// From the first row of one pass to the first row of the next.
Duration pass_length(const scenarios::RequestTrace& trace) {
  if (trace.rows.size() < 2) return {};
  const auto gaps = static_cast<double>(trace.rows.size() - 1);
  return sped_up(trace.rows.back().at, trace.scale * (gaps / (gaps + 1)));
}

}  // namespace

Arrivals::Arrivals(const scenarios::Traffic& traffic, Duration starts_at, std::uint64_t seed,
                   std::uint32_t replication, std::uint32_t entity)
    : random_(seed, replication, entity, Purpose::Arrival),
      gaps_(traffic),
      curve_(traffic, starts_at, seed, replication, entity),
      trace_(std::get_if<scenarios::RequestTrace>(&traffic.shape)) {
  if (trace_ != nullptr) {
    place_row();
  } else if (const auto* clients = std::get_if<scenarios::ClientTraffic>(&traffic.shape)) {
    clients_.emplace(*clients, seed, replication, entity);
    next_ = clients_->next();
  } else if (std::holds_alternative<scenarios::ClosedLoop>(traffic.shape)) {
    next_ = kNever;
  } else {
    advance();
  }
}

void Arrivals::advance() {
  assert(next_ != kNever);
  if (trace_ != nullptr) return advance_trace();
  if (clients_) {
    clients_->advance();
    next_ = clients_->next();
    return;
  }
  double left = gaps_.draw(random_);  // operational time
  TimePoint from = next_;
  while (true) {
    const double gap_ns = curve_.mean_gap_s() * left * 1e9;
    const Duration piece = curve_.until() - from;
    // Not a number where the rate is 0 and nothing is left: that goes on to the next piece, too.
    if (gap_ns < static_cast<double>(piece.ns)) {
      next_ = from + nanoseconds(std::llround(gap_ns));
      return;
    }
    if (curve_.until() == kNever) {
      next_ = kNever;
      return;
    }
    left = std::max(0.0, left - to_seconds(piece) * curve_.per_second());
    from = curve_.until();
    curve_.step();
  }
}

void Arrivals::advance_trace() {
  ++row_;
  if (row_ == trace_->rows.size() && trace_->repeats) {
    const Duration pass = pass_length(*trace_);
    if (pass > Duration{}) {
      row_ = 0;
      pass_began_ = pass_began_ + pass;
    }
  }
  place_row();
}

void Arrivals::place_row() {
  const scenarios::RequestTrace::Row* here = row();
  next_ = here == nullptr ? kNever : pass_began_ + sped_up(here->at, trace_->scale);
}

}  // namespace slicewise::sim
