#include <sstream>

#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"

#include "imported_scenario.hpp"

namespace slicewise::scenarios {
namespace {

TEST(ImportK8s, ADeploymentBecomesAServiceAJobAJob) {
  const Written result = k8s({std::string(kDeployment) + "---" + std::string(kJob)});
  ASSERT_EQ(result.scenario.workloads.size(), 2U);
  const Workload& asr = result.scenario.workloads[0];
  EXPECT_EQ(asr.kind, WorkloadKind::Service);
  EXPECT_EQ(asr.count, 3);
  const Workload& train = result.scenario.workloads[1];
  EXPECT_EQ(train.kind, WorkloadKind::Job);
  EXPECT_EQ(train.count, 6);
  EXPECT_EQ(train.parallelism, 2);
  // Secrets stay where they were.
  EXPECT_EQ(result.yaml.find("secret"), std::string::npos);
  EXPECT_NE(result.yaml.find("TF_FORCE_GPU_ALLOW_GROWTH"), std::string::npos);
}

TEST(ImportK8s, AJobGivesUpAsItsFileSays) {
  EXPECT_EQ(k8s({std::string(kJob)}).yaml.find("backoffLimit"), std::string::npos);
  std::string once(kJob);
  once.replace(once.find("completions: 6"), 14, "completions: 6\n  backoffLimit: 0");
  EXPECT_EQ(k8s({once}).scenario.workloads[0].backoff_limit, 0);
}

// It was simulated from its start.
TEST(ImportK8s, OfAJobThatIsPartlyDoneTheRestIsLeft) {
  const auto left = [](const std::string& status) {
    return k8s({std::string(kJob) + "status: " + status + "\n"}).scenario.workloads;
  };
  EXPECT_EQ(left("{active: 2}").at(0).count, 6);
  const Workload train = left("{succeeded: 3, active: 2}").at(0);
  EXPECT_EQ(train.count, 3);
  EXPECT_EQ(train.parallelism, 2);
  EXPECT_EQ(left("{succeeded: 5, active: 1}").at(0).count, 1);
  EXPECT_FALSE(left("{succeeded: 5, active: 1}").at(0).parallelism);
}

TEST(ImportK8s, TheFailuresOfAJobCountTogetherUnlessTheyAreOfItsIndexes) {
  const auto train = [](const std::string& more) {
    std::string job(kJob);
    job.replace(job.find("completions: 6"), 14, "completions: 6\n" + more);
    return k8s({job}).scenario.workloads[0];
  };
  EXPECT_EQ(train("").part_of.value, train("").name.value);
  const Workload indexed = train("  completionMode: Indexed\n  backoffLimitPerIndex: 1");
  EXPECT_EQ(indexed.part_of.value, "");
  EXPECT_EQ(indexed.backoff_limit, 1);
  EXPECT_FALSE(indexed.ignore_disruptions);
  EXPECT_TRUE(train("  podFailurePolicy: {rules: [{action: Ignore, onPodConditions: "
                    "[{type: DisruptionTarget}]}]}")
                  .ignore_disruptions);
}

TEST(ImportK8s, WhatIsSaidOfPodsThatStartInTurnAndOfTrainingIsNotDropped) {
  const std::string pods =
      "template: {spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: "
      "1}}}]}}";
  const Written made =
      k8s({"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: shards}\n"
           "spec: {replicas: 4, " +
           pods +
           "}\n---\napiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: train}\n"
           "spec:\n  runPolicy: {backoffLimit: 2, activeDeadlineSeconds: 100}\n"
           "  pytorchReplicaSpecs: {Worker: {replicas: 2, " +
           pods + "}}\n"});
  EXPECT_EQ(made.said.count("not simulated: StatefulSets that start their pods one after the other "
                            "(podManagementPolicy OrderedReady): all start at once"),
            1U);
  EXPECT_EQ(made.said.count("not simulated: activeDeadlineSeconds"), 1U);
  EXPECT_EQ(made.scenario.workloads.back().backoff_limit, 2);
}

// They ran, and what the others say was dropped without a word.
TEST(ImportK8s, PodsThatAreHeldBackDoNotRun) {
  const std::string container = "{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}";
  const auto job = [&](const std::string& name, const std::string& more,
                       const std::string& label = "") {
    return "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + label + "}\nspec: {" +
           more + "template: {spec: {restartPolicy: Never, containers: [" + container + "]}}}\n";
  };
  const auto pod = [&](const std::string& name, const std::string& more) {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {" + more +
           ", containers: [" + container + "]}\n";
  };
  const Written made =
      k8s({job("suspended", "suspend: true, ") +
           job("queued", "suspend: true, ", ", labels: {kueue.x-k8s.io/queue-name: q}") +
           job("late", "activeDeadlineSeconds: 60, ttlSecondsAfterFinished: 9, ") +
           pod("gated", "schedulingGates: [{name: example.com/x}]") +
           pod("slow", "terminationGracePeriodSeconds: 600, activeDeadlineSeconds: 60") +
           pod("usual", "terminationGracePeriodSeconds: 30") +
           pod("boxed", "overhead: {cpu: 250m, memory: 1Gi}")});
  EXPECT_FALSE(made.find("suspended"));
  EXPECT_TRUE(made.find("queued"));
  EXPECT_FALSE(made.find("gated"));
  EXPECT_EQ(made.said.count("objects whose pods do not run yet, by suspend: true"), 1);
  EXPECT_EQ(made.said.count("objects whose pods do not run yet, by schedulingGates"), 1);
  EXPECT_EQ(made.said.count("not simulated: activeDeadlineSeconds"), 2);
  EXPECT_EQ(made.said.count("not simulated: schedulerName"), 0);
  const Written others = k8s({R"(
kind: Deployment
metadata: {name: d}
spec: {template: {spec: {hostNetwork: true, schedulerName: mine, nodeName: a, containers: [
  {name: c, ports: [{containerPort: 80, hostPort: 80}, {containerPort: 81}], resources: {
    requests: {ephemeral-storage: 5Gi}, limits: {ephemeral-storage: 5Gi, nvidia.com/gpu: 1}}}]}}}
)"});
  ASSERT_EQ(others.find("d")->pod.host_ports.size(), 2U);
  EXPECT_EQ(others.find("d")->pod.host_ports[0].value, "80");
  EXPECT_EQ(others.find("d")->pod.host_ports[1].value, "81");
  EXPECT_EQ(others.said.count("not simulated: schedulerName"), 1);
  EXPECT_EQ(others.said.count("not simulated: nodeName"), 1);
  EXPECT_EQ(others.said.count("not simulated: requests of ephemeral-storage"), 1);
  EXPECT_EQ(made.said.count("not simulated: ttlSecondsAfterFinished"), 0);  // it changes nothing
  EXPECT_EQ(made.said.count("not simulated: terminationGracePeriodSeconds other than 30"), 1);
  EXPECT_EQ(made.find("boxed")->pod.cpu_request, Millicores{250});
  EXPECT_EQ(made.find("boxed")->pod.memory_request, gibibytes(1));
}

TEST(ImportK8s, SaysWhatIsMissingAndWhere) {
  const Written result = k8s({std::string(kDeployment), std::string(kSharedValues)});
  ASSERT_TRUE(
      result.missing.starts_with("Missing: region (prices), instanceType (gpu), nodes (gpu), "
                                 "gpuMemory (asr), measured (asr), traffic (asr). "
                                 "Filled with Assumed values; see TODO lines"));
  std::istringstream lines(result.yaml);
  std::string todo = "TODO lines ";
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find("# TODO") != std::string::npos) todo += std::to_string(number) + ", ";
  }
  todo.resize(todo.size() - 2);
  EXPECT_TRUE(result.missing.ends_with(todo + ".")) << todo;
}

TEST(ImportK8s, PluginSettingsInAllTheirForms) {
  const std::string own = R"(
version: v1
sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}
)";
  const std::string map = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: plugin}
