// For how much of its time a job holds the GPU, from what is known of it.
#include <gtest/gtest.h>

#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::scenarios {
namespace {

Measured known(std::optional<double> util, std::optional<double> sm, std::optional<double> dram) {
  Measured m;
  m.gpu_util = util;
  m.sm_active = sm;
  m.dram_active = dram;
  return m;
}

TEST(BusyShare, IsAllOfItWhereNothingSaysLess) {
  EXPECT_EQ(busy_share(known({}, 0.2, 0.1)), 1);
  EXPECT_EQ(busy_share(known(0.8, {}, {})), kBusyOfGpuUtil * 0.8);
}

TEST(BusyShare, KernelsRunWhileSmsOrMemoryWork) {
  EXPECT_EQ(busy_share(known(0.8, 0.7, {})), 0.7);
  EXPECT_EQ(busy_share(known(0.8, 0.3, 0.75)), 0.75);
  EXPECT_EQ(busy_share(known(0.8, 0.9, 0.9)), 0.8);  // no more than a sample in which some ran
}

TEST(BusyShare, LiesBetweenWhatIsMeasuredBelowAndAbove) {
  const BusyRange range = busy_range(known(0.8, 0.3, 0.4));
  EXPECT_EQ(range.least, 0.4);
  EXPECT_EQ(range.most, 0.8);
  EXPECT_EQ(busy_range(known({}, {}, {})).most, 1);
  Measured given = known({}, 0.3, {});
  given.gpu_busy = 0.5;
  EXPECT_EQ(busy_range(given).least, 0.5);
  EXPECT_EQ(busy_range(given).most, 0.5);
  EXPECT_EQ(busy_share(given), 0.5);
}

// A kernel is a part of a request, of a step, or of a cell.
TEST(KernelRange, IsThatOfItsClassButNoMoreThanTheWork) {
  Workload api;
  api.kind = WorkloadKind::Service;
  Measured& m = api.measured.emplace();
  EXPECT_FALSE(kernel_work(api).has_value());
  EXPECT_EQ(kernel_range(api).most, kRequestKernels.most);
  m.request_gpu_time = ServiceTime{ServiceTime::Law::Exponential, microseconds(20), 0};
  EXPECT_EQ(kernel_range(api).least, kRequestKernels.least);
  EXPECT_EQ(kernel_range(api).most, microseconds(20));
  m.request_gpu_time->mean = microseconds(2);
  EXPECT_EQ(kernel_range(api).least, microseconds(2));

  Workload trainer;
  trainer.kind = WorkloadKind::Job;
  trainer.measured.emplace().unit_time = milliseconds(10);
  trainer.work.emplace().steps_per_unit = 10;
  EXPECT_EQ(kernel_range(trainer).most, milliseconds(1));
  trainer.measured->gpu_busy = 0.5;
  EXPECT_EQ(kernel_range(trainer).most, microseconds(500));
  trainer.work->steps_per_unit.reset();
  EXPECT_EQ(kernel_range(trainer).most, kBatchKernels.most);
}

}  // namespace
}  // namespace slicewise::scenarios
