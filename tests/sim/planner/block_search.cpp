#include "studies/plan/block_search.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../cluster/llm_scenarios.hpp"
#include "../demo.hpp"
#include "studies/plan/block_candidates.hpp"
#include "studies/plan/plan_sections.hpp"
#include "studies/probe/probe.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::ServiceTime;
using scenarios::Workload;

Workload small_service(const std::string& name, double rate, std::int64_t limit_ms) {
  Workload w = demo::service(1, rate, milliseconds(10), ServiceTime::Law::Exponential);
  w.name.value = name;
  w.measured->device.value = "T4";
  w.gpu_memory.resident = gibibytes(2);
  w.objectives.push_back({scenarios::Figure::LatencyP95, milliseconds(limit_ms), {}});
  return w;
}

Scenario scenario_of(std::vector<Workload> workloads) {
  Scenario scenario = demo::scenario(demo::pool(0), std::move(workloads));
  scenario.node_pools.front().instance_type.value = "g4dn.xlarge";
  scenario.duration = seconds(20);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  return scenario;
}

PlanSpace space_of(const Scenario& scenario, std::vector<std::string> strategies) {
  PlanOptions options;
  options.instance_types = {"g4dn.xlarge", "g5.xlarge"};
  options.strategies = std::move(strategies);
  options.replicas = {2, 3};
  options.max_nodes = 3;
  return *plan_space(scenario, demo::catalogue(), options);
}

// A line of progress is no longer than people read.
TEST(SayPools, CountsThePoolsOfAFleet) {
  const Scenario scenario = scenario_of({small_service("calm", 5, 200)});
  const PlanSpace space = space_of(scenario, {"exclusive"});
  std::string said;
  ProbeBatch probes(probe_threads(scenario, demo::catalogue(), {}));
  BlockSearch search{scenario, demo::catalogue(), space, probes, scenarios::PlanGoal::MonthlyCost,
                     2};
  search.so_far = [&](const std::string& line) { said = line; };
  PoolChoice pool;
  pool.instance_type = "g5.xlarge";
  pool.nodes = 3;
  say_pools(search, "best so far", std::vector(2, pool), from_dollars(100));
  EXPECT_EQ(said, "best so far: 3 x g5.xlarge, exclusive + 3 x g5.xlarge, exclusive, $100 a month");
  say_pools(search, "best so far", std::vector(7, pool), from_dollars(100));
  EXPECT_EQ(said, "best so far: 7 pools of 21 nodes, $100 a month");
}

// What is asked for together is what is asked for one by one: as dear, or in vain.
TEST(ThoroughSearchBlocks, FindWhatEachOfThemFinds) {
  const Scenario scenario =
      scenario_of({small_service("calm", 5, 200), small_service("busy", 60, 40),
                   small_service("strict", 20, 32)});
  const PlanSpace space = space_of(scenario, {"exclusive", "timeSlicing", "mps"});
  ProbeBatch probes(probe_threads(scenario, demo::catalogue(), {}));
  const BlockSearch search{
      scenario, demo::catalogue(), space, probes, scenarios::PlanGoal::MonthlyCost, 2};
  const std::vector<std::vector<std::string>> blocks = {
      {"calm"}, {"busy"}, {"calm", "busy"}, {"busy", "strict"}, {"calm", "busy", "strict"}};
  for (const Depth depth : {Depth::First, Depth::Glance}) {
    for (const double cap : {400.0, 2000.0}) {
      std::vector<BlockQuestion> questions;
      ProbeBatch together(probe_threads(scenario, demo::catalogue(), {}));
      const BlockSearch of_all = search_within(search, scenario, space, &together);
      for (const auto& block : blocks) questions.push_back({of_all, block, cap});
      const std::vector<BlockResult> results = search_blocks(questions, depth);
      ASSERT_EQ(results.size(), blocks.size());
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        ProbeBatch alone(probe_threads(scenario, demo::catalogue(), {}));
        const BlockResult one =
            search_block(search_within(search, scenario, space, &alone), blocks[b], 1, cap, depth);
        ASSERT_EQ(results[b].options.size(), one.options.size()) << b << ' ' << cap;
        EXPECT_EQ(results[b].configurations, one.configurations);
        if (one.options.empty()) continue;
        EXPECT_EQ(results[b].options.front().goal, one.options.front().goal) << b;
        EXPECT_EQ(results[b].options.front().pools.front().workloads, blocks[b]);
      }
    }
  }
  EXPECT_TRUE(search_blocks({}, Depth::First).empty());
}

