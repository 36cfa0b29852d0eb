#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "objects_read.hpp"

// Autoscalers and priorities of others' pods, as `import k8s` reads them.
namespace slicewise::scenarios {
namespace {

TEST(ImportObjects, AutoscalersOfOtherObjectsAreTheWorkloads) {
  const ObjectsRead hpa = objects_read(kScaledDeployment + R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: d}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}
  minReplicas: 2
  maxReplicas: 8
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}
  - {type: Pods, pods: {metric: {name: requests_per_second}, target: {type: AverageValue, averageValue: "12"}}}
  behavior: {scaleDown: {stabilizationWindowSeconds: 120}}
)");
  ASSERT_TRUE(hpa.find("d") && hpa.find("d")->autoscaling);
  const Autoscaling& by_rate = *hpa.find("d")->autoscaling;
  EXPECT_EQ(by_rate.min_replicas, 2);
  EXPECT_EQ(by_rate.max_replicas, 8);
  EXPECT_EQ(by_rate.start_replicas, 3);
  EXPECT_EQ(by_rate.metric, Autoscaling::Metric::RequestRate);
  EXPECT_DOUBLE_EQ(by_rate.target, 12);
  EXPECT_EQ(by_rate.scale_down_window, seconds(120));
  const ObjectsRead keda = objects_read(kScaledDeployment + R"(
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: d}
spec:
  scaleTargetRef: {name: d}
  pollingInterval: 10
  cooldownPeriod: 90
  maxReplicaCount: 6
  triggers:
  - type: prometheus
    metadata: {serverAddress: "http://p:9090", threshold: "5", query: 'sum(vllm:num_requests_waiting{pod=~"d-.*"})'}
)");
  ASSERT_TRUE(keda.find("d") && keda.find("d")->autoscaling);
  const Autoscaling& by_queue = *keda.find("d")->autoscaling;
  EXPECT_EQ(by_queue.min_replicas, 0);
  EXPECT_EQ(by_queue.max_replicas, 6);
  EXPECT_EQ(by_queue.metric, Autoscaling::Metric::Queue);
  EXPECT_DOUBLE_EQ(by_queue.target, 5);
  EXPECT_EQ(by_queue.sync_period, seconds(10));
  EXPECT_EQ(by_queue.cooldown, seconds(90));
  // With a pod or more it is the HPA that KEDA makes that looks.
  const ObjectsRead awake = objects_read(kScaledDeployment + R"(
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: d}
spec:
  scaleTargetRef: {name: d}
  pollingInterval: 60
  minReplicaCount: 1
  triggers: [{type: prometheus, metadata: {serverAddress: "http://p:9090", threshold: "5", query: vllm:num_requests_waiting}}]
)");
  ASSERT_TRUE(awake.find("d") && awake.find("d")->autoscaling);
  EXPECT_EQ(awake.find("d")->autoscaling->sync_period, seconds(15));
}

// It got Knative's autoscaler by concurrency, which is not there without Knative.
TEST(ImportObjects, KServeWithoutKnativeHasAnHpaOnCpu) {
  const auto served = [](const std::string& mode) {
    return objects_read(
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: f" +
        (mode.empty() ? "" : ", annotations: {serving.kserve.io/deploymentMode: " + mode + "}") +
        "}\nspec: {predictor: {minReplicas: 1, maxReplicas: 3, model: {modelFormat: {name: onnx}, "
        "resources: {limits: {nvidia.com/gpu: 1}}}}}\n");
  };
  for (const char* mode : {"RawDeployment", "Standard"}) {
    const ObjectsRead raw = served(mode);
    ASSERT_EQ(workload_lines(raw), WorkloadLines{"f-predictor Service 1"}) << mode;
    EXPECT_FALSE(raw.scenario.workloads.front().autoscaling) << mode;
    EXPECT_EQ(raw.said.count("autoscalers by what is not simulated (cpu)"), 1) << mode;
  }
  EXPECT_TRUE(served("Serverless").scenario.workloads.front().autoscaling);
  EXPECT_EQ(served("Serverless").said.count("taken to have Knative's autoscaler"), 0);
  EXPECT_TRUE(served("").scenario.workloads.front().autoscaling);
  EXPECT_EQ(served("").said.count("taken to have Knative's autoscaler"), 1);
}

