#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"

#include "imported_scenario.hpp"
#include "one_workload.hpp"

// Queues of Kueue in scenario files, and of manifests.
namespace slicewise::scenarios {
namespace {

constexpr std::string_view kGroup =
    "resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: t4, resources: [{name: "
    "nvidia.com/gpu, nominalQuota: 4}]}]}]";

std::string with_queue(const std::string& queue, const std::string& job = "queue: research",
                       const std::string& scheduler = "{}") {
  return "apiVersion: slicewise.dev/v1alpha1\n"
         "kind: Scenario\n"
         "metadata: {name: test}\n"
         "spec:\n"
         "  scheduler: " +
         scheduler +
         "\n"
         "  nodePools:\n"
         "  - {name: gpu, instanceType: g4dn.xlarge}\n"
         "  resourceFlavors: [{name: t4, nodeLabels: {tier: a}}]\n"
         "  clusterQueues:\n"
         "  - {name: research, " +
         queue +
         "}\n"
         "  workloads:\n"
         "  - {name: a, " +
         job + ", work: {units: 1}, measured: {unitTime: 18s}}\n";
}

TEST(ClusterQueues, AreReadAsKueueHasThem) {
  const auto loaded = load_scenario(
      {"f.yaml",
       with_queue("cohortName: labs, queueingStrategy: StrictFIFO, preemption: "
                  "{reclaimWithinCohort: Any, withinClusterQueue: LowerPriority, "
                  "borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 7}}, "
                  "resourceGroups: [{coveredResources: [cpu, nvidia.com/gpu], flavors: [{name: t4, "
                  "resources: [{name: cpu, nominalQuota: 500m}, {name: nvidia.com/gpu, "
                  "nominalQuota: 4, borrowingLimit: 2, lendingLimit: 0}]}]}]")});
  ASSERT_TRUE(loaded) << loaded.error().front().message;
  const Scenario& scenario = loaded->variants.front();
  EXPECT_EQ(scenario.flavors.front().node_labels.at("tier"), "a");
  EXPECT_EQ(scenario.workloads.front().queue.value, "research");
  const ClusterQueue& queue = scenario.cluster_queues.at(0);
  EXPECT_EQ(queue.cohort, "labs");
  EXPECT_EQ(queue.strategy, ClusterQueue::Strategy::StrictFifo);
  EXPECT_EQ(queue.reclaim, QuotaPreemption::Any);
  EXPECT_EQ(queue.within_queue, QuotaPreemption::LowerPriority);
  EXPECT_EQ(queue.borrow_within_cohort, QuotaPreemption::LowerPriority);
  EXPECT_EQ(queue.most_priority_preempted, 7);
  const ResourceQuota& gpus = queue.groups.at(0).flavors.at(0).resources.at(1);
  EXPECT_EQ(gpus.borrowing_limit->value, "2");
  EXPECT_EQ(gpus.lending_limit->value, "0");
  EXPECT_EQ(quota_amount("cpu", "500m"), 500);
  EXPECT_EQ(quota_amount("memory", "2Gi"), std::int64_t{2} << 30);
  EXPECT_EQ(quota_amount("nvidia.com/gpu", "4"), 4);
  EXPECT_FALSE(quota_amount("nvidia.com/gpu", "four"));
  EXPECT_EQ(quota_amount("cpu", "900P"), kMostQuota);
  EXPECT_EQ(quota_of_pods(std::int64_t{1900} << 30, 2), std::int64_t{3800} << 30);
  EXPECT_EQ(quota_of_pods(kMostQuota, 1'000'000), kMostQuota);
  EXPECT_EQ(quota_of_pods(7, 0), 0);
}

TEST(KaiQueues, HaveParentsThatAreThereAndAreNotBelowThem) {
  const auto with_parents = [](const std::string& of_a, const std::string& of_b) {
    return "apiVersion: slicewise.dev/v1alpha1\n"
           "kind: Scenario\n"
           "metadata: {name: test}\n"
           "spec:\n"
           "  nodePools:\n"
           "  - {name: gpu, instanceType: g4dn.xlarge, kai: true}\n"
           "  kaiQueues:\n"
           "  - {name: a, parentQueue: " +
           of_a +
           "}\n"
           "  - {name: b, parentQueue: " +
           of_b +
           "}\n"
           "  workloads:\n"
           "  - {name: j, work: {units: 1}, measured: {unitTime: 18s}}\n";
  };
  EXPECT_TRUE(load_scenario({"f.yaml", with_parents("b", "''")}));
  expect_problem_at(8, with_parents("c", "''"), Code::QueueUnknown, "spec.kaiQueues has no \"c\"");
  expect_problem_at(8, with_parents("b", "a"), Code::SettingConflict, "below itself");
}

TEST(ClusterQueues, MistakesAreSaidAtTheirPlace) {
  const std::string group(kGroup);
  expect_problem_at(12, with_queue(group, "queue: reserch"), Code::QueueUnknown,
                    "spec.clusterQueues has no \"reserch\"");
  std::string other = group;
  other.replace(other.find("name: t4"), 8, "name: t5");
  expect_problem_at(10, with_queue(other), Code::QueueUnknown,
                    "spec.resourceFlavors has no \"t5\"");
  std::string odd = group;
  odd.replace(odd.find("Quota: 4"), 8, "Quota: four");
  expect_problem_at(10, with_queue(odd), Code::FieldType, "\"four\" is not a Kubernetes quantity");
  std::string uncovered = group;
  uncovered.replace(uncovered.find("[nvidia.com/gpu]"), 16, "[cpu, nvidia.com/gpu]");
  expect_problem_at(10, with_queue(uncovered), Code::SettingConflict,
                    "quotas of other resources than coveredResources");
  const std::string permuted =
      "resourceGroups: [{coveredResources: [cpu, nvidia.com/gpu], flavors: [{name: t4, resources: "
      "[{name: nvidia.com/gpu, nominalQuota: 4}, {name: cpu, nominalQuota: 8}]}]}]";
  expect_problem_at(10, with_queue(permuted), Code::SettingConflict,
                    "quotas in another order than coveredResources");
  std::string alone = group;
  alone.replace(alone.find("Quota: 4"), 8, "Quota: 4, borrowingLimit: 1");
  expect_problem_at(10, with_queue(alone), Code::SettingConflict, "without a cohortName");
  expect_problem_at(
      10, with_queue("preemption: {borrowWithinCohort: {policy: LowerPriority}}, " + group),
      Code::SettingConflict, "reclaimWithinCohort=Never");
  expect_problem_at(5, with_queue(group, "queue: research", "{queue: srtf}"),
                    Code::StrategyNotModelled, "before another queue than kube-scheduler's");
  expect_problem_at(12, with_queue(group, "kind: Deployment, queue: research"),
                    Code::SettingConflict, "queue on a Deployment");
}

constexpr std::string_view kQueueObjects = R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: a10g}
spec: {nodeLabels: {gpu: a10g}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team.a}
spec:
  cohort: labs
  preemption: {reclaimWithinCohort: Any}
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: a10g, resources: [{name: nvidia.com/gpu, nominalQuota: 2, borrowingLimit: 1}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: lends}
spec:
  cohortName: labs
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: gone, resources: [{name: nvidia.com/gpu, nominalQuota: 3}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: others}
spec:
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: a10g, resources: [{name: nvidia.com/gpu, nominalQuota: 3}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: research}
spec: {clusterQueue: team.a}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: research, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {suspend: true, parallelism: 2, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: serve, namespace: research, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {replicas: 1, template: {spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
)";

TEST(ClusterQueues, OfManifestsComeWithTheirCohortAndFlavors) {
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1}};
  const Written result = written(ImportKind::K8s, {std::string(kQueueObjects)}, options);
  const Scenario& scenario = result.scenario;
  ASSERT_EQ(scenario.cluster_queues.size(), 2U);
  const ClusterQueue& queue = scenario.cluster_queues[0];
  EXPECT_EQ(queue.name.value, "team.a");
  EXPECT_EQ(queue.cohort, "labs");
  EXPECT_EQ(queue.reclaim, QuotaPreemption::Any);
  const ResourceQuota& quota = queue.groups.at(0).flavors.at(0).resources.at(0);
  EXPECT_EQ(quota.nominal.value, "2");
  EXPECT_EQ(quota.borrowing_limit->value, "1");
  EXPECT_EQ(scenario.cluster_queues[1].name.value, "lends");
  ASSERT_EQ(scenario.flavors.size(), 2U);
  EXPECT_EQ(scenario.flavors[0].node_labels.at("gpu"), "a10g");
  EXPECT_TRUE(scenario.flavors[1].node_labels.empty());
  EXPECT_EQ(result.said.count("ResourceFlavors that are not here: any node"), 1);
  const auto train = result.find("train");
  ASSERT_TRUE(train);
  EXPECT_EQ(train->queue.value, "team.a");
  EXPECT_EQ(train->pod.node_selector.at("gpu"), "a10g");
  EXPECT_TRUE(result.find("serve")->queue.value.empty());
  EXPECT_EQ(result.said.count("Deployments in a queue of Kueue: only Jobs wait for a quota here"),
            1);
  EXPECT_EQ(train->part_of.value, "train");
  EXPECT_FALSE(train->min_parallelism);
}

constexpr std::string_view kTaintedFlavor = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a10g}
spec:
  nodeTaints: [{key: team, value: a, effect: NoSchedule}]
  tolerations: [{key: team, operator: Exists}]
  topologyName: racks
