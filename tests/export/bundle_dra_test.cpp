// Bundles in which NVIDIA's DRA driver shares the GPUs, and patches of what queues hold.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export_of.hpp"
#include "scenario_samples.hpp"

namespace slicewise::reports {
namespace {

using scenarios::Scenario;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Halves of A100s, each for two pods under MPS.
Scenario halves_under_mps(int pods) {
  const std::string half = "nvidia.com/mig-3g.20gb";
  scenarios::NodePool pool = cut("all-3g.20gb", scenarios::MigStrategy::Mixed);
  scenarios::DevicePlugin& plugin = pool.device_plugin.emplace();
  plugin.mps.emplace().resources.push_back({{half, {}}, 2, {}});
  plugin.allocation_policy = scenarios::AllocationPolicy::Packed;
  Scenario scenario = with_pool(std::move(pool));
  scenario.workloads = {asking("small", pods, half)};
  return scenario;
}

TEST(DraBundle, SetsUpWhatTheDevicePluginDoesNot) {
  const Scenario scenario = halves_under_mps(2);
  EXPECT_FALSE(refusals(export_of("gpu-operator", scenario)).empty());
  const std::string text = text_of(export_of("bundle", scenario));
  EXPECT_THAT(text, AllOf(HasSubstr("==> dra.yaml <=="), HasSubstr("MPSSupport: true\n"),
                          HasSubstr("devicePlugin:\n  enabled: false\n"),
                          HasSubstr("helm upgrade -i dra-driver-nvidia-gpu oci://"),
                          HasSubstr("kubectl apply -f dra.yaml\n"),
                          HasSubstr("16 x gpu-N-mig-..., of profile 3g.20gb\n"),
                          HasSubstr("2 pods of small: all in PODS of small-gpu\n"),
                          HasSubstr("mps-control-daemon")));
  std::string patch = text.substr(text.find("==> pods/default-small"));
  patch.erase(patch.find("==> apply.sh"));
  EXPECT_THAT(patch, AllOf(HasSubstr("resourceClaimName: small-gpu\n"),
                           HasSubstr("nvidia.com/mig-3g.20gb: null\n")));
}

TEST(DraBundle, IsNotForPodsThatAPatchCannotSplit) {
  EXPECT_THAT(refusals(export_of("bundle", halves_under_mps(4))),
              ElementsAre(HasSubstr("pods of \"small\" share 2 devices, by a claim each")));
  ExportOptions bottlerocket;
  bottlerocket.image = NodeImage::Bottlerocket;
  EXPECT_THAT(refusals(export_of("bundle", halves_under_mps(2), bottlerocket)),
              ElementsAre(HasSubstr("bring the device plugin")));
  EXPECT_THAT(refusals(export_of("argocd", halves_under_mps(2))),
              ElementsAre(HasSubstr("NVIDIA's DRA driver")));
}

// The plugin gives each client 100 / replicas % of the threads.
TEST(DraBundle, IsForThreadsThatThePluginDoesNotGive) {
  scenarios::NodePool pool = with_mps("l4", "g6.xlarge", 2);
  pool.mps.emplace().uncapped = true;
  Scenario scenario = with_pool(std::move(pool));
  scenario.workloads = {asking("api", 2, "nvidia.com/gpu")};
  const std::string named = "resourceClaimName: api-gpu\n";
  for (const char* kind : {"pod-patch", "kustomize", "bundle"}) {
    EXPECT_THAT(text_of(export_of(kind, scenario)),
                AllOf(HasSubstr(named), Not(HasSubstr("nvidia.com/gpu: 1\n"))))
        << kind;
  }
  scenario.node_pools.front().mps.reset();
  EXPECT_THAT(text_of(export_of("pod-patch", scenario)), Not(HasSubstr("resourceClaim")));
}

TEST(DraBundle, TurnsOnTheGateThatMakesMigDevices) {
  scenarios::NodePool pool = whole_gpus("a100", "p4d.24xlarge");
  pool.dra = true;
  pool.dynamic_mig.emplace();
  Scenario scenario = with_pool(std::move(pool));
  scenarios::ResourceClaim& own = scenario.claims.emplace_back();
  own.name.value = "half";
  own.is_template = true;
  own.selectors = {{"device.attributes['gpu.nvidia.com'].profile == '3g.20gb'", {}}};
  scenario.workloads = {asking("small", 2, "nvidia.com/gpu")};
  scenario.workloads[0].pod.extended.clear();
  scenario.workloads[0].pod.claim.value = "half";
  const std::string text = text_of(export_of("bundle", scenario));
  EXPECT_THAT(text, AllOf(HasSubstr("  DynamicMIG: true\n"), Not(HasSubstr("MPSSupport")),
                          HasSubstr("--set featureGates.DynamicMIG=true"),
                          HasSubstr("deviceClassName: mig.nvidia.com\n"),
                          HasSubstr("gpu-N-mig-PROFILE-ID-START for each place")));
}

TEST(DraBundle, IsNotForPodsThatAskTheDevicePlugin) {
  scenarios::NodePool by_claim = whole_gpus("l4", "g6.xlarge");
  by_claim.dra = true;
  Scenario scenario = with_pool(std::move(by_claim));
  scenario.node_pools.push_back(time_sliced("t4", "g4dn.xlarge", 2));
  scenario.claims.emplace_back().name.value = "shared";
  scenario.workloads = {asking("a", 1, "nvidia.com/gpu"), asking("c", 1, "nvidia.com/gpu")};
  scenario.workloads[0].pod.extended.clear();
  scenario.workloads[0].pod.claim.value = "shared";
  EXPECT_THAT(refusals(export_of("bundle", scenario)),
              ElementsAre(HasSubstr("\"c\" asks the device plugin for nvidia.com/gpu")));
  scenario.workloads.pop_back();
  EXPECT_THAT(refusals(export_of("bundle", scenario)), testing::IsEmpty());
}

Scenario nightly() {
  Scenario scenario = with_pool(whole_gpus("t4", "g4dn.xlarge"));
  scenario.workloads = {asking("train", 1, "nvidia.com/gpu")};
  scenarios::Workload& train = scenario.workloads.front();
  train.kind = scenarios::WorkloadKind::Job;
  train.work = scenarios::Work{1, "epoch", 1};
  train.measured.emplace().unit_time = minutes(1);
  train.measured->device.value = "T4";
  train.manifest.name = "nightly-train";
  train.schedule.emplace().cron.text = "0 3 * * *";
  return scenario;
}

TEST(Kueue, QueuesTheJobsThatACronJobMakes) {
  Scenario scenario = nightly();
  EXPECT_THAT(text_of(export_of("kueue", scenario)),
              AllOf(HasSubstr("kind: CronJob\n"), HasSubstr("name: nightly-train\n"),
                    HasSubstr("jobTemplate:\n        metadata:\n          labels:\n"
                              "            kueue.x-k8s.io/queue-name: slicewise\n"),
                    Not(HasSubstr("kind: Job\n"))));
  scenario.workloads.front().manifest.kind = "PyTorchJob";
  scenario.workloads.front().schedule.reset();
  EXPECT_THAT(text_of(export_of("kueue", scenario)),
              AllOf(HasSubstr("# By hand: PyTorchJob nightly-train"), Not(HasSubstr("- patch:"))));
}

// Kueue writes them into the pods: no node has the name of a pool of a NodePool.
TEST(Kueue, FlavorsHaveTheLabelOfTheNodePool) {
  Scenario scenario = nightly();
  scenario.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
  scenario.node_pools.front().labels["karpenter.sh/nodepool"] = "gpus";
  EXPECT_THAT(text_of(export_of("kueue", scenario)),
              HasSubstr("  nodeLabels:\n    karpenter.sh/nodepool: gpus\n"
                        "    node.kubernetes.io/instance-type: "));
}

// A scenario with queues of its own has those, and no others.
TEST(Kueue, WritesTheQueuesThatWereSimulated) {
  Scenario scenario = nightly();
  scenario.workloads.front().queue.value = "research";
  scenario.flavors.push_back({{"t4", {}}, {{"tier", "a"}}, {}, {}});
  scenarios::ClusterQueue& queue = scenario.cluster_queues.emplace_back();
  queue.name.value = "research";
  queue.cohort = "labs";
  queue.strategy = scenarios::ClusterQueue::Strategy::StrictFifo;
  queue.reclaim = scenarios::QuotaPreemption::Any;
  queue.when_can_borrow = scenarios::FlavorSearch::TryNextFlavor;
  scenarios::ResourceQuota quota{{"nvidia.com/gpu", {}}, {"4", {}}, {}, {}, {}};
  quota.borrowing_limit = {"2", {}};
  quota.lending_limit = {"1", {}};
  queue.groups.push_back({{{"nvidia.com/gpu", {}}}, {{{"t4", {}}, {quota}, {}}}, {}});
  const std::string text = text_of(export_of("kueue", scenario));
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("nodeLabels:\n    tier: a\n"), HasSubstr("cohortName: labs\n"),
            HasSubstr("queueingStrategy: StrictFIFO\n"), HasSubstr("reclaimWithinCohort: Any\n"),
            HasSubstr("whenCanBorrow: TryNextFlavor\n"), HasSubstr("borrowingLimit: "),
            HasSubstr("lendingLimit: "), HasSubstr("clusterQueue: research\n"),
            HasSubstr("kueue.x-k8s.io/queue-name: research\n"),
            Not(HasSubstr("name: slicewise\n"))));
  // The cluster may have them: who may use them is theirs, and what was there stays.
  const auto files = export_of("kueue", scenario);
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 3U);
  EXPECT_EQ(files->at(0).path, "kueue.yaml");
  EXPECT_THAT(files->at(0).text,
              AllOf(HasSubstr("do not delete"), Not(HasSubstr("kubectl delete")),
                    Not(HasSubstr("namespaceSelector:")), Not(HasSubstr("kind: LocalQueue"))));
  EXPECT_EQ(files->at(1).path, "new-queues.yaml");
  EXPECT_THAT(files->at(1).text,
              AllOf(HasSubstr("namespaceSelector:"), HasSubstr("kind: LocalQueue"),
                    HasSubstr("--field-manager=new-queues"), Not(HasSubstr("resourceGroups"))));
}

TEST(Nos, KeepsTheScheduleOfACronJob) {
  Scenario scenario = nightly();
  scenario.node_pools.front().nos.emplace().slices = {{"8gb", {}}};
  scenario.workloads.front().pod.extended.front().name.value = "nvidia.com/gpu-8gb";
  const std::string text = text_of(export_of("nos", scenario));
  EXPECT_THAT(text, AllOf(HasSubstr("schedule: \"0 3 * * *\"\n"),
                          HasSubstr("jobTemplate:\n    spec:\n      template:\n        spec:\n"
                                    "          hostIPC: true\n"),
                          Not(HasSubstr("kind: Job\n"))));
}

}  // namespace
}  // namespace slicewise::reports