// Exports patched the number of pods that it had found.
TEST(ImportObjects, AnAutoscalerThatIsNotSimulatedIsNamedAllTheSame) {
  const ObjectsRead read = objects_read(kScaledDeployment + R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: by-cpu}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}
  maxReplicas: 8
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
)");
  ASSERT_TRUE(read.find("d"));
  EXPECT_FALSE(read.find("d")->autoscaling);
  EXPECT_EQ(read.find("d")->manifest.scaled_by, "HorizontalPodAutoscaler/by-cpu");
}

// A bundle wrote a second one beside it, which KEDA refuses.
TEST(ImportObjects, AScaledObjectThatLetsOthersIsWhatScales) {
  for (const char* annotation : {"scaledobject.keda.sh/transfer-hpa-ownership: \"true\"",
                                 "validations.keda.sh/hpa-ownership: \"false\""}) {
    const ObjectsRead read = objects_read(kScaledDeployment + R"(
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: d-scaler, annotations: {)" +
                                          annotation + R"(}}
spec:
  scaleTargetRef: {name: d}
  triggers: [{type: prometheus, metadata: {threshold: "5", query: vllm:num_requests_waiting}}]
)");
    ASSERT_TRUE(read.find("d")) << annotation;
    EXPECT_EQ(read.find("d")->manifest.scaled_by, "ScaledObject/d-scaler") << annotation;
  }
}

std::string scaled_object(const std::string& triggers, const std::string& fewest = "0") {
  return kScaledDeployment + R"(
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: d}
spec:
  scaleTargetRef: {name: d}
  minReplicaCount: )" +
         fewest + "\n  maxReplicaCount: 6\n  triggers:\n" + triggers;
}

const std::string kOffice =
    R"(  - {type: cron, metadata: {timezone: Europe/Berlin, start: "0 7 * * 1-5", end: "0 20 * * 1-5", desiredReplicas: "8"}}
)";
const std::string kByQueue =
    R"(  - {type: prometheus, metadata: {serverAddress: "http://p", threshold: "5", query: vllm:num_requests_waiting}}
)";
const std::string kByCpu = R"(  - {type: cpu, metadata: {value: "60"}}
)";

// Triggers of type cron are the schedule. KEDA goes no further than the ScaledObject's most.
TEST(ImportObjects, CronTriggersAreTheSchedule) {
  const ObjectsRead alone = objects_read(scaled_object(kOffice));
  ASSERT_EQ(alone.problems.size(), 1U);
  EXPECT_EQ(alone.problems.front().message,
            "desiredReplicas 8 is above maxReplicaCount 6: no more are made");
  ASSERT_TRUE(alone.find("d") && alone.find("d")->autoscaling);
  const Autoscaling& scaling = *alone.find("d")->autoscaling;
  EXPECT_FALSE(scaling.has_metric());
  EXPECT_EQ(alone.scenario.duration, hours(24));
  EXPECT_FALSE(scaling.start_replicas) << "the replicas of the file are those of another hour";
  ASSERT_EQ(scaling.schedule.size(), 1U);
  EXPECT_EQ(scaling.schedule.front().start.text, "0 7 * * 1-5");
  EXPECT_EQ(scaling.schedule.front().end.text, "0 20 * * 1-5");
  EXPECT_EQ(scaling.schedule.front().time_zone, "Europe/Berlin");
  EXPECT_EQ(scaling.schedule.front().replicas, 6);
  EXPECT_EQ(alone.said.count("ScaledObjects: Europe/Berlin is as far from UTC all the run as in "
                             "January, its clocks change"),
            1);
  const ObjectsRead both = objects_read(scaled_object(kOffice + kByQueue, "1"));
  ASSERT_TRUE(both.find("d") && both.find("d")->autoscaling);
  EXPECT_EQ(both.find("d")->autoscaling->metric, Autoscaling::Metric::Queue);
  EXPECT_TRUE(both.find("d")->autoscaling->has_metric());
  EXPECT_EQ(both.find("d")->autoscaling->schedule.size(), 1U);
  EXPECT_EQ(both.said.count("not simulated: autoscalers by several metrics: the first that is "
                            "simulated decides"),
            0);
  const ObjectsRead cpu = objects_read(scaled_object(kOffice + kByCpu, "1"));
  ASSERT_TRUE(cpu.find("d") && cpu.find("d")->autoscaling);
  EXPECT_FALSE(cpu.find("d")->autoscaling->has_metric());
  EXPECT_EQ(cpu.said.count("what is not simulated beside a schedule (cpu): the schedule alone "
                           "decides"),
            1);
}

