#include <fmt/format.h>
#include <gmock/gmock.h>

#include "imported_scenario.hpp"

namespace slicewise::scenarios {
namespace {

// What `kubectl get pods -A -o json` prints of a Job's pod that is done.
constexpr std::string_view kTrain =
    R"({"kind":"Pod","metadata":{"name":"train-abc-0","namespace":"ml","uid":"u1",
 "creationTimestamp":"2024-06-10T06:13:20Z","labels":{"app":"train"},
 "ownerReferences":[{"kind":"Job","name":"train-abc"}]},
 "spec":{"nodeName":"ip-10-0-1-7.ec2.internal","priority":1000,"priorityClassName":"batch",
  "nodeSelector":{"node.kubernetes.io/instance-type":"g5.12xlarge"},
  "containers":[{"name":"main","resources":{"requests":{"cpu":"3500m","memory":"14Gi",
   "nvidia.com/gpu":"1"},"limits":{"nvidia.com/gpu":"1"}}}]},
 "status":{"phase":"Succeeded","qosClass":"Burstable","startTime":"2024-06-10T06:13:22Z",
  "conditions":[{"type":"PodScheduled","status":"True",
   "lastTransitionTime":"2024-06-10T06:13:22Z"}],
  "containerStatuses":[{"name":"main","restartCount":0,"state":{"terminated":{"exitCode":0,
   "reason":"Completed","startedAt":"2024-06-10T06:14:01Z",
   "finishedAt":"2024-06-10T08:15:31Z"}}}]}})";

std::string list(const std::string& items) {
  return R"({"apiVersion":"v1","kind":"List","items":[)" + items + "]}";
}

// A pod that ran from 06:00:05 to 07:00:05, created at 06:00:00.
std::string pod(const std::string& name, const std::string& containers,
                const std::string& metadata = "", const std::string& spec = "") {
  return fmt::format(
      R"({{"kind":"Pod","metadata":{{"name":"{0}","namespace":"ml","uid":"u-{0}",
"creationTimestamp":"2024-06-10T06:00:00Z"{2}}},"spec":{{"containers":[{1}]{3}}},
"status":{{"phase":"Succeeded","conditions":[{{"type":"PodScheduled","status":"True",
"lastTransitionTime":"2024-06-10T06:00:05Z"}}],"containerStatuses":[{{"name":"main",
"state":{{"terminated":{{"startedAt":"2024-06-10T06:00:09Z",
"finishedAt":"2024-06-10T07:00:05Z"}}}}}}]}}}})",
      name, containers, metadata, spec);
}

std::string limits(const std::string& resources) {
  return R"({"resources":{"limits":{)" + resources + "}}}";
}

ImportedJobs jobs_of_pods(const std::string& text, const ImportOptions& options = {}) {
  return imported_jobs(ImportKind::Pods, {text}, options);
}

// GPUs and thousandths of each that a pod with these containers is given.
std::pair<int, int> gpus_of(const std::string& containers, const std::string& metadata = "",
                            const ImportOptions& options = {}) {
  const ImportedJobs jobs = jobs_of_pods(list(pod("p", containers, metadata)), options);
  if (jobs.trace.size() != 1) return {-1, -1};
  return {jobs.trace.gpus[0], jobs.trace.gpu_milli[0]};
}

constexpr auto kOneWhole = std::pair(1, 1000);

