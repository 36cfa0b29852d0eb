#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include <gtest/gtest.h>

#include "slicewise/scenarios/cluster_files.hpp"

// Rules of tools/kubernetes_rules.yaml that hold parts of an object against one another, each told
// at the line of the part that breaks it. tests/kubernetes/check_objects asks kube-apiserver's own
// code.
namespace slicewise::scenarios {
namespace {

constexpr std::string_view kMountingPod = R"(apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: a}}
spec:
  initContainers:
  - name: i
    image: x
    volumeMounts:
    - {name: data, mountPath: /in}
  containers:
  - name: c
    image: x
    ports:
    - {containerPort: 80, hostPort: 80}
    - {containerPort: 81, hostPort: 81, protocol: TCP}
    env:
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    volumeMounts:
    - {name: data, mountPath: /a}
    - {name: about, mountPath: /b}
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
  - {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: data}}
  - {name: key, secret: {secretName: key, defaultMode: 0400}}
  - name: about
    downwardAPI:
      items:
      - {path: labels, fieldRef: {fieldPath: metadata.labels}}
      - {path: cpu, resourceFieldRef: {containerName: c, resource: limits.cpu}}
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 1
        preference: {matchExpressions: [{key: zone, operator: In, values: ["a b"]}]}
)";
constexpr std::string_view kSelecting = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  minReadySeconds: 10
  progressDeadlineSeconds: 60
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 00%}}
  selector:
    matchExpressions:
    - {key: app, operator: In, values: [a, b]}
    - {key: canary, operator: DoesNotExist}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: c, image: x, readinessProbe: {exec: {command: [ready]}}}]}
)";
constexpr std::string_view kClaiming = R"(apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s}
spec:
  serviceName: s
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers:
      - name: c
        image: x
        volumeMounts:
        - {name: claimed, mountPath: /a}
        - {name: tmp, mountPath: /b}
      volumes: [{name: tmp, emptyDir: {}}]
  volumeClaimTemplates:
  - metadata: {name: claimed}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
)";
constexpr std::string_view kNightly = R"(apiVersion: batch/v1
kind: CronJob
metadata: {name: of-a-name-that-is-as-long-as-name-of-cronjobs-may-be}
spec:
  schedule: 0 3 * * *
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: c
            image: x
            volumeMounts:
            - {name: data, mountPath: /a}
          volumes: [{name: data, emptyDir: {}}]
)";
constexpr std::string_view kAgents = R"(apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d}
spec:
  minReadySeconds: 700
  selector: {matchLabels: {app: a}}
  updateStrategy: {rollingUpdate: {maxSurge: 00%, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: a}}
    spec: {terminationGracePeriodSeconds: 5, containers: [{name: c, image: x}]}
)";
constexpr std::string_view kIndexes = R"(apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  completionMode: Indexed
  completions: 6
  podFailurePolicy:
    rules:
    - {action: FailJob, onExitCodes: {operator: In, values: [1, 2, 42]}}
    - {action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}
  successPolicy:
    rules:
    - {succeededIndexes: "0,2-4", succeededCount: 4}
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}
)";

constexpr std::string_view kScaling = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}
  minReplicas: 0
  maxReplicas: 8
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}
  - {type: External, external: {metric: {name: m}, target: {type: AverageValue, averageValue: 4}}}
  - type: Object
    object:
      metric: {name: depth}
      describedObject: {apiVersion: v1, kind: Service, name: s}
      target: {type: Value, value: 500m}
  - type: ContainerResource
    containerResource: {name: memory, container: c, target: {type: AverageValue, averageValue: 1Gi}}
  behavior: {scaleDown: {policies: [{type: Pods, value: 1, periodSeconds: 60}]}, scaleUp: {}}
)";
constexpr std::string_view kAsOne = R"(apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  resources: {limits: {cpu: 2, memory: 4Gi, hugepages-2Mi: 4Mi}, requests: {cpu: 1}}
  containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]
)";
// As kubectl prints it.
constexpr std::string_view kHeldJob = R"(apiVersion: batch/v1
kind: Job
metadata: {name: j, uid: 6a0a}
spec:
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: 6a0a}}
  template:
    metadata: {labels: {batch.kubernetes.io/controller-uid: 6a0a}}
    spec: {restartPolicy: Never, containers: [{name: c, image: x}]}
)";
constexpr std::string_view kTaintedGroup = R"(apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c, region: us-east-1}
nodeGroups:
- name: g
  instanceType: g5.xlarge
  taints: {nvidia.com/gpu: "true:NoSchedule", dedicated: NoExecute}
)";

Diagnostics told_of(std::string text, Severity severity) {
  const SourceText source{"f.yaml", std::move(text)};
  Diagnostics told;
  for (Diagnostic& d : read_cluster_files({&source, 1}, {}).problems) {
    if (d.severity == severity) told.push_back(std::move(d));
  }
  return told;
}

Diagnostics refused_of(std::string text) { return told_of(std::move(text), Severity::Error); }

