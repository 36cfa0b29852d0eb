#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/cluster_files.hpp"

// Objects against the schemas and rules of their own APIs: what the API server refuses is an error
// at its place. tests/kubernetes/check_objects asks the API server's own code.
namespace slicewise::scenarios {
namespace {

constexpr std::string_view kPod = R"(apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: a}}
spec:
  restartPolicy: Never
  tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
  containers:
  - name: c
    image: x
    env: [{name: A, value: "1"}]
    resources: {limits: {nvidia.com/gpu: 1, cpu: "2"}, requests: {cpu: 500m}}
    volumeMounts: [{name: shm, mountPath: /dev/shm}]
  volumes: [{name: shm, emptyDir: {medium: Memory}}]
)";
constexpr std::string_view kSmallDeployment = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 2
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: c, image: x}]}
)";
constexpr std::string_view kSmallJob = R"(apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  backoffLimit: 2
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: x}]}
)";
constexpr std::string_view kNodePool = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 5m}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}
)";
constexpr std::string_view kNodeClass = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: gpu}
spec:
  role: KarpenterNodeRole
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: c}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: c}}]
)";
constexpr std::string_view kOverlay = R"(apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: shared}
spec:
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}]
  capacity: {nvidia.com/gpu.shared: 4}
)";
constexpr std::string_view kClaim = R"(apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
spec:
  devices:
    requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 1}}]
    config:
    - requests: [gpu]
      opaque:
        driver: gpu.nvidia.com
        parameters:
          apiVersion: resource.nvidia.com/v1beta1
          kind: GpuConfig
          sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}
)";
constexpr std::string_view kCluster = R"(apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c, region: us-east-1}
managedNodeGroups:
- {name: gpu, instanceType: g5.xlarge, desiredCapacity: 2}
)";
constexpr std::string_view kRollout = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {app: a}}
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: a}}
    spec:
      initContainers: [{name: i, image: x}]
      containers:
      - name: c
        image: x
        ports: [{name: a, containerPort: 1}, {name: b, containerPort: 2}]
        livenessProbe: {tcpSocket: {port: 1}, successThreshold: 1}
        readinessProbe: {tcpSocket: {port: 1}, successThreshold: 3}
)";
constexpr std::string_view kStatefulSet = R"(apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s}
spec:
  podManagementPolicy: Parallel
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}
  selector: {matchLabels: {app: a}}
  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x}]}}
)";
constexpr std::string_view kIndexedJob = R"(apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  completionMode: Indexed
  completions: 4
  backoffLimitPerIndex: 1
  maxFailedIndexes: 2
  podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {containerName: c, operator: In, values: [1, 2]}}]}
  successPolicy: {rules: [{succeededCount: 1}]}
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}
)";
constexpr std::string_view kCronJob = R"(apiVersion: batch/v1
kind: CronJob
metadata: {name: c}
spec:
  schedule: 0 3 * * 1-5
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}
)";
constexpr std::string_view kBudget = R"(apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: b}
spec: {minAvailable: 50%, selector: {matchLabels: {app: a}}}
)";

