#include "slicewise/sim/device/strict_slots.hpp"

#include <algorithm>
#include <cassert>

#include "slicewise/sim/kernel/far_times.hpp"

namespace slicewise::sim {

StrictSlots::StrictSlots(std::uint32_t contexts, models::TimeSlice slice,
                         models::Vgpu::Policy policy)
    : slice_(slice), fixed_(policy == models::Vgpu::Policy::FixedShare), contexts_(contexts) {
  assert(contexts > 0 && slice.turn.ns > 0 && slice.switch_cost.ns >= 0);
  assert(policy != models::Vgpu::Policy::BestEffort);
  if (!fixed_) return;
  for (Context& context : contexts_) context.place = slots_++;
}

void StrictSlots::join(std::uint32_t context) {
  if (contexts_[context].place != kNotInCycle) return;
  begin_cycle(context, true);
}

void StrictSlots::leave(std::uint32_t context) {
  cancel(context);
  if (fixed_ || contexts_[context].place == kNotInCycle) return;
  begin_cycle(context, false);
}

// A cycle with or without `changed`, from now() on.
void StrictSlots::begin_cycle(std::uint32_t changed, bool joins) {
  for (Context& context : contexts_) settle(context);
  contexts_[changed].place = joins ? 0 : kNotInCycle;
  origin_ = now_;
  slots_ = 0;
  for (Context& context : contexts_) {
    if (context.place != kNotInCycle) context.place = slots_++;
  }
  for (Context& context : contexts_) {
    if (context.working) context.finish = finish_of(context);
  }
  project();
}

void StrictSlots::advance(TimePoint t) {
  assert(now_ <= t && t <= next_.at);
  now_ = t;
}

void StrictSlots::start(std::uint32_t number, Duration work) {
  assert(number < contexts_.size() && work.ns > 0);
  Context& context = contexts_[number];
  assert(!context.working && context.place != kNotInCycle);
  context.working = true;
  context.since = now_;
  context.left = work;
  context.finish = finish_of(context);
  project();
}

std::uint32_t StrictSlots::complete() {
  assert(now_ == next_.at && contexts_[next_.context].working);
  const std::uint32_t finished = next_.context;
  cancel(finished);
  return finished;
}

Duration StrictSlots::left(std::uint32_t number) const {
  const Context& context = contexts_[number];
  assert(context.working);
  return context.left - Duration{used_since(context).turn_ns};
}

void StrictSlots::shorten(std::uint32_t number, Duration less) {
  assert(Duration{} <= less && less < left(number));
  Context& context = contexts_[number];
  context.left -= less;  // as of the start of the request: switches under way go on counting
  context.finish = finish_of(context);
  project();
}

void StrictSlots::cancel(std::uint32_t number) {
  Context& context = contexts_[number];
  if (!context.working) return;
  settle(context);
  context.working = false;
  project();
}

EngineTime StrictSlots::time() const {
  EngineTime time;
  for (const Context& context : contexts_) {
    const Split used = used_since(context);
    time.busy += context.busy + Duration{used.turn_ns};
    time.switching += context.switching + Duration{used.switching_ns};
  }
  time.idle = now_ - TimePoint{} - time.busy - time.switching;
  return time;
}

Duration StrictSlots::busy_of(std::uint32_t context) const {
  return contexts_[context].busy + Duration{used_since(contexts_[context]).turn_ns};
}

// From the beginning of the cycle.
StrictSlots::Split StrictSlots::split_until(TimePoint t, std::int64_t place) const {
  const std::int64_t since_first = (t - origin_).ns - place * slot_ns();
  if (since_first < 0) return {0, 0};
  const std::int64_t whole = since_first / cycle_ns();
  const std::int64_t rest = since_first % cycle_ns();
  return {whole * switch_ns() + std::min(rest, switch_ns()),
          whole * slice_.turn.ns + std::clamp<std::int64_t>(rest - switch_ns(), 0, slice_.turn.ns)};
}

// What the request has taken since `since`: every turn until now(), and every switch that began
// while it was there.
StrictSlots::Split StrictSlots::used_since(const Context& context) const {
  if (!context.working) return {0, 0};
  const Split before = split_until(context.since, context.place);
  const Split until_now = split_until(now_, context.place);
  const std::int64_t under_way = before.switching_ns % std::max<std::int64_t>(switch_ns(), 1);
  const std::int64_t not_its_own = under_way > 0 ? switch_ns() - under_way : 0;
  const std::int64_t switching = until_now.switching_ns - before.switching_ns - not_its_own;
  return {std::max<std::int64_t>(switching, 0), until_now.turn_ns - before.turn_ns};
}

// Turns before `since` plus the work are `target` ns of turns; the last of them lies in the turn
// after (target - 1) / q whole ones.
TimePoint StrictSlots::finish_of(const Context& context) const {
  if (context.left == Duration{}) return now_;
  const std::int64_t target = split_until(context.since, context.place).turn_ns + context.left.ns;
  const std::int64_t whole = (target - 1) / slice_.turn.ns;
  const std::int64_t in_last = target - whole * slice_.turn.ns;
  return after(origin_, whole, cycle_ns(), context.place * slot_ns() + switch_ns() + in_last);
}

void StrictSlots::settle(Context& context) {
  const Split used = used_since(context);
  context.busy += Duration{used.turn_ns};
  context.switching += Duration{used.switching_ns};
  context.left -= Duration{used.turn_ns};
  context.since = now_;
}

void StrictSlots::project() {
  next_ = {kNever, 0};
  for (std::uint32_t number = 0; number < contexts_.size(); ++number) {
    const Context& context = contexts_[number];
    if (context.working && context.finish < next_.at) next_ = {context.finish, number};
  }
}

}  // namespace slicewise::sim