data:
  any: |
    version: v1
    sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}
)";
  for (const std::string& settings : {std::string(kSharedValues), own, map}) {
    const Written result = k8s({std::string(kDeployment), settings});
    EXPECT_NE(result.yaml.find("replicas: 4}"), std::string::npos) << result.yaml;
    EXPECT_EQ(result.scenario.node_pools.front().nodes, 1);  // 3 pods on a GPU that four may share
  }
}

TEST(ImportK8s, LimitsOfCpuAreReadBesideRequests) {
  const auto limit_of = [](const std::string& second) {
    return k8s({R"(
kind: Job
metadata: {name: a}
spec: {template: {spec: {restartPolicy: Never, containers: [
  {name: c, resources: {requests: {cpu: 1}, limits: {cpu: 2, nvidia.com/gpu: 1}}}, )" +
                second + "]}}}\n"})
        .scenario.workloads.at(0)
        .pod.cpu_limit;
  };
  EXPECT_EQ(limit_of("{name: d, resources: {limits: {cpu: 500m}}}"), Millicores{2500});
  EXPECT_FALSE(limit_of("{name: d, resources: {requests: {cpu: 500m}}}"));
}

// What keeps Karpenter from disturbing pods is simulated.
TEST(ImportK8s, AnnotationsThatKeepPodsOnTheirNodesAreCarriedOver) {
  const Written result = k8s({R"(
kind: Job
metadata: {name: a}
spec: {template: {metadata: {annotations: {karpenter.sh/do-not-disrupt: "true", other: "1"}}, spec: {
  restartPolicy: Never, containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
)"});
  ASSERT_EQ(result.scenario.workloads.size(), 1U);
  EXPECT_EQ(result.scenario.workloads[0].pod.annotations,
            (std::map<std::string, std::string>{{"karpenter.sh/do-not-disrupt", "true"}}));
}

// As the scheduler counts: an init container that always restarts stays beside the others.
TEST(ImportK8s, SidecarsAreReservedBesideTheContainers) {
  const Written result = k8s({R"(
kind: Deployment
metadata: {name: a}
spec: {template: {spec: {
  initContainers: [{name: proxy, restartPolicy: Always, resources: {requests: {cpu: 1}}},
                   {name: load, resources: {requests: {cpu: 500m}}}],
  containers: [{name: c, resources: {requests: {cpu: 2}, limits: {nvidia.com/gpu: 1}}}]}}}
)"});
  ASSERT_EQ(result.scenario.workloads.size(), 1U);
  EXPECT_EQ(result.scenario.workloads[0].pod.cpu_request.count, 3'000);
}

// A pod with one of two values of a label is refused by two terms.
TEST(ImportK8s, RequiredAntiAffinityOfNodesIsRead) {
  const auto with = [](const std::string& term) {
    return k8s({R"(
kind: Deployment
metadata: {name: a}
spec: {template: {
  metadata: {labels: {app: a, tier: web}},
  spec: {
    affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [)" +
                term + R"(]}},
    containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
)"});
  };
  const Written values = with(
      "{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, "
      "operator: In, values: [a, b]}]}}");
  const PodTemplate& pod = values.scenario.workloads.at(0).pod;
  ASSERT_EQ(pod.anti_affinity.size(), 2U);
  EXPECT_EQ(pod.anti_affinity[0].match_labels.at("app"), "a");
  EXPECT_EQ(pod.anti_affinity[1].match_labels.at("app"), "b");
  EXPECT_EQ(pod.labels, (std::map<std::string, std::string>{{"app", "a"}}));
  for (const auto& [other, what] :
       {std::pair(
            "{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: a}}}",
            "what pods require of others by domains that nodes of a scenario do not have"),
        std::pair("{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: "
                  "app, operator: Exists}]}}",
                  "required podAffinity and podAntiAffinity by more than labels")}) {
    const Written left = with(other);
    EXPECT_TRUE(left.scenario.workloads.at(0).pod.anti_affinity.empty());
    EXPECT_EQ(left.said.count(what), 1);
  }
}

// Each of two values of a label has the weight. What the rules select by is kept of the labels.
TEST(ImportK8s, PreferencesAreRead) {
  const auto with = [](const std::string& affinity, const std::string& spread) {
    return k8s({R"(
kind: Deployment
metadata: {name: a}
spec: {template: {
  metadata: {labels: {app: a, tier: web}},
  spec: {
    affinity: {)" +
                affinity + "},\n    topologySpreadConstraints: [" + spread + R"(],
    containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
)"});
  };
  const std::string kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const Written read = with(
      "podAffinity: {" + kPreferred +
          ": [{weight: 7, podAffinityTerm: {topologyKey: "
          "topology.kubernetes.io/zone, namespaces: [b], labelSelector: {matchExpressions: [{key: "
          "app, "
          "operator: In, values: [x, y]}]}}}]}, podAntiAffinity: {" +
          kPreferred +
          ": [{weight: 100, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: "
          "{matchLabels: {app: a}}}}]}",
      "{maxSkew: 2, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, "
      "matchLabelKeys: [pod-template-hash], labelSelector: {matchLabels: {app: a}}}, "
      "{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, "
      "minDomains: 2, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, "
      "labelSelector: {matchLabels: {app: a}}}");
  const PodTemplate& pod = read.scenario.workloads.at(0).pod;
  const PodPreferences expected{
      {{{{"app", "x"}}, {"b"}, std::string(kZoneLabel), {}, 7},
       {{{"app", "y"}}, {"b"}, std::string(kZoneLabel), {}, 7}},
      {{{{"app", "a"}}, {}, std::string(kHostname), {}, 100}},
      {{2, std::string(kHostname), "ScheduleAnyway", {{"app", "a"}}, {}},
       {1, std::string(kHostname), "DoNotSchedule", {{"app", "a"}}, {}, 2, "Ignore", "Honor"}}};
  EXPECT_EQ(pod.preferences, expected);
  EXPECT_EQ(pod.labels, (std::map<std::string, std::string>{{"app", "a"}}));
  const std::string kMore =
      "not simulated: preferred podAffinity, and topologySpreadConstraints of either kind, by more "
      "than labels";
  EXPECT_EQ(read.said.count(kMore), 0);
  const Written left =
      with("podAffinity: {" + kPreferred +
               ": [{weight: 7, podAffinityTerm: {topologyKey: "
               "kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, operator: "
               "Exists}]}}}]}",
           "{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, "
           "matchLabelKeys: [app], labelSelector: {matchLabels: {app: a}}}");
  EXPECT_TRUE(left.scenario.workloads.at(0).pod.preferences.empty());
  EXPECT_EQ(left.said.count(kMore), 2);
}

TEST(ImportK8s, ListsAndJsonAreRead) {
  const std::string json = R"({"kind":"List","items":[{"kind":"Pod","metadata":{"name":"p"},"spec":{
"restartPolicy":"Never","containers":[{"resources":{"limits":{"nvidia.com/mig-1g.5gb":"1"}}}]}}]})";
  const Written result = k8s({json});
  EXPECT_EQ(result.scenario.workloads.size(), 1U);
  EXPECT_NE(result.yaml.find("mig: {strategy: mixed, config: all-1g.5gb}"), std::string::npos);
}

TEST(ImportK8s, WhatIsNotReadIsNamed) {
  const Written result = k8s({std::string(kDeployment) + R"(---
kind: Service
metadata: {name: asr}
---
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{resources: {limits: {cpu: 1}}}]}}}
---
kind: Pod
metadata: {name: half, annotations: {alibabacloud.com/gpu-milli: "500"}}
spec: {containers: [{}]}
---
kind: CronJob
metadata: {name: nightly}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}}}
)"});
  EXPECT_EQ(result.said.count("objects of kind Service"), 1);
  EXPECT_EQ(result.said.count("objects that ask for no GPU (Deployment)"), 1);
  EXPECT_EQ(result.said.count("parts of a GPU by annotation (alibabacloud.com/gpu-milli)"), 1);
  EXPECT_EQ(result.said.count("CronJobs: one run of each"), 1);
  EXPECT_EQ(result.scenario.workloads.size(), 2U);
}

// Its device plugin offers each GPU deviceSplitCount times, whatever pods ask for.
TEST(ImportK8s, NodesOfHamiOfferEachGpuManyTimes) {
  const Written result = k8s({R"(
kind: Node
apiVersion: v1
metadata: {name: n1, labels: {node.kubernetes.io/instance-type: g5.xlarge, topology.kubernetes.io/region: us-east-1, gpu: "on"}}
status: {allocatable: {cpu: 3920m, memory: 14966168Ki, pods: "58", nvidia.com/gpu: "8"}, conditions: [{type: Ready, status: "True"}]}
---
kind: Deployment
apiVersion: apps/v1
metadata: {name: asr}
spec: {template: {spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 4000}}}]}}}
)"});
  EXPECT_NE(result.yaml.find("hami: {deviceSplitCount: 8}"), std::string::npos) << result.yaml;
  EXPECT_EQ(result.yaml.find("timeSlicing"), std::string::npos);
}

TEST(ImportK8s, PartsThatPodsAskHamiForAreSimulatedByIt) {
  const Written result = k8s({R"(
kind: Deployment
apiVersion: apps/v1
metadata: {name: asr}
spec: {template: {spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 4000, nvidia.com/gpucores: 30}}}]}}}
---
kind: Deployment
apiVersion: apps/v1
metadata: {name: tts}
spec: {template: {spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpumem-percentage: 25}}}]}}}
)"});
  ASSERT_EQ(result.scenario.workloads.size(), 2U);
  EXPECT_NE(result.yaml.find("hami: {}"), std::string::npos);
  EXPECT_NE(result.yaml.find("limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 4000, "
                             "nvidia.com/gpucores: 30}"),
            std::string::npos);
  EXPECT_NE(result.yaml.find("limits: {nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 25}"),
            std::string::npos);
  // With its CUDA context it is below the limit.
  EXPECT_EQ(result.scenario.workloads[0].gpu_memory.resident, mebibytes(3488));
}

