#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "../../../sim/studies/load/load_search.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Share;

ObjectiveResult at_most(Duration value, Duration limit, Duration half_width = {}) {
  return {"latencyP99", limit, value, half_width, value <= limit, false};
}

ObjectiveResult at_least(double value, double limit, std::optional<double> half_width = {}) {
  ObjectiveResult objective{"availability", Share{limit}, Share{value}, {}, value >= limit, true};
  if (half_width) objective.ci95 = Share{*half_width};
  return objective;
}

VariantResult with(std::vector<ObjectiveResult> objectives) {
  VariantResult result;
  WorkloadResult& workload = result.workloads.emplace_back();
  workload.name = "api";
  workload.objectives = std::move(objectives);
  return result;
}

LoadVerdict judged(const ObjectiveResult& objective) {
  return judge_probe(1, with({objective})).verdict;
}

TEST(JudgeProbe, GoesByTheWholeInterval) {
  const auto of = [](int value, int half_width) {
    return judged(at_most(milliseconds(value), milliseconds(100), milliseconds(half_width)));
  };
  EXPECT_EQ(of(92, 4), LoadVerdict::Passes);
  EXPECT_EQ(of(98, 4), LoadVerdict::Undecided);
  EXPECT_EQ(of(102, 4), LoadVerdict::Undecided);
  EXPECT_EQ(of(108, 4), LoadVerdict::Fails);
}

TEST(JudgeProbe, ALeastFigureIsTheOtherWayRound) {
  EXPECT_EQ(judged(at_least(0.995, 0.99, 0.002)), LoadVerdict::Passes);
  EXPECT_EQ(judged(at_least(0.991, 0.99, 0.002)), LoadVerdict::Undecided);
  EXPECT_EQ(judged(at_least(0.989, 0.99, 0.002)), LoadVerdict::Undecided);
  EXPECT_EQ(judged(at_least(0.980, 0.99, 0.002)), LoadVerdict::Fails);
}

// Nothing was answered, or more was lost than the quantile leaves out.
TEST(JudgeProbe, WithoutAFigureItGoesByWhatWasLost) {
  ObjectiveResult nothing = at_most(Duration{}, milliseconds(100));
  nothing.pass = false;
  EXPECT_EQ(judged(nothing), LoadVerdict::Fails);
  const auto of = [](double share, double half_width) {
    ObjectiveResult lost = at_most(milliseconds(50), milliseconds(100));
    lost.lost = LostShare{share, half_width, 0.01};
    lost.pass = share <= 0.01;
    return judged(lost);
  };
  EXPECT_EQ(of(0.005, 0.002), LoadVerdict::Passes);
  EXPECT_EQ(of(0.009, 0.002), LoadVerdict::Undecided);
  EXPECT_EQ(of(0.011, 0.002), LoadVerdict::Undecided);
  EXPECT_EQ(of(0.020, 0.002), LoadVerdict::Fails);
  // Whatever the figure of the others is.
  ObjectiveResult both = at_most(milliseconds(101), milliseconds(100), milliseconds(5));
  both.lost = LostShare{0.2, 0.01, 0.01};
  EXPECT_EQ(judged(both), LoadVerdict::Fails);
}

// A load at which nothing was tested is none that is known to pass.
TEST(JudgeProbe, WhatNoRequestTestedSaysNothing) {
  const ObjectiveResult fine = at_most(milliseconds(50), milliseconds(100));
  ObjectiveResult unasked = at_most(Duration{}, milliseconds(100));
  unasked.is_absent = unasked.is_unasked = true;
  EXPECT_EQ(judged(unasked), LoadVerdict::Undecided);
  EXPECT_EQ(judge_probe(1, with({fine, unasked})).verdict, LoadVerdict::Passes);
}

// One run tells of no spread.
TEST(JudgeProbe, AFigureWithoutAnIntervalIsUndecided) {
  EXPECT_EQ(judged(at_least(0.995, 0.99)), LoadVerdict::Undecided);
}

// A floor of use is met above a load, not below it.
TEST(JudgeProbe, PoliciesHaveNoPartInASearch) {
  VariantResult result = with({at_most(milliseconds(50), milliseconds(100), milliseconds(1))});
  result.verdict.reasons = {{Verdict::Cause::PolicyDenies, "", "policy busy", "it denies it"}};
  EXPECT_EQ(judge_probe(1, result).verdict, LoadVerdict::Passes);
}

// 577 requests/s passed beside a Service without objectives that answers 50.
TEST(JudgeProbe, AServiceThatDoesNotKeepUpFails) {
  VariantResult pooled = with({at_most(milliseconds(50), milliseconds(100))});
  EXPECT_EQ(judge_probe(1, pooled).verdict, LoadVerdict::Passes);
  pooled.verdict.reasons = {{Verdict::Cause::Overloaded, "other", "overloaded", "it is"}};
  const LoadProbe probe = judge_probe(1, pooled);
  EXPECT_EQ(probe.verdict, LoadVerdict::Fails);
  ASSERT_EQ(probe.left_behind.size(), 1U);
  EXPECT_FALSE(binding_objective(probe));
}

TEST(JudgeProbe, OneFailureFailsAndTheFurthestBeyondItsLimitBinds) {
  const auto missed = [](Duration value) { return at_most(value, milliseconds(100)); };
  const VariantResult result = with({missed(milliseconds(50)), missed(milliseconds(120)),
                                     missed(milliseconds(300)), at_least(0.98, 0.99, 0)});
  const LoadProbe probe = judge_probe(2, result);
  EXPECT_EQ(probe.verdict, LoadVerdict::Fails);
  EXPECT_EQ(probe.objectives[0].verdict, LoadVerdict::Passes);
  EXPECT_EQ(binding_objective(probe),
            2U);  // three times the limit; twice as many are lost as may be
  EXPECT_EQ(probe.factor, 2);
}

}  // namespace
}  // namespace slicewise::sim
