#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/sampled_inputs.hpp"

#include "comparisons.hpp"

// What `compare` and `plan` say of one configuration is one figure: both ask the same engine.
namespace slicewise::sim {
namespace {

// Whatever the scenario sets up: shares of its own, spot nodes, a price plan, workloads side by
// side.
std::vector<scenarios::ScenarioSet> scenarios_to_compare() {
  std::vector<scenarios::ScenarioSet> sets{demo::jobs(5)};
  scenarios::ScenarioSet shared = demo::jobs(5);
  scenarios::NodePool& pool = shared.variants.front().node_pools.front();
  pool.mps = scenarios::MpsSettings{};
  pool.mps->active_threads = 0.4;
  pool.capacity_type = scenarios::CapacityType::Spot;
  pool.spot.emplace();
  sets.push_back(shared);
  scenarios::Workload other = demo::training(3);
  other.name.value = "other";
  other.gpu_memory.resident = gibibytes(3);
  sets.push_back(demo::set_of(demo::scenario(demo::pool(4), {demo::training(5), other})));
  return sets;
}

// The probe that a plan would make of an option of a comparison.
PlanProbe probe_of(const ComparedOption& option, const scenarios::Scenario& base) {
  PlanProbe probe;
  if (!option.yours) probe.pools = {option.configuration};  // else the plan's "own pools"
  probe.replications = base.replications;
  return probe;
}

void expect_same(const ComparedOption& option, const PlanAnswer& answer) {
  const std::string what = describe(option.configuration);
  ASSERT_TRUE(answer.figures.has_value()) << what << ": " << answer.refused.text();
  const OptionFigures& planned = *answer.figures;
  const VariantResult& result = option.result;
  EXPECT_EQ(planned.monthly.nano, result.cost.monthly.nano) << what;
  EXPECT_EQ(planned.total.nano, result.cost.ledger.total.nano) << what;
  EXPECT_EQ(planned.per_1k_in_slo, result.cost.per_1k_requests_in_slo) << what;
  EXPECT_EQ(planned.per_job, result.cost.per_job) << what;
  EXPECT_EQ(planned.gpu_busy, option.gpu_busy_ratio) << what;
  EXPECT_EQ(planned.failed, result.pods.failed) << what;
  EXPECT_EQ(planned.oom_kills, result.pods.oom_kills) << what;
  EXPECT_EQ(planned.running_max, result.pods.running_max) << what;
  EXPECT_EQ(planned.pending_max, result.pods.pending_max) << what;
  EXPECT_EQ(planned.verdict, result.verdict) << what;
  std::optional<Duration> p99;
  for (const WorkloadResult& workload : result.workloads) {
    if (workload.latency && workload.latency->count > 0) {
      p99 = std::max(p99.value_or(Duration{}), workload.latency->p99);
    }
  }
  EXPECT_EQ(planned.latency_p99, p99) << what;
}

void expect_one_engine(const scenarios::ScenarioSet& set, const ComparisonOptions& options) {
  const StrategyComparison comparison = demo::compared(set, options);
  EXPECT_FALSE(comparison.options.empty());
  for (const ComparedOption& option : comparison.options) {
    if (option.forced) continue;  // no plan forces what nobody offers
    const scenarios::Scenario& base = set.variants.front();
    expect_same(option, probe_answerer(base, demo::catalogue())(probe_of(option, base), 1));
  }
}

TEST(OneEngine, ComparisonAndPlanHaveTheSameFiguresForEveryConfiguration) {
  for (const scenarios::ScenarioSet& set : scenarios_to_compare()) {
    expect_one_engine(set, demo::on({"g4dn.xlarge", "g5.xlarge", "p4d.24xlarge", "g6f.xlarge"}));
  }
}

TEST(OneEngine, ExamplesOfServicesHaveTheSameFiguresToo) {
  const std::string path = SLICEWISE_SOURCE_DIR "/scenarios/examples/shared-inference.yaml";
  std::ifstream in(path);
  auto set = scenarios::load_scenario({path, {std::istreambuf_iterator<char>(in), {}}});
  ASSERT_TRUE(set.has_value());
  std::erase_if(set->variants, [](const auto& variant) { return variant.name != "shared"; });
  set->variants.front().replications = 2;
  set->variants.front().duration = Duration{60'000'000'000};
  expect_one_engine(*set, demo::on({"g4dn.xlarge", "g5.xlarge"}));
}

// Each GPU cut into instances of two sizes, for pods of two sizes.
TEST(OneEngine, TheLayoutThatAPlanMakesForTheWorkloadsIsComparedWithTheSameFigures) {
  scenarios::Workload large = demo::training(4);
  large.name.value = "large";
  large.gpu_memory.resident = gibibytes(8);
  scenarios::Workload small = demo::training(12);
  for (scenarios::Workload* workload : {&large, &small}) workload->work->units = 5;
  const scenarios::ScenarioSet set = demo::set_of(demo::scenario(demo::pool(4), {large, small}));
  ComparisonOptions options = demo::on({"p4d.24xlarge"});
  options.strategies = {"mig"};
  expect_one_engine(set, options);

  PlanOptions planning;
  planning.instance_types = {"p4d.24xlarge"};
  planning.strategies = {"mig"};
  planning.goal = scenarios::PlanGoal::MonthlyCost;
  planning.split = planning.headroom = planning.flips = false;
  const auto plan = make_plan(set, 0, demo::catalogue(), planning);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  const PlanOption& best = plan->options.front();
  const StrategyComparison comparison = demo::compared(set, options);
  const auto compared = std::ranges::find_if(comparison.options, [](const ComparedOption& option) {
    return option.configuration.mig.size() > 1;
  });
  ASSERT_NE(compared, comparison.options.end());
  EXPECT_EQ(compared->result.cost.monthly, best.figures.monthly)
      << describe(compared->configuration) << ", planned " << describe(best.pools.front());
}

// 54 tenants on one node whose GPUs are cut in different ways: equal cuts need two or more.
TEST(ThoroughOneEngine, TheScenarioAsItStandsIsTheFirstRowAndMayBeTheBest) {
  const std::string path = SLICEWISE_SOURCE_DIR "/scenarios/examples/mig-multi-tenant.yaml";
  std::ifstream in(path);
  auto set = scenarios::load_scenario({path, {std::istreambuf_iterator<char>(in), {}}});
  ASSERT_TRUE(set.has_value());
  std::erase_if(set->variants, [](const auto& variant) { return variant.name != "mixed"; });
  set->variants.front().replications = 1;
  set->variants.front().duration = seconds(90);
  ComparisonOptions options = demo::on({"p4d.24xlarge"});
  options.strategies = {"mig"};
  const StrategyComparison comparison = demo::compared(*set, options);
  const ComparedOption& own = comparison.options.front();
  ASSERT_TRUE(own.yours);
  EXPECT_EQ(own.configuration.nodes, 1);
  EXPECT_EQ(own.configuration.strategy, Strategy::Mig);
  EXPECT_NEAR(to_dollars(own.price.per_hour), 21.957642, 1e-6);
  EXPECT_TRUE(own.best);
  const std::vector<models::MigCount> fitted = {{"1g.5gb", 5}, {"2g.10gb", 1}};
  for (const ComparedOption& option : comparison.options) {
    const bool is_mixed = option.yours || !option.configuration.other_cuts.empty();
    EXPECT_EQ(option.configuration.nodes == 1, is_mixed) << describe(option.configuration);
    // Each size of pods counts its own instances.
    if (option.configuration.mig == fitted && !is_mixed) {
      EXPECT_EQ(option.configuration.nodes, 2);
    }
  }
}

TEST(OneEngine, EveryNumberOfReplicasAndWayToBuyIsAskedForInBothVerbs) {
  ComparisonOptions options = demo::on({"g5.xlarge"});
  options.strategies = {"timeSlicing", "mps"};
  options.purchases = {"on-demand", "spot"};
  options.replicas = {2, 4};
  const scenarios::ScenarioSet set = demo::jobs(4);
  const StrategyComparison comparison = demo::compared(set, options);
  std::vector<std::string> seen;
  for (const ComparedOption& option : comparison.options) {
    if (option.yours) continue;
    PoolChoice choice = option.configuration;
    choice.nodes = 0;
    seen.push_back(describe(choice));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{
                      "g5.xlarge, time-slicing x2", "g5.xlarge spot, time-slicing x2",
                      "g5.xlarge, time-slicing x4", "g5.xlarge spot, time-slicing x4",
                      "g5.xlarge, MPS x2", "g5.xlarge spot, MPS x2", "g5.xlarge, MPS x4",
                      "g5.xlarge spot, MPS x4"}));
  expect_one_engine(set, options);
}

// Of the options but the scenario's own.
std::set<std::string> ways_to_serve(const StrategyComparison& comparison) {
  std::set<std::string> ways;
  for (const ComparedOption& option : comparison.options) {
    if (!option.yours) ways.insert(serving_text(option.configuration));
  }
  return ways;
}

TEST(OneEngine, EveryBatchAndNumberOfRequestsAtATimeIsAskedForInBothVerbs) {
  scenarios::Workload api =
      demo::service(2, 40, milliseconds(20), scenarios::ServiceTime::Law::Deterministic);
  api.measured->extra_per_item = milliseconds(1);
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api});
  scenario.duration = seconds(20);
  ComparisonOptions options = demo::on({"g5.xlarge"});
  options.strategies = {"exclusive", "timeSlicing"};
  options.serving = {{}, {8, 1}, {milliseconds(5)}, {8}};
  const scenarios::ScenarioSet set = demo::set_of(scenario);
  EXPECT_EQ(ways_to_serve(demo::compared(set, options)),
            (std::set<std::string>{", batches of 8 that wait 5 ms, 8 requests at a time in api",
                                   ", no batches, 8 requests at a time in api"}));
  expect_one_engine(set, options);
  options.serving = {{}, {8}, {}, {2}};
  EXPECT_EQ(demo::errors_of(set, options).front().code, Code::SettingConflict);
}