TEST(ApiRules, WhatTheServerTakesHasNoErrors) {
  for (const std::string_view text : {kMountingPod, kSelecting, kClaiming, kNightly, kAgents,
                                      kIndexes, kScaling, kAsOne, kHeldJob, kTaintedGroup}) {
    const Diagnostics errors = refused_of(std::string(text));
    EXPECT_TRUE(errors.empty()) << errors.front().message << "\n" << text;
  }
}

TEST(ApiRules, IndexesBeyondAllNumbersAreNone) {
  std::string text(kIndexes);
  text.replace(text.find("0,2-4"), 5, "9223372036854775807-9223372036854775807");
  EXPECT_TRUE(std::ranges::any_of(refused_of(text), [](const Diagnostic& error) {
    return error.message.find("as 0,2-4") != std::string::npos;
  }));
}

struct RuleBroken {
  std::string_view object;
  std::string_view before;
  std::string_view after;
  int line;  // of the error
  std::string_view message;
};

class BrokenApiRule : public ::testing::TestWithParam<RuleBroken> {};

TEST_P(BrokenApiRule, IsToldAtThePartThatBreaksIt) {
  const RuleBroken& broken = GetParam();
  std::string text(broken.object);
  const std::size_t at = text.find(broken.before);
  ASSERT_NE(at, std::string::npos) << broken.before;
  text.replace(at, broken.before.size(), broken.after);
  const Diagnostics errors = refused_of(text);
  ASSERT_EQ(errors.size(), 1U) << broken.after;
  EXPECT_EQ(errors[0].where.line, broken.line) << errors[0].message;
  EXPECT_NE(errors[0].message.find(broken.message), std::string::npos) << errors[0].message;
}

INSTANTIATE_TEST_SUITE_P(
    Pods, BrokenApiRule,
    ::testing::Values(
        RuleBroken{kMountingPod, "name: data, mountPath: /in", "name: date, mountPath: /in", 9,
                   "not in volumes"},
        RuleBroken{kMountingPod, "name: about, mountPath", "name: abut, mountPath", 20,
                   "not in volumes"},
        RuleBroken{kMountingPod, "hostPort: 81", "hostPort: 80", 14, "taken twice"},
        RuleBroken{kMountingPod, "fieldPath: spec.nodeName", "fieldPath: metadata.labels", 17,
                   "a variable cannot have"},
        RuleBroken{kMountingPod, "fieldPath: metadata.labels", "fieldPath: spec.nodeName", 30,
                   "a file cannot have"},
        RuleBroken{kMountingPod, "containerName: c, ", "", 31, "needs containerName"},
        RuleBroken{kMountingPod, "limits.cpu", "limits.gpu", 31, "ephemeral-storage"},
        RuleBroken{kMountingPod, "topologyKey: rack", "topologyKey: zone", 22, "two constraints"},
        RuleBroken{kMountingPod, "0400", "4000", 26, "above 511"},
        RuleBroken{kMountingPod, "secretName: key, ", "", 26, "secretName"},
        RuleBroken{kMountingPod, "topologyKey: rack", "topologyKey: -rack", 23, "topologyKey"},
        RuleBroken{kAsOne, "hugepages-2Mi: 4Mi}", "nvidia.com/gpu: 1}", 5, "a container asks"},
        RuleBroken{kAsOne, "requests: {cpu: 1}", "claims: [{name: g}]", 5, "no claims"}));

INSTANTIATE_TEST_SUITE_P(
    Autoscalers, BrokenApiRule,
    ::testing::Values(
        RuleBroken{kScaling, "Utilization,", "Utilisation,", 9, "Utilisation"},
        RuleBroken{kScaling, "averageUtilization: 60", "averageUtilization: 0", 9, "below 1"},
        RuleBroken{kScaling, "averageValue: 4", "averageValue: 0", 10, "not above zero"},
        RuleBroken{kScaling, "averageValue: 4", "averageValue: 4, value: 4", 10, "one of value"},
        RuleBroken{kScaling, "target: {type: Value, value: 500m}", "target: {type: Value}", 13,
                   "value or averageValue"},
        RuleBroken{kScaling, "averageValue: 1Gi", "averageValue: 1Gi, averageUtilization: 5", 17,
                   "one of averageUtilization"},
        RuleBroken{kScaling, "container: c,", "container: '',", 17, "container"},
        RuleBroken{kScaling, "[{type: Pods, value: 1, periodSeconds: 60}]", "[]", 18, "policies"},
        RuleBroken{kScaling, "kind: Deployment", "kind: ''", 5, "kind"}));

TEST(ApiRules, ScalingToZeroNeedsAMetricWithoutPods) {
  const Diagnostics errors = refused_of(
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec:\n"
      "  {minReplicas: 0, maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, "
      "name: d}}\n");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_NE(errors[0].message.find("minReplicas 0"), std::string::npos) << errors[0].message;
}

