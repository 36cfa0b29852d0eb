// Which measurement a plan asks for.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "../demo.hpp"
#include "small_plans.hpp"

namespace slicewise::sim {
namespace {

using small_plans::limit;
using small_plans::set_with;
using small_plans::small_space;

// Four pods of which a T4 bears all, but not with twice the time.
Plan plan_of(scenarios::Provenance provenance) {
  scenarios::Workload api =
      demo::service(4, 20, milliseconds(10), scenarios::ServiceTime::Law::Exponential);
  api.measured->device.value = "T4";
  api.measured->provenance = provenance;
  api.measured->sm_active = 0.3;
  api.objectives = {limit(scenarios::Figure::LatencyP99, milliseconds(70))};
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api});
  scenario.duration = seconds(120);
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"timeSlicing"};
  options.replicas = {4};
  options.flips = true;
  auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  EXPECT_TRUE(plan.has_value());
  return plan.value_or(Plan{});
}

TEST(TellingMeasurement, IsOfTheTimeThatAFlipIsOf) {
  const Plan plan = plan_of(scenarios::Provenance::Measured);
  ASSERT_TRUE(plan.measure_next.has_value());
  const TellingMeasurement& next = *plan.measure_next;
  const auto flip = std::ranges::find(plan.flips, "workloads.api.requestGpuTime", &Flip::input);
  ASSERT_NE(flip, plan.flips.end());
  EXPECT_EQ(next.factor, flip->factor);
  EXPECT_EQ(next.workload, "api");
  EXPECT_EQ(next.strategy, "timeSlicing");
  EXPECT_EQ(next.beside, "");
  EXPECT_GT(next.error_percent.value_or(0), 1);
}

TEST(TellingMeasurement, IsOfTheTimeAloneWhereThatIsAssumed) {
  const Plan plan = plan_of(scenarios::Provenance::Assumed);
  ASSERT_TRUE(plan.measure_next.has_value());
  EXPECT_EQ(plan.measure_next->strategy, "");
  EXPECT_FALSE(plan.measure_next->error_percent.has_value());
}

}  // namespace
}  // namespace slicewise::sim
