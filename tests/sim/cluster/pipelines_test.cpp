#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "serving_scenarios.hpp"

// Requests that go through several Services, against closed forms and hand computation.
namespace slicewise::sim {
namespace {

using namespace serving;

using Law = scenarios::ServiceTime::Law;
using Gaps = scenarios::Traffic::Gaps;

// Poisson into exponential servers in a row: each is M/M/1 by itself (Burke), and what comes out of
// the last took the sum.
TEST(ThoroughPipeline, InARowIsATandemOfMM1) {
  const double rate = 40;
  std::vector<scenarios::Workload> stages;
  const double means[] = {0.010, 0.015, 0.020};
  double expected = 0;
  scenarios::Pipeline pipeline;
  pipeline.name.value = "voice";
  for (std::size_t n = 0; n < 3; ++n) {
    stages.push_back(demo::service(1, 1, from_seconds(means[n]), Law::Exponential));
    stages[n].name.value = "stage" + std::to_string(n);
    stages[n].traffic.reset();
    expected += means[n] / (1 - rate * means[n]);
    scenarios::Pipeline::Stage stage;
    stage.workload.value = stages[n].name.value;
    if (n > 0) stage.after.push_back({"stage" + std::to_string(n - 1), {}});
    pipeline.stages.insert(pipeline.stages.begin(), stage);  // the order of listing does not matter
  }
  pipeline.traffic.mean = {rate};
  scenarios::Scenario s = demo::scenario(small_nodes(3), stages);
  s.pipelines.push_back(pipeline);
  s.duration = seconds(6'000);
  const Replication run = replicate(s);
  EXPECT_NEAR(mean_s(run.pipelines[0].requests.latency), expected, 0.02 * expected);
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_NEAR(mean_s(run.workloads[n].requests.latency), means[n] / (1 - rate * means[n]),
                0.03 * expected);
  }
}

// a -> (b, c) -> d: the slower of b and c counts. A stage that is always lost loses the request.
TEST(Pipeline, ForksJoinsAndFails) {
  scenarios::Pipeline pipeline;
  pipeline.name.value = "diamond";
  std::vector<scenarios::Workload> stages;
  const std::pair<const char*, int> parts[] = {{"a", 10}, {"b", 20}, {"c", 35}, {"d", 5}};
  for (const auto& [name, ms] : parts) {
    stages.push_back(demo::service(1, 1, milliseconds(ms), Law::Deterministic));
    stages.back().name.value = name;
    stages.back().traffic.reset();
  }
  pipeline.stages = {{{"d", {}}, {{"b", {}}, {"c", {}}}, {}, {}},
                     {{"a", {}}, {}, {}, {}},
                     {{"b", {}}, {{"a", {}}}, {}, {}},
                     {{"c", {}}, {{"a", {}}}, {}, {}}};
  pipeline.traffic.mean = {10};
  pipeline.traffic.gaps = Gaps::Constant;
  scenarios::Scenario s = demo::scenario(small_nodes(4), stages);
  s.pipelines.push_back(pipeline);
  s.duration = milliseconds(10'090);
  const RequestRecord whole = replicate(s).pipelines[0].requests;
  EXPECT_EQ(whole.answered, 100);
  EXPECT_NEAR(mean_s(whole.latency), 0.050, 1e-7);

  // What misses an objective of a stage misses one of the whole.
  scenarios::Scenario judged = s;
  scenarios::Objective objective;
  objective.figure = scenarios::Figure::LatencyP95;
  objective.limit = milliseconds(30);
  judged.workloads[2].objectives.push_back(objective);
  const Replication late = replicate(judged);
  EXPECT_EQ(late.pipelines[0].requests.in_objectives, 0);
  EXPECT_EQ(late.pipelines[0].requests.answered, 100);
  EXPECT_EQ(late.workloads[1].requests.in_objectives, 100);
  EXPECT_FALSE(demo::result(judged).cost.per_1k_requests_in_slo);
  EXPECT_TRUE(demo::result(judged).workloads[2].is_stage);

  // 10 + 3 + 35 + 7 + 5: the way to b is in the shadow of c. A Service counts from what reaches it.
  scenarios::Scenario far = s;
  far.pipelines[0].stages[0].network = milliseconds(7);
  far.pipelines[0].stages[2].network = milliseconds(10);
  far.pipelines[0].stages[3].network = milliseconds(3);
  const VariantResult slow = demo::result(far);
  const Replication reached = replicate(far);
  EXPECT_NEAR(mean_s(reached.pipelines[0].requests.latency), 0.060, 1e-7);
  EXPECT_NEAR(mean_s(reached.workloads[3].requests.latency), 0.005, 1e-7);
  EXPECT_EQ(slow.workloads[4].bound_by, "");  // 20 of 60 ms

  // It is the pipeline that the network holds up, none of its stages.
  far.pipelines[0].stages[2].network = milliseconds(60);
  const VariantResult farther = demo::result(far);
  EXPECT_EQ(farther.workloads[4].bound_by, "network");  // 70 of 110 ms
  for (std::size_t stage = 0; stage < 4; ++stage) {
    EXPECT_NE(farther.workloads[stage].bound_by, "network");
  }

  s.workloads[2].startup.model_load = hours(1);  // c never gets ready
  const RequestRecord broken = replicate(s).pipelines[0].requests;
  EXPECT_EQ(broken.answered, 0);
  EXPECT_EQ(broken.refused, broken.arrived);
}

}  // namespace
}  // namespace slicewise::sim
