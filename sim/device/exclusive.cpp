#include "slicewise/sim/device/exclusive.hpp"

#include <cassert>

namespace slicewise::sim {

Exclusive::Exclusive(std::uint32_t contexts)
    : busy_(contexts), work_(contexts), queue_(contexts, 0) {}

void Exclusive::advance(TimePoint t) {
  assert(now_ <= t && t <= next_.at);
  const Duration step = t - now_;
  now_ = t;
  if (waiting_ == 0) {
    time_.idle += step;
    return;
  }
  const std::uint32_t running = queue_[head_];
  work_[running] -= step;
  busy_[running] += step;
  time_.busy += step;
}

std::uint32_t Exclusive::complete() {
  assert(waiting_ > 0 && now_ == next_.at);
  const std::uint32_t finished = queue_[head_];
  drop_head();
  project();
  return finished;
}

void Exclusive::start(std::uint32_t context, Duration work) {
  assert(work.ns > 0 && waiting_ < queue_.size());
  work_[context] = work;
  queue_[slot(waiting_++)] = context;
  if (waiting_ == 1) project();
}

Duration Exclusive::left(std::uint32_t context) const { return work_[context]; }

void Exclusive::shorten(std::uint32_t context, Duration less) {
  assert(Duration{} <= less && less < work_[context]);
  work_[context] -= less;
  project();
}

void Exclusive::cancel(std::uint32_t context) {
  std::size_t place = 0;
  while (place < waiting_ && queue_[slot(place)] != context) ++place;
  if (place == waiting_) return;
  if (place == 0) {
    drop_head();
  } else {
    for (--waiting_; place < waiting_; ++place) queue_[slot(place)] = queue_[slot(place + 1)];
  }
  project();
}

void Exclusive::drop_head() {
  head_ = slot(1);
  --waiting_;
}

void Exclusive::project() {
  if (waiting_ == 0) {
    next_ = {kNever, 0};
    return;
  }
  const std::uint32_t running = queue_[head_];
  next_ = {now_ + work_[running], running};
}

}  // namespace slicewise::sim