TEST(ImportPods, TimesPlaceOwnerPriorityAndState) {
  const ImportedJobs jobs = jobs_of_pods(list(std::string(kTrain)));
  ASSERT_EQ(jobs.trace.size(), 1U);
  const JobTrace& trace = jobs.trace;
  EXPECT_EQ(trace.origin_unix_s, 1'718'000'000);
  EXPECT_EQ(trace.arrival[0], seconds(0));
  EXPECT_EQ(trace.observed_wait[0], seconds(2));            // until it was scheduled
  EXPECT_EQ(trace.run[0], hours(2) + seconds(2 * 60 + 9));  // from then on it held its GPU
  EXPECT_EQ(trace.gpus[0], 1);
  EXPECT_EQ(trace.gpu_milli[0], 1000);
  EXPECT_EQ(trace.cpu_milli[0], 3500);
  EXPECT_EQ(trace.memory[0], gibibytes(14));
  EXPECT_EQ(trace.priority[0], 1000);
  EXPECT_EQ(trace.state[0], JobState::Completed);
  EXPECT_EQ(trace.name(trace.id, 0), "ml/train-abc-0");
  EXPECT_EQ(trace.name(trace.group, 0), "ml");
  EXPECT_EQ(trace.name(trace.work, 0), "Job/train-abc");
  EXPECT_EQ(trace.name(trace.resource, 0), "nvidia.com/gpu");
  EXPECT_EQ(trace.name(trace.instance_type, 0), "g5.12xlarge");
  EXPECT_FALSE(trace.run_under_sharing);
}

TEST(ImportPods, SaysThatDeletedPodsAreMissing) {
  const ImportedJobs jobs = jobs_of_pods(list(std::string(kTrain)));
  EXPECT_TRUE(jobs.says("deleted ones are missing"));
  EXPECT_TRUE(jobs.says("from the scheduling"));
  EXPECT_EQ(jobs.log.read, 1);
  EXPECT_EQ(jobs.log.imported, 1);
}

TEST(ImportPods, OnePodAListOfTheApiAndJoinedFilesAreAllRead) {
  const std::string one(kTrain);
  EXPECT_EQ(jobs_of_pods(one).trace.size(), 1U);
  std::string bare = one;
  bare.replace(bare.find(R"("kind":"Pod",)"), 13, "");
  EXPECT_EQ(jobs_of_pods(R"({"kind":"PodList","items":[)" + bare + "]}").trace.size(), 1U);
  EXPECT_EQ(jobs_of_pods("[" + one + "]").trace.size(), 1U);
  EXPECT_EQ(jobs_of_pods(list(one) + "\n" + list(pod("other", limits(R"("nvidia.com/gpu":2)"))))
                .trace.size(),
            2U);
}

TEST(ImportPods, ThoseWithoutAGpuAreCounted) {
  const ImportedJobs jobs =
      jobs_of_pods(list(std::string(kTrain) + "," + pod("web", limits(R"("cpu":"1")")) + "," +
                        pod("none", "{}") + "," + pod("amd", limits(R"("amd.com/gpu":"1")"))));
  EXPECT_EQ(jobs.trace.size(), 1U);
  EXPECT_EQ(jobs.count("pods without a GPU"), 2);
  EXPECT_EQ(jobs.count("accelerators that are not read: amd.com/gpu"), 1);
  EXPECT_EQ(jobs.log.read, 4);
}

TEST(ImportPods, ContainersAddUpInitContainersComeBefore) {
  const std::string one = limits(R"("nvidia.com/gpu":"1")");
  EXPECT_EQ(gpus_of(one + "," + one), std::pair(2, 1000));  // both are asked for
  const auto with_init = [&](const std::string& init) {
    const ImportedJobs jobs =
        jobs_of_pods(list(pod("p", one, "", R"(,"initContainers":[)" + init + "]")));
    return jobs.trace.gpus[0];
  };
  EXPECT_EQ(with_init(limits(R"("nvidia.com/gpu":"4")")), 4);
  EXPECT_EQ(with_init(one), 1);
  // A sidecar stays beside the containers.
  EXPECT_EQ(with_init(R"({"restartPolicy":"Always",)" + one.substr(1)), 2);
}

TEST(ImportPods, FractionsByResourceName) {
  EXPECT_EQ(gpus_of(limits(R"("nvidia.com/gpu":"2")")), std::pair(2, 1000));
  EXPECT_EQ(gpus_of(limits(R"("nvidia.com/mig-1g.5gb":"1")")), std::pair(1, 142));
  EXPECT_EQ(gpus_of(limits(R"("nvidia.com/mig-3g.20gb":"2")")), std::pair(2, 428));
  EXPECT_EQ(gpus_of(limits(R"("nvidia.com/mig-1g.6gb":"1")")), std::pair(1, 250));   // A30
  EXPECT_EQ(gpus_of(limits(R"("nvidia.com/mig-2g.48gb":"1")")), std::pair(1, 500));  // RTX PRO 6000
  // Instances do not feel each other.
  EXPECT_FALSE(jobs_of_pods(list(pod("p", limits(R"("nvidia.com/mig-1g.5gb":"1")"))))
                   .trace.run_under_sharing);
  EXPECT_EQ(gpus_of(limits(R"("k8s.amazonaws.com/vgpu":"3")")), std::pair(1, 300));
  EXPECT_EQ(gpus_of(limits(R"("nvidia.com/gpu":"1","nvidia.com/gpucores":"30")")),
            std::pair(1, 300));  // HAMi
}

TEST(ImportPods, FractionsByAnnotation) {
  const auto annotated = [](const std::string& annotations) {
    return gpus_of("{}", R"(,"annotations":{)" + annotations + "}");
  };
  EXPECT_EQ(annotated(R"("gpu-fraction":"0.5")"), std::pair(1, 500));
  EXPECT_EQ(annotated(R"("gpu-fraction":"0.25","gpu-fraction-num-devices":"2")"),
            std::pair(2, 250));
  EXPECT_EQ(annotated(R"("alibabacloud.com/gpu-milli":"470","alibabacloud.com/gpu-count":"1")"),
            std::pair(1, 470));
  // What KAI's admission refuses, whatever quantity Kubernetes would make of it.
  for (const char* refused : {"1", "500m", "0", "5e-1", "half"}) {
    const ImportedJobs jobs = jobs_of_pods(
        list(pod("p", "{}", std::string(R"(,"annotations":{"gpu-fraction":")") + refused + "\"}")));
    ASSERT_FALSE(jobs.errors.empty()) << refused;
    EXPECT_NE(jobs.errors.front().message.find("smaller than 1.0"), std::string::npos) << refused;
  }
  const ImportedJobs memory =
      jobs_of_pods(list(pod("p", "{}", R"(,"annotations":{"gpu-memory":"2000"})")));
  EXPECT_EQ(memory.trace.gpu_memory[0], mebibytes(2000));
  EXPECT_EQ(memory.count("GPU memory alone"), 1);
}

TEST(ImportPods, MemoryInTheNameOfAResource) {
  const auto memory = [](const std::string& resources) {
    const ImportedJobs jobs = jobs_of_pods(list(pod("p", limits(resources))));
    return jobs.trace.gpu_memory.empty() ? kUnknownNumber : jobs.trace.gpu_memory[0].count;
  };
  // At most what the slice has, of which the name says no more than a round number.
  EXPECT_EQ(memory(R"("nvidia.com/mig-1g.5gb":"1")"), kUnknownNumber);
  EXPECT_EQ(memory(R"("nvidia.com/gpu-10gb":"1")"), 10'000'000'000);
  EXPECT_EQ(memory(R"("nvidia.com/gpu":"1","nvidia.com/gpumem":"3000")"), mebibytes(3000).count);
  EXPECT_EQ(memory(R"("nvidia.com/gpu":"1")"), kUnknownNumber);
}

TEST(ImportPods, ASharedResourceCountsReplicas) {
  const std::string shared = limits(R"("nvidia.com/gpu.shared":"1")");
  ImportOptions four;
  four.replicas = 4;
  EXPECT_EQ(gpus_of(shared, "", four), std::pair(1, 250));
  EXPECT_EQ(gpus_of(limits(R"("nvidia.com/gpu":"1")"), "", four), std::pair(1, 250));
  EXPECT_EQ(gpus_of(limits(R"("nvidia.com/mig-1g.10gb.shared":"1")"), "", four), std::pair(1, 35));
  EXPECT_EQ(gpus_of(shared), kOneWhole);
  EXPECT_EQ(
      jobs_of_pods(list(pod("p", shared))).count("give the plugin's replicas with --replicas"), 1);
  // Renamed replicas: nvidia.com/gpu is then a whole GPU of another node.
  const ImportedJobs both = jobs_of_pods(
      list(pod("a", shared) + "," + pod("b", limits(R"("nvidia.com/gpu":"1")"))), four);
  EXPECT_EQ(both.trace.gpu_milli[0], 250);
  EXPECT_EQ(both.trace.gpu_milli[1], 1000);
  EXPECT_TRUE(both.trace.run_under_sharing);
}

// What `check` and `import k8s` read of a pod counts here, too.
TEST(ImportPods, TheSandboxAndThePodAsAWholeAskForCpuAndMemory) {
  const auto reserved = [](const std::string& spec) {
    const ImportedJobs jobs =
        jobs_of_pods(list(pod("p",
                              R"({"resources":{"requests":{"cpu":"1","memory":"1Gi"},
"limits":{"nvidia.com/gpu":"1"}}})",
                              "", spec)));
    return std::pair(jobs.trace.cpu_milli[0], jobs.trace.memory[0].count / 1'048'576);
  };
  EXPECT_EQ(reserved(""), std::pair(1000, 1024L));
  EXPECT_EQ(reserved(R"(,"overhead":{"cpu":"250m","memory":"120Mi"})"), std::pair(1250, 1144L));
  EXPECT_EQ(reserved(R"(,"resources":{"requests":{"cpu":"3"}})"), std::pair(3000, 1024L));
}