// Each says what there is now: of what every cluster has lost, and of a time or a cluster to come.
TEST(ApiRules, AVersionThatIsGoneIsAnErrorAndAnotherReleasesAWarning) {
  using enum Severity;
  for (const auto& [version, kind, now, severity] :
       {std::tuple("autoscaling/v2beta2", "HorizontalPodAutoscaler", "autoscaling/v2", Error),
        std::tuple("batch/v1beta1", "CronJob", "batch/v1", Error),
        std::tuple("extensions/v1beta1", "Deployment", "apps/v1", Error),
        std::tuple("policy/v1beta1", "PodDisruptionBudget", "policy/v1", Error),
        std::tuple("resource.k8s.io/v1alpha2", "ResourceClaim", "resource.k8s.io/v1", Warning),
        std::tuple("karpenter.sh/v1beta1", "NodePool", "karpenter.sh/v1", Error)}) {
    const Diagnostics told =
        told_of(std::string("apiVersion: ") + version + "\nkind: " + kind + "\n", severity);
    ASSERT_EQ(told.size(), 1U) << version;
    EXPECT_EQ(told[0].code, Code::ApiVersionUnknown);
    EXPECT_NE(told[0].help.find(std::string("write ") + now), std::string::npos) << told[0].help;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Controllers, BrokenApiRule,
    ::testing::Values(
        RuleBroken{kSelecting, "values: [a, b]", "values: [b, c]", 10, "does not match"},
        RuleBroken{kSelecting, "app: a}", "app: a, canary: x}", 11, "does not match"},
        RuleBroken{kSelecting, "operator: DoesNotExist", "operator: Exists", 11, "does not match"},
        RuleBroken{kSelecting, "progressDeadlineSeconds: 60", "progressDeadlineSeconds: 10", 5,
                   "not above minReadySeconds"},
        RuleBroken{kSelecting, "10\n  progressDeadlineSeconds: 60", "600", 5, "600 if it is left"},
        RuleBroken{kSelecting, "maxSurge: 1", "maxSurge: 0", 7, "both 0"},
        RuleBroken{kSelecting, "exec: {command: [ready]}", "exec: {}", 14, "command"},
        RuleBroken{kClaiming, "name: claimed, mountPath", "name: claimer, mountPath", 14,
                   "not in volumes"},
        RuleBroken{kClaiming, "accessModes: [ReadWriteOnce], ", "", 19, "accessModes"},
        RuleBroken{kClaiming, "storage: 1Gi", "cpu: 1", 19, "requests storage"},
        RuleBroken{kClaiming, "serviceName: s", "serviceName: s.x", 5, "serviceName"},
        RuleBroken{kNightly, "name: data, mountPath", "name: date, mountPath", 15,
                   "not in volumes"},
        RuleBroken{kNightly, "of-a-name", "of-one-name", 3, "at most 52 characters"},
        RuleBroken{kAgents, "terminationGracePeriodSeconds", "activeDeadlineSeconds", 5,
                   "for pods that end"},
        RuleBroken{kAgents, "maxUnavailable: 1", "maxUnavailable: 000%", 7, "the other is not"},
        RuleBroken{kIndexes, "[1, 2, 42]", "[1, 42, 2]", 9, "not in increasing order"},
        RuleBroken{kIndexes, "type: DisruptionTarget", "type: Disruption Target", 10, "type"},
        RuleBroken{kIndexes, "0,2-4", "0,4-2", 13, "as 0,2-4"},
        RuleBroken{kIndexes, "0,2-4", "0-6", 13, "not below completions"},
        RuleBroken{kHeldJob, ", uid: 6a0a", "", 5, "made by the cluster"},
        RuleBroken{kTaintedGroup, "nodeGroups", "managedNodeGroups", 7, "must be a list"},
        RuleBroken{kTaintedGroup, "\"true:NoSchedule\"", "true", 7, "must be text"},
        RuleBroken{kIndexes, "succeededCount: 4", "succeededCount: 5", 13,
                   "no fewer than succeededCount"}));

// That it is not checked was said beside its errors.
TEST(ApiRules, AKindOfWhichTheSchemaIsCheckedIsNotCalledUnchecked) {
  const auto notes = [](const std::string& spec) {
    const SourceText source{"f.yaml",
                            "apiVersion: keda.sh/v1alpha1\nkind: ScaledJob\n"
                            "metadata: {name: s}\nspec: " +
                                spec + "\n"};
    std::string told;
    for (const Diagnostic& d : read_cluster_files({&source, 1}, {}).problems) {
      if (d.code == Code::KindNotChecked) told += d.message;
    }
    return told;
  };
  EXPECT_EQ(notes("{jobTargetRef: {template: {spec: {containers: [{name: c}]}}}, triggers: "
                  "[{type: cron, metadata: {}}]}"),
            "of objects of kind ScaledJob only the schema is checked");
  EXPECT_EQ(notes("{}"), "");
}

}  // namespace
}  // namespace slicewise::scenarios
