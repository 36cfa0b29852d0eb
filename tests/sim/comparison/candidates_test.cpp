#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/comparison.hpp"

#include "comparisons.hpp"

namespace slicewise::sim {
namespace {

using demo::compared;
using demo::find;
using demo::find_refused;
using demo::jobs;
using demo::on;
using demo::set_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ComparisonCandidates, MigIsTriedWithEveryProfileThatCutsTheGpuEvenlyAndHoldsAPod) {
  const StrategyComparison comparison = compared(jobs(5), on({"p4d.24xlarge"}));
  std::vector<std::string> profiles;
  for (const ComparedOption& option : comparison.options) {
    const PoolChoice& c = option.configuration;
    if (!option.yours && c.strategy == Strategy::Mig) profiles.push_back(c.mig.front().profile);
  }
  EXPECT_THAT(profiles, ElementsAre("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb"));
  EXPECT_EQ(
      find(comparison, "p4d.24xlarge", Strategy::Mig, "1g.5gb")->configuration.mig.front().count,
      7);

  scenarios::Workload large = demo::training(5);
  large.gpu_memory.resident = gibibytes(6);
  const StrategyComparison larger =
      compared(set_of(demo::scenario(demo::pool(0), {large})), on({"p4d.24xlarge"}));
  EXPECT_EQ(find(larger, "p4d.24xlarge", Strategy::Mig, "1g.5gb"), nullptr);
  const RefusedOption* small = find_refused(larger, "p4d.24xlarge", Strategy::Mig);
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(small->code, Code::GpuOom);
  EXPECT_EQ(small->configuration.mig.front().profile, "1g.5gb");
}

TEST(ComparisonCandidates, MpsOnMigIsRefusedAndRunsOnlyWhenForced) {
  const StrategyComparison stock = compared(jobs(16), on({"p4d.24xlarge"}));
  EXPECT_EQ(find(stock, "p4d.24xlarge", Strategy::MigMps), nullptr);
  const RefusedOption* refused = find_refused(stock, "p4d.24xlarge", Strategy::MigMps);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code, Code::MpsOnMig);

  ComparisonOptions force = on({"p4d.24xlarge"});
  force.force = true;
  const StrategyComparison forced = compared(jobs(16), force);
  const ComparedOption* option = find(forced, "p4d.24xlarge", Strategy::MigMps);
  ASSERT_NE(option, nullptr);
  EXPECT_TRUE(option->forced);
  EXPECT_FALSE(option->is_recommendable());
  EXPECT_FALSE(find(forced, "p4d.24xlarge", Strategy::Mps)->forced);
}

TEST(ComparisonCandidates, VgpuIsWhatAFractionalInstanceSells) {
  const StrategyComparison comparison = compared(jobs(2), on({"g5.xlarge", "g6f.4xlarge"}));
  const RefusedOption* refused = find_refused(comparison, "g5.xlarge", Strategy::Vgpu);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code, Code::VgpuNotOnEks);
  EXPECT_NE(find(comparison, "g6f.4xlarge", Strategy::Vgpu), nullptr);
  EXPECT_NE(find_refused(comparison, "g6f.4xlarge", Strategy::Exclusive), nullptr);
}

TEST(ComparisonCandidates, GpusThatAClaimDoesNotSelectAreRefused) {
  scenarios::Workload claiming = demo::training(2);
  claiming.pod.extended.clear();
  claiming.pod.claim.value = "gpu";
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {claiming});
  scenarios::ResourceClaim claim;
  claim.name.value = "gpu";
  claim.is_template = true;
  claim.selectors.push_back(
      {"device.attributes['gpu.nvidia.com'].productName == 'NVIDIA A10G'", {}});
  scenario.claims = {claim};
  const StrategyComparison comparison =
      compared(set_of(std::move(scenario)), on({"g4dn.xlarge", "g5.xlarge"}));
  EXPECT_NE(find(comparison, "g5.xlarge", Strategy::TimeSlicing), nullptr);
  EXPECT_EQ(find(comparison, "g4dn.xlarge", Strategy::TimeSlicing), nullptr);
  const RefusedOption* refused = find_refused(comparison, "g4dn.xlarge", Strategy::Exclusive);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code, Code::ResourceNameMismatch);
  EXPECT_THAT(refused->message, HasSubstr("selects no T4"));
}