// A model on two GPUs shares none of them: it has nodes of its own beside those of the Service.
TEST(OneEngine, EveryNumberOfGpusOfALanguageModelIsAskedForInBothVerbs) {
  scenarios::Workload chat =
      demo::service(1, 0.2, milliseconds(20), scenarios::ServiceTime::Law::Deterministic);
  chat.name.value = "chat";
  chat.measured.reset();
  scenarios::Llm& llm = chat.llm.emplace();
  llm.model.value = "llama-3-8b-fp16/a10g";
  llm.input.emplace().mean = 200;
  llm.input->most = 400;
  llm.output = llm.input;
  const scenarios::Workload api =
      demo::service(2, 10, milliseconds(20), scenarios::ServiceTime::Law::Deterministic);
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api, chat});
  scenario.node_pools.front().instance_type.value = "g6e.12xlarge";
  scenario.duration = seconds(60);
  ComparisonOptions options = demo::on({"g6e.12xlarge"});
  options.strategies = {"exclusive", "timeSlicing"};
  options.serving.tensor_parallel = {1, 2};
  const scenarios::ScenarioSet set = demo::set_of(scenario);
  const StrategyComparison comparison = demo::compared(set, options);
  EXPECT_EQ(ways_to_serve(comparison),
            (std::set<std::string>{", 1 GPU for a pod of chat", ", 2 GPUs for a pod of chat"}));
  for (const ComparedOption& option : comparison.options) {
    const PoolChoice& choice = option.configuration;
    const bool apart = !option.yours && choice.strategy == Strategy::TimeSlicing &&
                       choice.serving.back().gpus == 2;
    EXPECT_EQ(choice.unshared, apart ? 1 : 0) << describe(choice);
  }
  expect_one_engine(set, options);
}

