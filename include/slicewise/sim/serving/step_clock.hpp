#pragma once

#include <cstdint>

#include "slicewise/models/llm_step.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// How long steps of a language model take that follow on each other and are alike but for the cache
// they read, which grows by a token for each sequence that decodes. Kept in 1/4096 ns and rounded
// down where a piece of steps ends, the rest carried over: pieces equal single steps exactly.
class StepClock {
 public:
  explicit StepClock(const models::LlmStep& law);

  // The next steps: so many tokens in each, `cached` of them read by the first, `decodes` more by
  // each that follows; `extra_s` longer than the law says, each of them. Returns how many of
  // `steps` a piece may have, 1 where they are so long that more would leave the range of the
  // clock.
  std::int64_t plan(std::int64_t tokens, std::int64_t cached, std::int64_t decodes,
                    std::int64_t steps, double extra_s = 0);

  // Of the first `steps` of these, with what was carried over.
  Duration work_of(std::int64_t steps) const { return {(carried_ + ticks(steps)) / kTicksPerNs}; }

  // So many of them are over. Returns their ticks.
  std::int64_t spend(std::int64_t steps);

  static constexpr std::int64_t kTicksPerNs = 4096;
  static constexpr std::int64_t kMostSteps = 4096;  // of a piece

 private:
  std::int64_t ticks(std::int64_t steps) const {
    return steps * first_ + growth_ * (steps * (steps - 1) / 2);
  }

  models::LlmStep law_;
  std::int64_t read_;         // of one cached token
  std::int64_t first_ = 0;    // of the first step
  std::int64_t growth_ = 0;   // of each step over the one before
  std::int64_t carried_ = 0;  // of the work so far, less than 1 ns
};

}  // namespace slicewise::sim