constexpr std::string_view kJobSet = R"(apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: s}
spec:
  replicatedJobs:
  - name: data
    template: {spec: {template: {spec: {containers: [{name: c, image: x}]}}}}
  - name: train
    dependsOn: [{name: data, status: Complete}]
    template: {spec: {template: {spec: {containers: [{name: c, image: x}]}}}}
)";
constexpr std::string_view kClusterQueue = R"(apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: q}
spec:
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors:
    - name: a10g
      resources: [{name: cpu, nominalQuota: 64}, {name: nvidia.com/gpu, nominalQuota: 8}]
)";
constexpr std::string_view kTopology = R"(apiVersion: kueue.x-k8s.io/v1beta1
kind: Topology
metadata: {name: t}
spec: {levels: [{nodeLabel: cloud.provider.com/rack}, {nodeLabel: kubernetes.io/hostname}]}
)";
constexpr std::string_view kRayService = R"(apiVersion: ray.io/v1
kind: RayService
metadata: {name: r}
spec:
  upgradeStrategy: {type: NewCluster}
  rayClusterConfig:
    headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: c, image: x}]}}}
)";
constexpr std::string_view kInferenceService = R"(apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: i}
spec: {predictor: {minReplicas: 1, model: {modelFormat: {name: huggingface}, storageUri: s3://b/m}}}
)";
constexpr std::string_view kNimService = R"(apiVersion: apps.nvidia.com/v1alpha1
kind: NIMService
metadata: {name: nim}
spec: {image: {repository: r, tag: "1"}, authSecret: k, replicas: 1, expose: {service: {port: 8000}}}
)";
constexpr std::string_view kNotebook = R"(apiVersion: kubeflow.org/v1
kind: Notebook
metadata: {name: ada}
spec: {template: {spec: {containers: [{name: ada, image: x}]}}}
)";
constexpr std::string_view kLeaderWorkerSet = R"(apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: l}
spec:
  leaderWorkerTemplate:
    size: 2
    restartPolicy: RecreateGroupOnPodRestart
    workerTemplate: {spec: {containers: [{name: c, image: x}]}}
)";
constexpr std::string_view kPyTorchJob = R"(apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: p}
spec:
  pytorchReplicaSpecs:
    Worker: {replicas: 2, template: {spec: {containers: [{name: pytorch, image: x}]}}}
)";
constexpr std::string_view kScaledObject = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: s}
spec:
  pollingInterval: 15
  scaleTargetRef: {name: d}
  triggers: [{type: cron, metadata: {timezone: UTC, start: 0 8 * * *, end: 0 18 * * *, desiredReplicas: "2"}}]
)";

Diagnostics found_in(std::string text, Severity severity) {
  const SourceText source{"f.yaml", std::move(text)};
  Diagnostics found;
  for (Diagnostic& d : read_cluster_files({&source, 1}, {}).problems) {
    if (d.severity == severity) found.push_back(std::move(d));
  }
  return found;
}

Diagnostics errors_of(std::string text) { return found_in(std::move(text), Severity::Error); }

std::string changed(std::string_view text, std::string_view before, std::string_view after) {
  std::string out(text);
  const std::size_t at = out.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return out.replace(at, before.size(), after);
}

TEST(ApiSchema, ValidObjectsHaveNoErrors) {
  for (const std::string_view text : {kPod,
                                      kSmallDeployment,
                                      kSmallJob,
                                      kNodePool,
                                      kNodeClass,
                                      kOverlay,
                                      kClaim,
                                      kCluster,
                                      kJobSet,
                                      kClusterQueue,
                                      kTopology,
                                      kRayService,
                                      kInferenceService,
                                      kNimService,
                                      kNotebook,
                                      kLeaderWorkerSet,
                                      kPyTorchJob,
                                      kScaledObject,
                                      kRollout,
                                      kStatefulSet,
                                      kIndexedJob,
                                      kCronJob,
                                      kBudget}) {
    const Diagnostics errors = errors_of(std::string(text));
    EXPECT_TRUE(errors.empty()) << errors.front().message << "\n" << text;
  }
}

// "1000" is another name.
TEST(ApiSchema, ANumberIsQuotedAsItIsWritten) {
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: 1e3, image: "
      "x}]}\n";
  const Diagnostics errors = errors_of(pod);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].help, "quote it: \"1e3\"");
}

struct Mutation {
  std::string_view object;
  std::string_view before;
  std::string_view after;
  Code code;
  std::string_view message;
};

class RefusedByTheApi : public ::testing::TestWithParam<Mutation> {};

TEST_P(RefusedByTheApi, IsOneErrorThere) {
  const Mutation& m = GetParam();
  const Diagnostics errors = errors_of(changed(m.object, m.before, m.after));
  ASSERT_EQ(errors.size(), 1U) << m.after;
  EXPECT_EQ(errors[0].code, m.code) << errors[0].message;
  EXPECT_NE(errors[0].message.find(m.message), std::string::npos) << errors[0].message;
}