TEST(OneEngine, WaysToServeThatNobodyHasAreTold) {
  ComparisonOptions options = demo::on({"g5.xlarge"});
  options.serving.tensor_parallel = {1, 2};
  options.serving.max_batches = {1, 8};
  const auto told = demo::compared(demo::jobs(2), options).notes;
  EXPECT_EQ(std::ranges::count(told, Code::RequestNoEffect, &Diagnostic::code), 2);
}

TEST(OneEngine, WhatTheDraDriverSetsUpIsAskedForInBothVerbs) {
  ComparisonOptions options = demo::on({"p4d.24xlarge"});
  options.strategies = {"mpsUncapped", "mig+mps"};
  const scenarios::ScenarioSet set = demo::jobs(16);
  const auto offered = [&] {
    const StrategyComparison comparison = demo::compared(set, options);
    return std::ranges::count_if(comparison.options, [](const ComparedOption& option) {
      return !option.yours && option.is_offered();
    });
  };
  EXPECT_EQ(offered(), 0);
  options.force = true;
  EXPECT_EQ(offered(), 0);
  options.force = false;
  options.dra = true;
  EXPECT_EQ(offered(), 2);
  expect_one_engine(set, options);
}

TEST(OneEngine, WhatIsMinimisedAndWhatItMayCostIsAskedForInBothVerbs) {
  ComparisonOptions options = demo::on({"g4dn.xlarge", "g5.xlarge"});
  options.strategies = {"exclusive", "timeSlicing"};
  options.replicas = {2};
  const scenarios::ScenarioSet set = demo::jobs(4);
  for (const auto goal : {scenarios::PlanGoal::MonthlyCost, scenarios::PlanGoal::CostPerJob}) {
    options.goal = goal;
    const StrategyComparison comparison = demo::compared(set, options);
    const auto best = std::ranges::find_if(comparison.options, &ComparedOption::best);
    ASSERT_NE(best, comparison.options.end());
    for (const ComparedOption& option : comparison.options) {
      EXPECT_TRUE(!option.is_recommendable() || *option.goal >= *best->goal);
    }
    const PlanProbe probe = probe_of(*best, set.variants.front());
    const PlanAnswer answer = probe_answerer(set.variants.front(), demo::catalogue())(probe, 1);
    const Usd price = goal == scenarios::PlanGoal::MonthlyCost ? answer.figures->monthly
                                                               : *answer.figures->per_job;
    EXPECT_EQ(*best->goal, to_dollars(price));
    options.max_monthly_cost = best->result.cost.monthly;
    for (const ComparedOption& option : demo::compared(set, options).options) {
      EXPECT_EQ(option.too_dear, option.result.cost.monthly > *options.max_monthly_cost);
      EXPECT_FALSE(option.best && option.too_dear);
    }
    --options.max_monthly_cost->nano;
    for (const ComparedOption& option : demo::compared(set, options).options) {
      EXPECT_FALSE(option.best && option.configuration == best->configuration);
    }
    options.max_monthly_cost.reset();
  }
}

