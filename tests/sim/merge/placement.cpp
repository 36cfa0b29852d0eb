#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "result/merge.hpp"

namespace slicewise::sim {
namespace {

using ::testing::ElementsAre;

// One pod of a Service, and one of another workload that is on its GPU in some runs.
World service_and_neighbour() {
  World w;
  w.workloads.resize(2);
  w.workloads[0].name = "api";
  w.workloads[1].name = "other";
  for (WorkloadModel& workload : w.workloads) {
    workload.spec.kind = scenarios::WorkloadKind::Service;
    workload.spec.count = 1;
  }
  return w;
}

// A minute in which all answers took `latency`; nullopt: there were none.
Replication run_of(bool beside, std::optional<Duration> latency, Duration busy_of_other) {
  Replication r;
  r.length = minutes(1);
  r.shared_domain = {0, beside, beside, 0};
  r.domains.resize(2);
  r.domains[0].fullest = {0};
  r.domains[beside ? 0 : 1].fullest.push_back(1);
  r.workloads.resize(2);
  r.workloads[0].requests.arrived = 100;
  if (latency) r.workloads[0].requests.latency.add(*latency);
  r.workloads[1].pod_running = minutes(1);
  r.workloads[1].gpu_busy = busy_of_other;
  return r;
}

std::optional<PlacementSpread> spread_of(std::vector<Duration> usual,
                                         std::optional<Duration> beside,
                                         Duration busy = seconds(30)) {
  std::vector<Replication> runs;
  for (const Duration latency : usual) runs.push_back(run_of(false, latency, busy));
  runs.push_back(run_of(true, beside, busy));
  return placement_spread(service_and_neighbour(), 0, runs);
}

TEST(MergePlacement, IsToldWhereEveryRunPlacedWorstIsWorseThanEveryOther) {
  const auto spread =
      spread_of({milliseconds(100), milliseconds(110), milliseconds(120)}, milliseconds(200));
  ASSERT_TRUE(spread);
  EXPECT_NEAR(to_seconds(spread->usual), 0.11, 0.01);
  EXPECT_NEAR(to_seconds(spread->worst.value()), 0.2, 0.01);
  EXPECT_EQ(spread->usual_replications, 3);
  EXPECT_EQ(spread->replications, 1);
  EXPECT_THAT(spread->beside, ElementsAre("other"));
  // One of the others is as bad: chance.
  EXPECT_FALSE(
      spread_of({milliseconds(100), milliseconds(110), milliseconds(150)}, milliseconds(200)));
}

TEST(MergePlacement, ANeighbourThatLeavesTheGpuAloneIsNotTheCause) {
  EXPECT_FALSE(spread_of({milliseconds(100), milliseconds(100)}, seconds(5), milliseconds(1)));
}

TEST(MergePlacement, ARunWithoutAnAnswerIsTheWorst) {
  const auto spread = spread_of({milliseconds(100), milliseconds(110)}, std::nullopt);
  ASSERT_TRUE(spread);
  EXPECT_FALSE(spread->worst);
  EXPECT_EQ(spread->replications, 1);
  EXPECT_EQ(spread->usual_replications, 2);
  // Where nothing comes there is nothing to see, neither good nor bad.
  std::vector<Replication> runs = {run_of(false, milliseconds(100), seconds(30)),
                                   run_of(false, std::nullopt, seconds(30)),
                                   run_of(true, seconds(5), seconds(30))};
  runs[1].workloads[0].requests.arrived = 0;
  const auto of_two = placement_spread(service_and_neighbour(), 0, runs);
  ASSERT_TRUE(of_two);
  EXPECT_EQ(of_two->usual_replications, 1);
}

}  // namespace
}  // namespace slicewise::sim