INSTANTIATE_TEST_SUITE_P(
    Pods, RefusedByTheApi,
    ::testing::Values(
        Mutation{kPod, "restartPolicy", "restartPolcy", Code::FieldUnknown, "restartPolcy"},
        Mutation{kPod, "restartPolicy: Never", "restartPolicy: Sometimes", Code::EnumUnknown,
                 "none of"},
        Mutation{kPod, "    image: x\n", "", Code::FieldMissing, "\"image\" is missing"},
        Mutation{kPod, "value: \"1\"", "value: 1", Code::FieldType, "must be text"},
        Mutation{kPod, "value: \"1\"", "value: yes", Code::FieldType, "YAML 1.1"},
        Mutation{kPod, "cpu: 500m", "cpu: 3", Code::SettingConflict, "above its limit"},
        Mutation{kPod, "cpu: 500m", "cpu: 5OOm", Code::UnitUnknown, "no quantity"},
        Mutation{kPod, "name: shm, mountPath", "name: shn, mountPath", Code::SettingConflict,
                 "not in volumes"},
        Mutation{kPod, "operator: Exists", "operator: Exists, value: x", Code::SettingConflict,
                 "takes no value"},
        Mutation{kPod, "name: p,", "name: P_1,", Code::ValueRange, "metadata.name"},
        Mutation{kPod, "app: a", "app: true", Code::FieldType, "metadata.labels.app"},
        Mutation{kPod, "apiVersion: v1", "apiVersion: v2", Code::ApiVersionUnknown, "v2"},
        Mutation{kSmallDeployment, "replicas: 2", "replicas: -1", Code::ValueRange, "below 0"},
        Mutation{kSmallDeployment, "labels: {app: a}", "labels: {app: b}", Code::SettingConflict,
                 "does not match"},
        Mutation{kSmallJob, "restartPolicy: Never", "restartPolicy: Always", Code::SettingConflict,
                 "Never or OnFailure"},
        Mutation{kSmallJob, "backoffLimit: 2", "backoffLimit: 1.5", Code::FieldType,
                 "whole number"}));

INSTANTIATE_TEST_SUITE_P(
    Nodes, RefusedByTheApi,
    ::testing::Values(
        Mutation{kNodePool, "consolidateAfter: 5m", "consolidateAfter: 5 minutes", Code::ValueRange,
                 "consolidateAfter"},
        Mutation{kNodePool, "WhenEmpty", "WhenIdle", Code::EnumUnknown, "WhenIdle"},
        Mutation{kNodePool, "kind: EC2NodeClass, ", "", Code::FieldMissing, "\"kind\""},
        Mutation{kNodePool, "values: [g5.xlarge]", "values: []", Code::SettingConflict,
                 "must have a value"},
        Mutation{kNodePool, "node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-gpus",
                 Code::SettingConflict, "is restricted"},
        Mutation{kNodeClass, "  role: KarpenterNodeRole\n", "", Code::SettingConflict,
                 "exactly one of"},
        Mutation{kNodeClass, "al2023@latest", "al2024@latest", Code::SettingConflict,
                 "family is not supported"},
        Mutation{kOverlay, "nvidia.com/gpu.shared: 4", "cpu: 4", Code::SettingConflict,
                 "restricted"},
        Mutation{kClaim, "deviceClassName: gpu.nvidia.com, ", "", Code::FieldMissing,
                 "deviceClassName"},
        Mutation{kClaim, "- requests: [gpu]", "- requests: [gpus]", Code::SettingConflict,
                 "not there"},
        Mutation{kClaim, "interval: Long", "interval: Longer", Code::EnumUnknown, "Longer"},
        Mutation{kCluster, "desiredCapacity: 2", "desiredCapacity: two", Code::FieldType,
                 "whole number"},
        Mutation{kCluster, "desiredCapacity", "desiredCapcity", Code::FieldUnknown,
                 "desiredCapcity"}));

