#include "slicewise/sim/serving/step_clock.hpp"

#include <algorithm>
#include <cmath>

namespace slicewise::sim {
namespace {

// Keep the length of a piece inside 64 bits, whatever the law: no step is longer than six days, and
// those of more than a minute are pieces of their own.
constexpr std::int64_t kMostTicks = std::int64_t{1} << 61;
constexpr std::int64_t kLongTicks = std::int64_t{1} << 48;
constexpr std::int64_t kFastGrowth = std::int64_t{1} << 37;

std::int64_t to_ticks(double seconds) {
  constexpr double kNsPerSecond = 1e9;
  const double ticks = seconds * kNsPerSecond * static_cast<double>(StepClock::kTicksPerNs);
  return std::llround(std::min(ticks, static_cast<double>(kMostTicks)));
}

std::int64_t times(std::int64_t count, std::int64_t ticks) {
  return static_cast<std::int64_t>(std::min<Int128>(Int128{count} * ticks, kMostTicks));
}

}  // namespace

StepClock::StepClock(const models::LlmStep& law) : law_(law), read_(to_ticks(law.kv_read_s)) {}

std::int64_t StepClock::plan(std::int64_t tokens, std::int64_t cached, std::int64_t decodes,
                             std::int64_t steps, double extra_s) {
  const double tokens_s = models::step_seconds(law_, static_cast<double>(tokens), 0) + extra_s;
  first_ = std::max(kTicksPerNs, to_ticks(tokens_s)) + times(cached, read_);
  growth_ = times(decodes, read_);
  return first_ > kLongTicks || growth_ > kFastGrowth ? 1 : steps;
}

std::int64_t StepClock::spend(std::int64_t steps) {
  const std::int64_t spent = ticks(steps);
  carried_ = (carried_ + spent) % kTicksPerNs;
  return spent;
}

}  // namespace slicewise::sim
