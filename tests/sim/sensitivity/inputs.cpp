#include <gtest/gtest.h>

#include "../demo.hpp"
#include "studies/plan/scaled_input.hpp"
#include "studies/sensitivity/input_fields.hpp"

namespace slicewise::sim {
namespace {

// As in the flips of a plan: a batch on a GPU of half the speed takes twice as long as a whole.
TEST(Inputs, RequestsThatTakeLongerDoSoInBatchesAsWell) {
  scenarios::Workload api =
      demo::service(1, 50, milliseconds(10), scenarios::ServiceTime::Law::Exponential);
  api.measured->extra_per_item = milliseconds(4);
  const WorkloadField& field = workload_fields().front();
  ASSERT_EQ(field.kind, scenarios::InputKind::RequestGpuTime);
  scenarios::Workload varied = api;
  write_field(field, api, 0.012, varied);
  EXPECT_EQ(varied.measured->request_gpu_time->mean, milliseconds(12));
  EXPECT_EQ(varied.measured->extra_per_item, microseconds(4'800));
  const scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api});
  const scenarios::Workload flipped =
      scaled_input(scenario, "workloads." + api.name.value + ".requestGpuTime", 1.2).workloads[0];
  EXPECT_EQ(flipped.measured->extra_per_item, varied.measured->extra_per_item);
}

}  // namespace
}  // namespace slicewise::sim
