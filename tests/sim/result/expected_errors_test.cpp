// What error a result says to expect, by what is known of the workloads that share.
#include <cmath>

#include <gtest/gtest.h>

#include "../demo.hpp"

namespace slicewise::sim {
namespace {

using models::Evidence;

scenarios::Workload measured(scenarios::Workload workload) {
  workload.measured->provenance = scenarios::Provenance::Measured;
  return workload;
}

std::vector<models::ExpectedError> expected_of(const scenarios::Scenario& scenario) {
  return demo::result(scenario).expected_errors;
}

TEST(ExpectedErrors, NothingIsToBeExpectedWhereNothingIsShared) {
  EXPECT_TRUE(expected_of(demo::scenario(demo::pool(0), {measured(demo::training(2))})).empty());
}

TEST(ExpectedErrors, AreThoseOfRowsFromAsMuchAsIsKnown) {
  const auto known = expected_of(demo::scenario(demo::pool(4), {measured(demo::training(8))}));
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].mode, "time-slicing");
  EXPECT_EQ(known[0].evidence, Evidence::Utilisation);
  EXPECT_FALSE(known[0].unlike);
  EXPECT_GT(known[0].rows, 0);
  scenarios::Workload alone = measured(demo::training(8));
  alone.measured->gpu_busy.reset();
  alone.measured->sm_active.reset();
  const auto less = expected_of(demo::scenario(demo::pool(4), {alone}));
  EXPECT_EQ(less[0].evidence, Evidence::TimeAlone);
}

// Four in turns on each GPU, whose kernels run for nine tenths of the time: what they gain is about
// what the switches cost.
TEST(ExpectedErrors, AGainThatIsNearerToNothingThanTheyAreMayBeALoss) {
  const auto result_of = [](double busy, int jobs) {
    scenarios::Workload job = measured(demo::training(jobs));
    job.measured->gpu_busy = busy;
    return demo::result(demo::scenario(demo::pool(4), {job}));
  };
  const VariantResult near = result_of(0.9, 16);
  ASSERT_EQ(near.unsure_gains.size(), 1U);
  EXPECT_EQ(near.unsure_gains[0].mode, "time-slicing");
  EXPECT_LE(100 * std::abs(near.unsure_gains[0].gain), near.unsure_gains[0].median_percent);
  const double one_by_one = 16 * 100 * 18;
  EXPECT_NEAR(near.unsure_gains[0].gain, one_by_one / (4 * to_seconds(near.makespan.mean)) - 1,
              0.005);
  EXPECT_TRUE(result_of(0.4, 16).unsure_gains.empty()) << "they get twice as much done";
  EXPECT_TRUE(result_of(1, 16).unsure_gains.empty()) << "they lose a tenth";
  EXPECT_TRUE(result_of(0.9, 4).unsure_gains.empty()) << "each has a GPU of its own";
}

TEST(ExpectedErrors, OfAssumedTimesNothingIsKnown) {
  const auto assumed = expected_of(demo::scenario(demo::pool(4), {demo::training(8)}));
  ASSERT_EQ(assumed.size(), 1U);
  EXPECT_EQ(assumed[0].evidence, Evidence::Nothing);
  EXPECT_EQ(assumed[0].rows, 0);
}

TEST(ExpectedErrors, UnlikeNeighboursAreNotCopies) {
  scenarios::Workload other = measured(demo::training(2));
  other.name.value = "other";
  const scenarios::Scenario both =
      demo::scenario(demo::pool(4), {measured(demo::training(2)), other});
  EXPECT_TRUE(expected_of(both)[0].unlike);
  EXPECT_EQ(expected_of(both)[0].rows, 0);
  scenarios::Scenario under_mps = both;  // whose figures turns do not ask for
  for (scenarios::Workload& workload : under_mps.workloads) {
    workload.measured->sensitivity = 0.5;
    workload.measured->pressure = 0.5;
  }
  EXPECT_EQ(expected_of(under_mps)[0].rows, 0);
  scenarios::Scenario in_turns = both;
  for (scenarios::Workload& workload : in_turns.workloads) workload.measured->turn_use = 0.5;
  EXPECT_EQ(expected_of(in_turns)[0].evidence, Evidence::Neighbour);
  EXPECT_GT(expected_of(in_turns)[0].rows, 0);
}

