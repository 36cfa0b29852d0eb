#include <tuple>

#include <gtest/gtest.h>

#include "slicewise/sim/device/round_robin.hpp"

namespace slicewise::sim {
namespace {

constexpr models::TimeSlice kLongSlice{microseconds(1'024), microseconds(110)};
constexpr std::int64_t kPhases = 4'000;

// Response of a request of `work` that arrives at `phase` into a round of contexts that never
// rest. The tagged context lies in the middle of the ring.
Duration response(std::uint32_t contexts, Duration work, Duration phase) {
  RoundRobin gpu(contexts, kLongSlice, kLongSlice.switch_cost);
  const std::uint32_t tagged = contexts / 2;
  for (std::uint32_t other = 0; other < contexts; ++other) {
    if (other != tagged) gpu.start(other, hours(10));
  }
  const TimePoint arrival = TimePoint{} + milliseconds(50) + phase;
  gpu.advance(arrival);
  gpu.start(tagged, work);
  EXPECT_EQ(gpu.next().context, tagged);
  return gpu.next().at - arrival;
}

class FiniteTurnLaw : public testing::TestWithParam<std::tuple<std::uint32_t, std::int64_t>> {};
INSTANTIATE_TEST_SUITE_P(ContextsAndMicroseconds, FiniteTurnLaw,
                         testing::Combine(testing::Values(2, 3, 4, 10, 48),
                                          testing::Values(200, 1'023, 1'024, 1'025, 5'000,
                                                          25'000)));

// n - 1 contexts always busy, a request of s arrives at a random phase and needs k = ceil(s/q)
// turns: R = (n-1)(q+c)(k - 1/2) + s + k c on average over phases. Exact for n >= 3. With n = 2 the
// lone other context renews its turns without switching, so the mean wait for the first turn is
// q/2 and not (q+c)/2: the formula is c/2 too long (up to 9 % of a short request).
TEST_P(FiniteTurnLaw, MeanOverPhases) {
  const auto [contexts, work_us] = GetParam();
  const Duration work = microseconds(work_us);
  const std::int64_t others = contexts - 1;
  const bool renews = others == 1;
  const std::int64_t round =
      renews ? kLongSlice.turn.ns : others * (kLongSlice.turn + kLongSlice.switch_cost).ns;
  double total = 0;
  for (std::int64_t phase = 0; phase < kPhases; ++phase) {
    total += to_seconds(response(contexts, work, {round * phase / kPhases}));
  }
  const double q = to_seconds(kLongSlice.turn);
  const double c = to_seconds(kLongSlice.switch_cost);
  const std::int64_t whole_turns = (work.ns + kLongSlice.turn.ns - 1) / kLongSlice.turn.ns;
  const auto turns = static_cast<double>(whole_turns);
  const double published =
      static_cast<double>(others) * (q + c) * (turns - 0.5) + to_seconds(work) + turns * c;
  const double expected = published - (renews ? c / 2 : 0);
  EXPECT_NEAR(total / kPhases, expected, 0.001 * expected);
  EXPECT_NEAR(total / kPhases, published, (renews ? 0.09 : 0.001) * published);
}

// The worst phase is half a round above the mean: (n-1)(q+c) k + s + k c.
TEST(FiniteTurnLaw, WorstPhaseWaitsAWholeRound) {
  const Duration round = (kLongSlice.turn + kLongSlice.switch_cost) * 3;
  Duration worst;
  for (std::int64_t phase = 0; phase < round.ns; phase += 997) {
    worst = std::max(worst, response(4, microseconds(500), {phase}));
  }
  const Duration expected = round + microseconds(500) + kLongSlice.switch_cost;
  EXPECT_LE(worst, expected);
  EXPECT_GT(worst, expected - microseconds(1));
}

}  // namespace
}  // namespace slicewise::sim
