#include "one_workload.hpp"

namespace slicewise::scenarios {
namespace {

const std::string kLab =
    "users: 60, length: {p50: 2h, p95: 7h}, peaksAt: [\"09:30\", 14:00], interval: {p50: 45s, "
    "p95: 12m}, gpuTime: 3s";

std::string with_notebooks(const std::string& notebooks, const std::string& more = "") {
  return with_workload("kind: Notebook, notebooks: {" + notebooks + "}" + more);
}

TEST(Notebooks, EverySettingIsRead) {
  const Workload lab =
      workload_of(with_notebooks(
          kLab + ", sessionsPerDay: 1.5, spread: 45m, utcOffset: \"+01:00\", idleCull: 1h, memory: "
                 "{p50: 1Gi, p95: 2330640Ki, least: 500Mi, most: 20Gi}"));
  EXPECT_EQ(lab.count, 60);
  EXPECT_EQ(lab.restart_policy, RestartPolicy::Always);
  const Notebooks& notebooks = *lab.notebooks;
  EXPECT_EQ(notebooks.users, 60);
  EXPECT_DOUBLE_EQ(notebooks.sessions_per_day, 1.5);
  EXPECT_EQ(notebooks.length.law, ServiceTime::Law::LogNormal);
  ASSERT_EQ(notebooks.peaks_at.size(), 2U);
  EXPECT_EQ(notebooks.peaks_at[0], minutes(570));
  EXPECT_EQ(notebooks.peaks_at[1], hours(14));
  EXPECT_EQ(notebooks.spread, minutes(45));
  EXPECT_EQ(notebooks.utc_offset, hours(1));
  EXPECT_EQ(notebooks.idle_cull, hours(1));
  EXPECT_EQ(notebooks.gpu_time.mean, seconds(3));
  EXPECT_EQ(notebooks.memory->law, RandomAmount::Law::LogNormal);
  EXPECT_EQ(notebooks.memory->least, 500 * 1'048'576);
  EXPECT_EQ(notebooks.memory->most, gibibytes(20).count);
  // A median of 1 GiB and ln(p95/p50)/1.6449 = 0.4857: the mean is e^(sigma^2/2) above it.
  EXPECT_NEAR(notebooks.memory->sigma, 0.4857, 5e-4);
  EXPECT_GT(notebooks.memory->mean, 1.1 * 1'073'741'824.0);
}

TEST(Notebooks, AbsentSettingsHaveDefaults) {
  const Notebooks notebooks = *workload_of(with_notebooks(kLab)).notebooks;
  EXPECT_EQ(notebooks.sessions_per_day, 1);
  EXPECT_EQ(notebooks.spread, hours(1));
  EXPECT_FALSE(notebooks.idle_cull || notebooks.memory);
}

TEST(Notebooks, AreWhatANotebookDoes) {
  expect_problem(with_workload("kind: Notebook"), Code::FieldMissing, "\"notebooks\" is missing");
  expect_problem(with_notebooks(kLab, ", work: {units: 1}"), Code::SettingConflict,
                 "work on a Notebook");
  expect_problem(with_notebooks(kLab, ", traffic: {mean: 1/s}"), Code::SettingConflict,
                 "traffic on a Notebook");
  expect_problem(with_notebooks(kLab, ", count: 3"), Code::SettingConflict, "count on a Notebook");
  expect_problem(with_notebooks(kLab, ", replicas: 3"), Code::SettingConflict,
                 "replicas on a Notebook");
  expect_problem(with_notebooks(kLab, ", submitAt: 3m"), Code::SettingConflict,
                 "submitAt on a Notebook");
  expect_problem(with_notebooks(kLab, ", measured: {unitTime: 3s}"), Code::SettingConflict,
                 "unitTime on a Notebook");
  expect_problem(
      with_workload("work: {units: 1}, measured: {unitTime: 1s}, notebooks: {" + kLab + "}"),
      Code::SettingConflict, "notebooks on a Job");
  expect_problem(with_notebooks(kLab + ", sessionsPerDay: 0"), Code::ValueRange, "sessionsPerDay");
  expect_problem(with_notebooks(kLab + ", memory: 8GB"), Code::UnitUnknown, "8GB");
  expect_problem(with_notebooks("users: 1, length: 1h, peaksAt: [], interval: 1m, gpuTime: 1s"),
                 Code::ValueRange, "peaksAt is empty");
}

TEST(Objectives, HaveTheUnitOfTheirFigure) {
  const auto objectives =
      workload_of(with_workload("kind: Service, measured: {requestGpuTime: 9ms}, traffic: {mean: "
                                "1/s}, slo: {latencyP999: "
                                "1s, latencyP90: 200ms, availability: 99.9%, throughput: 30/m}"))
          .objectives;
  ASSERT_EQ(objectives.size(), 4U);
  EXPECT_EQ(objectives[0].figure, Figure::LatencyP90);
  EXPECT_EQ(objectives[1].figure, Figure::LatencyP999);
  EXPECT_EQ(objectives[1].limit, FigureValue(seconds(1)));
  EXPECT_EQ(objectives[2].figure, Figure::Availability);
  EXPECT_EQ(objectives[2].limit, FigureValue(Share{0.999}));
  EXPECT_EQ(objectives[3].limit, FigureValue(Rate{0.5}));
  const auto lab =
      workload_of(
          with_notebooks(kLab,
                         ", slo: {sessionStartP95: 2m, cellSlowdownP95: 2.5, oomPerUserMonth: 0}"))
          .objectives;
  ASSERT_EQ(lab.size(), 3U);
  EXPECT_EQ(lab[1].limit, FigureValue(2.5));
  EXPECT_EQ(lab[2].limit, FigureValue(0.0));
}

TEST(Objectives, BelongToTheKindsThatHaveTheFigure) {
  const std::string job = "work: {units: 1}, measured: {unitTime: 1s}, slo: ";
  for (const char* key :
       {"latencyP50: 1s", "latencyP999: 1s", "ttftP50: 1s", "tpotP99: 1s", "availability: 99%",
        "throughput: 1/s", "sessionStartP95: 1s", "cellSlowdownP95: 2", "oomPerUserMonth: 1"}) {
    expect_problem(with_workload(job + "{" + key + "}"), Code::SettingConflict, " on a Job");
  }
  EXPECT_EQ(workload_of(with_workload(job + "{deadline: 8h, waitP95: 1m}")).objectives.size(), 2U);
  const std::string service =
      "kind: Service, measured: {requestGpuTime: 9ms}, traffic: {mean: 1/s}, slo: ";
  for (const char* key :
       {"ttftP95: 1s", "tpotP50: 1s", "deadline: 1h", "completionP95: 1h", "oomPerUserMonth: 1"}) {
    expect_problem(with_workload(service + "{" + key + "}"), Code::SettingConflict,
                   " on a Service");
  }
  for (const char* key : {"latencyP99: 1s", "waitP95: 1s", "completionP95: 1h", "ttftP99: 1s"}) {
    expect_problem(with_notebooks(kLab, std::string(", slo: {") + key + "}"), Code::SettingConflict,
                   " on a Notebook");
  }
  expect_problem(with_workload(service + "{availability: 0.999}"), Code::UnitMissing,
                 "percent sign");
}

}  // namespace
}  // namespace slicewise::scenarios