TEST(ComparisonCandidates, MigIsRefusedOnAGpuWithoutIt) {
  const StrategyComparison comparison = compared(jobs(2), on({"g5.xlarge"}));
  for (const Strategy strategy : {Strategy::Mig, Strategy::MigTimeSlicing, Strategy::MigMps}) {
    const RefusedOption* refused = find_refused(comparison, "g5.xlarge", strategy);
    ASSERT_NE(refused, nullptr);
    EXPECT_EQ(refused->code, Code::MigUnsupported);
  }
}

TEST(ComparisonCandidates, TakesAsFewNodesAsHoldAllPods) {
  const StrategyComparison comparison = compared(jobs(5), on({"p3.2xlarge", "p4d.24xlarge"}));
  EXPECT_EQ(find(comparison, "p3.2xlarge", Strategy::Exclusive)->configuration.nodes, 5);
  EXPECT_EQ(find(comparison, "p3.2xlarge", Strategy::TimeSlicing)->configuration.nodes, 1);
  EXPECT_EQ(find(comparison, "p4d.24xlarge", Strategy::Exclusive)->configuration.nodes, 1);
  for (const ComparedOption& option : comparison.options) {
    EXPECT_EQ(option.result.pods.pending_max, option.yours ? 1 : 0);
  }

  scenarios::Workload hungry = demo::training(5);
  hungry.pod.cpu_request = {3000};  // g4dn.xlarge: 3920m
  const StrategyComparison cpu_bound =
      compared(set_of(demo::scenario(demo::pool(0), {hungry})), on({"g4dn.xlarge"}));
  EXPECT_EQ(find(cpu_bound, "g4dn.xlarge", Strategy::TimeSlicing)->configuration.nodes, 5);

  ComparisonOptions two = on({"p3.2xlarge"});
  two.nodes = 2;
  const ComparedOption waits = *find(compared(jobs(5), two), "p3.2xlarge", Strategy::Exclusive);
  EXPECT_EQ(waits.configuration.nodes, 2);
  EXPECT_GT(waits.result.pods.pending_max, 0);
  EXPECT_TRUE(waits.result.verdict.stands());  // they waited, and were done in the end
}

TEST(ComparisonCandidates, TooManyNodesAndTooSmallNodesAreReasons) {
  ComparisonOptions few = on({"p3.2xlarge"});
  few.most_nodes = 4;
  const StrategyComparison limited = compared(jobs(5), few);
  const RefusedOption* many = find_refused(limited, "p3.2xlarge", Strategy::Exclusive);
  ASSERT_NE(many, nullptr);
  EXPECT_THAT(many->message, HasSubstr("more than 4 nodes"));

  scenarios::Workload hungry = demo::training(1);
  hungry.pod.cpu_request = {4000};
  const StrategyComparison comparison =
      compared(set_of(demo::scenario(demo::pool(0), {hungry})), on({"g4dn.xlarge"}));
  EXPECT_EQ(comparison.options.size(), 1U);  // the scenario's own
  EXPECT_THAT(find_refused(comparison, "g4dn.xlarge", Strategy::Exclusive)->message,
              HasSubstr("asks for 4000m of CPU, a node of g4dn.xlarge offers 3920m"));
}

TEST(ComparisonCandidates, AProcessThatCanNeverStartIsRefusedNotSimulated) {
  scenarios::Workload large = demo::training(2);
  large.gpu_memory.resident = gibibytes(9);
  const StrategyComparison comparison =
      compared(set_of(demo::scenario(demo::pool(0), {large})), on({"g4dn.xlarge"}));
  const RefusedOption* refused = find_refused(comparison, "g4dn.xlarge", Strategy::Mps);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code, Code::GpuOom);
  const ComparedOption* sliced = find(comparison, "g4dn.xlarge", Strategy::TimeSlicing);
  ASSERT_NE(sliced, nullptr);
  EXPECT_TRUE(sliced->result.verdict.loses_pods());  // no limit: the second process dies
  EXPECT_FALSE(sliced->best);
}

TEST(ComparisonCandidates, ReplicasComeFromTheUserTheScenarioOrThePods) {
  using Rule = ReplicaChoice::Rule;
  const auto choice = [](const scenarios::ScenarioSet& set, const ComparisonOptions& options) {
    return compared(set, options).replicas.front();
  };
  EXPECT_EQ(choice(jobs(5), on({"p3.2xlarge"})).replicas, 5);
  EXPECT_EQ(choice(jobs(5), on({"p4d.24xlarge"})).replicas, 2);  // at least 2
  const ReplicaChoice full = choice(jobs(20), on({"p3.2xlarge"}));
  EXPECT_EQ(full.rule, Rule::GpuMemory);
  EXPECT_EQ(full.replicas, 10);  // 16,151 MiB / (1,400 + 150 of context)
  ComparisonOptions asked = on({"p3.2xlarge"});
  asked.replicas = {3};
  EXPECT_EQ(choice(jobs(5), asked).replicas, 3);
  EXPECT_EQ(choice(jobs(5), asked).rule, Rule::Asked);

  // MPS cuts the memory in equal shares: 10 of them are too small for these processes.
  scenarios::Workload large = demo::training(4);
  large.gpu_memory.resident = gibibytes(3);
  const ReplicaChoice own =
      choice(set_of(demo::scenario(demo::pool(10), {large})), on({"p3.2xlarge"}));
  EXPECT_EQ(own.rule, Rule::Scenario);
  EXPECT_EQ(own.replicas, 10);
  EXPECT_EQ(own.mps_replicas, 5);  // 16,160 MiB / (3,072 + 150)
}