---
)";
constexpr std::string_view kGpuQuota =
    "  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: a10g, resources: "
    "[{name: nvidia.com/gpu, nominalQuota: 2}]}]}]\n";
constexpr std::string_view kGpuPod =
    "template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {limits: "
    "{nvidia.com/gpu: 1}}}]}}";

// A Job in a queue of the spec `queue` beside `flavors`.
Written queued(const std::string& queue, const std::string& flavors,
               const std::string& version = "v1beta2") {
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1}};
  return written(ImportKind::K8s,
                 {flavors + "apiVersion: kueue.x-k8s.io/" + version +
                  "\nkind: ClusterQueue\nmetadata: {name: team}\nspec:\n" + queue +
                  "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: "
                  "q}\nspec: {clusterQueue: team}\n---\napiVersion: batch/v1\nkind: "
                  "Job\nmetadata: {name: train, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {" +
                  std::string(kGpuPod) + "}\n"},
                 options);
}

TEST(ClusterQueues, OldWordsForTheSearchOfAFlavorAreRead) {
  const Written old =
      queued("  flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: Preempt}\n" +
                 std::string(kGpuQuota),
             "", "v1beta1");
  ASSERT_EQ(old.scenario.cluster_queues.size(), 1U);
  EXPECT_EQ(old.scenario.cluster_queues[0].when_can_borrow, FlavorSearch::TryNextFlavor);
  EXPECT_EQ(old.scenario.cluster_queues[0].when_can_preempt, FlavorSearch::MayStopSearch);
}

