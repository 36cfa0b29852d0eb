#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/diagnostics.hpp"
#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/kai_part.hpp"

#include "scenario_samples.hpp"

namespace slicewise::reports {
namespace {

using scenarios::Scenario;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kVariable = "name: TF_FORCE_GPU_ALLOW_GROWTH\n          value: \"true\"\n";

// The lines of a patch that are not comments.
std::string without_comments(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) out += line + '\n';
  }
  return out;
}

// The patch is what was simulated; what would have helped is said beside it.
TEST(PodPatch, GreedyAllocatorUnderTimeSlicingIsToldOfGrowthInAComment) {
  const std::string patch = pod_patches(demo_after());
  EXPECT_THAT(patch, HasSubstr("#   - name: TF_FORCE_GPU_ALLOW_GROWTH\n#     value: \"true\"\n"));
  EXPECT_THAT(patch, HasSubstr("Not part of this variant"));
  EXPECT_THAT(without_comments(patch), Not(HasSubstr("TF_FORCE_GPU_ALLOW_GROWTH")));
}

TEST(PodPatch, WholeGpuMayBeMappedWhole) {
  Scenario scenario = demo_after();
  scenario.node_pools = {whole_gpus("v100", "p3.8xlarge")};
  EXPECT_THAT(pod_patches(scenario), Not(HasSubstr("TF_FORCE_GPU_ALLOW_GROWTH")));
}

// The pods ask for whole GPUs of another pool: nvidia.com/gpu, where the shared one is renamed.
TEST(PodPatch, OtherNameIsNotShared) {
  Scenario scenario = demo_after();
  scenario.node_pools = {time_sliced("v100", "p3.8xlarge", 10, true)};
  EXPECT_THAT(pod_patches(scenario), Not(HasSubstr("TF_FORCE_GPU_ALLOW_GROWTH")));
}

TEST(PodPatch, ValueInTheScenarioWins) {
  Scenario scenario = demo_after();
  scenario.workloads.front().pod.env = {{"TF_FORCE_GPU_ALLOW_GROWTH", "false"}};
  EXPECT_THAT(pod_patches(scenario),
              AllOf(HasSubstr("value: \"false\""), Not(HasSubstr(kVariable))));
}