TEST(ComparisonCandidates, FiguresWithoutADeviceBelongToTheScenariosOwnGpu) {
  scenarios::Workload named = demo::training(1);
  scenarios::Workload unnamed = named;
  unnamed.measured->device.value.clear();
  const auto on_t4 = [](const scenarios::Workload& workload) {
    return find(compared(set_of(demo::scenario(demo::pool(0), {workload})), on({"g4dn.xlarge"})),
                "g4dn.xlarge", Strategy::Exclusive)
        ->result.makespan.mean;
  };
  EXPECT_EQ(on_t4(unnamed), on_t4(named));
  EXPECT_GT(on_t4(unnamed), minutes(31));
}

TEST(ComparisonCandidates, WorkloadsWithoutPodsAndSelectorsOfOneNodeTypeAreLeftOut) {
  scenarios::Workload none = demo::training(0);
  none.name.value = "absent";
  scenarios::Workload pinned = demo::training(2);
  pinned.pod.node_selector = {{"node.kubernetes.io/instance-type", "p3.8xlarge"}};
  const StrategyComparison comparison =
      compared(set_of(demo::scenario(demo::pool(0), {pinned, none})), on({"g5.xlarge"}));
  const ComparedOption* option = find(comparison, "g5.xlarge", Strategy::Exclusive);
  ASSERT_NE(option, nullptr);
  EXPECT_EQ(option->result.workloads.size(), 1U);
  EXPECT_EQ(option->result.pods.running_max, 2);
  ASSERT_EQ(comparison.notes.size(), 1U);
  EXPECT_THAT(comparison.notes.front().message, HasSubstr("instance-type=p3.8xlarge"));
}

// Jobs of a log: `first` and `second` come so long after each other.
scenarios::ScenarioSet recorded(Duration between, int first, int second, int gpus_of_second) {
  using Jobs = std::vector<scenarios::RecordedJobs::Job>;
  const auto of = [](const char* name, int count, int gpus, Duration at) {
    scenarios::Workload jobs = demo::training(count);
    jobs.name.value = name;
    jobs.pod.extended.front().count = gpus;
    jobs.work->units = 600;
    jobs.measured->unit_time = seconds(1);
    jobs.trace.emplace().workload = name;
    jobs.trace->at_once = count;
    jobs.trace->jobs = std::make_shared<const Jobs>(static_cast<std::size_t>(count),
                                                    scenarios::RecordedJobs::Job{at, minutes(10)});
    return jobs;
  };
  return set_of(demo::scenario(demo::pool(0), {of("first", first, 1, hours(0)),
                                               of("second", second, gpus_of_second, between)}));
}

int exclusive_nodes(const scenarios::ScenarioSet& set, const std::string& type) {
  return find(compared(set, on({type})), type, Strategy::Exclusive)->configuration.nodes;
}

// Each kind had its own busiest hour: no more nodes than the busiest of them all.
TEST(ComparisonCandidates, RecordedJobsGetNodesForTheirBusiestTimeTogether) {
  EXPECT_EQ(exclusive_nodes(recorded(hours(1), 3, 4, 1), "g5.xlarge"), 4);
  EXPECT_EQ(exclusive_nodes(recorded(minutes(10), 3, 4, 1), "g5.xlarge"), 4);  // as the first end
  EXPECT_EQ(exclusive_nodes(recorded(minutes(9), 3, 4, 1), "g5.xlarge"), 7);
}

// Three small ones, spread over three nodes of four GPUs, would leave none for a large one.
TEST(ComparisonCandidates, SmallRecordedJobsAreNoReasonForMoreNodes) {
  EXPECT_EQ(exclusive_nodes(recorded(minutes(0), 3, 1, 4), "g5.12xlarge"), 2);
}

}  // namespace
}  // namespace slicewise::sim
