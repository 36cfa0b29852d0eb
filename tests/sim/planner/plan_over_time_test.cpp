#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/plan.hpp"

#include "../../../sim/studies/plan/commitments.hpp"
#include "../../../sim/studies/plan/pools_anew.hpp"
#include "../../../sim/studies/probe/scaled_input.hpp"
#include "../demo.hpp"
#include "small_plans.hpp"

// Months of growing traffic, and what is paid in advance.
namespace slicewise::sim {
namespace {

const std::string kT4 = "g4dn.xlarge";

// A dollar an hour: 730 a month.
NodesByMonth nodes(std::vector<int> by_month) {
  return {UsdPerHour{from_dollars(1)}, std::move(by_month)};
}

std::vector<CommitmentRate> a_year_at(double discount) {
  return {{"Standard RI, 1 year, all upfront", "contract", 12, discount}};
}

TEST(Commitments, RatesAreTheCataloguesOfYearsThatHaveNotEnded) {
  const auto rates = commitment_rates(demo::catalogue(), kT4, "us-east-1");
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_EQ(rates.front().months, 12);
  EXPECT_DOUBLE_EQ(rates.front().discount, 0.412);
  EXPECT_FALSE(rates.front().by_month);
  EXPECT_NE(rates.front().source.find("2023-08"), std::string::npos);
  EXPECT_TRUE(rates.back().by_month);
  EXPECT_DOUBLE_EQ(rates.back().discount, 0.371);
  // Another region; a price that was cut since the one of the two was seen; a block of days.
  EXPECT_EQ(commitment_rates(demo::catalogue(), kT4, "eu-west-1").size(), 1U);
  EXPECT_EQ(commitment_rates(demo::catalogue(), "p4d.24xlarge", "us-east-1").size(), 1U);
  EXPECT_TRUE(commitment_rates(demo::catalogue(), "p5.48xlarge", "us-east-1").empty());
  EXPECT_EQ(commitment_rates(demo::catalogue(), "g6.xlarge", "us-east-1").size(), 1U);
}

// 12 x 730 x 0.588 = 5,150.88 at once: as much as 7.06 months by the hour.
TEST(Commitments, ANodeIsBoughtWhereItIsThereLongEnough) {
  std::vector<int> by_month(12, 1);
  std::fill(by_month.begin() + 4, by_month.end(), 2);  // the second one for 8 months
  by_month.back() = 3;
  const auto bought = commitments_for(kT4, nodes(by_month), a_year_at(0.412));
  ASSERT_EQ(bought.size(), 2U);
  EXPECT_EQ(bought[0].from, 1);
  EXPECT_EQ(bought[0].nodes, 1);
  EXPECT_EQ(bought[0].pays_off, 8);
  EXPECT_NEAR(to_dollars(bought[0].upfront), 5150.88, 1e-6);
  EXPECT_NEAR(to_dollars(bought[0].saves), 12 * 730 - 5150.88, 1e-6);
  EXPECT_EQ(bought[1].from, 5);
  EXPECT_EQ(bought[1].pays_off, 12);
  EXPECT_NEAR(to_dollars(bought[1].saves), 8 * 730 - 5150.88, 1e-6);
  EXPECT_TRUE(commitments_for(kT4, nodes(std::vector<int>(7, 4)), a_year_at(0.412)).empty());
  // Eight months from the first or from the third on: whichever comes first.
  const std::vector<int> with_gap = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1};
  EXPECT_EQ(commitments_for(kT4, nodes(with_gap), a_year_at(0.412)).front().from, 1);
}

// 36 x 730 x 0.45 = 11,826 for three years, 16.2 months by the hour; a year at 0.588 is 5,150.88.
TEST(Commitments, ThreeYearsWhereTheMonthsAreMany) {
  auto rates = a_year_at(0.412);
  rates.push_back({"SP, 3 years, no upfront", "contract", 36, 0.55, true});
  const auto long_run = commitments_for(kT4, nodes(std::vector<int>(36, 2)), rates);
  ASSERT_EQ(long_run.size(), 1U);
  EXPECT_EQ(long_run[0].months, 36);
  EXPECT_EQ(long_run[0].upfront, Usd{});
  EXPECT_NEAR(to_dollars(long_run[0].price), 2 * 11826, 1e-6);
  EXPECT_EQ(long_run[0].pays_off, 17);
  const auto short_run = commitments_for(kT4, nodes(std::vector<int>(13, 1)), rates);
  ASSERT_EQ(short_run.size(), 1U);
  EXPECT_EQ(short_run[0].months, 12);
  EXPECT_EQ(short_run[0].upfront, short_run[0].price);
}

TEST(Commitments, AreBoughtAgainAndTogether) {
  const auto bought = commitments_for(kT4, nodes(std::vector<int>(24, 3)), a_year_at(0.412));
  ASSERT_EQ(bought.size(), 2U);
  for (const PlannedCommitment& each : bought) EXPECT_EQ(each.nodes, 3);
  EXPECT_EQ(bought[1].from, 13);
  EXPECT_EQ(bought[1].pays_off, 20);
}

// Against every way to begin terms of a year in 30 months.
TEST(Commitments, NothingElseSavesMore) {
  const std::vector<int> by_month = {1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1,
                                     0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1};
  constexpr double kMonthly = 730;
  constexpr double kPaid = 12 * kMonthly * 0.6;
  const auto used = [&](std::size_t from) {
    const std::size_t to = std::min<std::size_t>(from + 12, by_month.size());
    return kMonthly * static_cast<double>(std::count(by_month.begin() + static_cast<long>(from),
                                                     by_month.begin() + static_cast<long>(to), 1));
  };
  double most = 0;
  for (std::size_t first = 0; first < by_month.size(); ++first) {
    most = std::max(most, used(first) - kPaid);
    for (std::size_t second = first + 12; second < by_month.size(); ++second) {
      most = std::max(most, used(first) + used(second) - 2 * kPaid);
      for (std::size_t third = second + 12; third < by_month.size(); ++third) {
        most = std::max(most, used(first) + used(second) + used(third) - 3 * kPaid);
      }
    }
  }
  double saves = 0;
  for (const auto& each : commitments_for(kT4, nodes(by_month), a_year_at(0.4))) {
    saves += to_dollars(each.saves);
  }
  EXPECT_NEAR(saves, most, 1e-6);
}

// One pod of 50 ms bears less than 20 requests/s; 8/s grow to 14/s in seven months.
scenarios::ScenarioSet growing_service() {
  auto api = demo::service(1, 8, milliseconds(50), scenarios::ServiceTime::Law::Deterministic);
  api.name.value = "api";
  api.measured->device.value = "T4";
  api.objectives.push_back(small_plans::limit(scenarios::Figure::LatencyP99, milliseconds(200)));
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = kT4;
  auto scenario = demo::scenario(pool, {api});
  scenario.duration = seconds(120);
  scenario.warmup = seconds(1);
  scenario.replications = 3;
  return small_plans::set_with(std::move(scenario));
}

PlanOptions months_of(int horizon, double growth) {
  PlanOptions options = small_plans::small_space();
  options.instance_types = {kT4};
  options.strategies = {"exclusive"};
  options.horizon = horizon;
  options.growth = growth;
  return options;
}

TEST(PlanOverTime, SaysWhenTheNextNodeIsNeeded) {
  const auto set = growing_service();
  const auto plan = make_plan(set, 0, demo::catalogue(), months_of(12, 0.1));
  ASSERT_TRUE(plan && plan->over_time);
  const PlanOverTime& found = *plan->over_time;
  ASSERT_GE(found.spans.size(), 2U);
  EXPECT_EQ(found.spans.front().option.pools, plan->options.front().pools);
  EXPECT_EQ(found.next_node, found.spans[1].from);
  EXPECT_GT(*found.next_node, 2);
  int month = 1;
  double dollars = 0;
  for (const PlannedSpan& span : found.spans) {
    EXPECT_EQ(span.from, month);
    EXPECT_NEAR(span.traffic, std::pow(1.1, span.to - 1), 1e-9);
    month = span.to + 1;
    dollars += (span.to - span.from + 1) * to_dollars(span.option.figures.monthly);
    // What begins in a month is what a plan of it finds.
    auto then = set;
    auto& api = then.variants.front().workloads.front();
    api.traffic->mean.per_second *= std::pow(1.1, span.from - 1);
    api.count =
        span.option.pools.front().pods.empty() ? api.count : span.option.pools.front().pods.front();
    const auto anew = make_plan(then, 0, demo::catalogue(), months_of(0, 0));
    ASSERT_TRUE(anew && !anew->options.empty());
    EXPECT_EQ(anew->options.front().figures.monthly, span.option.figures.monthly);
  }
  EXPECT_EQ(month, 13);
  EXPECT_NEAR(to_dollars(found.by_the_hour), dollars, 1e-6);
  ASSERT_FALSE(found.commitments.empty());
  EXPECT_EQ(found.commitments.front().from, 1);
  EXPECT_LT(found.total, found.by_the_hour);
}

// The second option costs twice as much by the hour, and less for a year with what is offered.
TEST(PlanOverTime, IsOfTheOptionThatCostsLeastOverAllMonths) {
  models::Catalogue catalogue = demo::catalogue();
  PlanOptions options = months_of(12, 0);
  options.instance_types = {kT4, "g5.xlarge"};
  auto set = growing_service();
  EXPECT_EQ(make_plan(set, 0, catalogue, options)->over_time->rank, 1);
  models::Commitment offer;
  offer.instance = "g5.xlarge";
  offer.kind = "offered";
  offer.region = "us-east-1";
  offer.months = 12;
  offer.discount_percent = 80;
  catalogue.commitments.push_back(offer);
  const auto plan = make_plan(set, 0, catalogue, options);
  ASSERT_TRUE(plan && plan->over_time);
  EXPECT_EQ(plan->options.front().pools.front().instance_type, kT4);
  EXPECT_EQ(plan->over_time->rank, 2);
  EXPECT_NEAR(to_dollars(plan->over_time->total), 12 * 730 * 1.006 * 0.2, 1e-6);
}

// Three pods where one will do: it gets another one when it must, not twice as many as there were.
TEST(PlanOverTime, PodsVaryFromMonthToMonth) {
  auto set = growing_service();
  set.variants.front().workloads.front().count = 3;
  PlanOptions options = months_of(12, 0.1);
  options.max_nodes = 8;
  options.vary_pods = 2;
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->over_time);
  ASSERT_GE(plan->over_time->spans.size(), 2U);
  int pods = 1;
  for (const PlannedSpan& span : plan->over_time->spans) {
    EXPECT_EQ(span.option.pools.front().pods, std::vector<int>{pods});
    EXPECT_EQ(span.option.pools.front().nodes, pods++);
  }
  EXPECT_EQ(plan->over_time->next_node, plan->over_time->spans[1].from);
}

