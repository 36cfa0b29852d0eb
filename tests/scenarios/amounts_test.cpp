#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

#include "one_workload.hpp"

namespace slicewise::scenarios {
namespace {

TEST(Amounts, AreReadAndSaidAnewByTheirPaths) {
  Workload workload = workload_of(
      with_workload("kind: Service, traffic: {mean: 1/s}, serving: {cpuBefore: 3ms}, faults: 2/s, "
                    "gpuMemory: {resident: 1Ki}, measured: {requestGpuTime: {mean: 31ms, "
                    "distribution: Exponential}, cpu: 500m, capacityShare: 40%}"));
  const auto expect = [&](const char* path, double amount) {
    ASSERT_TRUE(amount_at(workload, path).has_value()) << path;
    EXPECT_DOUBLE_EQ(*amount_at(workload, path), amount) << path;
    set_amount(workload, path, 2 * amount);
    EXPECT_DOUBLE_EQ(*amount_at(workload, path), 2 * amount) << path;
  };
  expect("measured.requestGpuTime", 0.031);
  expect("measured.cpu", 0.5);
  expect("measured.capacityShare", 0.4);
  expect("serving.cpuBefore", 0.003);
  expect("gpuMemory.resident", 1024);
  expect("faults", 2);
  EXPECT_EQ(workload.measured->request_gpu_time->law, ServiceTime::Law::Exponential);
  EXPECT_EQ(workload.measured->request_gpu_time->mean.ns, milliseconds(62).ns);
}

TEST(Amounts, WhatIsNotSaidHasNone) {
  Workload workload = workload_of(with_workload("profile: p"));
  EXPECT_EQ(amount_at(workload, "measured.cpu"), std::nullopt);
  EXPECT_EQ(amount_at(workload, "llm.step.tokenTime"), std::nullopt);
  EXPECT_EQ(amount_at(workload, "gpuMemory.peak"), std::nullopt);
  set_amount(workload, "gpuMemory.peak", 1e9);
  EXPECT_EQ(workload.gpu_memory.peak->count, 1'000'000'000);
}

TEST(Amounts, CountWhatTheirFieldsSay) {
  EXPECT_EQ(workload_unit("measured.requestGpuTime"), AmountUnit::Seconds);
  EXPECT_EQ(workload_unit("llm.step.tokenTime"), AmountUnit::Seconds);
  EXPECT_EQ(workload_unit("llm.tokens.input"), AmountUnit::Count);
  EXPECT_EQ(workload_unit("notebooks.memory"), AmountUnit::Bytes);
  EXPECT_EQ(workload_unit("measured.gpuBusy"), AmountUnit::Ratio);
  EXPECT_EQ(workload_unit("measured.cpu"), AmountUnit::Cores);
  EXPECT_EQ(workload_unit("faults"), AmountUnit::PerSecond);
  EXPECT_EQ(pool_unit("gpu.contextMemory"), AmountUnit::Bytes);
  EXPECT_EQ(pool_unit("spot.interruptionsPerHour"), AmountUnit::PerSecond) << "read as a rate";
}

TEST(Amounts, NodePools) {
  NodePool pool;
  EXPECT_EQ(amount_at(pool, "gpu.timeSlice"), std::nullopt);
  EXPECT_EQ(amount_at(pool, "spot.interruptionsPerHour"), std::nullopt);
  set_amount(pool, "gpu.timeSlice", 0.002);
  EXPECT_EQ(pool.gpu.time_slice->ns, milliseconds(2).ns);
  pool.spot.emplace().interruptions = Rate{0.5};
  EXPECT_DOUBLE_EQ(*amount_at(pool, "spot.interruptionsPerHour"), 0.5);
}

}  // namespace
}  // namespace slicewise::scenarios