TEST(ImportPods, NodesSayTheirReplicasAndTheirType) {
  const std::string node = R"({"kind":"Node","metadata":{"name":"n1","labels":{
"node.kubernetes.io/instance-type":"g4dn.xlarge","nvidia.com/gpu.replicas":"4"}}})";
  const std::string items =
      pod("p", limits(R"("nvidia.com/gpu":"1")"), "", R"(,"nodeName":"n1")") + "," + node;
  const ImportedJobs jobs = jobs_of_pods(list(items));
  EXPECT_EQ(jobs.trace.gpu_milli[0], 250);
  EXPECT_EQ(jobs.trace.name(jobs.trace.instance_type, 0), "g4dn.xlarge");
}

TEST(ImportPods, ThoseThatRunOrWaitHaveNoRunTime) {
  std::string running(kTrain);
  running.replace(running.find("Succeeded"), 9, "Running");
  running.replace(running.find(R"("terminated")"), 12, R"("running")");
  const ImportedJobs jobs = jobs_of_pods(list(
      running + "," +
      R"({"kind":"Pod","metadata":{"name":"w","uid":"w","creationTimestamp":"2024-06-10T06:00:00Z"},
"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]},
"status":{"phase":"Pending"}})"));
  ASSERT_EQ(jobs.trace.size(), 2U);
  EXPECT_EQ(jobs.trace.name(jobs.trace.id, 0), "default/w");
  EXPECT_EQ(jobs.trace.state[0], JobState::Pending);
  EXPECT_EQ(jobs.trace.observed_wait[0], kUnknownDuration);
  EXPECT_EQ(jobs.trace.state[1], JobState::Running);
  EXPECT_EQ(jobs.trace.run[1], kUnknownDuration);
  EXPECT_EQ(jobs.trace.observed_wait[1], seconds(2));
  EXPECT_EQ(jobs.count("were still running"), 1);
  EXPECT_EQ(jobs.count("never scheduled"), 1);
}