// Three pods bear the traffic of 13 months: then one more will do, where 3.5 times as much as in
// the first wants 11.
TEST(PlanOverTime, PodsAreAddedForWhatCameSinceTheMonthBefore) {
  auto set = growing_service();
  set.variants.front().workloads.front().count = 3;
  PlanOptions options = months_of(20, 0.1);
  options.max_nodes = 8;
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->over_time);
  EXPECT_FALSE(plan->over_time->fails_from);
  ASSERT_GE(plan->over_time->spans.size(), 2U);
  EXPECT_EQ(plan->over_time->spans[1].option.pools.front().pods, std::vector<int>{4});
  EXPECT_EQ(plan->over_time->spans[1].option.pools.front().nodes, 4);
}

// More traffic starts more nodes: 12 months cost what each of them does, not 12 times the first.
TEST(ThoroughPlanOverTime, NodesThatComeAndGoCostWhatTheyDoInEachMonth) {
  auto set = scenarios::load_scenario({"e.yaml", R"(
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: elastic}
spec:
  duration: 1d
  replications: 1
  provisioner: {kind: Karpenter, consolidateAfter: 5m}
  nodePools: [{name: gpus, instanceType: g4dn.xlarge, nodes: {min: 1, max: 9}}]
  workloads:
  - name: api
    kind: Service
    replicas: 2
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    measured: {device: T4, requestGpuTime: {mean: 1s}, provenance: Assumed}
    traffic: {shape: Diurnal, mean: 1/s, peak: 2/s, peakAt: "14:00"}
    autoscaling: {min: 1, max: 9, metric: Concurrency, target: 1.2}
    slo: {latencyP99: 600s}
)"});
  ASSERT_TRUE(set);
  PlanOptions options = months_of(4, 0.1);
  const auto plan = make_plan(*set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->over_time);
  const std::vector<PlannedSpan>& spans = plan->over_time->spans;
  ASSERT_EQ(spans.size(), 4U);
  Usd sum;
  for (std::size_t month = 0; month < spans.size(); ++month) {
    ASSERT_TRUE(spans[month].option.pools.front().elastic);
    EXPECT_EQ(spans[month].option.pools.front().instance_type, "g4dn.xlarge");
    EXPECT_EQ(spans[month].from, static_cast<int>(month) + 1);
    EXPECT_EQ(spans[month].to, spans[month].from);
    if (month > 0) {
      EXPECT_GT(spans[month].option.figures.monthly, spans[month - 1].option.figures.monthly);
    }
    sum += spans[month].option.figures.monthly;
  }
  EXPECT_EQ(plan->over_time->by_the_hour, sum);
}

