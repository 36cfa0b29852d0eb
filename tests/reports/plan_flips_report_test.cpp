#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/reports/studies.hpp"

#include "terminals.hpp"

// What a plan says of what its answer hangs on.
namespace slicewise::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PlanReport, SaysWhatToMeasureNext) {
  sim::Plan plan;
  sim::PlanOption option;
  option.pools.emplace_back().instance_type = "g6.xlarge";
  plan.options = {option};
  const auto says = [&] { return Report(plan).markdown(); };
  EXPECT_THAT(says(), Not(HasSubstr("Measure next")));
  plan.measure_next = sim::TellingMeasurement{"asr", "L4", "mps", "", 1.19, 23.1};
  EXPECT_THAT(says(), HasSubstr("Measure next: two pods of asr by MPS on one L4 for 60 s: #1 does "
                                "not bear 1.19 times the time that is predicted, and nine of ten "
                                "such were within 23 %."));
  plan.measure_next = sim::TellingMeasurement{"asr", "L4", "timeSlicing", "tts", 0.59, {}};
  EXPECT_THAT(says(), HasSubstr("asr beside tts by time-slicing on one L4 for 60 s: another will "
                                "do at 0.59 times the time that is predicted, and nobody published "
                                "how far off such are."));
  plan.measure_next = sim::TellingMeasurement{"asr", "L4", "", "", 1.4, {}};
  EXPECT_THAT(says(), HasSubstr("Measure next: asr alone on one L4 for 60 s: nobody measured its "
                                "time there, and #1 does not bear 1.4 times what is taken for "
                                "it."));
}

}  // namespace
}  // namespace slicewise::reports
