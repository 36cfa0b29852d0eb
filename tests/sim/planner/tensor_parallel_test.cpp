#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "small_plans.hpp"

// How many GPUs share a language model, as a plan decides it.
namespace slicewise::sim {
namespace {

using scenarios::RandomAmount;
using scenarios::Scenario;
using scenarios::Workload;
using small_plans::limit;
using small_plans::set_with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Workload chat(const std::string& name, const std::string& model, Duration token) {
  Workload w;
  w.name.value = name;
  w.kind = scenarios::WorkloadKind::Service;
  w.count = 1;
  w.restart_policy = scenarios::RestartPolicy::Always;
  w.pod.extended.push_back({{"nvidia.com/gpu", {}}, 1, {}});
  w.traffic.emplace().mean = Rate{0.2};
  scenarios::Llm& llm = w.llm.emplace();
  llm.model.value = model;
  RandomAmount amount;
  amount.mean = 200;
  amount.most = 400;
  llm.input = amount;
  llm.output = amount;
  w.objectives.push_back(limit(scenarios::Figure::TpotP95, token));
  return w;
}

Scenario two_minutes(std::vector<Workload> workloads) {
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "g6e.12xlarge";
  Scenario scenario = demo::scenario(pool, std::move(workloads));
  scenario.duration = minutes(2);
  scenario.warmup = seconds(10);
  scenario.replications = 2;
  return scenario;
}

PlanOptions over(std::vector<int> sizes, std::vector<std::string> types) {
  PlanOptions options;
  options.instance_types = std::move(types);
  options.serving.tensor_parallel = std::move(sizes);
  options.headroom = false;
  options.risk = false;
  options.flips = false;
  return options;
}

// 141 GB of weights: four L40S or A100 of 40 GB, two of 80 GB.
TEST(PlanOfTensorParallelSizes, TakesAsManyGpusAsHoldTheModel) {
  const Scenario scenario =
      two_minutes({chat("chat", "llama-3-70b-fp16/a100-80gb", milliseconds(400))});
  const std::vector<std::string> types = {"g5.xlarge", "g6e.xlarge", "g6e.12xlarge",
                                          "p4de.24xlarge"};
  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), over({1, 2, 4}, types));
  ASSERT_TRUE(plan) << plan.error().front().message;
  ASSERT_FALSE(plan->options.empty());
  const PoolChoice& best = plan->options.front().pools.front();
  EXPECT_EQ(best.instance_type, "g6e.12xlarge");
  EXPECT_THAT(best.serving, ElementsAre(ServingChoice{.gpus = 4}));
  EXPECT_THAT(describe(best), HasSubstr("4 GPUs for a pod of chat"));
  const bool on_two = std::ranges::any_of(plan->options, [](const PlanOption& option) {
    const PoolChoice& pool = option.pools.front();
    return pool.instance_type == "p4de.24xlarge" && pool.serving.front().gpus == 2;
  });
  EXPECT_TRUE(on_two);
  // What is exported asks for them, and stands.
  Scenario planned = planned_scenario(scenario, plan->options.front().pools, demo::catalogue());
  EXPECT_EQ(planned.workloads.front().pod.extended.front().count, 4);
  EXPECT_EQ(planned.workloads.front().llm->tensor_parallel_size, 4);
  planned.seed = 77;
  EXPECT_TRUE(demo::result(planned).verdict.stands());

  // Without leave to decide it is the scenario's one GPU, which no type has room for.
  const auto as_asked = make_plan(set_with(scenario), 0, demo::catalogue(), over({}, types));
  ASSERT_TRUE(as_asked);
  EXPECT_TRUE(as_asked->options.empty());
  ASSERT_EQ(as_asked->nearest.size(), 1U);
  EXPECT_THAT(as_asked->nearest.front(), HasSubstr("--instances g6e.12xlarge --tensor-parallel 4"));
}

// Each model of a pool has a number of its own; four and one are five GPUs, two models in one pool
// of eight.
TEST(PlanOfTensorParallelSizes, AreOfEachModel) {
  const Scenario scenario =
      two_minutes({chat("large", "llama-3-70b-fp16/a100-80gb", milliseconds(400)),
                   chat("small", "llama-3-8b-fp16/a10g", milliseconds(200))});
  PlanOptions options = over({1, 4}, {"p4de.24xlarge"});
  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan) << plan.error().front().message;
  ASSERT_FALSE(plan->options.empty());
  const PlanOption& best = plan->options.front();
  ASSERT_EQ(best.pools.size(), 1U);
  EXPECT_EQ(best.pools.front().nodes, 1);
  ASSERT_EQ(best.pools.front().serving.size(), 2U);
  EXPECT_EQ(best.pools.front().serving.front().gpus, 4);
  ASSERT_TRUE(plan->least_monthly);
  EXPECT_NEAR(*plan->least_monthly, *best.goal, 0.01);
  PlanProbe probe;
  probe.pools = best.pools;
  const auto read = read_probe(probe_line(probe));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pools, best.pools);
}

}  // namespace
}  // namespace slicewise::sim
