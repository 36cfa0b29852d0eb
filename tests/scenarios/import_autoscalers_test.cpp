#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "objects_read.hpp"

// Autoscalers of others' pods, as `import k8s` reads them.
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
  triggers: [{type: prometheus, metadata: {threshold: "5", query: vllm:num_requests_waiting}}]
)");
  ASSERT_TRUE(awake.find("d") && awake.find("d")->autoscaling);
  EXPECT_EQ(awake.find("d")->autoscaling->sync_period, seconds(15));
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
  EXPECT_EQ(by_cpu.said.count("autoscalers of a Deployment that is not here"), 1);
  EXPECT_EQ(by_cpu.said.count("not simulated: VerticalPodAutoscalers"), 1);
  EXPECT_EQ(by_cpu.said.count("PodDisruptionBudgets of pods that are not here"), 1);
}

}  // namespace
}  // namespace slicewise::scenarios