TEST(PlanOverTime, WithoutGrowthNothingChanges) {
  const auto plan = make_plan(growing_service(), 0, demo::catalogue(), months_of(6, 0));
  ASSERT_TRUE(plan && plan->over_time);
  ASSERT_EQ(plan->over_time->spans.size(), 1U);
  EXPECT_EQ(plan->over_time->spans.front().to, 6);
  EXPECT_FALSE(plan->over_time->next_node);
  EXPECT_TRUE(plan->over_time->commitments.empty());  // 7.06 months would pay one off
  EXPECT_EQ(plan->over_time->total, plan->over_time->by_the_hour);
}

// Beside it one that is hardly asked anything: it needs no second pod.
TEST(PlanOverTime, OnlyWhatMissesSomethingGetsMorePods) {
  auto set = growing_service();
  auto idle = set.variants.front().workloads.front();
  idle.name.value = "idle";
  idle.traffic->mean.per_second = 1;
  set.variants.front().workloads.push_back(idle);
  const auto plan = make_plan(set, 0, demo::catalogue(), months_of(12, 0.1));
  ASSERT_TRUE(plan && plan->over_time);
  ASSERT_EQ(plan->over_time->spans.size(), 2U);
  const PlanOption& last = plan->over_time->spans.back().option;
  ASSERT_EQ(last.pools.size(), 1U);
  EXPECT_EQ(last.pools.front().nodes, 3);
  EXPECT_EQ(last.pools.front().pods, (std::vector<int>{2, 0}));
}