TEST(ClusterQueues, WhatNoScenarioHasOfThemIsSaid) {
  const Written result = queued(
      "  stopPolicy: Hold\n  fairSharing: {weight: 2}\n  admissionChecksStrategy: "
      "{admissionChecks: "
      "[{name: capacity}]}\n" +
          std::string(kGpuQuota),
      std::string(kTaintedFlavor));
  EXPECT_EQ(result.scenario.cluster_queues.size(), 1U) << "it is a queue all the same";
  for (const char* what : {"queues that are stopped (stopPolicy): they admit Jobs here",
                           "fair sharing of Kueue: no weights",
                           "AdmissionChecks of Kueue: a Job starts when it has its quota",
                           "topologies of Kueue: its pods run on any nodes of the flavor"}) {
    EXPECT_EQ(result.said.count(std::string("not simulated: ") + what), 1) << what;
  }
  const Written usual = queued("  stopPolicy: None\n" + std::string(kGpuQuota), "");
  EXPECT_EQ(
      usual.said.count("not simulated: queues that are stopped (stopPolicy): they admit Jobs here"),
      0);
}

TEST(ClusterQueues, TheirJobsTolerateWhatTheFlavorDoes) {
  const Written result = queued(std::string(kGpuQuota), std::string(kTaintedFlavor));
  const auto train = result.find("train");
  ASSERT_TRUE(train);
  ASSERT_EQ(train->pod.tolerations.size(), 1U);
  EXPECT_EQ(train->pod.tolerations.front().key, "team");
}

constexpr std::string_view kParts = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: any, resources: [{name: nvidia.com/gpu, nominalQuota: 9}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q}
spec: {clusterQueue: team}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: shards
  labels: {kueue.x-k8s.io/queue-name: q}
  annotations: {kueue.x-k8s.io/job-min-parallelism: "2"}
spec: {parallelism: 4, completions: 9, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: alone, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: llm, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  replicatedJobs:
  - {name: driver, template: {spec: {template: {spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}}
  - {name: worker, replicas: 2, dependsOn: [{name: driver, status: Ready}], template: {spec: {template: {spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]}}}}}
)";

// What Kueue makes one Workload of.
TEST(ClusterQueues, PodsOfOneObjectWaitTogether) {
  ImportOptions options;
  options.instances = {{"g5.12xlarge", "a10g", 4}};
  const Written result = written(ImportKind::K8s, {std::string(kParts)}, options);
  EXPECT_EQ(result.find("shards")->part_of.value, "shards");
  EXPECT_EQ(result.find("shards")->min_parallelism, 2);
  EXPECT_EQ(result.find("alone")->part_of.value, "");
  for (const char* name : {"llm-driver", "llm-worker"}) {
    ASSERT_TRUE(result.find(name)) << name;
    EXPECT_EQ(result.find(name)->part_of.value, "llm") << name;
  }
}

