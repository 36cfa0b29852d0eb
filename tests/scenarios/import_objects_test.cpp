#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/pod_file.hpp"

#include "objects_read.hpp"

// Objects of operators that make pods, and objects that say something of others' pods, as `import
// k8s` reads them.
namespace slicewise::scenarios {
namespace {

const std::string kCpuContainer = "{name: c, image: x, resources: {limits: {cpu: 1}}}";
const std::string kGpuPods = "template: {spec: {containers: [" + kGpuContainer + "]}}";
const std::string kCpuPods = "template: {spec: {containers: [" + kCpuContainer + "]}}";

TEST(ImportObjects, AJobSetIsAGangOfThePodsOfItsReplicatedJobs) {
  const ObjectsRead jobs = objects_read(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: llm}
spec:
  replicatedJobs:
  - {name: driver, template: {spec: {)" +
                                        kCpuPods + R"(}}}
  - {name: workers, replicas: 3, template: {spec: {parallelism: 4, completions: 4, )" +
                                        kGpuPods +
                                        R"(}}}
  - {name: eval, template: {spec: {)" + kGpuPods +
                                        R"(}}}
)");
  EXPECT_EQ(workload_lines(jobs), (WorkloadLines{"llm Job 13"}));
  EXPECT_EQ(jobs.said.count("objects that ask for no GPU (JobSet)"), 1);
  EXPECT_EQ(jobs.said.count("JobSets: pods that work together are placed together"), 2);
}

// They had to be placed together, and on one GPU never were.
TEST(ImportObjects, StepsOfAJobSetAreNoGang) {
  const ObjectsRead jobs = objects_read(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: llm}
spec:
  replicatedJobs:
  - {name: prep, template: {spec: {)" + kGpuPods +
                                        R"(}}}
  - {name: train, dependsOn: [{name: prep, status: Complete}], replicas: 2, template: {spec: {)" +
                                        kGpuPods + R"(}}}
)");
  EXPECT_EQ(workload_lines(jobs), (WorkloadLines{"llm-prep Job 1", "llm-train Job 2"}));
  const auto train = jobs.find("llm-train");
  ASSERT_TRUE(train && train->depends_on.size() == 1);
  EXPECT_EQ(train->depends_on[0].name.value, "llm-prep");
  EXPECT_EQ(train->depends_on[0].status, StartDependency::Status::Complete);
}

TEST(ImportObjects, JobsOfAJobSetStartInOrder) {
  const auto read = [](const std::string& order) {
    const std::string pods = "template: {spec: {" + std::string(kGpuPods) + "}}}";
    return objects_read(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: llm}\n"
        "spec: {startupPolicy: {startupPolicyOrder: " +
        order + "}, replicatedJobs: [{name: a, " + pods + ", {name: b, " + pods + "]}\n");
  };
  const ObjectsRead in_order = read("InOrder");
  EXPECT_EQ(workload_lines(in_order), (WorkloadLines{"llm-a Job 1", "llm-b Job 1"}));
  const auto second = in_order.find("llm-b");
  ASSERT_TRUE(second && second->depends_on.size() == 1);
  EXPECT_EQ(second->depends_on[0].name.value, "llm-a");
  EXPECT_EQ(second->depends_on[0].status, StartDependency::Status::Ready);
  EXPECT_EQ(workload_lines(read("AnyOrder")), (WorkloadLines{"llm Job 2"}));
}

// A step that asks for no GPU is not simulated: nobody waits for it.
TEST(ImportObjects, StepsAfterOneWithoutAGpuAreThereFromTheStart) {
  const ObjectsRead jobs = objects_read(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: llm}
spec:
  replicatedJobs:
  - {name: data, template: {spec: {template: {spec: {containers: [{name: c, image: x}]}}}}}
  - {name: train, dependsOn: [{name: data, status: Complete}], template: {spec: {)" +
                                        kGpuPods +
                                        R"(}}}
)");
  ASSERT_TRUE(jobs.find("llm-train"));
  EXPECT_TRUE(jobs.find("llm-train")->depends_on.empty());
  EXPECT_EQ(jobs.said.count("Jobs of JobSets that start after others without a GPU"), 1);
}

TEST(ImportObjects, JobsOfKubeflowHaveTheirReplicasByRole) {
  const auto job = [](const std::string& kind, const std::string& specs) {
    return objects_read("apiVersion: kubeflow.org/v1\nkind: " + kind +
                        "\nmetadata: {name: mnist}\nspec:\n  " + specs +
                        ":\n    Master: {replicas: 1, restartPolicy: Never, " + kGpuPods +
                        "}\n    Worker: {replicas: 3, " + kGpuPods + "}\n");
  };
  for (const auto& [kind, specs] :
       std::map<std::string, std::string>{{"PyTorchJob", "pytorchReplicaSpecs"},
                                          {"TFJob", "tfReplicaSpecs"},
                                          {"MPIJob", "mpiReplicaSpecs"},
                                          {"XGBoostJob", "xgbReplicaSpecs"},
                                          {"PaddleJob", "paddleReplicaSpecs"},
                                          {"JAXJob", "jaxReplicaSpecs"}}) {
    SCOPED_TRACE(kind);
    const ObjectsRead made = job(kind, specs);
    EXPECT_EQ(workload_lines(made), (WorkloadLines{"mnist Job 4"}));
    EXPECT_EQ(made.scenario.workloads.front().pods_per_job, 4);
    EXPECT_NE(made.yaml.find("restartPolicy: Never"), std::string::npos);
  }
}

TEST(ImportObjects, ATrainJobAsksForItsResourcesOnEachNode) {
  const std::string head = R"(
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: tune}
spec:
  runtimeRef: {name: torch-distributed}
)";
  const ObjectsRead made = objects_read(head + R"(
  trainer:
    numNodes: 4
    command: [torchrun, train.py]
    resourcesPerNode: {requests: {cpu: 6}, limits: {nvidia.com/gpu: 2}}
)");
  EXPECT_EQ(workload_lines(made), WorkloadLines{"tune Job 4"});
  EXPECT_NE(made.yaml.find("requests: {cpu: 6000m}, limits: {nvidia.com/gpu: 2}"),
            std::string::npos);
  // What a runtime asks for is not known here, and that is said.
  const ObjectsRead silent = objects_read(head + "  trainer: {numNodes: 4}\n");
  ASSERT_FALSE(silent.said.errors.empty());
  EXPECT_NE(silent.said.errors.front().message.find("GPUs that their runtime may ask for"),
            std::string::npos);
}

// They were Pending on nodes that the runtime tolerates.
TEST(ImportObjects, ATrainJobHasThePodsOfItsRuntime) {
  const std::string runtime = R"(
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch-distributed}
spec:
  mlPolicy: {numNodes: 3, torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: data
        template: {spec: {template: {spec: {containers: [{name: data, image: x}]}}}}
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            template:
              spec:
                nodeSelector: {workload: train}
                tolerations: [{key: dedicated, operator: Exists}]
                containers: [{name: node, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]
)";
  const auto job = [](const std::string& name, const std::string& more) {
    return "---\napiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: " +
           name + "}\nspec: {runtimeRef: {name: torch-distributed}" + more + "}\n";
  };
  const std::string own =
      ", trainer: {numNodes: 2, resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}";
  const ObjectsRead made = objects_read(job("own", own) + job("usual", "") + runtime);
  EXPECT_EQ(workload_lines(made), (WorkloadLines{"own Job 2", "usual Job 3"}));
  ASSERT_TRUE(made.find("own"));
  EXPECT_EQ(made.find("own")->pod.tolerations.at(0).key, "dedicated");
  EXPECT_EQ(made.said.count("whose runtime is not here"), 0);
  EXPECT_EQ(made.said.count("objects of kind ClusterTrainingRuntime"), 0);
  EXPECT_NE(made.yaml.find("nvidia.com/gpu: 4}"), std::string::npos);
  EXPECT_NE(made.yaml.find("nvidia.com/gpu: 8}"), std::string::npos);
  EXPECT_TRUE(objects_read(job("own", own)).find("own")->pod.tolerations.empty());
  const ObjectsRead alone = objects_read(
      job("own", own) +
      "---\nkind: Node\nmetadata: {name: n, labels: {node.kubernetes.io/instance-type: "
      "p4d.24xlarge}}\nspec: {taints: [{key: dedicated, effect: NoSchedule}]}\n");
  EXPECT_EQ(alone.said.count("whose runtime is not here"), 1);
  EXPECT_EQ(alone.find("own")->pod.tolerations.at(0).op, "Exists");
}

// The JobSet's was dropped without a word; so were HAMi's, which a scenario refuses.
TEST(ImportObjects, AnnotationsThatPlacePodsAreNamed) {
  const std::string container =
      "containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1";
  const ObjectsRead hami = objects_read(
      "kind: Pod\nmetadata: {name: p, annotations: {nvidia.com/use-gputype: A100}}\nspec: {" +
      container + ", nvidia.com/gpumem: 6000}}}]}\n");
  EXPECT_EQ(hami.said.count("left out: nvidia.com/use-gputype"), 1);
  const ObjectsRead set = objects_read(
      "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: s, annotations: "
      "{alpha.jobset.sigs.k8s.io/exclusive-topology: rack}}\nspec: {replicatedJobs: [{name: a, "
      "template: {spec: {template: {spec: {" +
      container + "}}}]}}}}}]}\n");
  EXPECT_EQ(set.said.count("not simulated: exclusive-topology of JobSets"), 1);
}

// It was half a GPU of KAI's.
TEST(ImportObjects, AFractionUnderTheDefaultSchedulerIsNoGpu) {
  const auto pod = [](const std::string& scheduler) {
    return objects_read(
        "kind: Pod\nmetadata: {name: p, annotations: {gpu-fraction: '0.5'}}\nspec: {" + scheduler +
        "containers: [{name: c, image: x}]}\n");
  };
  EXPECT_EQ(workload_lines(pod("schedulerName: kai-scheduler, ")).size(), 1U);
  const ObjectsRead none = pod("");
  ASSERT_FALSE(none.said.errors.empty());
  EXPECT_NE(none.said.errors.front().message.find("under another scheduler"), std::string::npos);
}

// Nothing starts it: it was a Job that runs at once.
TEST(ImportObjects, ASuspendedCronJobWithoutAScheduleDoesNotRun) {
  const auto cron = [](const std::string& name, const std::string& spec) {
    return "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: " + name + "}\nspec: {" +
           spec +
           ", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, "
           "image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}}\n";
  };
  const ObjectsRead made = objects_read(cron("held", "schedule: '@every 1h', suspend: true") +
                                        cron("runs", "schedule: '@every 1h'") +
                                        cron("known", "schedule: '0 2 * * *', suspend: true"));
  EXPECT_EQ(workload_lines(made), (WorkloadLines{"runs Job 1", "known Job 0"}));
  EXPECT_EQ(made.said.count("objects that are suspended, with a schedule that is not read"), 1);
}

std::string ray_cluster(const std::string& more = {}) {
  return "    headGroupSpec: {rayStartParams: {num-gpus: \"0\"}, " + kCpuPods +
         "}\n    workerGroupSpecs:\n    - {groupName: small, replicas: 2, minReplicas: 0, "
         "maxReplicas: 5, " +
         kGpuPods + "}\n    - {groupName: tpu, minReplicas: 1, numOfHosts: 4, " + kGpuPods + "}\n" +
         more;
}

TEST(ImportObjects, RaysWorkersServeEndOrJustWork) {
  const auto made = [](const std::string& kind, const std::string& key) {
    return objects_read("apiVersion: ray.io/v1\nkind: " + kind +
                        "\nmetadata: {name: r}\nspec:\n  " + key + ":\n" + ray_cluster());
  };
  EXPECT_EQ(workload_lines(made("RayService", "rayClusterConfig")),
            (WorkloadLines{"r-small Service 2", "r-tpu Service 4"}));
  // All of its pods are one gang, as a RayJob starts once its cluster is there.
  const ObjectsRead job = made("RayJob", "rayClusterSpec");
  EXPECT_EQ(workload_lines(job), WorkloadLines{"r Job 6"});
  EXPECT_EQ(job.scenario.workloads.front().pods_per_job, 6);
  const ObjectsRead cluster = objects_read(
      "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec:\n"
      "    enableInTreeAutoscaling: true\n" +
      ray_cluster());
  EXPECT_EQ(workload_lines(cluster), (WorkloadLines{"r-small Deployment 2", "r-tpu Deployment 4"}));
  EXPECT_EQ(cluster.said.count("RayClusters: what runs there is in no file"), 2);
  EXPECT_EQ(cluster.said.count("not simulated: Ray's autoscaler"), 1);
}

TEST(ImportObjects, FractionsOfRayAreItsBookkeeping) {
  const ObjectsRead made = objects_read(R"(
apiVersion: ray.io/v1
kind: RayService
metadata: {name: r}
spec:
  serveConfigV2: |
    applications:
    - name: app
      deployments:
      - {name: Small, ray_actor_options: {num_gpus: 0.25}}
      - {name: Whole, ray_actor_options: {num_gpus: 1}}
  rayClusterConfig:
    headGroupSpec: {rayStartParams: {num-gpus: "4"}, )" +
                                        kCpuPods + R"(}
    workerGroupSpecs: [{groupName: w, replicas: 1, )" +
                                        kGpuPods + "}]\n");
  EXPECT_EQ(made.said.count("not simulated: fractions of num_gpus: bookkeeping of Ray"), 1);
  ASSERT_EQ(made.problems.size(), 2U);
  EXPECT_EQ(made.problems[0].code, Code::GpuNotRequested);
  EXPECT_EQ(made.problems[0].where.line, 13);
  EXPECT_EQ(made.problems[1].code, Code::GpuMemUnlimited);
  EXPECT_EQ(made.problems[1].where.line, 10);
}

TEST(ImportObjects, KServesPredictorsAreScaledAsKnativeDoesIt) {
  const auto made = [](const std::string& predictor) {
    return objects_read(
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: bert}\n"
        "spec:\n  predictor:\n" +
        predictor);
  };
  const ObjectsRead scaled = made(R"(
    minReplicas: 0
    maxReplicas: 6
    scaleTarget: 10
    scaleMetric: concurrency
    model:
      modelFormat: {name: huggingface}
      resources: {limits: {nvidia.com/gpu: 1}}
)");
  ASSERT_EQ(scaled.scenario.workloads.size(), 1U);
  const Workload& bert = scaled.scenario.workloads[0];
  EXPECT_EQ(bert.name.value, "bert-predictor");
  ASSERT_TRUE(bert.autoscaling);
  EXPECT_EQ(bert.autoscaling->min_replicas, 0);
  EXPECT_EQ(bert.autoscaling->max_replicas, 6);
  EXPECT_EQ(bert.autoscaling->metric, Autoscaling::Metric::Concurrency);
  EXPECT_DOUBLE_EQ(bert.autoscaling->target, 7);  // 70 % of it
  const ObjectsRead by_rate =
      made("    {minReplicas: 1, maxReplicas: 4, scaleMetric: rps, containers: [" + kGpuContainer +
           "]}\n");
  ASSERT_TRUE(by_rate.find("bert-predictor"));
  ASSERT_TRUE(by_rate.find("bert-predictor")->autoscaling);
  EXPECT_DOUBLE_EQ(by_rate.find("bert-predictor")->autoscaling->target, 140);  // of 200
  const ObjectsRead by_cpu =
      made("    {minReplicas: 2, maxReplicas: 4, scaleMetric: cpu, containers: [" + kGpuContainer +
           "]}\n");
  EXPECT_EQ(workload_lines(by_cpu), WorkloadLines{"bert-predictor Service 2"});
  EXPECT_EQ(by_cpu.said.count("autoscalers by what is not simulated (cpu)"), 1);
  const ObjectsRead wide = made(
      "    {minReplicas: 2, model: {resources: {limits: {nvidia.com/gpu: 4}}}, workerSpec: "
      "{pipelineParallelSize: 3, containers: [" +
      kGpuContainer + "]}}\n");
  EXPECT_EQ(workload_lines(wide),
            (WorkloadLines{"bert-predictor Service 2", "bert-worker Service 4"}));
}

TEST(ImportObjects, AnInferenceServiceWithoutALimitHasItsFewestPodsOneAtLeast) {
  const ObjectsRead made = objects_read(R"(
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: bert}
spec: {predictor: {minReplicas: 0, containers: [)" +
                                        kGpuContainer + "]}}\n");
  EXPECT_EQ(workload_lines(made), WorkloadLines{"bert-predictor Service 1"});
  EXPECT_EQ(made.said.count("not simulated: InferenceServices without maxReplicas"), 1);
}

TEST(ImportObjects, LanguageModelsOfKServeHaveWorkersForTheirRanks) {
  const auto made = [](const std::string& parallelism) {
    return objects_read(
        "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: m}\n"
        "spec: {replicas: 2, parallelism: {" +
        parallelism + "}, template: {containers: [" + kGpuContainer + "]}, worker: {containers: [" +
        kGpuContainer + "]}, prefill: {replicas: 3, template: {containers: [" + kGpuContainer +
        "]}}}\n");
  };
  EXPECT_EQ(workload_lines(made("data: 32, dataLocal: 8")),
            (WorkloadLines{"m Service 2", "m-worker Service 6", "m-prefill Service 3"}));
  EXPECT_EQ(workload_lines(made("pipeline: 2, tensor: 8")),
            (WorkloadLines{"m Service 2", "m-worker Service 2", "m-prefill Service 3"}));
  EXPECT_EQ(workload_lines(made("tensor: 1")),
            (WorkloadLines{"m Service 2", "m-prefill Service 3"}));
}

TEST(ImportObjects, ANimServiceIsOneContainerItsScaleAnHpa) {
  const std::string head = R"(
apiVersion: apps.nvidia.com/v1alpha1
kind: NIMService
metadata: {name: llama}
spec:
  image: {repository: nvcr.io/nim/meta/llama, tag: "1.12.0"}
  replicas: 2
)";
  const std::string gpus = "  resources: {limits: {nvidia.com/gpu: 1}}\n";
  EXPECT_EQ(workload_lines(objects_read(head + gpus)), WorkloadLines{"llama Service 2"});
  EXPECT_EQ(workload_lines(objects_read(head + gpus +
                                        "  multiNode: {parallelism: {pipeline: 2, tensor: 8}}\n")),
            WorkloadLines{"llama Service 4"});
  const ObjectsRead scaled = objects_read(head + gpus + R"(
  scale:
    enabled: true
    hpa:
      minReplicas: 1
      maxReplicas: 5
      metrics:
      - {type: Pods, pods: {metric: {name: num_requests_waiting}, target: {type: AverageValue, averageValue: "2500m"}}}
)");
  ASSERT_TRUE(scaled.find("llama") && scaled.find("llama")->autoscaling);
  EXPECT_EQ(scaled.find("llama")->autoscaling->metric, Autoscaling::Metric::Queue);
  EXPECT_DOUBLE_EQ(scaled.find("llama")->autoscaling->target, 2.5);
  const ObjectsRead silent = objects_read(head);
  ASSERT_FALSE(silent.said.errors.empty());
  EXPECT_NE(silent.said.errors.front().message.find("by the profile of the model"),
            std::string::npos);
}

TEST(ImportObjects, LeadersAndWorkersAreCountedByTheSizeOfTheirGroup) {
  const auto made = [](const std::string& leader) {
    return objects_read(
        "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: v}\n"
        "spec: {replicas: 3, leaderWorkerTemplate: {size: 4, " +
        leader + "workerTemplate: {spec: {containers: [" + kGpuContainer + "]}}}}\n");
  };
  EXPECT_EQ(workload_lines(made("")), WorkloadLines{"v-worker Service 12"});
  EXPECT_EQ(workload_lines(made("leaderTemplate: {spec: {containers: [" + kGpuContainer + "]}}, ")),
            (WorkloadLines{"v-leader Service 3", "v-worker Service 9"}));
}

TEST(ImportObjects, KindsThatSeveralApisHaveAreToldApart) {
  EXPECT_EQ(workload_lines(objects_read(
                "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: v}\n"
                "spec: {tasks: [{name: w, replicas: 3, " +
                kGpuPods + "}]}\n")),
            WorkloadLines{"v-w Job 3"});
  const ObjectsRead volcano = objects_read(
      "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: v}\n"
      "spec: {tasks: [{name: w, replicas: 3, " +
      kGpuPods + "}]}\n");
  EXPECT_EQ(volcano.scenario.workloads.front().manifest.kind, "Job.batch.volcano.sh");
  EXPECT_EQ(volcano.said.count("kube-scheduler alone does not"), 0);
  EXPECT_EQ(workload_lines(objects_read(
                "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: k}\n"
                "spec: {" +
                kGpuPods + "}\n")),
            WorkloadLines{"k Service 1"});
}

TEST(ImportObjects, WhatTrainsIsNoServiceUnlessSomebodyAsksItSomething) {
  const auto made = [](const std::string& command, const std::string& more,
                       const std::string& beside = {}) {
    return objects_read(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 2, "
        "template: {metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: x, "
        "command: [" +
        command + "], resources: {limits: {nvidia.com/gpu: 1}}" + more + "}]}}}\n" + beside);
  };
  const ObjectsRead trainer = made("torchrun, --nproc-per-node=1, main.py", "");
  EXPECT_EQ(workload_lines(trainer), WorkloadLines{"d Deployment 2"});
  EXPECT_EQ(trainer.said.count("Deployments that train, by their command (torchrun)"), 1);
  EXPECT_EQ(workload_lines(made("python3, /app/train_gpt.py", "")),
            WorkloadLines{"d Deployment 2"});
  EXPECT_EQ(workload_lines(made("python3, /app/serve.py", "")), WorkloadLines{"d Service 2"});
  EXPECT_EQ(workload_lines(made("python3, constrained.py", "")), WorkloadLines{"d Service 2"});
  EXPECT_EQ(workload_lines(made("torchrun, main.py", ", readinessProbe: {tcpSocket: {port: 80}}")),
            WorkloadLines{"d Service 2"});
  const std::string service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {";
  EXPECT_EQ(workload_lines(made("torchrun, main.py", "", service + "selector: {app: d}}\n")),
            WorkloadLines{"d Service 2"});
  // Where ranks find each other.
  EXPECT_EQ(workload_lines(
                made("torchrun, main.py", "", service + "clusterIP: None, selector: {app: d}}\n")),
            WorkloadLines{"d Deployment 2"});
}

TEST(ImportObjects, ANodesAllocatableSaysHowItShares) {
  const auto made = [](const std::string& allocatable, const std::string& resource) {
    ImportOptions options;
    options.instances = {{"g5.xlarge", "a10g", 1}, {"p4d.24xlarge", "a100", 8}};
    return objects_read(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n, labels: "
        "{node.kubernetes.io/instance-type: p4d.24xlarge}}\nstatus: {allocatable: {cpu: "
        "95690m, " +
            allocatable +
            "}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {restartPolicy: "
            "Never, containers: [{name: c, image: x, resources: {limits: {" +
            resource + ": 1}}}]}\n",
        options);
  };
  const ObjectsRead shared = made("nvidia.com/gpu.shared: \"32\"", "nvidia.com/gpu.shared");
  ASSERT_EQ(shared.scenario.node_pools.size(), 1U) << shared.yaml;
  ASSERT_TRUE(shared.scenario.node_pools[0].device_plugin);
  EXPECT_TRUE(shared.scenario.node_pools[0].device_plugin->time_slicing->rename_by_default);
  EXPECT_EQ(shared.scenario.node_pools[0].device_plugin->time_slicing->resources.at(0).replicas, 4);
  EXPECT_EQ(shared.said.count("sharing of nodes, by how many GPUs they offer"), 1);
  const ObjectsRead whole = made("nvidia.com/gpu: \"8\"", "nvidia.com/gpu");
  ASSERT_EQ(whole.scenario.node_pools.size(), 1U);
  EXPECT_FALSE(whole.scenario.node_pools[0].device_plugin);
  const ObjectsRead cut = made("nvidia.com/mig-1g.5gb: \"56\"", "nvidia.com/mig-1g.5gb");
  ASSERT_EQ(cut.scenario.node_pools.size(), 1U);
  EXPECT_NE(cut.yaml.find("mig: {strategy: mixed, config: all-1g.5gb}"), std::string::npos);
}

std::string kept_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// SLICEWISE_UPDATE_GOLDEN=1 writes the file instead: look at the difference before you commit it.
TEST(ImportObjects, OneOfEachKindIsTheScenarioThatIsKept) {
  const std::string here = std::string(SLICEWISE_SOURCE_DIR) + "/tests/scenarios/";
  ImportOptions options;
  options.instances = {{"g5.12xlarge", "a10g", 4}, {"g6.12xlarge", "l4", 4}};
  const ObjectsRead made = objects_read(kept_text(here + "operators.yaml"), options);
  std::string kept = made.yaml;
  for (const ImportRemark& remark : made.said.log.remarks) {
    kept += "# " + std::to_string(remark.count) + " " + remark.what + "\n";
  }
  const std::string golden = here + "operators_imported.yaml";
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << kept;
  EXPECT_EQ(kept_text(golden), kept);
}

}  // namespace
}  // namespace slicewise::scenarios
