#include <vector>

#include <gtest/gtest.h>

#include "../../../sim/studies/load/load_search.hpp"

namespace slicewise::sim {
namespace {

using scenarios::FigureValue;
using scenarios::Share;

ObjectiveResult at_most(FigureValue value, FigureValue limit) {
  ObjectiveResult objective{"latencyP99", limit, value, {}, value <= limit, false};
  return objective;
}

ObjectiveResult at_least(double value, double limit) {
  return {"availability", Share{limit}, Share{value}, {}, value >= limit, true};
}

VariantResult with(std::vector<ObjectiveResult> objectives) {
  VariantResult result;
  WorkloadResult& workload = result.workloads.emplace_back();
  workload.name = "api";
  workload.objectives = std::move(objectives);
  return result;
}

LoadProbe judged(const ObjectiveResult& pooled, const std::vector<ObjectiveResult>& own) {
  std::vector<VariantResult> singles;
  for (const ObjectiveResult& objective : own) singles.push_back(with({objective}));
  return judge_probe(1, with({pooled}), singles);
}

LoadProbe of_latencies(int pooled_ms, const std::vector<int>& own_ms) {
  std::vector<ObjectiveResult> own;
  for (const int ms : own_ms) own.push_back(at_most(milliseconds(ms), milliseconds(100)));
  return judged(at_most(milliseconds(pooled_ms), milliseconds(100)), own);
}

// t(0.975, 3) = 3.18 and the half width is t s / 2: 3.18 * 2.58 / 2 = 4.1 for 89, 91, 92, 95.
TEST(JudgeProbe, GoesByTheIntervalOfTheReplications) {
  EXPECT_EQ(of_latencies(92, {89, 91, 92, 95}).verdict, LoadVerdict::Passes);
  EXPECT_EQ(of_latencies(98, {95, 97, 98, 101}).verdict, LoadVerdict::Undecided);
  EXPECT_EQ(of_latencies(102, {99, 101, 102, 105}).verdict, LoadVerdict::Undecided);
  EXPECT_EQ(of_latencies(108, {105, 107, 108, 111}).verdict, LoadVerdict::Fails);
}

TEST(JudgeProbe, APassNeedsTheFigureOverAllReplicationsToo) {
  EXPECT_EQ(of_latencies(101, {89, 91, 92, 95}).verdict, LoadVerdict::Undecided);
}

TEST(JudgeProbe, ALeastFigureIsTheOtherWayRound) {
  const auto of = [](double pooled, double spread) {
    return judged(at_least(pooled, 0.99), {at_least(pooled - spread, 0.99), at_least(pooled, 0.99),
                                           at_least(pooled + spread, 0.99)})
        .verdict;
  };
  EXPECT_EQ(of(0.995, 0.001), LoadVerdict::Passes);
  EXPECT_EQ(of(0.991, 0.001), LoadVerdict::Undecided);
  EXPECT_EQ(of(0.980, 0.001), LoadVerdict::Fails);
}

// Nothing was answered, or more was lost than the quantile leaves out.
TEST(JudgeProbe, ReplicationsWithoutAFigureFailWhenAllDo) {
  ObjectiveResult lost = at_most(milliseconds(50), milliseconds(100));
  lost.pass = false;
  ObjectiveResult nothing = at_most(Duration{}, milliseconds(100));
  nothing.pass = false;
  const ObjectiveResult fine = at_most(milliseconds(50), milliseconds(100));
  EXPECT_EQ(judged(lost, {lost, nothing, lost}).verdict, LoadVerdict::Fails);
  EXPECT_EQ(judged(fine, {fine, lost, fine}).verdict, LoadVerdict::Undecided);
}

// A few requests an hour: most runs see none.
TEST(JudgeProbe, ReplicationsWithoutARequestSayNothing) {
  const ObjectiveResult fine = at_most(milliseconds(50), milliseconds(100));
  const ObjectiveResult slow = at_most(milliseconds(150), milliseconds(100));
  ObjectiveResult unasked = at_most(Duration{}, milliseconds(100));
  unasked.is_absent = unasked.is_unasked = true;
  // A load at which nothing was tested is none that is known to pass.
  EXPECT_EQ(judged(unasked, {unasked, unasked, unasked}).verdict, LoadVerdict::Undecided);
  EXPECT_EQ(judged(fine, {fine, unasked, fine}).verdict, LoadVerdict::Passes);
  EXPECT_EQ(judged(slow, {slow, unasked, slow}).verdict, LoadVerdict::Fails);
  EXPECT_EQ(judged(fine, {fine, unasked, unasked}).verdict, LoadVerdict::Undecided);
}

// 577 requests/s passed beside a Service without objectives that answers 50.
TEST(JudgeProbe, AServiceThatDoesNotKeepUpFails) {
  VariantResult pooled = with({at_most(milliseconds(50), milliseconds(100))});
  const std::vector<VariantResult> singles(3, pooled);
  EXPECT_EQ(judge_probe(1, pooled, singles).verdict, LoadVerdict::Passes);
  pooled.verdict.reasons = {{Verdict::Cause::Overloaded, "other", "overloaded", "it is"}};
  const LoadProbe probe = judge_probe(1, pooled, singles);
  EXPECT_EQ(probe.verdict, LoadVerdict::Fails);
  ASSERT_EQ(probe.left_behind.size(), 1U);
  EXPECT_FALSE(binding_objective(probe));
}

TEST(JudgeProbe, OneFailureFailsAndTheFurthestBeyondItsLimitBinds) {
  const auto missed = [](Duration value) { return at_most(value, milliseconds(100)); };
  const VariantResult result = with({missed(milliseconds(50)), missed(milliseconds(120)),
                                     missed(milliseconds(300)), at_least(0.98, 0.99)});
  const std::vector<VariantResult> singles(3, result);
  const LoadProbe probe = judge_probe(2, result, singles);
  EXPECT_EQ(probe.verdict, LoadVerdict::Fails);
  EXPECT_EQ(probe.objectives[0].verdict, LoadVerdict::Passes);
  EXPECT_EQ(binding_objective(probe),
            2U);  // three times the limit; twice as many are lost as may be
  EXPECT_EQ(probe.factor, 2);
  EXPECT_FALSE(binding_objective(of_latencies(92, {89, 91, 92, 95})));
}

}  // namespace
}  // namespace slicewise::sim