TEST(ClusterQueues, PartsOfOneObjectAgree) {
  const auto said = [](const std::string& a, const std::string& b) {
    const auto loaded = load_scenario(
        {"f.yaml",
         "apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {name: test}\nspec:\n"
         "  nodePools: [{name: gpu, instanceType: g4dn.xlarge}]\n  workloads:\n"
         "  - {name: a, " +
             a +
             ", work: {units: 1}, measured: {unitTime: 18s}}\n"
             "  - {name: b, " +
             b + ", work: {units: 1}, measured: {unitTime: 18s}}\n"});
    return loaded ? "" : loaded.error().front().message;
  };
  EXPECT_EQ(said("partOf: x", "partOf: x, dependsOn: [{name: a}]"), "");
  EXPECT_EQ(said("partOf: x", "partOf: x, submitAt: 1h"), "parts of \"x\" with different submitAt");
  EXPECT_EQ(said("partOf: x, minParallelism: 1", "partOf: x"),
            "minParallelism of an object with several parts");
  EXPECT_EQ(said("partOf: x", "minParallelism: 2"), "minParallelism without partOf");
  EXPECT_EQ(said("processesPerPod: 0, gpuMemory: {resident: 1Gi}", "count: 1"),
            "gpuMemory beside processesPerPod: 0");
  EXPECT_EQ(said("dependsOn: [{name: b}]", "count: 1"), "no Job above \"a\" is called \"b\"");
  EXPECT_EQ(said("kind: Deployment", "dependsOn: [{name: a}]"),
            "no Job above \"b\" is called \"a\"");
}

// The run would refuse them.
TEST(ClusterQueues, WhatKueueRefusesIsNoQuota) {
  for (const std::string& queue :
       {"  cohortName: labs\n  preemption: {borrowWithinCohort: {policy: LowerPriority}}\n" +
            std::string(kGpuQuota),
        std::string("  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: a, "
                    "resources: [{name: nvidia.com/gpu, nominalQuota: 1}]}]}, {coveredResources: "
                    "[nvidia.com/gpu], flavors: [{name: b, resources: [{name: nvidia.com/gpu, "
                    "nominalQuota: 1}]}]}]\n")}) {
    const Written result = queued(queue, "");
    EXPECT_TRUE(result.scenario.cluster_queues.empty()) << queue;
    EXPECT_EQ(result.said.count("ClusterQueues without quotas, or that Kueue refuses: their Jobs "
                                "have no quota here"),
              1);
  }
}

TEST(ClusterQueues, NodesAreToldApartByTheLabelsOfFlavors) {
  const auto node = [](const std::string& zone) {
    return "apiVersion: v1\nkind: Node\nmetadata: {name: n-" + zone +
           ", labels: {node.kubernetes.io/instance-type: g5.xlarge, topology.kubernetes.io/zone: " +
           zone + "}}\n---\n";
  };
  const auto flavor = [](const std::string& zone) {
    return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: " + zone +
           "}\nspec: {nodeLabels: {topology.kubernetes.io/zone: " + zone + "}}\n---\n";
  };
  const Written result = queued(
      "  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: a, resources: "
      "[{name: nvidia.com/gpu, nominalQuota: 1}]}, {name: b, resources: [{name: nvidia.com/gpu, "
      "nominalQuota: 1}]}]}]\n",
      node("a") + node("b") + flavor("a") + flavor("b"));
  ASSERT_EQ(result.scenario.node_pools.size(), 2U);
  EXPECT_EQ(result.scenario.node_pools[0].labels.at("topology.kubernetes.io/zone"), "a");
  EXPECT_EQ(result.scenario.node_pools[1].labels.at("topology.kubernetes.io/zone"), "b");
}

// Kueue sees the Jobs, whose labels the template has.
TEST(ClusterQueues, ACronJobHasTheQueueOfItsTemplate) {
  const auto queue_of = [](const std::string& of_cron_job, const std::string& of_job) {
    const Written result = queued(
        std::string(kGpuQuota),
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly, labels: {" + of_cron_job +
            "}}\nspec: {schedule: \"0 3 * * *\", jobTemplate: {metadata: {labels: {" + of_job +
            "}}, spec: {" + std::string(kGpuPod) + "}}}\n---\n");
    const auto nightly = result.find("nightly");
    return nightly ? nightly->queue.value : "not there";
  };
  EXPECT_EQ(queue_of("", "kueue.x-k8s.io/queue-name: q"), "team");
  EXPECT_EQ(queue_of("kueue.x-k8s.io/queue-name: q", ""), "");
}

}  // namespace
}  // namespace slicewise::scenarios