TEST(ImportObjects, CronTriggersThatKedaRefusesAreSaid) {
  const auto problem = [](const std::string& metadata) {
    const Diagnostics found =
        objects_read(scaled_object("  - {type: cron, metadata: {" + metadata + "}}\n")).problems;
    return found.size() == 1 ? found.front().message : std::to_string(found.size()) + " problems";
  };
  EXPECT_EQ(problem(R"(start: "0 7 * * *", end: "0 8 * * *", desiredReplicas: "2")"),
            "the cron trigger has no timezone");
  EXPECT_EQ(
      problem(R"(timezone: Berlin, start: "0 7 * * *", end: "0 8 * * *", desiredReplicas: "2")"),
      "unknown time zone \"Berlin\"");
  EXPECT_EQ(
      problem(R"(timezone: UTC, start: "0 25 * * *", end: "0 8 * * *", desiredReplicas: "2")"),
      "\"25\" is no hour, which is from 0 to 23");
  EXPECT_EQ(problem(R"(timezone: UTC, start: "0 7 * * *", end: "0 7 * * *", desiredReplicas: "2")"),
            "start and end of the cron trigger are the same");
  EXPECT_EQ(problem(R"(timezone: UTC, start: "@daily", end: "0 8 * * *", desiredReplicas: "2")"),
            "KEDA does not know \"@daily\"");
  EXPECT_EQ(problem(R"(timezone: UTC, start: "0 7 * * *", end: "0 8 * * *", desiredReplicas: "x")"),
            "desiredReplicas is \"x\", not a whole number");
}

// KEDA takes them; a scenario has no such windows.
TEST(ImportObjects, WindowsThatAreLeftOutAreSaid) {
  for (const std::string metadata :
       {R"(timezone: UTC, start: "TZ=UTC 0 7 * * *", end: "0 8 * * *", desiredReplicas: "2")",
        R"(timezone: UTC, start: "0 7 * * *", end: "0 8 * * *", desiredReplicas: "0")"}) {
    const ObjectsRead read = objects_read(
        scaled_object(kByQueue + "  - {type: cron, metadata: {" + metadata + "}}\n", "1"));
    EXPECT_TRUE(read.problems.empty()) << metadata;
    ASSERT_TRUE(read.find("d") && read.find("d")->autoscaling);
    EXPECT_TRUE(read.find("d")->autoscaling->schedule.empty());
    EXPECT_EQ(read.said.count("not simulated: windows of cron triggers without replicas, with a "
                              "time zone in start or end, or that KEDA refuses"),
              1)
        << metadata;
  }
}

// As kube-apiserver gives the pods their requests.
TEST(ImportObjects, ALimitRangeGivesContainersTheirRequests) {
  const auto problems = [](const std::string& space, const std::string& amounts) {
    const Diagnostics found =
        objects_read(kScaledDeployment +
                     "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: " + space +
                     "}\nspec: {limits: [{type: Container, " + amounts +
                     "}]}\n---\napiVersion: autoscaling/v2\nkind: "
                     "HorizontalPodAutoscaler\nmetadata: {name: d}\nspec: {scaleTargetRef: "
                     "{apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 8, metrics: "
                     "[{type: Resource, resource: {name: cpu, target: {type: Utilization, "
                     "averageUtilization: 80}}}]}\n")
            .problems;
    return std::ranges::count(found, Code::MetricNotExported, &Diagnostic::code);
  };
  EXPECT_EQ(problems("default", "defaultRequest: {cpu: 500m}"), 0);
  EXPECT_EQ(problems("default", "max: {cpu: 2}"), 0);
  EXPECT_EQ(problems("default", "defaultRequest: {memory: 1Gi}"), 1);
  EXPECT_EQ(problems("other", "defaultRequest: {cpu: 500m}"), 1);
}

