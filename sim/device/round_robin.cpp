#include "slicewise/sim/device/round_robin.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "slicewise/sim/kernel/far_times.hpp"

namespace slicewise::sim {

RoundRobin::RoundRobin(std::uint32_t contexts, models::TimeSlice slice, Duration yield_cost)
    : turn_ns_(slice.turn.ns),
      switch_ns_(slice.switch_cost.ns),
      yield_ns_(yield_cost.ns),
      granted_ns_(contexts, 0) {
  assert(turn_ns_ > 0 && switch_ns_ >= 0 && yield_ns_ >= 0);
  ring_.reserve(contexts);
  work_ns_.reserve(contexts);
}

std::size_t RoundRobin::find(std::uint32_t context) const {
  return static_cast<std::size_t>(std::lower_bound(ring_.begin(), ring_.end(), context) -
                                  ring_.begin());
}

Duration RoundRobin::busy_of(std::uint32_t context) const {
  const std::size_t slot = find(context);
  const bool active = slot < ring_.size() && ring_[slot] == context;
  return {granted_ns_[context] - (active ? work_ns_[slot] : 0)};
}

RoundRobin::Turn RoundRobin::upcoming_turn() const {
  if (phase_ == Phase::Switching) {
    if (current_is_active()) return {switch_left_, slot_, turn_ns_};
    return {switch_left_ + switch_ns_, wrapped(slot_), turn_ns_};
  }
  if (!current_is_active()) return {yield_ns_, wrapped(slot_), turn_ns_};
  if (ran_dry_) {
    if (ring_.size() == 1) return {0, slot_, turn_ns_};
    return {yield_ns_, wrapped(slot_ + 1), turn_ns_};
  }
  const bool finished = work_ns_[slot_] == 0;  // complete() is due
  if (finished || used_ns_ < turn_ns_) return {0, slot_, turn_ns_ - used_ns_};
  if (ring_.size() == 1) return {0, slot_, turn_ns_};
  return {switch_ns_, wrapped(slot_ + 1), turn_ns_};
}

// The request that ends first needs the fewest turns, and among those comes first in the ring:
// every other context still takes whole turns until then.
void RoundRobin::project() {
  const std::size_t active = ring_.size();
  if (active == 0) {
    next_ = {kNever, 0};
    return;
  }
  const Turn turn = upcoming_turn();
  const std::int64_t first_work = work_ns_[turn.slot];
  if (active == 1 || first_work <= turn.left_ns) {
    next_ = {now_ + Duration{turn.lead_ns + first_work}, ring_[turn.slot]};
    return;
  }

  std::size_t best_slot = 0;
  std::int64_t best_rounds = 0;  // of everybody, after this turn
  std::int64_t best_rank = 0;    // turns of others in the last one
  std::int64_t best_rest = 0;    // work in its last turn
  std::int64_t rounds_limit = std::numeric_limits<std::int64_t>::max();  // rounds * q to beat
  std::int64_t rank = 0;
  const auto consider = [&](std::size_t slot, std::int64_t work) {
    if (work <= rounds_limit) {
      const std::int64_t rounds = (work - 1) / turn_ns_;
      rounds_limit = rounds * turn_ns_;
      best_slot = slot;
      best_rounds = rounds;
      best_rank = rank;
      best_rest = work - rounds_limit;
    }
    ++rank;
  };
  for (std::size_t slot = turn.slot + 1; slot < active; ++slot) consider(slot, work_ns_[slot]);
  for (std::size_t slot = 0; slot < turn.slot; ++slot) consider(slot, work_ns_[slot]);
  consider(turn.slot, first_work - turn.left_ns);

  const std::int64_t period_ns = turn_ns_ + switch_ns_;
  const std::int64_t other_ns =
      turn.lead_ns + turn.left_ns + switch_ns_ + best_rank * period_ns + best_rest;
  next_ = {after(now_, best_rounds, static_cast<std::int64_t>(active) * period_ns, other_ns),
           ring_[best_slot]};
}

// The clock is about to leave now(): what ended at it takes effect.
void RoundRobin::decide() {
  if (phase_ == Phase::Idle || (phase_ == Phase::Switching && switch_left_ > 0)) return;
  if (ring_.empty()) {
    phase_ = Phase::Idle;
    ran_dry_ = false;
    return;
  }
  const Turn turn = upcoming_turn();
  ran_dry_ = false;
  slot_ = turn.slot;
  current_ = ring_[slot_];
  used_ns_ = turn_ns_ - turn.left_ns;
  switch_left_ = turn.lead_ns;
  phase_ = switch_left_ > 0 ? Phase::Switching : Phase::Running;
}

// As decide() will have it.
RoundRobin::Doing RoundRobin::doing() const {
  using What = Doing::What;
  if (phase_ == Phase::Switching && switch_left_ > 0) {
    return {What::Switch, current_, now_ + Duration{switch_left_}};
  }
  if (phase_ == Phase::Idle || ring_.empty()) return {};
  const Turn turn = upcoming_turn();
  const std::uint32_t context = ring_[turn.slot];
  if (turn.lead_ns > 0) return {What::Switch, context, now_ + Duration{turn.lead_ns}};
  const std::int64_t left_ns = std::min(turn.left_ns, work_ns_[turn.slot]);
  return {What::Turn, context, now_ + Duration{std::max<std::int64_t>(left_ns, 1)}};
}

void RoundRobin::advance(TimePoint t) {
  assert(now_ <= t && t <= next_.at);
  std::int64_t step = (t - now_).ns;
  now_ = t;
  while (step > 0) {
    decide();
    if (phase_ == Phase::Switching) {
      step = advance_switch(step);
      continue;
    }
    if (phase_ == Phase::Idle) {
      time_.idle += Duration{step};
    } else {
      advance_running(step);
    }
    return;
  }
}

// Returns what is left of the step.
std::int64_t RoundRobin::advance_switch(std::int64_t step_ns) {
  const std::int64_t spent = std::min(step_ns, switch_left_);
  switch_left_ -= spent;
  time_.switching += Duration{spent};
  return step_ns - spent;
}

void RoundRobin::advance_running(std::int64_t step_ns) {
  const std::int64_t left = turn_ns_ - used_ns_;
  if (step_ns > left && ring_.size() > 1) {
    work_ns_[slot_] -= left;
    time_.busy += Duration{left};
    advance_turns(step_ns - left);
    return;
  }
  work_ns_[slot_] -= step_ns;
  time_.busy += Duration{step_ns};
  used_ns_ = step_ns <= left ? used_ns_ + step_ns : (step_ns - left - 1) % turn_ns_ + 1;
}

// From the end of a turn, two or more contexts active, none of which finishes before the step
// ends: whole turns, each after its switch, then the one under way.
void RoundRobin::advance_turns(std::int64_t step_ns) {
  const std::size_t active = ring_.size();
  const auto turns = static_cast<std::size_t>(step_ns / (turn_ns_ + switch_ns_));
  const std::int64_t rest = step_ns % (turn_ns_ + switch_ns_);
  if (turns >= active) {
    const std::int64_t each = static_cast<std::int64_t>(turns / active) * turn_ns_;
    for (std::int64_t& work : work_ns_) work -= each;
  }
  for (std::size_t extra = turns % active; extra > 0; --extra) {
    slot_ = wrapped(slot_ + 1);
    work_ns_[slot_] -= turn_ns_;
  }
  used_ns_ = turn_ns_;
  if (rest > 0) {
    slot_ = wrapped(slot_ + 1);
    used_ns_ = std::max<std::int64_t>(rest - switch_ns_, 0);
    work_ns_[slot_] -= used_ns_;
    switch_left_ = std::max<std::int64_t>(switch_ns_ - rest, 0);
    phase_ = used_ns_ > 0 ? Phase::Running : Phase::Switching;
  }
  current_ = ring_[slot_];
  const auto whole_turns = static_cast<std::int64_t>(turns);
  time_.busy += Duration{whole_turns * turn_ns_ + (rest > 0 ? used_ns_ : 0)};
  time_.switching += Duration{whole_turns * switch_ns_ + std::min(rest, switch_ns_)};
}

std::uint32_t RoundRobin::complete() {
  assert(now_ == next_.at && current_is_active() && work_ns_[slot_] == 0);
  remove(slot_);
  project();
  return current_;
}

void RoundRobin::start(std::uint32_t context, Duration work) {
  assert(context < granted_ns_.size() && work.ns > 0);
  const std::size_t slot = find(context);
  assert(slot == ring_.size() || ring_[slot] != context);
  const auto offset = static_cast<std::ptrdiff_t>(slot);
  ring_.insert(ring_.begin() + offset, context);
  work_ns_.insert(work_ns_.begin() + offset, work.ns);
  granted_ns_[context] += work.ns;
  if (phase_ == Phase::Idle) {
    phase_ = Phase::Running;
    current_ = context;
    slot_ = 0;
    used_ns_ = 0;
  } else if (context < current_) {
    ++slot_;
  }
  project();
}

// Until the clock moves the GPU is still with who had it last.
void RoundRobin::yield(std::uint32_t context) {
  assert(find(context) == ring_.size() || ring_[find(context)] != context);
  if (phase_ == Phase::Running && current_ == context) ran_dry_ = true;
}

Duration RoundRobin::left(std::uint32_t context) const {
  const std::size_t slot = find(context);
  assert(slot < ring_.size() && ring_[slot] == context);
  return {work_ns_[slot]};
}

void RoundRobin::shorten(std::uint32_t context, Duration less) {
  const std::size_t slot = find(context);
  assert(slot < ring_.size() && ring_[slot] == context);
  assert(less.ns >= 0 && less.ns < work_ns_[slot]);
  work_ns_[slot] -= less.ns;
  granted_ns_[context] -= less.ns;
  project();
}

void RoundRobin::cancel(std::uint32_t context) {
  const std::size_t slot = find(context);
  if (slot == ring_.size() || ring_[slot] != context) return;
  granted_ns_[context] -= work_ns_[slot];
  remove(slot);
  project();
}

void RoundRobin::remove(std::size_t slot) {
  if (ring_[slot] < current_) --slot_;
  const auto offset = static_cast<std::ptrdiff_t>(slot);
  ring_.erase(ring_.begin() + offset);
  work_ns_.erase(work_ns_.begin() + offset);
}

}  // namespace slicewise::sim