TEST(PodPatch, QuantitiesAreKubernetes) {
  Scenario scenario = demo_after();
  scenarios::PodTemplate& pod = scenario.workloads.front().pod;
  pod.cpu_request = {2000};
  pod.cpu_limit = Millicores{2600};
  pod.memory_request = mebibytes(1536);
  pod.memory_limit = gibibytes(2);
  EXPECT_THAT(
      pod_patches(scenario),
      AllOf(HasSubstr("limits:\n            cpu: \"2600m\"\n            memory: \"2Gi\"\n"),
            HasSubstr("requests:\n            cpu: \"2\"\n            memory: \"1536Mi\"\n")));
  pod.memory_request = {16'000'000'001};
  EXPECT_THAT(pod_patches(scenario), HasSubstr("memory: \"16000000001\"\n"));
}

// What a merge only leaves out would stay.
TEST(PodPatch, TakesOutWhatTheManifestStillSays) {
  Scenario scenario = demo_after();
  scenarios::Workload& workload = scenario.workloads.front();
  workload.manifest = {.kind = "StatefulSet",
                       .name = "trainer",
                       .containers = {"main", "proxy"},
                       .old_selectors = {"team", "rack"},
                       .old_resources = {"nvidia.com/gpu.old"},
                       .old_annotations = {},
                       .old_claim = false,
                       .scaled_by = {},
                       .spread = {}};
  workload.pod.node_selector = {{"rack", "3"}};
  workload.pod.cpu_request = {2000};
  EXPECT_THAT(without_comments(pod_patches(scenario)),
              AllOf(HasSubstr("kind: StatefulSet\n"), HasSubstr("  name: trainer\n"),
                    HasSubstr("- name: main\n"), HasSubstr("nvidia.com/gpu.old: null\n"),
                    HasSubstr("nodeSelector:\n        rack: \"3\"\n        team: null\n"),
                    Not(HasSubstr("cpu: "))));
}

// It took six pods down to the four that the manifest had, until the autoscaler looked.
TEST(PodPatch, LeavesTheNumberOfPodsToWhateverScalesThem) {
  Scenario scenario = demo_after();
  scenarios::Workload& workload = scenario.workloads.front();
  workload.kind = scenarios::WorkloadKind::Deployment;
  EXPECT_THAT(pod_patch(scenario, workload), HasSubstr("  replicas: "));
  workload.manifest.scaled_by = "HorizontalPodAutoscaler/api";
  const std::string text = pod_patch(scenario, workload);
  EXPECT_THAT(text, Not(HasSubstr("  replicas: ")));
  EXPECT_THAT(text, HasSubstr("As many pods as HorizontalPodAutoscaler/api has them"));
}

TEST(PodPatch, TakesOutClaimsAndWhatKaiReads) {
  Scenario scenario = demo_after();
  scenario.workloads.front().manifest.old_annotations = {scenarios::kKaiFraction};
  scenario.workloads.front().manifest.old_claim = true;
  EXPECT_THAT(pod_patches(scenario),
              AllOf(HasSubstr("gpu-fraction: null\n"), HasSubstr("kai.scheduler/queue: null\n"),
                    HasSubstr("schedulerName: default-scheduler\n"), HasSubstr("claims: null\n"),
                    HasSubstr("resourceClaims: null\n")));
}

// It moved the pods of a team to KAI's default queue.
TEST(PodPatch, LeavesPodsOfKaiInTheirQueue) {
  Scenario scenario = demo_after();
  scenario.node_pools.front().kai = true;
  EXPECT_THAT(pod_patches(scenario), HasSubstr("kai.scheduler/queue: default-queue\n"));
  scenario.workloads.front().manifest.old_annotations = {scenarios::kKaiFraction};
  EXPECT_THAT(pod_patches(scenario), Not(HasSubstr("kai.scheduler/queue")));
}

scenarios::ClusterQueue queue_of(const std::string& resource) {
  scenarios::ClusterQueue queue;
  queue.name.value = "research";
  scenarios::ResourceGroup& group = queue.groups.emplace_back();
  group.covered.push_back({resource, {}});
  group.flavors.push_back({{"any", {}}, {{{resource, {}}, {"4", {}}, {}, {}, {}}}, {}});
  return queue;
}

// An option of a plan knows no quotas; the cluster that has them does.
TEST(PodPatch, SaysWhatKueueNeverAdmits) {
  Scenario scenario = demo_after();
  scenarios::Workload& job = scenario.workloads.front();
  job.kind = scenarios::WorkloadKind::Job;
  EXPECT_THAT(pod_patch(scenario, job), Not(HasSubstr("Kueue")));
  scenario.cluster_queues = {queue_of("cpu")};
  EXPECT_THAT(pod_patch(scenario, job), HasSubstr("# Warning: no ClusterQueue covers nvidia.com/"));
  const auto files = render_pod_patch(scenario, sample_catalogue(), {});
  EXPECT_THAT(files->front().left_out, HasSubstr("Kueue never admits"));
  EXPECT_FALSE(render_kueue(scenario, sample_catalogue(), {}));
  scenario.cluster_queues = {queue_of(job.pod.extended.front().name.value)};
  EXPECT_THAT(pod_patch(scenario, job), HasSubstr("# Planned without quotas"));
  EXPECT_TRUE(render_pod_patch(scenario, sample_catalogue(), {})->front().left_out.empty());
  job.queue.value = "research";
  EXPECT_THAT(pod_patch(scenario, job), HasSubstr("# Simulated in Kueue's ClusterQueue research"));
}

TEST(PodPatch, IsOfWhatTheWorkloadIsWhereNobodySays) {
  using Kind = scenarios::WorkloadKind;
  Scenario scenario = demo_after();
  scenarios::Workload& workload = scenario.workloads.front();
  for (const auto& [kind, object] :
       {std::pair(Kind::Deployment, "kind: Deployment\n"),
        std::pair(Kind::Service, "kind: Deployment\n"), std::pair(Kind::Job, "kind: Job\n"),
        std::pair(Kind::Notebook, "kind: StatefulSet\n")}) {
    workload.kind = kind;
    const std::string name = "name: " + workload.name.value;
    // 20 Jobs are objects of their own.
    const std::string own = name + (kind == Kind::Job ? "-1\n" : "\n");
    EXPECT_THAT(pod_patches(scenario),
                AllOf(HasSubstr(object), HasSubstr("  " + own), HasSubstr("- " + name + "\n")));
  }
}

// kubectl and kustomize merge lists of Kubernetes' own kinds only.
TEST(PodPatch, OfACustomResourceIsForPeople) {
  Scenario scenario = demo_after();
  scenario.workloads.front().manifest.kind = "PyTorchJob";
  scenario.workloads.front().manifest.name = "train";
  const std::string patch = pod_patches(scenario);
  EXPECT_EQ(without_comments(patch), "");
  EXPECT_THAT(patch, AllOf(HasSubstr("By hand: PyTorchJob train"), HasSubstr("#   containers:")));
}

// Their manifests have no list of containers, and KServe refuses one beside a model.
TEST(PodPatch, ByHandStandsWhereTheManifestHasIt) {
  Scenario scenario = demo_after();
  scenarios::Workload& workload = scenario.workloads.front();
  workload.kind = scenarios::WorkloadKind::Service;
  workload.pod.node_selector = {{"rack", "3"}};
  const auto by_hand = [&](const std::string& kind, const std::string& part,
                           const std::vector<std::string>& containers = {}) {
    workload.name.value = "fraud-" + part;
    workload.manifest.kind = kind;
    workload.manifest.name = "fraud";
    workload.manifest.containers = containers;
    std::string text = pod_patches(scenario);
    for (std::size_t at = 0; (at = text.find("\n# ", at)) != text.npos;) text.replace(at, 3, " ");
    return text;
  };
  EXPECT_THAT(
      by_hand("InferenceService", "predictor"),
      AllOf(HasSubstr("change this of spec.predictor (null"), HasSubstr("model:   resources:"),
            HasSubstr(" nodeSelector:   rack:"), Not(HasSubstr("containers:"))));
  EXPECT_THAT(by_hand("InferenceService", "transformer", {"kserve-container"}),
              AllOf(HasSubstr("change this of spec.transformer (null"),
                    HasSubstr("containers: - name: kserve-container")));
  EXPECT_THAT(by_hand("NIMService", "x"),
              AllOf(HasSubstr("change this of spec (null"), HasSubstr(" resources:   limits:"),
                    Not(HasSubstr("containers:"))));
  EXPECT_THAT(by_hand("RayCluster", "gpu", {"w"}),
              HasSubstr("change this of spec.workerGroupSpecs, groupName gpu: template (null"));
  workload.kind = scenarios::WorkloadKind::Job;
  EXPECT_THAT(by_hand("RayJob", "head", {"h"}),
              AllOf(HasSubstr("of spec.rayClusterSpec.headGroupSpec.template (null"),
                    Not(HasSubstr("restartPolicy"))));
}

// It became a Job of Kubernetes' own beside Volcano's, which ran it a second time.
TEST(PodPatch, AJobOfVolcanoIsNoneOfKubernetes) {
  Scenario scenario = demo_after();
  scenario.workloads.front().kind = scenarios::WorkloadKind::Job;
  scenario.workloads.front().manifest.kind = "Job.batch.volcano.sh";
  EXPECT_EQ(without_comments(pod_patches(scenario)), "");
}

// backoffLimitPerIndex lifts backoffLimit: 120 pods failed where 7 had ended the Job.
TEST(PodPatch, LeavesTheLimitsOfAJobThatIsThere) {
  Scenario scenario = demo_after();
  scenarios::Workload& workload = scenario.workloads.front();
  workload.kind = scenarios::WorkloadKind::Job;
  workload.restart_policy = scenarios::RestartPolicy::Never;
  EXPECT_THAT(pod_patches(scenario), HasSubstr("backoffLimitPerIndex"));
  workload.manifest.containers = {"main"};
  EXPECT_THAT(pod_patches(scenario), Not(HasSubstr("backoffLimit")));
}

// A strategic merge replaces the manifest's list, so none is written that the scenario lacks.
TEST(PodPatch, OnlyTheTolerationsOfTheScenario) {
  Scenario scenario = demo_after();
  const std::string none = pod_patches(scenario);
  EXPECT_THAT(without_comments(none), Not(HasSubstr("tolerations")));
  EXPECT_THAT(none, HasSubstr("#   tolerations:\n#   - key: nvidia.com/gpu\n"));
  scenario.workloads.front().pod.tolerations = {{"", "Exists", "", ""}};
  EXPECT_THAT(pod_patches(scenario), AllOf(HasSubstr("tolerations:\n      - operator: Exists\n"),
                                           Not(HasSubstr("key: nvidia.com/gpu"))));
}

TEST(PodPatch, AScheduleIsACronJob) {
  Scenario scenario = demo_after();
  scenarios::Workload& w = scenario.workloads.front();
  w.kind = scenarios::WorkloadKind::Job;
  w.count = 8;
  w.schedule.emplace().cron.text = "30 2 * * *";
  w.schedule->jobs_per_run = 2;
  w.schedule->concurrency = scenarios::Schedule::Concurrency::Forbid;
  w.schedule->utc_offset = hours(1);
  w.schedule->starting_deadline = minutes(10);
  const std::string patch = pod_patches(scenario);
  for (const char* line : {"kind: CronJob\n", "  schedule: \"30 2 * * *\"\n",
                           "  timeZone: Etc/GMT-1\n", "  concurrencyPolicy: Forbid\n",
                           "  startingDeadlineSeconds: 600\n", "      completions: 2\n"}) {
    EXPECT_THAT(patch, HasSubstr(line));
  }
  const SourceText file{"patch.yaml", patch};
  EXPECT_TRUE(scenarios::read_cluster_files({&file, 1}, {}).problems.empty()) << "nobody's image";
  w.schedule->time_zone = "Europe/Berlin";
  EXPECT_THAT(pod_patches(scenario), HasSubstr("  timeZone: Europe/Berlin\n"));
  w.schedule->time_zone.clear();
  // What the scenario does not know stays as the manifest has it.
  w.schedule->utc_offset = {};
  w.schedule->starting_deadline = milliseconds(1500);
  w.manifest.kind = "CronJob";
  EXPECT_THAT(pod_patches(scenario),
              AllOf(HasSubstr("startingDeadlineSeconds: 2\n"), Not(HasSubstr("timeZone")),
                    Not(HasSubstr("parallelism"))));
}

// Adapters without a place are copied from host memory in the simulation, from disk by default.
TEST(PodPatch, LoraAdaptersStayInHostMemory) {
  Scenario scenario = demo_after();
  scenarios::Workload& w = scenario.workloads.front();
  w.kind = scenarios::WorkloadKind::Service;
  w.llm.emplace().adapters.emplace();
  w.llm->adapters->count = 40;
  w.llm->adapters->at_once = 4;
  std::string patch = pod_patches(scenario);
  std::erase(patch, '#');
  EXPECT_THAT(patch, ::testing::ContainsRegex("--enable-lora[ \n]+--max-loras[ \n]+4"));
  EXPECT_THAT(patch, ::testing::ContainsRegex("--max-cpu-loras[ \n]+40"));
  EXPECT_THAT(patch, ::testing::ContainsRegex("--max-lora-rank[ \n]+RANK"));
  w.llm->adapters->rank = 48;  // which vLLM does not take
  patch = pod_patches(scenario);
  std::erase(patch, '#');
  EXPECT_THAT(patch, ::testing::ContainsRegex("--max-lora-rank[ \n]+64"));
}

// Without the variable vLLM has no /sleep, whatever its flags.
TEST(PodPatch, EnginesThatSleepCanBeTold) {
  Scenario scenario = demo_after();
  scenarios::Workload& w = scenario.workloads.front();
  w.kind = scenarios::WorkloadKind::Service;
  w.llm.emplace();
  EXPECT_THAT(pod_patches(scenario), Not(HasSubstr("VLLM_SERVER_DEV_MODE")));
  w.llm->sleep.emplace().level = 2;
  EXPECT_THAT(pod_patches(scenario),
              AllOf(HasSubstr("--enable-sleep-mode"), HasSubstr("/sleep?level=2"),
                    HasSubstr("reload_weights"),
                    HasSubstr("- name: VLLM_SERVER_DEV_MODE\n          value: \"1\"\n")));
}

TEST(PodPatch, JobsHaveNoReplicas) {
  Scenario scenario = demo_after();
  EXPECT_THAT(pod_patches(scenario), HasSubstr("kind: Deployment\n"));
  EXPECT_THAT(pod_patches(scenario), HasSubstr("  replicas: 20\n"));
  scenario.workloads.front().kind = scenarios::WorkloadKind::Job;
  EXPECT_THAT(pod_patches(scenario),
              AllOf(HasSubstr("apiVersion: batch/v1\nkind: Job\n"), Not(HasSubstr("replicas:"))));
}

}  // namespace
}  // namespace slicewise::reports
