#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../demo.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::ServiceTime;
using scenarios::Workload;
using ::testing::ElementsAre;

constexpr int kPlacedRuns = 6;

// Four Services on the four GPUs of a node, and a trainer that comes last: the device plugin puts
// it beside one of them, by chance.
VariantResult four_and_a_trainer() {
  std::vector<Workload> workloads;
  for (const char* name : {"a", "b", "c", "d"}) {
    workloads.push_back(demo::service(1, 5, milliseconds(10), ServiceTime::Law::Exponential));
    workloads.back().name.value = name;
  }
  workloads.push_back(demo::training(1));
  workloads.back().name.value = "trainer";
  workloads.back().measured->gpu_busy = 1;
  workloads.back().submit_at = seconds(10);
  Scenario scenario = demo::scenario(demo::pool(2), std::move(workloads));
  scenario.replications = kPlacedRuns;
  scenario.duration = minutes(8);
  return demo::result(scenario);
}

int met(const WorkloadResult& workload, const std::string& other) {
  const auto found = std::ranges::find(workload.neighbours, other, &GpuNeighbour::workload);
  return found == workload.neighbours.end() ? 0 : found->replications;
}

TEST(Placement, OfTheFirstRunIsTheMapOfPodsToGpus) {
  const VariantResult result = four_and_a_trainer();
  ASSERT_EQ(result.gpus.size(), 4U);
  std::multiset<std::size_t> sizes;
  std::set<std::string> pods;
  for (const GpuResult& gpu : result.gpus) {
    sizes.insert(gpu.pods.size());
    pods.insert(gpu.pods.begin(), gpu.pods.end());
  }
  EXPECT_THAT(sizes, ElementsAre(1U, 1U, 1U, 2U));
  EXPECT_THAT(pods, ElementsAre("a-1", "b-1", "c-1", "d-1", "trainer-1"));
}

TEST(Placement, NamesTheNeighboursAndInHowManyRunsTheyMet) {
  const VariantResult result = four_and_a_trainer();
  int meetings = 0;
  for (std::size_t w = 0; w < 4; ++w) {
    const int runs = met(result.workloads[w], "trainer");
    EXPECT_EQ(runs, met(result.workloads[4], result.workloads[w].name));
    EXPECT_EQ(met(result.workloads[w], "a") + met(result.workloads[w], "b"), 0);
    meetings += runs;
  }
  EXPECT_EQ(meetings, kPlacedRuns);
}

TEST(Placement, IsToldWhereItDecidesWhatUsersFeel) {
  const VariantResult result = four_and_a_trainer();
  int told = 0;
  for (std::size_t w = 0; w < 4; ++w) {
    const WorkloadResult& workload = result.workloads[w];
    const int runs = met(workload, "trainer");
    ASSERT_EQ(workload.placement.has_value(), runs > 0 && runs < kPlacedRuns) << workload.name;
    if (!workload.placement) continue;
    ++told;
    EXPECT_EQ(workload.placement->figure, "latencyP95");
    EXPECT_EQ(workload.placement->replications, runs);
    EXPECT_THAT(workload.placement->beside, ElementsAre("trainer"));
    // Alone M/M/1 with rho = 0.05.
    EXPECT_NEAR(to_seconds(workload.placement->usual), 0.0315, 0.003);
    ASSERT_TRUE(workload.placement->worst);
    EXPECT_GT(to_seconds(*workload.placement->worst), 1.5 * to_seconds(workload.placement->usual));
  }
  EXPECT_GE(told, 2);
}

TEST(Placement, TheBusiestRunIsNotHiddenByTheMean) {
  const VariantResult result = four_and_a_trainer();
  const auto most = std::ranges::max_element(result.gpus, {}, &GpuResult::time_busy_most);
  EXPECT_GT(most->time_busy_most, 0.85);
  EXPECT_LT(most->time_busy_ratio, 0.8);
}

TEST(Placement, DecidesNothingWhereAllRunsAreAlike) {
  const VariantResult alone = demo::result([] {
    Scenario scenario = demo::scenario(
        demo::pool(0), {demo::service(4, 20, milliseconds(10), ServiceTime::Law::Exponential)});
    scenario.replications = kPlacedRuns;
    scenario.duration = minutes(5);
    return scenario;
  }());
  EXPECT_FALSE(alone.workloads[0].placement);
  EXPECT_TRUE(alone.workloads[0].neighbours.empty());
  for (const GpuResult& gpu : alone.gpus) EXPECT_EQ(gpu.pods.size(), 1U);
}

}  // namespace
}  // namespace slicewise::sim
