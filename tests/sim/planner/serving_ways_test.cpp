#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"

#include "../../../sim/studies/probe/probe.hpp"
#include "../demo.hpp"
#include "small_plans.hpp"

// Batches and requests at a time, as a plan decides them.
namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Workload;
using small_plans::limit;
using small_plans::set_with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Law = scenarios::ServiceTime::Law;

// 20 ms a request and one more for each other in its batch.
Workload batching(const std::string& name, int pods, double rate) {
  Workload w = demo::service(pods, rate, milliseconds(20), Law::Deterministic);
  w.name.value = name;
  w.measured->device.value = "T4";
  w.measured->extra_per_item = milliseconds(1);
  w.objectives.push_back(limit(scenarios::Figure::LatencyP95, milliseconds(200)));
  return w;
}

Scenario thirty_seconds(std::vector<Workload> workloads) {
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "g4dn.xlarge";
  Scenario scenario = demo::scenario(pool, std::move(workloads));
  scenario.duration = seconds(30);
  scenario.warmup = seconds(2);
  scenario.replications = 2;
  return scenario;
}

PlanOptions over(std::vector<int> batches) {
  PlanOptions options = small_plans::small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.serving.max_batches = std::move(batches);
  return options;
}

// A pod answers 50 requests a second one by one, of 8 at a time 8 / 27 ms = 296.
TEST(PlanOfBatches, TakesThemWhereOneByOneIsTooSlow) {
  const Scenario scenario = thirty_seconds({batching("ocr", 1, 100)});
  const auto as_it_is = make_plan(set_with(scenario), 0, demo::catalogue(), over({}));
  ASSERT_TRUE(as_it_is) << as_it_is.error().front().message;
  EXPECT_THAT(as_it_is->options, IsEmpty());

  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), over({1, 8}));
  ASSERT_TRUE(plan) << plan.error().front().message;
  ASSERT_FALSE(plan->options.empty());
  const PoolChoice& best = plan->options.front().pools.front();
  EXPECT_THAT(best.serving, ElementsAre(ServingChoice{.max_batch = 8}));
  EXPECT_THAT(describe(best), HasSubstr("batches of 8 in ocr"));
  Scenario planned = planned_scenario(scenario, plan->options.front().pools, demo::catalogue());
  EXPECT_EQ(planned.workloads.front().serving.max_batch, 8);
  planned.seed = 77;
  EXPECT_TRUE(demo::result(planned).verdict.stands());
  PlanProbe probe;
  probe.pools = plan->options.front().pools;
  const auto read = read_probe(probe_line(probe));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pools, probe.pools);
}

// Two that keep their GPU 80 % busy one by one share it in turns once their batches wait: 6 to 8
// requests in 27 ms of every 200.
TEST(ThoroughPlanOfBatches, WaitToShareAGpu) {
  Scenario scenario = thirty_seconds({batching("one", 1, 40), batching("two", 1, 40)});
  for (Workload& w : scenario.workloads) w.objectives.front().limit = milliseconds(400);
  PlanOptions options = over({1, 8});
  options.strategies = {"exclusive", "timeSlicing"};
  options.serving.max_delays = {Duration{}, milliseconds(150)};
  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan) << plan.error().front().message;
  ASSERT_FALSE(plan->options.empty());
  const PoolChoice& best = plan->options.front().pools.front();
  EXPECT_EQ(best.nodes, 1);
  EXPECT_EQ(best.strategy, Strategy::TimeSlicing);
  // The same nodes are one option, whichever batches they stand with.
  for (auto one = plan->options.begin(); one != plan->options.end(); ++one) {
    for (auto other = std::next(one); other != plan->options.end(); ++other) {
      PoolChoice alike = other->pools.front();
      alike.serving = one->pools.front().serving;
      EXPECT_NE(alike, one->pools.front()) << describe(alike);
    }
  }
  options.split = true;
  const auto split = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(split);
  ASSERT_TRUE(split->least_monthly);
  EXPECT_LE(*split->least_monthly, *split->options.front().goal + 0.01);
  options.serving.max_batches = {1};
  options.serving.max_delays = {};
  options.split = false;
  const auto singly = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(singly);
  EXPECT_TRUE(singly->options.empty() || singly->options.front().pools.front().nodes == 2);
}

TEST(ServingWays, LeaveOutWhatCannotBe) {
  const Scenario scenario = thirty_seconds({batching("a", 1, 10), batching("b", 1, 10)});
  const models::InstanceType& type = *demo::catalogue().find_instance("g4dn.xlarge");
  ServingWays tried;
  EXPECT_THAT(serving_ways(scenario, {"a"}, type, tried), ElementsAre(IsEmpty()));
  // A batch of one does not wait; no batch is larger than what the pod works on.
  tried.max_batches = {1, 4};
  tried.max_delays = {Duration{}, milliseconds(5)};
  tried.concurrencies = {1, 4};
  const Duration none{};
  const Duration some = milliseconds(5);
  EXPECT_THAT(serving_ways(scenario, {"a"}, type, tried),
              ElementsAre(ElementsAre(ServingChoice{{}, 4, none, 4}),
                          ElementsAre(ServingChoice{{}, 4, some, 4}),
                          ElementsAre(ServingChoice{{}, 1, none, 4}),
                          ElementsAre(ServingChoice{{}, 1, none, 1})));
  EXPECT_THAT(serving_ways(scenario, {"a", "b"}, type, tried), SizeIs(16));
  // Of more than 64 ways all do alike.
  tried.max_batches = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  tried.max_delays.clear();
  tried.concurrencies.clear();
  const auto all = serving_ways(scenario, {"a", "b"}, type, tried);
  ASSERT_THAT(all, SizeIs(9));
  for (const auto& way : all) EXPECT_EQ(way.front(), way.back());
}

}  // namespace
}  // namespace slicewise::sim