// Rows of requests say nothing of a trainer's host phases.
TEST(ExpectedErrors, OfRequestsCountWhereNothingElseShares) {
  scenarios::Workload api =
      demo::service(2, 10, milliseconds(20), scenarios::ServiceTime::Law::Exponential);
  api.measured->sm_active = 0.4;
  api.measured->provenance = scenarios::Provenance::Measured;
  scenarios::Workload other = api;
  other.name.value = "other";
  scenarios::Scenario services = demo::scenario(demo::pool(4), {api, other});
  services.duration = seconds(60);
  EXPECT_EQ(expected_of(services)[0].mode, "time-slicing of requests");
  EXPECT_EQ(expected_of(services)[0].rows, 80);
  services.workloads.pop_back();
  EXPECT_EQ(expected_of(services)[0].mode, "time-slicing of requests");
  services.workloads.push_back(measured(demo::training(2)));
  EXPECT_EQ(expected_of(services)[0].rows, 0);
}

// Published requests had next to no work on the host.
TEST(ExpectedErrors, OfRequestsWithHostWorkNothingIsPublished) {
  scenarios::Workload api =
      demo::service(2, 10, milliseconds(20), scenarios::ServiceTime::Law::Exponential);
  api.measured->sm_active = 0.4;
  api.measured->provenance = scenarios::Provenance::Measured;
  api.serving.cpu_before = milliseconds(2);
  scenarios::Scenario services = demo::scenario(demo::pool(4), {api});
  services.duration = seconds(60);
  EXPECT_EQ(expected_of(services)[0].rows, 16);
  services.workloads[0].serving.cpu_before = milliseconds(4);
  for (const models::ExpectedError& error : expected_of(services)) {
    EXPECT_EQ(error.rows, 0) << error.mode;
    EXPECT_EQ(error.evidence, Evidence::Utilisation);
  }
}

scenarios::Scenario two_under_mps() {
  scenarios::Workload api =
      demo::service(2, 10, milliseconds(20), scenarios::ServiceTime::Law::Exponential);
  api.measured->sm_active = 0.4;
  api.measured->kernel_time = microseconds(5);
  api.measured->provenance = scenarios::Provenance::Measured;
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api});
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{"nvidia.com/gpu", {}}, 4, {}});
  scenario.node_pools[0].device_plugin.emplace().mps = sharing;
  scenario.node_pools[0].mps.emplace().uncapped = true;
  scenario.duration = seconds(60);
  return scenario;
}

TEST(ExpectedErrors, OfTailsAreOfRowsWhoseKernelsAreKnown) {
  scenarios::Scenario scenario = two_under_mps();
  const auto known = expected_of(scenario);
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(known[1].mode, "MPS, p99 of requests");
  EXPECT_EQ(known[1].rows, 12);
  scenario.workloads[0].measured->kernel_time.reset();
  EXPECT_EQ(expected_of(scenario)[1].rows, 0);
  scenario = two_under_mps();
  scenario.node_pools[0].mps->uncapped = false;
  EXPECT_EQ(expected_of(scenario)[1].rows, 0);
}

// Said where the limit lies within what nine of ten rows were off by, on both sides of it.
TEST(ExpectedErrors, ALimitNearATailIsSaid) {
  scenarios::Scenario scenario = two_under_mps();
  const auto has_note = [&](double times) {
    scenarios::Scenario asked = scenario;
    const VariantResult before = demo::result(asked);
    const double p99 = to_seconds(before.workloads[0].latency->p99);
    asked.workloads[0].objectives = {
        {scenarios::Figure::LatencyP99, from_seconds(p99 * times), {}}};
    return demo::has(demo::result(asked).findings, Code::TailNearLimit);
  };
  EXPECT_TRUE(has_note(1.02));
  EXPECT_TRUE(has_note(0.98));
  EXPECT_FALSE(has_note(1.5));
  EXPECT_FALSE(has_note(0.6));
}

// No row says what a GPU does with figures of another one.
TEST(ExpectedErrors, OfFiguresCarriedOverNothingIsKnown) {
  scenarios::Workload elsewhere = measured(demo::training(8));
  elsewhere.measured->device.value = "T4";
  const auto expected = expected_of(demo::scenario(demo::pool(4), {elsewhere}));
  ASSERT_EQ(expected.size(), 1U);
  EXPECT_EQ(expected[0].evidence, Evidence::Nothing);
}

}  // namespace
}  // namespace slicewise::sim