INSTANTIATE_TEST_SUITE_P(
    Controllers, RefusedByTheApi,
    ::testing::Values(
        Mutation{kRollout, "maxSurge: 1", "maxSurge: 0%", Code::SettingConflict, "both 0"},
        Mutation{kRollout, "maxUnavailable: 0", "maxUnavailable: 101%", Code::ValueRange, "101%"},
        Mutation{kRollout, "successThreshold: 1", "successThreshold: 2", Code::SettingConflict,
                 "livenessProbe"},
        Mutation{kRollout, "name: b,", "name: a,", Code::SettingConflict, "two ports"},
        Mutation{kRollout, "name: i, image: x", "name: i, image: x, lifecycle: {}",
                 Code::SettingConflict, "init container"},
        Mutation{kStatefulSet, "Parallel", "Ordered", Code::EnumUnknown, "OrderedReady"},
        Mutation{kStatefulSet, "maxUnavailable: 1", "maxUnavailable: 0", Code::SettingConflict,
                 "maxUnavailable is 0"},
        Mutation{kIndexedJob, "  backoffLimitPerIndex: 1\n  maxFailedIndexes: 2\n", "",
                 Code::SettingConflict, "FailIndex"},
        Mutation{kIndexedJob, "containerName: c", "containerName: d", Code::SettingConflict,
                 "not in the template"},
        Mutation{kIndexedJob, "values: [1, 2]", "values: [0, 2]", Code::SettingConflict,
                 "exit code 0"},
        Mutation{kIndexedJob, "restartPolicy: Never", "restartPolicy: OnFailure",
                 Code::SettingConflict, "restartPolicy is Never"},
        Mutation{kIndexedJob, "succeededCount: 1", "succeededCount: 9", Code::SettingConflict,
                 "above completions"},
        Mutation{kCronJob, "0 3 * * 1-5", "0 24 * * *", Code::ValueRange, "is no hour"},
        Mutation{kCronJob, "0 3 * * 1-5", "0 3 * * 7", Code::ValueRange, "day of the week"},
        Mutation{kCronJob, "0 3 * * 1-5", "'@every 1x'", Code::ValueRange, "is no duration"},
        Mutation{kBudget, "minAvailable: 50%", "minAvailable: 1, maxUnavailable: 1",
                 Code::SettingConflict, "both set"},
        Mutation{kBudget, "app: a", "app: a b", Code::SettingConflict, "matchLabels"}));

INSTANTIATE_TEST_SUITE_P(
    Operators, RefusedByTheApi,
    ::testing::Values(
        Mutation{kJobSet, "status: Complete", "status: Done", Code::EnumUnknown, "Done"},
        Mutation{kJobSet, "name: train", "name: data", Code::NameDuplicate, "twice"},
        Mutation{kJobSet, "metadata: {name: s}", "metadata: {name: S_1}", Code::ValueRange,
                 "metadata.name"},
        Mutation{kClusterQueue, "name: cpu, ", "", Code::FieldMissing, "\"name\""},
        Mutation{kClusterQueue, "nominalQuota: 8", "nominalQuota: 0.5", Code::FieldType,
                 "a whole number or text, not 0.5"},
        Mutation{kClusterQueue, "nominalQuota: 8", "nominalQuota: 8, borrowingLimit: 4",
                 Code::SettingConflict, "cohort"},
        Mutation{kTopology, "cloud.provider.com/rack", "kubernetes.io/hostname",
                 Code::SettingConflict, "unique"},
        Mutation{kTopology,
                 "{nodeLabel: cloud.provider.com/rack}, {nodeLabel: kubernetes.io/hostname}",
                 "{nodeLabel: kubernetes.io/hostname}, {nodeLabel: cloud.provider.com/rack}",
                 Code::SettingConflict, "hostname"},
        Mutation{kRayService, "type: NewCluster", "type: [NewCluster]", Code::FieldType,
                 "must be text"},
        Mutation{kInferenceService, "minReplicas: 1", "minReplicas: one", Code::FieldType,
                 "whole number"},
        Mutation{kNimService, "replicas: 1,",
                 "replicas: 1, scale: {enabled: true, hpa: {maxReplicas: 2}},",
                 Code::SettingConflict, "scale.enabled"},
        Mutation{kLeaderWorkerSet, "RecreateGroupOnPodRestart", "Always", Code::EnumUnknown,
                 "Always"},
        Mutation{kPyTorchJob, "{replicas: 2", "{replicas: two", Code::FieldType, "whole number"},
        Mutation{kScaledObject, "pollingInterval: 15", "pollingInterval: 15s", Code::FieldType,
                 "whole number"}));

// `cpu: "1"`, and a patch without what every Deployment has.
TEST(ApiSchema, WhatOthersTakeIsNotRefused) {
  for (const std::string& text :
       {changed(kPod, "cpu: \"2\"", "cpu: 2.5"), changed(kPod, "cpu: \"2\"", "memory: 1e9"),
        std::string("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n"
                    "  template: {spec: {containers: [{name: c, env: [{name: A, value: b}]}]}}\n"),
        changed(kSmallJob, "image: x", "env: [{name: A, value: b}]"),
        std::string(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n"
            "  template: {spec: {containers: [{name: c, image: img}, {$patch: delete, name: "
            "z}]}}\n"),
        std::string("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
                    "  containers: [{name: c, image: img}]\n"
                    "  volumes: [{name: v, configMap: {name: m, defaultMode: 0777}}]\n"),
        std::string("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\n")}) {
    const Diagnostics errors = errors_of(text);
    EXPECT_TRUE(errors.empty()) << errors.front().message << "\n" << text;
  }
}

