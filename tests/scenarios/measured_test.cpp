#include <string>

#include "slicewise/scenarios/job_trace.hpp"

#include "one_workload.hpp"

namespace slicewise::scenarios {
namespace {

std::string with_measured(const std::string& fields) {
  return with_workload("work: {units: 1}, measured: {unitTime: 18s, " + fields + "}");
}

Measured measured_of(const std::string& fields) {
  return workload_of(with_measured(fields)).measured.value_or(Measured{});
}

// Between the two counters of DCGM, where both are known; of a request, of the time in which
// kernels ran.
TEST(Measured, CapacityLiesBetweenItsCounters) {
  EXPECT_DOUBLE_EQ(capacity_share(measured_of("gpuUtil: 90%, smActive: 40%"), true), 0.6);
  EXPECT_DOUBLE_EQ(capacity_share(measured_of("gpuUtil: 64%, smActive: 16%"), false), 0.5);
  EXPECT_DOUBLE_EQ(capacity_share(measured_of("gpuBusy: 90%, smActive: 40%"), true), 0.4);
  EXPECT_DOUBLE_EQ(capacity_share(measured_of("smActive: 40%"), true), 0.4);
  EXPECT_DOUBLE_EQ(capacity_share(measured_of("smActive: 81%"), false), 0.9);
  EXPECT_DOUBLE_EQ(capacity_share(measured_of("smActive: 40%"), false), 1.4 * 0.4);
  EXPECT_DOUBLE_EQ(capacity_share(measured_of("smActive: 81%, capacityShare: 50%"), false), 0.5);
  EXPECT_DOUBLE_EQ(
      capacity_share(measured_of("gpuUtil: 90%, smActive: 40%, capacityShare: 50%"), true), 0.5);
  EXPECT_DOUBLE_EQ(capacity_share(measured_of("gpuBusy: 70%"), true), 0.7);
  const CapacityRange range = capacity_range(measured_of("gpuUtil: 90%, smActive: 40%"), true);
  EXPECT_DOUBLE_EQ(range.least, 0.4);
  EXPECT_DOUBLE_EQ(range.most, 0.75 * 0.9);  // it takes none of the GPU while no kernel runs
  EXPECT_DOUBLE_EQ(capacity_share(measured_of("gpuUtil: 90%, smActive: 60%"), true), 0.75 * 0.9);
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
                 Code::ValueRange, "between 0 and 64");
}

// A sweep may begin without faults; traffic of nothing is a mistake.
TEST(Workload, NoFaultsAtAllIsARateOfZero) {
  EXPECT_FALSE(workload_of(with_workload("faults: 0/h, work: {units: 1}, measured: {unitTime: 1s}"))
                   .faults.has_value());
  expect_problem(
      with_workload("kind: Service, traffic: {mean: 0/s}, measured: {requestGpuTime: 9ms}"),
      Code::ValueRange, "more than zero");
}

TEST(Measured, KernelsAndBatchesOfRequestsAreRead) {
  const Measured service =
      *workload_of(
           with_workload(
               "kind: Service, traffic: {mean: 1/s}, measured: {requestGpuTime: "
               "{p50: 31ms, p95: 40ms}, extraPerItem: 4ms, kernelTime: 85us, longestKernel: 12ms}"))
           .measured;
  EXPECT_EQ(service.extra_per_item, milliseconds(4));
  EXPECT_EQ(service.kernel_time, microseconds(85));
  EXPECT_EQ(service.longest_kernel, milliseconds(12));
  EXPECT_EQ(service.request_gpu_time->law, ServiceTime::Law::LogNormal);
  EXPECT_EQ(measured_of("longestKernel: 80ms").longest_kernel, milliseconds(80));
  expect_problem(with_measured("extraPerItem: 4ms"), Code::SettingConflict,
                 "extraPerItem on a Job");
}

TEST(Measured, AKernelIsNoLongerThanTheWorkThatItIsPartOf) {
  expect_problem(with_workload("kind: Service, traffic: {mean: 1/s}, measured: "
                               "{requestGpuTime: 5ms, kernelTime: 6ms}"),
                 Code::SettingConflict, "above the 5 ms for which kernels of a request run");
  expect_problem(with_measured("gpuBusy: 50%, kernelTime: 10s"), Code::SettingConflict,
                 "above the 9000 ms for which kernels of a unit run");
  EXPECT_EQ(measured_of("gpuBusy: 50%, kernelTime: 9s").kernel_time, seconds(9));
}

// ln(p95/p50) / 1.6449 and ln(p99/p50) / 2.3263 are the same sigma for the same law.
TEST(Measured, EitherUpperPercentileGivesTheSameLaw) {
  const auto law_of = [](const std::string& time) {
    return *workload_of(with_workload("kind: Service, traffic: {mean: 1/s}, measured: "
                                      "{requestGpuTime: " +
                                      time + "}"))
                .measured->request_gpu_time;
  };
  // sigma = 0.5: p95 = 10 e^0.82242681 ms, p99 = 10 e^1.16317394 ms, mean = 10 e^0.125 ms.
  const ServiceTime by_p95 = law_of("{p50: 10ms, p95: 22.760165ms}");
  const ServiceTime by_p99 = law_of("{p50: 10ms, p99: 32.000745ms}");
  EXPECT_NEAR(by_p95.sigma, 0.5, 1e-6);
  EXPECT_NEAR(by_p99.sigma, 0.5, 1e-6);
  EXPECT_NEAR(to_seconds(by_p95.mean), 0.01 * 1.1331484530668263, 1e-8);
  const auto with_time = [](const std::string& time) {
    return with_workload("kind: Service, traffic: {mean: 1/s}, measured: {requestGpuTime: " + time +
                         "}");
  };
  expect_problem(with_time("{p50: 10ms, p95: 20ms, p99: 30ms}"), Code::SettingConflict,
                 "p95 and p99");
  expect_problem(with_time("{p50: 10ms}"), Code::FieldMissing, "needs p95 or p99");
  expect_problem(with_time("{p95: 10ms}"), Code::FieldMissing, "needs p50");
  expect_problem(with_time("{p50: 10ms, p95: 10ms}"), Code::SettingConflict,
                 "p95 is not above p50");
  expect_problem(with_time("{mean: 10ms, p95: 20ms}"), Code::SettingConflict, "mean together");
}

// Pods that see the GPU without asking for it are simulated, not refused.
TEST(Workload, APodMayAskForNoGpu) {
  EXPECT_TRUE(workload_of(with_measured("gpuBusy: 38%")).pod.extended.empty());
  EXPECT_TRUE(workload_of(with_workload("work: {units: 1}, measured: {unitTime: 18s}, podTemplate: "
                                        "{resources: {limits: {cpu: 2}}, env: "
                                        "{CUDA_VISIBLE_DEVICES: \"0\"}}"))
                  .pod.extended.empty());
}

// So that as many of them as a run may hold are still a count of bytes.
TEST(Workload, NoMemoryIsMoreThanAnyMachineHas) {
  const auto with_memory = [](const std::string& memory) {
    return with_workload(
        "work: {units: 1}, measured: {unitTime: 18s}, podTemplate: {resources: {limits: {cpu: 2, "
        "memory: " +
        memory + "}}}");
  };
  EXPECT_EQ(workload_of(with_memory("64Ti")).pod.memory_request, gibibytes(65'536));
  expect_problem(with_memory("65537Gi"), Code::ValueRange, "more than any machine has");
}

}  // namespace
}  // namespace slicewise::scenarios
