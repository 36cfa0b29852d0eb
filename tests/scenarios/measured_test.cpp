#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

namespace slicewise::scenarios {
namespace {

std::string with_workload(const std::string& fields) {
  return "apiVersion: slicewise.dev/v1alpha1\n"
         "kind: Scenario\n"
         "metadata: {name: test}\n"
         "spec:\n"
         "  nodePools: [{name: gpu, instanceType: p3.8xlarge}]\n"
         "  workloads:\n"
         "  - {name: a, " +
         fields + "}\n";
}

std::string with_measured(const std::string& fields) {
  return with_workload("work: {units: 1}, measured: {unitTime: 18s, " + fields + "}");
}

Workload workload_of(const std::string& text) {
  const auto loaded = load_scenario({"f.yaml", text});
  if (!loaded) {
    ADD_FAILURE() << loaded.error().front().message;
    return {};
  }
  return loaded->variants.at(0).workloads.at(0);
}

Measured measured_of(const std::string& fields) {
  return workload_of(with_measured(fields)).measured.value_or(Measured{});
}

void expect_problem(const std::string& text, Code code, const std::string& message) {
  const Diagnostics found = read_scenario_file({"f.yaml", text}).problems;
  ASSERT_EQ(found.size(), 1U) << text;
  EXPECT_EQ(info(found[0].code).name, info(code).name) << text;
  EXPECT_NE(found[0].message.find(message), std::string::npos) << found[0].message;
}

TEST(Measured, FiguresForMpsAndMigAreRead) {
  const Measured measured =
      measured_of("gpuBusy: 60%, capacityShare: 44%, normP: 2, sensitivity: 0.6, pressure: .5e0");
  EXPECT_DOUBLE_EQ(*measured.gpu_busy, 0.6);
  EXPECT_DOUBLE_EQ(*measured.capacity_share, 0.44);
  EXPECT_EQ(*measured.norm_p, 2);
  EXPECT_DOUBLE_EQ(*measured.sensitivity, 0.6);
  EXPECT_DOUBLE_EQ(*measured.pressure, 0.5);
  EXPECT_FALSE(measured.gpu_util.has_value());
  EXPECT_FALSE(measured_of("gpuUtil: 60%").gpu_busy.has_value());
  EXPECT_DOUBLE_EQ(*measured_of("gpuUtil: 60%").gpu_util, 0.6);
}

// u <= d: nothing of the GPU is taken while no kernel runs.
TEST(Measured, CapacityShareIsAtMostTheBusyShare) {
  expect_problem(with_measured("gpuBusy: 38%, capacityShare: 39%"), Code::SettingConflict,
                 "capacityShare is above gpuBusy");
  expect_problem(with_measured("gpuUtil: 38%, capacityShare: 39%"), Code::SettingConflict,
                 "capacityShare is above gpuUtil");
  expect_problem(with_workload("kind: Service, traffic: {mean: 1/s}, measured: {requestGpuTime: "
                               "9ms, gpuBusy: 38%, capacityShare: 39%}"),
                 Code::SettingConflict, "capacityShare is above gpuBusy");
  EXPECT_DOUBLE_EQ(*measured_of("gpuBusy: 38%, capacityShare: 38%").capacity_share, 0.38);
  EXPECT_DOUBLE_EQ(*measured_of("capacityShare: 100%").capacity_share, 1);
}

TEST(Measured, OneFigureSaysHowBusyTheGpuIs) {
  expect_problem(with_measured("gpuBusy: 38%, gpuUtil: 40%"), Code::SettingConflict,
                 "gpuBusy and gpuUtil");
}

TEST(Measured, NumbersAreDecimalsInTheirRange) {
  expect_problem(with_measured("normP: 0.9"), Code::ValueRange, "between 1 and");
  expect_problem(with_measured("normP: .inf"), Code::ValueRange, "normP");
  expect_problem(with_measured("normP: .nan"), Code::ValueRange, "normP");
  expect_problem(with_measured("pressure: -0.1"), Code::ValueRange, "between 0 and");
  expect_problem(with_measured("pressure: 1e999"), Code::ValueRange, "pressure");
  expect_problem(with_measured("pressure: \"0.5\""), Code::FieldType, "a number");
  expect_problem(with_measured("pressure: 50%"), Code::FieldType, "a number");
  EXPECT_EQ(*measured_of("pressure: 0").pressure, 0);
}

TEST(Workload, ProcessesFaultsAndHostPhaseAreRead) {
  const Workload plain = workload_of(with_measured("gpuBusy: 38%"));
  EXPECT_EQ(plain.processes_per_pod, 1);
  EXPECT_FALSE(plain.faults.has_value());
  EXPECT_EQ(plain.work->host_phase, Work::HostPhase::Overlapped);
  const Workload workload = workload_of(
      with_workload("processesPerPod: 3, faults: 0.24/d, work: {units: 1, hostPhase: Serial}, "
                    "measured: {unitTime: 18s}"));
  EXPECT_EQ(workload.processes_per_pod, 3);
  EXPECT_DOUBLE_EQ(workload.faults->per_second, 0.01 / 3600);
  EXPECT_EQ(workload.work->host_phase, Work::HostPhase::Serial);
  expect_problem(with_workload("processesPerPod: 65, work: {units: 1}, measured: {unitTime: 1s}"),
                 Code::ValueRange, "between 1 and 64");
}

// A sweep may begin without faults; traffic of nothing is a mistake.
TEST(Workload, NoFaultsAtAllIsARateOfZero) {
  EXPECT_FALSE(workload_of(with_workload("faults: 0/h, work: {units: 1}, measured: {unitTime: 1s}"))
                   .faults.has_value());
  expect_problem(
      with_workload("kind: Service, traffic: {mean: 0/s}, measured: {requestGpuTime: 9ms}"),
      Code::ValueRange, "more than zero");
}

// Pods that see the GPU without asking for it are simulated, not refused.
TEST(Workload, APodMayAskForNoGpu) {
  EXPECT_TRUE(workload_of(with_measured("gpuBusy: 38%")).pod.extended.empty());
  EXPECT_TRUE(workload_of(with_workload("work: {units: 1}, measured: {unitTime: 18s}, podTemplate: "
                                        "{resources: {limits: {cpu: 2}}, env: "
                                        "{CUDA_VISIBLE_DEVICES: \"0\"}}"))
                  .pod.extended.empty());
}

}  // namespace
}  // namespace slicewise::scenarios