// What kernels fill of a GPU is known by its bounds alone.
TEST(OneEngine, InputsAreDrawnAsInRun) {
  ComparisonOptions options = demo::on({"g5.xlarge"});
  options.strategies = {"mps"};
  scenarios::ScenarioSet set = demo::jobs(4);
  set.variants.front().replications = 3;
  const StrategyComparison given = demo::compared(set, options);
  options.sampled_inputs = true;
  const StrategyComparison drawn = demo::compared(set, options);
  EXPECT_TRUE(drawn.sampled_inputs);
  const ComparedOption* const mps = demo::find(drawn, "g5.xlarge", Strategy::Mps);
  ASSERT_NE(mps, nullptr);
  EXPECT_NE(mps->result.cost.ledger.total,
            demo::find(given, "g5.xlarge", Strategy::Mps)->result.cost.ledger.total);
  const auto alone =
      run_sampled(demo::set_of(planned_scenario(set.variants.front(), {&mps->configuration, 1},
                                                demo::catalogue())),
                  demo::catalogue());
  ASSERT_TRUE(alone);
  EXPECT_EQ(mps->result.cost.ledger.total, alone->variants.front().cost.ledger.total);
  EXPECT_EQ(mps->result.verdict, alone->variants.front().verdict);
}

TEST(OneEngine, AShareOfThreadsOfTheScenarioIsNotThatOfAnOption) {
  scenarios::ScenarioSet set = demo::jobs(4);
  scenarios::NodePool& pool = set.variants.front().node_pools.front();
  pool.mps = scenarios::MpsSettings{};
  pool.mps->active_threads = 0.9;
  PoolChoice choice;
  choice.instance_type = "g5.xlarge";
  choice.strategy = Strategy::Mps;
  choice.replicas = 4;
  choice.workloads = {set.variants.front().workloads.front().name.value};
  const scenarios::Scenario planned =
      planned_scenario(set.variants.front(), {&choice, 1}, demo::catalogue());
  ASSERT_TRUE(planned.node_pools.front().mps.has_value());
  EXPECT_FALSE(planned.node_pools.front().mps->active_threads.has_value());
}

}  // namespace
}  // namespace slicewise::sim
