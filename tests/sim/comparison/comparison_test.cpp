#include "slicewise/sim/comparison.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comparisons.hpp"

namespace slicewise::sim {
namespace {

using demo::compared;
using demo::errors_of;
using demo::find;
using demo::find_refused;
using demo::jobs;
using demo::on;
using demo::set_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Every strategy stands once per instance type, MIG once per profile: simulated or refused with a

// reason, never both and never silently absent.

TEST(Comparison, EveryStrategyIsSimulatedOrRefusedOnEveryInstanceType) {
  ComparisonOptions all;
  all.retired = true;
  const StrategyComparison comparison = compared(jobs(5), all);
  EXPECT_THAT(comparison.instance_types,
              ElementsAre("p3.2xlarge", "g4dn.xlarge", "g5.xlarge", "p4d.24xlarge"));
  std::multiset<std::string> seen;
  const auto note = [&](const PoolChoice& c) {
    const std::string profile =
        c.strategy == Strategy::Mig && !c.mig.empty() ? c.mig.front().profile : "";
    seen.insert(c.instance_type + " " + std::string(strategy_name(c.strategy)) + " " + profile);
  };
  for (const ComparedOption& option : comparison.options) note(option.configuration);
  for (const RefusedOption& option : comparison.refused) {
    note(option.configuration);
    EXPECT_FALSE(option.message.empty());
  }
  for (const std::string& row : seen) EXPECT_EQ(seen.count(row), 1U) << row;
  for (const std::string& type : comparison.instance_types) {
    for (const Strategy strategy : kStrategies) {
      EXPECT_TRUE(find(comparison, type, strategy) != nullptr ||
                  find_refused(comparison, type, strategy) != nullptr)
          << type << " " << strategy_name(strategy);
    }
  }
}

TEST(Comparison, RetiredTypesAreComparedWhereTheyAreAskedFor) {
  EXPECT_THAT(compared(jobs(5)).instance_types,
              ElementsAre("g4dn.xlarge", "g5.xlarge", "p4d.24xlarge"));
  EXPECT_THAT(compared(jobs(5), on({"p3.2xlarge"})).instance_types, ElementsAre("p3.2xlarge"));
}

// It recommended to share a GPU among pods that use none.
TEST(Comparison, PodsThatUseNoGpuAreNotCompared) {
  scenarios::ScenarioSet s = jobs(5);
  for (scenarios::Workload& workload : s.variants.front().workloads) {
    workload.processes_per_pod = 0;
  }
  EXPECT_THAT(errors_of(s).front().message, HasSubstr("uses a GPU"));
}

TEST(Comparison, RowsStandByInstanceTypeAsAskedThenByStrategy) {
  const StrategyComparison comparison = compared(jobs(5), on({"p4d.24xlarge", "g5.xlarge"}));
  const auto place = [&](const ComparedOption& option) {
    const auto type =
        std::ranges::find(comparison.instance_types, option.configuration.instance_type);
    return std::pair(type - comparison.instance_types.begin(), option.configuration.strategy);
  };
  EXPECT_TRUE(comparison.options.front().yours);
  EXPECT_EQ(std::ranges::count_if(comparison.options, &ComparedOption::yours), 1);
  EXPECT_TRUE(std::ranges::is_sorted(std::next(comparison.options.begin()),
                                     comparison.options.end(), {}, place));
}

// The bill is nodes x time x price and its parts add up to it, to the nano-dollar.

TEST(Comparison, MoneyIsConserved) {
  const StrategyComparison comparison = compared(jobs(5));
  for (const ComparedOption& option : comparison.options) {
    const CostLedger& ledger = option.result.cost.ledger;
    EXPECT_EQ(ledger.total, ledger.useful + ledger.idle + ledger.switching + ledger.failed +
                                ledger.cold_start + ledger.missed_slo);
    const NodePoolResult& pool = option.result.node_pools.front();
    EXPECT_EQ(option.price.per_hour.nano, pool.price.per_hour.nano * option.configuration.nodes);
    const Usd bill = cost_of(option.price, option.result.makespan.mean);
    EXPECT_NEAR(static_cast<double>(ledger.total.nano), static_cast<double>(bill.nano),
                option.configuration.nodes)
        << strategy_name(option.configuration.strategy);
  }
}

// 5 jobs x 100 epochs x 18 s are 2.5 hours of work, whoever does them: what an hour of it costs is

// the bill divided by 2.5.

TEST(Comparison, AnHourOfWorkCostsTheBillDividedByTheHoursOfWork) {
  const StrategyComparison comparison = compared(jobs(5), on({"p3.2xlarge", "g5.xlarge"}));
  for (const ComparedOption& option : comparison.options) {
    const double bill = to_dollars(option.result.cost.ledger.total);
    ASSERT_TRUE(option.per_work_hour.has_value());
    EXPECT_NEAR(to_dollars(*option.per_work_hour), bill / 2.5, 1e-6 * bill);
  }
}

// Common random numbers: an option is the run of the scenario that somebody would have written.

TEST(Comparison, AnOptionIsTheRunOfTheSameScenario) {
  scenarios::NodePool pool = demo::pool(5);
  pool.instance_type.value = "p3.2xlarge";
  const VariantResult run = demo::result(demo::scenario(pool, {demo::training(5)}));
  const StrategyComparison comparison =
      compared(set_of(demo::scenario(pool, {demo::training(5)})), on({"p3.2xlarge"}));
  const ComparedOption* option = find(comparison, "p3.2xlarge", Strategy::TimeSlicing);
  ASSERT_NE(option, nullptr);
  EXPECT_EQ(option->configuration.replicas, 5);
  EXPECT_EQ(option->result.makespan.mean, run.makespan.mean);
  EXPECT_EQ(option->result.cost.ledger.total, run.cost.ledger.total);
}

TEST(Comparison, ThreadsDoNotChangeTheResult) {
  ComparisonOptions several = on({"g5.xlarge", "p4d.24xlarge"});
  several.run.threads = 3;
  const StrategyComparison a = compared(jobs(5), on({"g5.xlarge", "p4d.24xlarge"}));
  const StrategyComparison b = compared(jobs(5), several);
  ASSERT_EQ(a.options.size(), b.options.size());
  for (std::size_t i = 0; i < a.options.size(); ++i) {
    EXPECT_EQ(a.options[i].result.makespan.mean, b.options[i].result.makespan.mean);
    EXPECT_EQ(a.options[i].per_work_hour, b.options[i].per_work_hour);
  }
}

TEST(Comparison, OnlyHardwareSeparatesMemoryComputeAndFaults) {
  using M = Isolation::Memory;
  using C = Isolation::Compute;
  using F = Isolation::Fault;
  const Isolation hardware{M::Hardware, C::Hardware, F::Hardware};
  EXPECT_EQ(isolation_of(Strategy::Exclusive), hardware);
  EXPECT_EQ(isolation_of(Strategy::Mig), hardware);
  EXPECT_EQ(isolation_of(Strategy::TimeSlicing), (Isolation{M::None, C::None, F::Process}));
  EXPECT_EQ(isolation_of(Strategy::Mps), (Isolation{M::ProcessLimit, C::Cap, F::Shared}));
  EXPECT_EQ(isolation_of(Strategy::MpsUncapped), (Isolation{M::ProcessLimit, C::None, F::Shared}));
  EXPECT_EQ(isolation_of(Strategy::MigTimeSlicing), isolation_of(Strategy::TimeSlicing));
  EXPECT_EQ(isolation_of(Strategy::MigMps), isolation_of(Strategy::Mps));
  EXPECT_EQ(isolation_of(Strategy::Vgpu), (Isolation{M::Hardware, C::Cap, F::Process}));
}

// As few nodes as hold all pods at once: bound by tickets, or by the CPU that the pods ask for.

// Without a number from anybody, as many pods share as one node's GPU would hold of all, and no

// more than its memory does.

// AWS no longer sells p3: it is compared, but nobody is told to take it.

TEST(Comparison, TheBestCanBeHadMeetsAllObjectivesAndLosesNoPod) {
  const StrategyComparison comparison = compared(jobs(5), on({"p3.2xlarge", "g5.xlarge"}));
  const auto best = std::ranges::find_if(comparison.options, &ComparedOption::best);
  ASSERT_NE(best, comparison.options.end());
  EXPECT_EQ(std::ranges::count_if(comparison.options, &ComparedOption::best), 1);
  EXPECT_EQ(best->configuration.instance_type, "g5.xlarge");
  for (const ComparedOption& option : comparison.options) {
    EXPECT_EQ(option.retired, option.configuration.instance_type.starts_with("p3."));
    if (!option.is_recommendable()) continue;
    EXPECT_LE(*best->per_work_hour, *option.per_work_hour);
  }

  scenarios::Workload hurried = demo::training(5);
  hurried.objectives.push_back({scenarios::Figure::CompletionP95, minutes(35), {}});
  const StrategyComparison strict =
      compared(set_of(demo::scenario(demo::pool(0), {hurried})), on({"g5.xlarge"}));
  EXPECT_FALSE(find(strict, "g5.xlarge", Strategy::TimeSlicing)->result.verdict.meets_objectives());
  EXPECT_FALSE(find(strict, "g5.xlarge", Strategy::TimeSlicing)->is_recommendable());
  EXPECT_TRUE(find(strict, "g5.xlarge", Strategy::Exclusive)->is_recommendable());
}

// Nothing wrong with its run, but no setting of the device plugin gives it.

TEST(Comparison, MpsWithoutItsCapIsShownButNeverTheBest) {
  const StrategyComparison comparison = compared(jobs(5), on({"g5.xlarge"}));
  const ComparedOption* uncapped = find(comparison, "g5.xlarge", Strategy::MpsUncapped);
  ASSERT_NE(uncapped, nullptr);
  EXPECT_TRUE(uncapped->per_work_hour && uncapped->result.verdict.stands());
  EXPECT_FALSE(uncapped->is_recommendable());
  EXPECT_FALSE(uncapped->best);
  for (const Strategy strategy : kStrategies) {
    EXPECT_EQ(is_stock(strategy), strategy != Strategy::MpsUncapped) << strategy_name(strategy);
  }
}

// "The pool's own GPU" stays the scenario's when the instance type changes: an epoch that was 18 s

// on V100 is not 18 s on T4.

TEST(Comparison, WhatIsWrongWithOneInstanceTypeIsARefusalThere) {
  scenarios::ScenarioSet set = jobs(2);
  set.variants.front().node_pools.front().capacity_type = scenarios::CapacityType::Reserved;
  const auto everywhere = compare_strategies(set, 0, demo::catalogue(), on({"g5.xlarge"}));
  ASSERT_FALSE(everywhere.has_value());  // a type without a price and nothing else to show
  EXPECT_EQ(everywhere.error().front().code, Code::PriceUnknown);

  set = jobs(2);
  set.variants.front().region = "ap-south-1";  // has no price of p3
  const StrategyComparison comparison = compared(set, on({"g5.xlarge", "p3.2xlarge"}));
  EXPECT_NE(find(comparison, "g5.xlarge", Strategy::Exclusive), nullptr);
  for (const Strategy strategy : kStrategies) {
    const RefusedOption* refused = find_refused(comparison, "p3.2xlarge", strategy);
    ASSERT_NE(refused, nullptr) << strategy_name(strategy);
    EXPECT_EQ(refused->code, Code::PriceUnknown);
  }
}

TEST(Comparison, WhatIsWrongWithTheScenarioIsAnError) {
  EXPECT_TRUE(demo::has(errors_of(jobs(2), on({"g5.xlarg"})), Code::InstanceUnknown));
  EXPECT_THAT(errors_of(jobs(2), on({"g5.xlarg"})).front().help, HasSubstr("g5.xlarge"));

  scenarios::ScenarioSet two_pools = jobs(2);
  two_pools.variants.front().node_pools.push_back(demo::pool(0));
  two_pools.variants.front().node_pools.back().name.value = "other";
  EXPECT_THAT(errors_of(two_pools).front().message, HasSubstr("has 2: v100, other"));

  scenarios::ScenarioSet two_instances = jobs(2);
  two_instances.variants.front().workloads.front().pod.extended.front() = {
      {"nvidia.com/mig-1g.5gb", {}}, 2, {}};
  EXPECT_TRUE(demo::has(errors_of(two_instances), Code::StrategyNotModelled));

  scenarios::ScenarioSet unmeasured = jobs(2);
  unmeasured.variants.front().workloads.front().measured->unit_time.reset();
  const Diagnostics missing = errors_of(unmeasured);
  ASSERT_EQ(missing.size(), 1U);  // once, not once per instance type
  EXPECT_EQ(missing.front().code, Code::InputMissing);

  EXPECT_TRUE(demo::has(errors_of(jobs(0)), Code::ValueRange));
}

// 5 jobs of half an hour, 40 minutes: on few GPUs they are cheaper by the hour, and not done.
TEST(Comparison, WhatLeavesJobsUnfinishedThatAnotherGetsDoneIsNotTheBest) {
  scenarios::ScenarioSet set = jobs(5);
  set.variants.front().duration = minutes(40);
  const StrategyComparison comparison = compared(set, on({"g4dn.xlarge"}));
  const ComparedOption* shared = find(comparison, "g4dn.xlarge", Strategy::Mps);
  ASSERT_NE(shared, nullptr);
  ASSERT_LT(shared->result.workloads.front().completed, 5);
  EXPECT_THAT(shared->unfinished, ElementsAre("cifar10"));
  EXPECT_TRUE(shared->result.verdict.stands());
  const ComparedOption* whole = find(comparison, "g4dn.xlarge", Strategy::Exclusive);
  ASSERT_NE(whole, nullptr);
  EXPECT_THAT(whole->unfinished, IsEmpty());
  for (const ComparedOption& option : comparison.options) {
    if (!option.best) continue;
    EXPECT_EQ(option.result.workloads.front().completed, 5) << describe(option.configuration);
  }
  // Where nothing gets them done, all did what they could.
  set.variants.front().duration = minutes(10);
  for (const ComparedOption& option : compared(set, on({"g4dn.xlarge"})).options) {
    EXPECT_THAT(option.unfinished, IsEmpty());
  }
}

TEST(Comparison, KnowsNoQuotasAndSaysSo) {
  scenarios::ScenarioSet set = jobs(1);
  set.variants.front().workloads.front().queue.value = "research";
  const StrategyComparison comparison = compared(set, on({"g4dn.xlarge"}));
  EXPECT_TRUE(std::ranges::any_of(comparison.notes, [](const Diagnostic& note) {
    return note.message ==
           "strategies are compared without quotas: queue \"research\" of \"cifar10\" is not kept";
  }));
}

TEST(Comparison, AnInterruptedComparisonSaysSo) {
  const std::atomic<bool> stop{true};
  ComparisonOptions options = on({"g5.xlarge"});
  options.run.interrupted = &stop;
  const StrategyComparison comparison = compared(jobs(2), options);
  EXPECT_TRUE(comparison.interrupted);
  EXPECT_THAT(comparison.options, IsEmpty());
  EXPECT_THAT(comparison.refused, Not(IsEmpty()));
}

}  // namespace
}  // namespace slicewise::sim