// "rps" is requests a second, "rps2" nobody knows what.
TEST(ImportObjects, ARateIsKnownByTheWholeWord) {
  const auto scaled_by = [](const std::string& metric) {
    const ObjectsRead read = objects_read(kScaledDeployment + R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: d}
spec:
  scaleTargetRef: {kind: Deployment, name: d}
  maxReplicas: 8
  metrics: [{type: Pods, pods: {metric: {name: )" +
                                          metric +
                                          R"(}, target: {type: AverageValue, averageValue: "12"}}}]
)");
    return read.find("d")->autoscaling.has_value();
  };
  EXPECT_TRUE(scaled_by("rps"));
  EXPECT_TRUE(scaled_by("http_rps"));
  EXPECT_FALSE(scaled_by("rps2"));
  EXPECT_FALSE(scaled_by("corps"));
}

TEST(ImportObjects, WhatAutoscalersLookAtInVainIsSaid) {
  const ObjectsRead by_cpu = objects_read(kScaledDeployment + R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: d}
spec: {scaleTargetRef: {kind: Deployment, name: d}, maxReplicas: 8}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: e}
spec: {scaleTargetRef: {kind: Deployment, name: gone}, maxReplicas: 8}
---
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: v}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: p}
)");
  EXPECT_EQ(workload_lines(by_cpu), WorkloadLines{"d Service 3"});
  EXPECT_EQ(by_cpu.said.count("autoscalers by what is not simulated (cpu)"), 1);
  EXPECT_EQ(by_cpu.said.count("autoscalers of objects of kind Deployment that are not here"), 1);
  EXPECT_EQ(by_cpu.said.count("not simulated: VerticalPodAutoscalers"), 1);
  EXPECT_EQ(by_cpu.said.count("PodDisruptionBudgets of pods that are not here"), 1);
}

// Pods that are made anew have the requests that it recommends, unless it only shows them.
TEST(ImportObjects, AVerticalAutoscalerSetsTheRequests) {
  const auto with = [](const std::string& mode, const std::string& cpu = "2") {
    return objects_read(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: 1, nvidia.com/gpu: 1}}}]}}}
---
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: d}
spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, updatePolicy: {updateMode: )" +
                        mode + R"(}}
status: {recommendation: {containerRecommendations: [{containerName: c, target: {cpu: )" +
                        cpu + R"(, memory: 4Gi}}]}}
)");
  };
  const ObjectsRead recreated = with("Recreate");
  const ObjectsRead shown = with("\"Off\"");
  ASSERT_TRUE(recreated.find("d"));
  EXPECT_EQ(recreated.find("d")->pod.cpu_request.count, 2'000);
  EXPECT_EQ(recreated.find("d")->pod.cpu_limit->count, 4'000);
  EXPECT_EQ(recreated.find("d")->pod.memory_request, gibibytes(4));
  EXPECT_EQ(recreated.said.count("not simulated: VerticalPodAutoscalers: requests as they recom"),
            1);
  ASSERT_TRUE(shown.find("d"));
  EXPECT_EQ(shown.find("d")->pod.cpu_request.count, 500);
  EXPECT_EQ(with("Recreate", "250m").find("d")->pod.cpu_request.count, 250);
}

// As the pods have them that it runs in, and nobody else's of that name.
TEST(ImportObjects, KarpenterDecidesWhenItsDeploymentSays) {
  const ObjectsRead read = objects_read(R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {template: {spec: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system}
spec: {template: {spec: {containers: [{name: controller, args: [--batch-max-duration=20s], env: [{name: BATCH_IDLE_DURATION, value: 5s}]}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: scanner}
spec: {template: {spec: {containers: [{name: scan, args: [--batch-max-duration=1ms]}]}}}
---
)" + kScaledDeployment);
  EXPECT_EQ(read.scenario.provisioner.batch_idle, seconds(5));
  EXPECT_EQ(read.scenario.provisioner.batch_max, seconds(20));
  // Clocks of the one are none of the other's.
  EXPECT_EQ(read.scenario.provisioner.scan_interval, seconds(10));
}

TEST(ImportObjects, APriorityClassSaysThePriority) {
  const ObjectsRead made = objects_read(kScaledDeployment + R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
)");
  ASSERT_TRUE(made.find("d"));
  EXPECT_EQ(made.find("d")->priority, 1000);
}

}  // namespace
}  // namespace slicewise::scenarios