TEST(ApiSchema, AutoscalersOfBothVersionsAreKnown) {
  const std::string scaler =
      "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: "
      "{scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 4, "
      "targetCPUUtilizationPercentage: 80}\n";
  EXPECT_TRUE(errors_of(scaler).empty());
  EXPECT_EQ(errors_of(changed(scaler, "maxReplicas: 4", "maxReplicas: 0")).size(), 1U);
}

// Another release may have it.
TEST(ApiSchema, AnotherVersionOfAnOperatorIsANote) {
  EXPECT_TRUE(errors_of(changed(kLeaderWorkerSet, "x-k8s.io/v1", "x-k8s.io/v2")).empty());
  EXPECT_EQ(errors_of(changed(kSmallJob, "batch/v1", "batch/v2")).size(), 1U);
}

TEST(ApiSchema, WhatAWebhookFillsInIsNotMissing) {
  for (const std::string_view text :
       {"apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: i}\nspec: "
        "{predictor: {containers: [{image: x}]}, transformer: {containers: [{image: x}]}}\n",
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j}\nspec:\n"
        "  failurePolicy: {rules: [{action: RestartJob}]}\n"
        "  replicatedJobs: [{name: w, template: {spec: {template: {spec: {restartPolicy: Never, "
        "containers: [{name: c, image: x}]}}}}}]\n"}) {
    const Diagnostics errors = errors_of(std::string(text));
    EXPECT_TRUE(errors.empty()) << errors.front().message;
  }
}

TEST(ApiSchema, RollingUpdateIsJudgedOfWhatRolls) {
  const std::string set =
      "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec:\n"
      "  updateStrategy: {type: OnDelete, rollingUpdate: {maxUnavailable: 0}}\n"
      "  selector: {matchLabels: {app: a}}\n"
      "  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x}]}}\n";
  EXPECT_TRUE(errors_of(set).empty());
  EXPECT_EQ(errors_of(changed(set, "OnDelete", "RollingUpdate")).size(), 1U);
}

// Another release may have the field.
TEST(ApiSchema, AnUnknownFieldOfAnOperatorIsAWarning) {
  for (const std::string& text :
       {changed(kJobSet, "dependsOn", "dependOn"),
        changed(kNotebook, "image: x", "image: x, gpu: 1"),
        std::string("apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
                    "metadata: {name: t}\nspec: {runtimeRef: {name: torch-distributed}, trainer: "
                    "{numNodes: 2, numProcPerNode: auto}, podSpecOverrides: []}\n")}) {
    const Diagnostics errors = errors_of(text);
    EXPECT_TRUE(errors.empty()) << errors.front().message;
    bool warned = false;
    for (const Diagnostic& d : found_in(text, Severity::Warning)) {
      if (d.code != Code::FieldUnknown) continue;
      warned = d.help.find("another release may have it") != std::string::npos;
    }
    EXPECT_TRUE(warned) << text;
  }
}

// "Limit must be set" was said of it, in place of both.
TEST(ApiSchema, AListIsALimitThatIsThere) {
  const Diagnostics errors = errors_of(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: x, "
      "resources: {limits: {nvidia.com/gpu: [1]}, requests: {nvidia.com/gpu: 1, cpu: abc}}}]}\n");
  ASSERT_EQ(errors.size(), 2U) << errors.front().message;
  EXPECT_EQ(errors[0].code, Code::FieldType) << errors[0].message;
  EXPECT_EQ(errors[1].code, Code::UnitUnknown) << errors[1].message;
}

// A wrong unit of memory hid that the pods are not those that the selector means.
TEST(ApiSchema, AWrongValueHidesNoRuleAboutOthers) {
  const std::string text =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n"
      "  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: b}}\n"
      "    spec: {containers: [{name: c, image: x, resources: {limits: {memory: 4GB}}}]}\n";
  const SourceText file{"f.yaml", text};
  std::vector<Code> codes;
  for (const Diagnostic& problem : read_cluster_files({&file, 1}, {}).problems) {
    codes.push_back(problem.code);
  }
  EXPECT_EQ(codes, (std::vector<Code>{Code::UnitUnknown, Code::SettingConflict}));
}

}  // namespace
}  // namespace slicewise::scenarios