// The instance types on which the cheapest way to run the block is sought.
std::set<std::string> types_looked_at(const Workload& workload) {
  const Scenario scenario = scenario_of({workload});
  PlanOptions options;
  options.instance_types = {"g5.xlarge", "g5.2xlarge", "g5.4xlarge", "g5.12xlarge"};
  options.strategies = {"exclusive", "timeSlicing"};
  options.replicas = {2};
  const PlanSpace space = *plan_space(scenario, demo::catalogue(), options);
  ProbeBatch probes(probe_threads(scenario, demo::catalogue(), {}));
  const BlockSearch search{
      scenario, demo::catalogue(), space, probes, scenarios::PlanGoal::MonthlyCost, 1};
  BlockResult ignored;
  std::vector<BlockCandidate> candidates = block_candidates(search, {"api"}, ignored);
  EXPECT_GE(candidates.size(), 3U);
  leave_out_the_same_for_more(candidates);
  std::set<std::string> types;
  for (const BlockCandidate& candidate : candidates) types.insert(candidate.choice.instance_type);
  return types;
}

// Of nodes with the same GPUs the cheapest that have the CPU and the memory for what meets there.
TEST(BlockCandidates, LeaveOutTheSameForMore) {
  using Types = std::set<std::string>;
  Workload api = small_service("api", 20, 200);
  api.count = 4;
  EXPECT_EQ(types_looked_at(api), (Types{"g5.xlarge", "g5.12xlarge"}));
  // Two of 3 vCPUs meet on 8, but not on 4: one for each node of those may do.
  Workload busy = api;
  busy.pod.cpu_request = {3000};
  EXPECT_EQ(types_looked_at(busy), (Types{"g5.xlarge", "g5.2xlarge", "g5.12xlarge"}));
  Workload large = api;
  large.pod.memory_request = gibibytes(20);
  EXPECT_EQ(types_looked_at(large), (Types{"g5.2xlarge", "g5.4xlarge", "g5.12xlarge"}));
  // Keys and values come sooner over the network of a larger node.
  Workload server = chat(1);
  server.name.value = "api";
  EXPECT_EQ(types_looked_at(server).count("g5.4xlarge"), 0U);
  server.llm->role = scenarios::LlmRole::Decode;
  EXPECT_EQ(types_looked_at(server).count("g5.4xlarge"), 1U);
  // Requests are done sooner with more vCPUs.
  Workload decodes = api;
  decodes.serving.cpu_before = milliseconds(5);
  EXPECT_EQ(types_looked_at(decodes),
            (Types{"g5.xlarge", "g5.2xlarge", "g5.4xlarge", "g5.12xlarge"}));
}

// Nodes that come and go with the pods of an autoscaler, which is too slow. Three that stay do not
// do; with four nobody waits for a fifth, and by the pod that stays a g5.48xlarge is too dear.
TEST(SearchBlock, AsksForNoMoreNodesThanThereEverWere) {
  Workload api = small_service("api", 150, 40);
  api.count = 8;
  api.autoscaling.emplace();
  api.autoscaling->min_replicas = 1;
  api.autoscaling->max_replicas = 8;
  api.autoscaling->metric = scenarios::Autoscaling::Metric::RequestRate;
  api.autoscaling->target = 80;
  Scenario scenario = scenario_of({api});
  scenario.duration = minutes(4);
  scenario.warmup = seconds(10);
  scenario.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
  PlanOptions options;
  options.instance_types = {"g4dn.xlarge", "g5.48xlarge"};
  options.strategies = {"exclusive"};
  options.max_nodes = 8;
  const PlanSpace space = *plan_space(scenario, demo::catalogue(), options);
  std::set<std::pair<std::string, int>> asked;
  const ProbeJournal journal{[](const PlanProbe&) { return std::nullopt; },
                             [&](const PlanProbe& probe, const PlanAnswer& answer) {
                               const PoolChoice& pool = probe.pools.front();
                               if (!pool.elastic) return;
                               asked.emplace(pool.instance_type, pool.nodes);
                               EXPECT_TRUE(answer.had_all_nodes);
                             }};
  ProbeBatch probes(probe_threads(scenario, demo::catalogue(), {}), journal);
  const BlockSearch search{
      scenario, demo::catalogue(), space, probes, scenarios::PlanGoal::MonthlyCost, 1};
  constexpr double kThreeOfG4dn = 1200;  // dollars a month, less than a g5.48xlarge
  search_block(search, {"api"}, 1, kThreeOfG4dn, Depth::First);
  EXPECT_EQ(asked, (std::set<std::pair<std::string, int>>{{"g4dn.xlarge", 4}}));
  EXPECT_NEAR(least_monthly(search, {"api"}).value_or(0), 0.526 * 730, 1);
}

OptionFigures missing_by(const std::string& workload, double times) {
  OptionFigures figures;
  figures.replications = 1;
  ObjectiveResult& objective = figures.objectives.emplace_back().result;
  figures.objectives.back().workload = workload;
  objective.name = "latencyP95";
  objective.limit = milliseconds(100);
  objective.value = from_seconds(0.1 * times);
  return figures;
}