TEST(ImportPods, RestartsKeepTheLastStateAlone) {
  std::string restarted(kTrain);
  restarted.replace(restarted.find(R"("restartCount":0)"), 16,
                    R"("restartCount":3,"lastState":{"terminated":{
"startedAt":"2024-06-10T06:13:30Z","finishedAt":"2024-06-10T09:00:00Z"}})");
  const ImportedJobs jobs = jobs_of_pods(list(restarted));
  EXPECT_EQ(jobs.count("were restarted"), 1);
  EXPECT_EQ(jobs.trace.run[0], hours(2) + seconds(2 * 60 + 9));  // lastState ends nothing
}

TEST(ImportPods, WhatEndedAPod) {
  const auto state = [](const std::string& status) {
    std::string failed(kTrain);
    failed.replace(failed.find(R"("phase":"Succeeded")"), 19, status);
    return jobs_of_pods(failed).trace.state[0];
  };
  EXPECT_EQ(state(R"("phase":"Failed")"), JobState::Failed);
  EXPECT_EQ(state(R"("phase":"Failed","reason":"Evicted")"), JobState::Cancelled);
  EXPECT_EQ(state(R"("phase":"Failed","reason":"DeadlineExceeded")"), JobState::TimedOut);
}

TEST(ImportPods, ControllersAreThoseThatPeopleWrote) {
  const auto work = [](const std::string& metadata) {
    const ImportedJobs jobs =
        jobs_of_pods(list(pod("p", limits(R"("nvidia.com/gpu":"1")"), metadata)));
    return std::string(jobs.trace.name(jobs.trace.work, 0));
  };
  EXPECT_EQ(work(R"(,"labels":{"pod-template-hash":"5d9c6"},
"ownerReferences":[{"kind":"ReplicaSet","name":"asr-5d9c6"}])"),
            "Deployment/asr");
  EXPECT_EQ(work(R"(,"ownerReferences":[{"kind":"Job","name":"nightly-28712345"}])"),
            "CronJob/nightly");
  EXPECT_EQ(work(R"(,"ownerReferences":[{"kind":"StatefulSet","name":"db"}])"), "StatefulSet/db");
  EXPECT_EQ(work(R"(,"labels":{"serving.knative.dev/service":"svc","pod-template-hash":"7f"},
"ownerReferences":[{"kind":"Revision","name":"svc-00001"}])"),
            "Service/svc");
  EXPECT_EQ(work(""), "");
}

