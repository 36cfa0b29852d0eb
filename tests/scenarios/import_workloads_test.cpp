#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"

#include "imported_scenario.hpp"

// What an object that makes pods does becomes a workload.
namespace slicewise::scenarios {
namespace {

TEST(ImportK8s, ACronJobKeepsItsSchedule) {
  const auto imported = [](const std::string& spec) {
    return written(ImportKind::K8s,
                   {"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\n"
                    "spec: {" +
                    spec +
                    ", jobTemplate: {spec: {template: {spec: "
                    "{containers: [{name: c, image: c, resources: {limits: "
                    "{nvidia.com/gpu: 1}}}]}}}}}\n"});
  };
  const Written weekly = imported(
      "schedule: \"30 2 * * 6\", timeZone: Etc/GMT-1, "
      "concurrencyPolicy: Forbid, startingDeadlineSeconds: 600");
  ASSERT_EQ(weekly.scenario.workloads.size(), 1U);
  ASSERT_TRUE(weekly.scenario.workloads[0].schedule);
  const Schedule& schedule = *weekly.scenario.workloads[0].schedule;
  EXPECT_EQ(schedule.runs, std::vector{hours(5 * 24 + 1) + minutes(30)});
  EXPECT_EQ(schedule.concurrency, Schedule::Concurrency::Forbid);
  EXPECT_EQ(schedule.starting_deadline, minutes(10));
  EXPECT_EQ(weekly.scenario.duration, hours(7 * 24));
  const Written there = imported("schedule: \"30 2 * * *\", timeZone: Europe/Berlin");
  EXPECT_EQ(there.said.count("CronJobs: Europe/Berlin is as far from UTC"), 1);
  EXPECT_EQ(there.scenario.duration, hours(24));
  ASSERT_TRUE(there.scenario.workloads[0].schedule);
  EXPECT_EQ(there.scenario.workloads[0].schedule->runs, std::vector{hours(1) + minutes(30)});
  EXPECT_EQ(there.scenario.workloads[0].schedule->time_zone, "Europe/Berlin");
}

// The patch of the one container asked for what all of them do, above that one's limit.
TEST(ImportK8s, ContainersThatCountBesideTheOneAreNamed) {
  const Written made = written(ImportKind::K8s, {R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  template:
    spec:
      initContainers:
      - {name: proxy, image: p, restartPolicy: Always, resources: {requests: {memory: 256Mi}}}
      - {name: chown, image: p}
      containers:
      - {name: app, image: a, resources: {requests: {memory: 6G}, limits: {memory: 6G, nvidia.com/gpu: 1}}}
)"});
  ASSERT_NE(made.find("app"), nullptr) << made.yaml;
  EXPECT_EQ(made.find("app")->manifest.containers, (std::vector<std::string>{"app", "proxy"}));
  EXPECT_EQ(made.find("app")->pod.memory_request.count, 6'000'000'000 + mebibytes(256).count);
}

// It came back as the limit of the whole Job, and as 6 where that is not given.
TEST(ImportK8s, AJobHasTheLimitOfItsIndexes) {
  const Written made = written(ImportKind::K8s, {R"(
apiVersion: batch/v1
kind: Job
metadata: {name: sweep}
spec:
  completions: 4
  parallelism: 4
  completionMode: Indexed
  backoffLimitPerIndex: 1
  maxFailedIndexes: 3
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}
)"});
  ASSERT_NE(made.find("sweep"), nullptr) << made.yaml;
  EXPECT_EQ(made.find("sweep")->backoff_limit, 1);
  EXPECT_TRUE(made.said.says("not simulated: maxFailedIndexes"));
}

// `check` says so of the same command; requests of an unknown model stay a guess.
TEST(ImportK8s, MemoryThatVllmReservesIsKeptOfModelsThatNobodyKnows) {
  ImportOptions options;
  options.instances = {{"g4dn.xlarge", "t4", 1, {}, {}, gibibytes(15), gibibytes(1)}};
  const std::string deployment = R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vllm}
spec:
  template:
    spec:
      nodeSelector: {node.kubernetes.io/instance-type: g4dn.xlarge}
      containers:
      - {name: v, image: vllm/vllm-openai:v0.8.5, args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--gpu-memory-utilization=0.80"],
         resources: {limits: {nvidia.com/gpu: 1}}}
)";
  const Written made = written(ImportKind::K8s, {deployment}, options);
  ASSERT_NE(made.find("vllm"), nullptr) << made.yaml;
  EXPECT_EQ(made.find("vllm")->gpu_memory.resident, gibibytes(11)) << made.yaml;
  EXPECT_EQ(made.find("vllm")->manifest.kind, "StatefulSet");
  EXPECT_EQ(made.find("vllm")->manifest.containers, std::vector<std::string>{"v"});
}

TEST(ImportK8s, WhatIsScaledToNoPodIsLeftOut) {
  const std::string deployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: COUNT
  template: {spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}
)";
  const auto with = [&](const std::string& name, const std::string& count) {
    std::string text = deployment;
    text.replace(text.find("NAME"), 4, name);
    return text.replace(text.find("COUNT"), 5, count);
  };
  const Written made = written(ImportKind::K8s, {with("up", "1"), with("down", "0")});
  EXPECT_NE(made.find("up"), nullptr) << made.yaml;
  EXPECT_EQ(made.find("down"), nullptr) << made.yaml;
  EXPECT_EQ(made.said.count("objects scaled to no pod (Deployment)"), 1);
}

// Nothing of a scenario offers them: left in, no node would have room for the pods.
TEST(ImportK8s, DevicesOfOtherPluginsAreNamedAndLeftOut) {
  std::string job(kJob);
  const std::string gpu = "nvidia.com/gpu: \"1\"";
  job.replace(job.find(gpu), gpu.size(), gpu + ", vpc.amazonaws.com/efa: 1");
  const Written made = written(ImportKind::K8s, {job});
  ASSERT_NE(made.find("train"), nullptr) << made.yaml;
  EXPECT_EQ(made.find("train")->pod.extended.size(), 1U);
  EXPECT_EQ(made.said.count("sets of pods with devices of other plugins, which are left out: "
                            "vpc.amazonaws.com/efa"),
            1);
}

}  // namespace
}  // namespace slicewise::scenarios