// Two, each on a T4 of its own, miss their limits with twice the traffic. Who is planned anew for
// one of them finds the other missing something beside it.
TEST(PlanOverTime, WhoMissesSomethingBesideThemIsPlannedAnewToo) {
  auto scenario = growing_service().variants.front();
  scenario.workloads.front().traffic->mean.per_second = 10;
  auto second = scenario.workloads.front();
  second.name.value = "other";
  scenario.workloads.push_back(second);
  PlanOptions options = months_of(1, 0);
  options.instance_types = {kT4, "g5.xlarge"};
  const auto space = plan_space(scenario, demo::catalogue(), options);
  ASSERT_TRUE(space);
  ProbeBatch probes(probe_threads(scenario, demo::catalogue(), {}));
  BlockSearch search{scenario, demo::catalogue(), *space, probes};
  search.replications = scenario.replications;
  search.input = kTraffic;
  search.factor = 2;
  PlanOption today;
  for (const char* name : {"api", "other"}) {
    PoolChoice pool;
    pool.instance_type = kT4;
    pool.workloads = {name};
    pool.nodes = 1;
    today.pools.push_back(pool);
  }
  EXPECT_EQ(missed_with(search, today, search.input, search.factor).size(), 2U);
  const auto then = pools_anew(search, today, {"api"}, {});
  ASSERT_TRUE(then);
  for (const PoolChoice& pool : then->pools) EXPECT_EQ(pool.instance_type, "g5.xlarge");
}

TEST(PlanOverTime, HalfASearchIsNone) {
  PlanOptions options = months_of(12, 0.1);
  std::atomic<bool> interrupted = false;
  options.run.interrupted = &interrupted;
  options.journal = ProbeJournal{
      [](const PlanProbe&) { return std::nullopt; },
      [&](const PlanProbe& probe, const PlanAnswer&) { interrupted = !probe.input.empty(); }};
  const auto plan = make_plan(growing_service(), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->interrupted);
  EXPECT_FALSE(plan->options.empty());
  EXPECT_FALSE(plan->over_time);
}

// Exclusive nodes, one at the most: more pods find none.
TEST(PlanOverTime, SaysFromWhichMonthNothingStands) {
  PlanOptions options = months_of(24, 0.1);
  options.max_nodes = 1;
  const auto plan = make_plan(growing_service(), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->over_time);
  ASSERT_TRUE(plan->over_time->fails_from);
  EXPECT_EQ(*plan->over_time->fails_from, plan->over_time->spans.back().to + 1);
}

TEST(PlanOverTime, IsRefusedWhereItHasNoMeaning) {
  PlanOptions options = months_of(6, 0.1);
  options.survive = Outage::Node;
  EXPECT_FALSE(make_plan(growing_service(), 0, demo::catalogue(), options));
  options.survive = Outage::None;
  options.goal = scenarios::PlanGoal::LatencyP99;
  EXPECT_FALSE(make_plan(growing_service(), 0, demo::catalogue(), options));
}

}  // namespace
}  // namespace slicewise::sim