TEST(ImportK8s, PartsThatPodsAskKaiForAreSimulatedByIt) {
  const Written result = k8s({R"(
kind: Pod
metadata: {name: half, annotations: {gpu-fraction: "0.5"}}
spec: {schedulerName: kai-scheduler, restartPolicy: Never, containers: [{name: c, image: x}]}
)"});
  ASSERT_EQ(result.scenario.workloads.size(), 1U);
  EXPECT_TRUE(result.scenario.node_pools.at(0).kai);
  EXPECT_EQ(result.scenario.workloads[0].pod.annotations.at("gpu-fraction"), "0.5");
  EXPECT_TRUE(result.scenario.workloads[0].pod.extended.empty());
}

TEST(ImportK8s, WholeGpusInAQueueOfKaiAreGivenByIt) {
  const Written result = k8s({R"(
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team}
spec: {resources: {gpu: {quota: 1, limit: -1, overQuotaWeight: 1}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 3
  parallelism: 3
  template:
    metadata: {labels: {kai.scheduler/queue: team}}
    spec:
      schedulerName: kai-scheduler
      restartPolicy: Never
      containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]
)"});
  EXPECT_TRUE(result.scenario.node_pools.at(0).kai);
  EXPECT_EQ(result.scenario.kai_queues.size(), 1U);
}

TEST(ImportK8s, ANotebookOfKubeflowIsOnePersonsNotebook) {
  const Written result = k8s({R"(
apiVersion: kubeflow.org/v1
kind: Notebook
metadata: {name: ada, namespace: lab}
spec:
  template:
    spec:
      containers:
      - {name: ada, resources: {requests: {cpu: 500m, memory: 2Gi}, limits: {nvidia.com/gpu: 1}}}
)"});
  ASSERT_EQ(result.scenario.workloads.size(), 1U);
  const Workload& notebook = result.scenario.workloads[0];
  EXPECT_EQ(notebook.kind, WorkloadKind::Notebook);
  ASSERT_TRUE(notebook.notebooks);
  EXPECT_EQ(notebook.notebooks->users, 1);
  EXPECT_EQ(notebook.measured->provenance, Provenance::Assumed);
  EXPECT_TRUE(
      result.missing.starts_with("Missing: region (prices), instanceType (gpu), nodes (gpu), "
                                 "gpuMemory (ada), notebooks (ada)"))
      << result.yaml;
}

TEST(ImportK8s, TheTrafficThatNoManifestSaysIsAssumed) {
  EXPECT_EQ(k8s({std::string(kDeployment)}).scenario.workloads.at(0).traffic->provenance,
            Provenance::Assumed);
}

TEST(ImportK8s, AnnotationsSayWhatManifestsDoNot) {
  const std::string pod =
      "kind: Deployment\nmetadata: {name: asr, annotations: {slicewise.dev/gpu-memory: 5Gi, "
      "slicewise.dev/traffic: 20/s, slicewise.dev/gpu-util: 40%}}\nspec: {replicas: 2, template: "
      "{spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n";
  const Workload asr = k8s({pod}).scenario.workloads.at(0);
  EXPECT_EQ(asr.gpu_memory.resident, gibibytes(5));
  EXPECT_EQ(asr.traffic->mean.per_second, 20);
  EXPECT_NE(asr.traffic->provenance, Provenance::Assumed);
  // Two GPUs busy 40 % of the time with 20 requests a second: 40 ms each.
  EXPECT_NEAR(to_seconds(asr.measured->request_gpu_time->mean), 0.040, 1e-4);

  // Traffic and GPU time say how busy the GPUs are: a third figure is not dropped without a word.
  std::string thrice = pod;
  thrice.insert(thrice.find("slicewise.dev/traffic"), "slicewise.dev/request-gpu-time: 9ms, ");
  EXPECT_TRUE(k8s({thrice}).said.says("annotations slicewise.dev/gpu-util: not used"));
  EXPECT_FALSE(k8s({pod}).said.says("not used"));

  // Without the traffic there come as many as keep the GPUs that busy.
  std::string busy = pod;
  busy.erase(busy.find("slicewise.dev/traffic: 20/s, "), 29);
  const Workload guessed = k8s({busy}).scenario.workloads.at(0);
  EXPECT_EQ(guessed.traffic->provenance, Provenance::Assumed);
  EXPECT_NEAR(
      guessed.traffic->mean.per_second * to_seconds(guessed.measured->request_gpu_time->mean), 0.8,
      0.01);

  std::string wrong = pod;
  wrong.replace(wrong.find("20/s"), 4, "often");
  EXPECT_TRUE(k8s({wrong}).said.says("annotations slicewise.dev/traffic that are no such figure"));
}

TEST(ImportK8s, TheRiskThatCheckFindsIsInTheScenario) {
  const auto allocator = [](const std::string& env) {
    return k8s({"kind: Deployment\nmetadata: {name: w}\nspec: {template: {spec: {containers: "
                "[{name: c, image: 'tensorflow/tensorflow:2', env: [" +
                env + "], resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"})
        .scenario.workloads.at(0)
        .gpu_memory.allocator;
  };
  EXPECT_EQ(allocator(""), Allocator::Greedy);
  EXPECT_EQ(allocator("{name: TF_FORCE_GPU_ALLOW_GROWTH, value: 'true'}"), Allocator::OnDemand);
}

TEST(ImportK8s, NamesThatYamlTakesForSomethingElseAreQuoted) {
  std::string named(kDeployment);
  named.replace(named.find("asr"), 3, "\"1e3\"");
  named.replace(named.find("voice"), 5, "\"true\"");
  const Workload workload = k8s({named}).scenario.workloads.at(0);
  EXPECT_EQ(workload.name.value, "1e3");
}

TEST(ImportK8s, EqualNamesAreToldApart) {
  std::string other(kDeployment);
  other.replace(other.find("voice"), 5, "video");
  EXPECT_EQ(k8s({std::string(kDeployment), other}).scenario.workloads.size(), 2U);
}

TEST(ImportK8s, WithoutWorkloadsThereIsNothingToSimulate) {
  const Written values = k8s({std::string(kSharedValues)});
  ASSERT_EQ(values.said.errors.size(), 1U);
  EXPECT_EQ(values.said.errors[0].code, Code::TraceFormat);
  EXPECT_EQ(k8s({"a: [1"}).said.errors.at(0).code, Code::YamlSyntax);
  EXPECT_EQ(k8s({",\"labe,ls\"od"}).said.errors.at(0).code, Code::YamlSyntax);  // a stray comma
  EXPECT_EQ(k8s({std::string(100'000, '[')}).said.errors.at(0).code, Code::YamlSyntax);
}

TEST(ImportK8s, ThoseOfOneNameAreNumberedAndTheFirstOfManyLinesNamed) {
  std::string pods;
  const auto add = [&](const std::string& name) {
    pods += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
            "}\nspec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}\n";
  };
  for (const char* const name : {"a", "a-2", "a", "a", "a-2"}) add(name);
  std::vector<std::string> names;
  for (const Workload& each : written(ImportKind::K8s, {pods}).scenario.workloads) {
    names.push_back(each.name.value);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a", "a-2", "a-3", "a-4", "a-2-2"}));
  for (int n = 0; n < 30; ++n) add("b");
  const std::string missing = written(ImportKind::K8s, {pods}).missing;
  EXPECT_NE(missing.find(", ...."), std::string::npos) << missing;
  EXPECT_LT(missing.size(), 400U);
}

}  // namespace
}  // namespace slicewise::scenarios