TEST(ImportPods, NamesComeAgainUidsDoNot) {
  const std::string one = pod("db-0", limits(R"("nvidia.com/gpu":"1")"));
  std::string other = one;
  other.replace(other.find("u-db-0"), 6, "u-new");
  EXPECT_EQ(jobs_of_pods(list(one + "," + other)).trace.size(), 2U);
  const ImportedJobs twice = jobs_of_pods(list(one + "," + one));
  EXPECT_EQ(twice.trace.size(), 1U);
  EXPECT_EQ(twice.count("listed more than once"), 1);
}

TEST(ImportPods, EventsFillInWhatPodsDoNotSay) {
  const std::string pending =
      R"({"kind":"Pod","metadata":{"name":"p","namespace":"ml","uid":"u1",
"creationTimestamp":"2024-06-10T06:00:00Z"},"spec":{"containers":[{"resources":{"limits":
{"nvidia.com/gpu":"1"}}}]},"status":{"phase":"Failed"}})";
  const auto event = [](const std::string& uid, const std::string& reason,
                        const std::string& times) {
    return fmt::format(R"({{"kind":"Event","involvedObject":{{"kind":"Pod","uid":"{}"}},
"reason":"{}",{}}})",
                       uid, reason, times);
  };
  // The new style has eventTime; its firstTimestamp is null.
  const std::string events =
      list(event("u1", "Scheduled",
                 R"("firstTimestamp":null,"eventTime":"2024-06-10T06:00:07.500000Z")") +
           "," + event("u1", "FailedScheduling", R"("firstTimestamp":"2024-06-10T06:00:01Z")") +
           "," + event("u1", "Killing", R"("lastTimestamp":"2024-06-10T06:10:07Z")") + "," +
           event("u1", "Preempted", R"("lastTimestamp":"2024-06-10T06:10:07Z")") + "," +
           event("gone", "Scheduled", R"("firstTimestamp":"2024-06-10T06:00:01Z")"));
  const ImportedJobs jobs = imported_jobs(ImportKind::Pods, {pending, events});
  ASSERT_EQ(jobs.trace.size(), 1U);
  EXPECT_EQ(jobs.trace.observed_wait[0], milliseconds(7'500));
  EXPECT_EQ(jobs.trace.run[0], minutes(10) - milliseconds(500));
  EXPECT_EQ(jobs.count("FailedScheduling"), 1);
  EXPECT_EQ(jobs.count("preempted"), 1);
  EXPECT_EQ(jobs.count("known from events alone: what they asked for"), 1);
}

TEST(ImportPods, HowOftenAPodComesBackIsSaidByItsJob) {
  const std::string gpu = limits(R"("nvidia.com/gpu":"1")");
  const std::string of_job = R"(,"ownerReferences":[{"kind":"Job","name":"train"}])";
  const std::string jobs_listed =
      R"({"kind":"Job","metadata":{"name":"train","namespace":"ml"},"spec":{"backoffLimit":3}})"
      R"(,{"kind":"Job","metadata":{"name":"train","namespace":"hr"},"spec":{"backoffLimit":9}})";
  const ImportedJobs jobs = jobs_of_pods(list(pod("a", gpu, of_job) + "," +
                                              pod("b", gpu, "", R"(,"restartPolicy":"Never")") +
                                              "," + pod("c", gpu) + "," + jobs_listed));
  EXPECT_THAT(jobs.trace.backoff_limit.owned, testing::ElementsAre(3, 0, kUnknownNumber));
  EXPECT_EQ(jobs.count("objects of kind Job"), 0);
  EXPECT_TRUE(jobs_of_pods(list(pod("a", gpu, of_job))).trace.backoff_limit.empty());
}

TEST(ImportPods, OtherObjectsAreNamed) {
  const ImportedJobs jobs =
      jobs_of_pods(list(std::string(kTrain) + R"(,{"kind":"Service","metadata":{}})"));
  EXPECT_EQ(jobs.count("objects of kind Service"), 1);
}

TEST(ImportPods, BadPodsAreShownWithTheirPlace) {
  const std::string good(kTrain);
  std::string bad = good;
  bad.replace(bad.find("2024-06-10T06:13:20Z"), 20, "yesterday");
  const ImportedJobs failed = jobs_of_pods(list(good + ",\n" + bad));
  ASSERT_EQ(failed.errors.size(), 1U);
  EXPECT_EQ(failed.errors[0].code, Code::TraceRow);
  EXPECT_EQ(failed.errors[0].where.line, 15);
  ImportOptions skip;
  skip.skip_bad = true;
  const ImportedJobs skipped = jobs_of_pods(list(good + "," + bad), skip);
  EXPECT_EQ(skipped.trace.size(), 1U);
  EXPECT_EQ(skipped.count("cannot be read"), 1);
  const ImportedJobs half = jobs_of_pods(list(pod("p", limits(R"("nvidia.com/gpu":"0.5")"))));
  ASSERT_EQ(half.errors.size(), 1U);
  EXPECT_NE(half.errors[0].message.find("0.5 nvidia.com/gpu"), std::string::npos);
  const ImportedJobs both = jobs_of_pods(list(pod(
      "p",
      R"({"resources":{"requests":{"nvidia.com/gpu":"0.5"},"limits":{"nvidia.com/gpu":"1"}}})")));
  ASSERT_EQ(both.errors.size(), 1U);
  EXPECT_EQ(both.errors[0].code, Code::TraceRow);
}

TEST(ImportPods, ManifestsAndOtherTextsAreRefused) {
  const ImportedJobs manifest = jobs_of_pods(R"({"kind":"Pod","metadata":{"name":"p"},"spec":{}})");
  ASSERT_EQ(manifest.errors.size(), 1U);
  EXPECT_NE(manifest.errors[0].help.find("import k8s"), std::string::npos);
  EXPECT_EQ(jobs_of_pods("kind: Pod\n").errors.at(0).code, Code::TraceFormat);
  EXPECT_EQ(jobs_of_pods("").errors.at(0).code, Code::TraceFormat);
  EXPECT_EQ(jobs_of_pods(R"({"kind":"List","items":[]})").errors.at(0).code, Code::TraceFormat);
  EXPECT_EQ(jobs_of_pods(std::string(200'000, '[')).errors.at(0).code, Code::TraceFormat);
}

TEST(PodScenario, PodsOfOneControllerAreAWorkload) {
  const auto pod = [](const std::string& name, const std::string& owner, const std::string& phase) {
    return R"({"kind":"Pod","metadata":{"name":")" + name + R"(","namespace":"ml","uid":")" + name +
           R"(","creationTimestamp":"2024-06-10T06:00:00Z","ownerReferences":[)" + owner +
           R"(]},"spec":{"nodeSelector":{"node.kubernetes.io/instance-type":"g4dn.xlarge"},
"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]},"status":{"phase":")" +
           phase +
           R"(","conditions":[{"type":"PodScheduled","status":"True",
"lastTransitionTime":"2024-06-10T06:00:05Z"}],"containerStatuses":[{"state":{"terminated":{
"finishedAt":"2024-06-10T06:01:45Z"}}}]}})";
  };
  const std::string set = R"({"kind":"StatefulSet","name":"db"})";
  const Written result =
      written(ImportKind::Pods,
              {pod("db-0", set, "Succeeded") + pod("db-1", set, "Succeeded") +
               pod("a", R"({"kind":"Job","name":"train"})", "Succeeded") +
               pod("b", R"({"kind":"Job","name":"train"})", "Failed") + pod("c", "", "Succeeded")});
  ASSERT_EQ(result.scenario.workloads.size(), 3U);
  EXPECT_EQ(result.scenario.workloads[0].kind, WorkloadKind::Service);
  EXPECT_EQ(result.scenario.workloads[0].count, 2);
  EXPECT_EQ(result.scenario.workloads[1].kind, WorkloadKind::Job);
  EXPECT_EQ(result.scenario.workloads[1].count, 2);
  EXPECT_NE(result.yaml.find("unitTime: 1000000us"), std::string::npos);  // 100 units in 100 s
  EXPECT_NE(result.yaml.find("instanceType: \"g4dn.xlarge\"\n"), std::string::npos);
}

}  // namespace
}  // namespace slicewise::scenarios