TEST(MissesEnough, WhereAReplicationHasManyRequestsBeyondTheQuantile) {
  Scenario scenario = scenario_of({small_service("rare", 5, 100), small_service("many", 60, 100)});
  const PlanSpace space = space_of(scenario, {"exclusive"});
  ProbeBatch probes(probe_threads(scenario, demo::catalogue(), {}));
  const BlockSearch search{
      scenario, demo::catalogue(), space, probes, scenarios::PlanGoal::MonthlyCost, 2};
  EXPECT_TRUE(misses_enough(search, missing_by("many", 1.15)));
  EXPECT_FALSE(misses_enough(search, missing_by("many", 1.05)));
  EXPECT_FALSE(misses_enough(search, missing_by("rare", 1.15)));
  EXPECT_TRUE(misses_enough(search, missing_by("rare", 2.5)));
  EXPECT_FALSE(misses_enough(search, missing_by("a pipeline", 1.15)));
  // Those of a run that nobody gives a length are not counted.
  scenario.duration.reset();
  EXPECT_FALSE(misses_enough(search, missing_by("many", 1.15)));
}

// Who looks for the cheapest alone asks no more of what missed its limit in the first replication.
TEST(SearchBlock, AsksNoMoreOfWhatMissesEnough) {
  Scenario scenario = scenario_of({small_service("many", 60, 40), small_service("more", 25, 36)});
  scenario.duration = seconds(60);
  const PlanSpace space = space_of(scenario, {"timeSlicing", "mps"});
  ProbeBatch probes(probe_threads(scenario, demo::catalogue(), {}));
  const BlockSearch search{
      scenario, demo::catalogue(), space, probes, scenarios::PlanGoal::MonthlyCost, 2};
  for (const Depth depth : {Depth::First, Depth::Glance}) {
    std::vector<std::string> missed;  // pools that missed enough in one replication
    int asked_again = 0;
    const auto pools_of = [](PlanProbe probe) {
      probe.replications = 1;
      probe.glance = false;
      return probe_line(probe);
    };
    const ProbeJournal journal{
        [](const PlanProbe&) { return std::nullopt; },
        [&](const PlanProbe& probe, const PlanAnswer& answer) {
          const bool again = std::ranges::find(missed, pools_of(probe)) != missed.end();
          asked_again += again && probe.replications > 1 ? 1 : 0;
          const bool enough = answer.figures && !fails_clearly(*answer.figures) &&
                              misses_enough(search, *answer.figures);
          if (enough && probe.replications == 1) missed.push_back(pools_of(probe));
        }};
    ProbeBatch told(probe_threads(scenario, demo::catalogue(), {}), journal);
    search_block(search_within(search, scenario, space, &told), {"many", "more"}, 1, 4000.0, depth);
    EXPECT_EQ(asked_again, 0) << static_cast<int>(depth);
    EXPECT_FALSE(missed.empty()) << static_cast<int>(depth);
  }
}

// On one GPU MPS gives the trainer a half of it, time-slicing what the Service leaves.
TEST(MoreDone, TakesAnotherWayToShareOfTheSamePrice) {
  Workload trainer = demo::training(1);
  trainer.name.value = "trainer";
  trainer.measured->device.value = "T4";
  trainer.measured->gpu_busy = 0.9;
  trainer.measured->sm_active = 0.9;
  trainer.measured->unit_time = seconds(1);
  trainer.work->units = 1000;
  const Scenario scenario = scenario_of({small_service("calm", 5, 400), trainer});
  const PlanSpace space = space_of(scenario, {"timeSlicing", "mps"});
  ProbeBatch probes(probe_threads(scenario, demo::catalogue(), {}));
  const BlockSearch search{
      scenario, demo::catalogue(), space, probes, scenarios::PlanGoal::MonthlyCost, 2};
  PlanProbe probe;
  PoolChoice pool;
  pool.instance_type = "g4dn.xlarge";
  pool.strategy = Strategy::Mps;
  pool.replicas = 2;
  pool.workloads = {"calm", "trainer"};
  probe.pools = {pool};
  probe.replications = 2;
  probe.until_clear = true;
  PlanOption option;
  option.pools = probe.pools;
  option.figures = *probes.ask_one(probe).figures;
  ASSERT_TRUE(option.figures.stands());
  option.goal = to_dollars(option.figures.monthly);
  const OptionFigures before = option.figures;
  get_more_done(search, option);
  EXPECT_EQ(option.pools.front().strategy, Strategy::TimeSlicing);
  EXPECT_EQ(option.figures.monthly, before.monthly);
  EXPECT_GT(option.figures.work.front().per_hour, 1.1 * before.work.front().per_hour);
  // Where all work has an objective nobody looks.
  Scenario with_objective = scenario;
  with_objective.workloads.back().objectives.push_back(
      {scenarios::Figure::CompletionP95, hours(1), {}});
  ProbeBatch nobody(probe_threads(with_objective, demo::catalogue(), {}));
  const BlockSearch there{
      with_objective, demo::catalogue(), space, nobody, scenarios::PlanGoal::MonthlyCost, 2};
  option.pools = {pool};
  get_more_done(there, option);
  EXPECT_EQ(option.pools.front().strategy, Strategy::Mps);
  EXPECT_EQ(nobody.simulations(), 0);
}

}  // namespace
}  // namespace slicewise::sim
