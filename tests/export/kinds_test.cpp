#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/reports/export.hpp"

#include "../reports/golden_file.hpp"
#include "export_of.hpp"
#include "scenario_samples.hpp"

namespace slicewise::reports {
namespace {

using scenarios::NodePool;
using scenarios::Scenario;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ExportOptions on_bottlerocket() {
  ExportOptions options;
  options.image = NodeImage::Bottlerocket;
  return options;
}

struct GoldenExport {
  const char* kind;
  const char* sample;
};

class ExportedFiles : public testing::TestWithParam<GoldenExport> {};

TEST_P(ExportedFiles, MatchTheGoldenText) {
  const auto [kind, sample] = GetParam();
  expect_golden("../../export/golden/" + std::string(sample) + "." + kind + ".txt",
                text_of(export_of(kind, sample_of(sample))));
}

INSTANTIATE_TEST_SUITE_P(
    Golden, ExportedFiles,
    testing::Values(
        GoldenExport{"karpenter", "several-pools"},
        GoldenExport{"gpu-operator", "mig-time-slicing"}, GoldenExport{"mig-parted", "mig-layouts"},
        GoldenExport{"kustomize", "several-pools"}, GoldenExport{"bottlerocket", "demo-after"},
        GoldenExport{"eksctl", "several-pools"}, GoldenExport{"dra", "several-pools"},
        GoldenExport{"bundle", "several-pools"}, GoldenExport{"bundle", "mig-layouts"},
        GoldenExport{"argocd", "several-pools"}, GoldenExport{"flux", "several-pools"},
        GoldenExport{"terraform", "several-pools"}, GoldenExport{"terraform", "mig-layouts"},
        GoldenExport{"keda", "scaled-services"}, GoldenExport{"kustomize", "scaled-services"}),
    [](const auto& test) {
      std::string name = std::string(test.param.kind) + "_" + test.param.sample;
      std::ranges::replace(name, '-', '_');
      return name;
    });

// A node starts from the image for its CPUs, and pods keep to those that theirs are built for.
TEST(Exports, SayForWhichCpusTheyAre) {
  Scenario scenario = sample_of("demo-after");
  scenario.node_pools.front().instance_type.value = "g5g.xlarge";
  scenario.workloads.front().pod.image_architectures = {scenarios::Architecture::Arm64};
  EXPECT_THAT(text_of(export_of("karpenter", scenario)),
              HasSubstr("key: kubernetes.io/arch\n        operator: In\n        values:\n"
                        "        - arm64\n"));
  EXPECT_THAT(text_of(export_of("terraform", scenario)), HasSubstr("AL2023_ARM_64_NVIDIA"));
  EXPECT_THAT(text_of(export_of("terraform", scenario, on_bottlerocket())),
              HasSubstr("BOTTLEROCKET_ARM_64_NVIDIA"));
  EXPECT_THAT(pod_patches(scenario), HasSubstr("kubernetes.io/arch: arm64"));
  scenario.workloads.front().pod.image_architectures.push_back(scenarios::Architecture::Amd64);
  EXPECT_THAT(pod_patches(scenario), Not(HasSubstr("kubernetes.io/arch")));
}

TEST(Bundle, RollsBackTheLabelsThatItSet) {
  std::string text = text_of(export_of("bundle", sample_of("demo-after")));
  text.erase(0, text.find("==> apply.sh <=="));
  const std::size_t labels = text.find("kubectl label nodes -l");
  EXPECT_LT(text.find("helm upgrade -i nvdp"), labels);
  EXPECT_LT(labels, text.find("rollout status daemonset/"));
  const std::size_t remembered = text.find(
      "\nremember_labels 'eks.amazonaws.com/nodegroup=v100' nvidia.com/gpu.present "
      "nvidia.com/device-plugin.config\n");
  EXPECT_LT(remembered, labels);
  EXPECT_THAT(text, HasSubstr("kubectl label node \"$node\" \"$before\" --overwrite"));
}

// By default a Deployment of up to three pods adds one before it ends one.
TEST(Bundle, SaysWhichRolloutsHaveNoRoom) {
  Scenario scenario = sample_of("demo-after");
  scenario.workloads.resize(1);
  scenarios::Workload& workload = scenario.workloads.front();
  workload.kind = scenarios::WorkloadKind::Deployment;
  workload.count = 2;
  NodePool& pool = scenario.node_pools.front();
  scenario.node_pools.resize(1);
  pool.nodes = 1;
  pool.device_plugin.reset();
  pool.instance_type.value = "g4dn.xlarge";
  const std::string taken = text_of(export_of("bundle", scenario));
  EXPECT_THAT(
      taken, HasSubstr("starts a pod more before it ends one, and fewer\nnvidia.com/gpu are free"));
  EXPECT_THAT(taken, HasSubstr("\"maxSurge\":0,\"maxUnavailable\":1"));
  pool.nodes = 3;
  EXPECT_THAT(text_of(export_of("bundle", scenario)), Not(HasSubstr("maxSurge")));
  pool.nodes = 4;
  workload.count = 4;  // one of four may be missing
  EXPECT_THAT(text_of(export_of("bundle", scenario)), Not(HasSubstr("maxSurge")));
}

TEST(Eksctl, HasNothingToSayOfCapacityBlocksAlone) {
  NodePool pool = whole_gpus("block", "p5.48xlarge");
  pool.capacity_type = scenarios::CapacityType::CapacityBlock;
  const auto refused = export_of("eksctl", with_pool(pool));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().code, Code::ExportUnfit);
  EXPECT_THAT(text_of(export_of("karpenter", with_pool(pool))),
              AllOf(HasSubstr("# No node starts before there is a Capacity Block that has begun"),
                    Not(HasSubstr("nodeOverlay"))));
}

// A node with two device plugins has neither.
TEST(Bundle, LeavesThePluginToTheOperatorThatRunsIt) {
  ExportOptions options;
  options.by_operator = true;
  const std::string text = text_of(export_of("bundle", sample_of("demo-after"), options));
  EXPECT_THAT(text, AllOf(HasSubstr("==> gpu-operator-values.yaml <=="),
                          HasSubstr("--reset-then-reuse-values"), Not(HasSubstr("nvdp"))));
}

// Where nodes have driver and container toolkit by the operator, they went, and all GPU pods with
// them.
TEST(Bundle, LeavesDriverAndToolkitOfAnOperatorThatIsThere) {
  ExportOptions options;
  options.by_operator = true;
  const Scenario scenario = sample_of("demo-after");
  std::string values = text_of(export_of("bundle", scenario, options));
  values.erase(values.find("==> karpenter.yaml <=="));
  EXPECT_THAT(values, AllOf(HasSubstr("\ndevicePlugin:\n"), Not(HasSubstr("enabled: false")),
                            Not(HasSubstr("\ndriver:")), Not(HasSubstr("\nmigManager:")),
                            Not(HasSubstr("\ndcgmExporter:")), Not(HasSubstr("\ndaemonsets:"))));
  EXPECT_THAT(text_of(export_of("terraform", scenario, options)), Not(HasSubstr("helm_release")));
  EXPECT_THAT(refusals(export_of("argocd", scenario, options)),
              ElementsAre(HasSubstr("there is nothing to keep in place: the release of the GPU")));
}

TEST(Bundle, ExpectsLabelsWhereItInstallsWhoSetsThem) {
  const Scenario scenario = with_pool(time_sliced("t4", "g4dn.xlarge", 2, true));
  const auto guide = [](std::string text) { return text.erase(0, text.find("==> VERIFY.md")); };
  EXPECT_THAT(guide(text_of(export_of("bundle", scenario))),
              HasSubstr("nvidia.com/gpu.replicas=2"));
  EXPECT_THAT(guide(text_of(export_of("bundle", scenario, on_bottlerocket()))),
              AllOf(HasSubstr("nvidia.com/gpu.shared: 2"), Not(HasSubstr("gpu.replicas=")),
                    Not(HasSubstr("Labels:"))));
}

// The plugin sees whole GPUs whatever mig-manager cut.
TEST(Bundle, ExpectsWholeGpusWhereMigIsNotAdvertised) {
  std::string text =
      text_of(export_of("bundle", with_pool(cut("all-1g.5gb", scenarios::MigStrategy::None))));
  text.erase(0, text.find("==> VERIFY.md"));
  EXPECT_THAT(text, AllOf(HasSubstr("nvidia.com/gpu: 8"), Not(HasSubstr("nvidia.com/gpu: 56"))));
}

TEST(Bundle, NamesEksctlWhereItHasItsFile) {
  Scenario scenario = with_pool(whole_gpus("t4", "g4dn.xlarge"));
  EXPECT_THAT(text_of(export_of("bundle", scenario)), HasSubstr("like the pools (eksctl.yaml)\n"));
  scenario.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
  EXPECT_THAT(text_of(export_of("bundle", scenario)),
              AllOf(HasSubstr("like the pools\n"), Not(HasSubstr("(eksctl.yaml)"))));
}

// The hypervisor shares the card, and the device plugin finds a GPU.
TEST(Bundle, IsWrittenForVgpusOfEc2) {
  NodePool pool = whole_gpus("small", "g6f.xlarge");
  pool.vgpu.emplace();
  Scenario scenario = with_pool(pool);
  scenario.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
  scenario.provisioner.node_overlay = true;
  EXPECT_THAT(text_of(export_of("bundle", scenario)), HasSubstr("kind: NodeOverlay"));
}

TEST(Bundle, HasWhatPodsNeedBesideTheirPatches) {
  Scenario scenario = sample_of("scaled-services");
  scenario.workloads.front().disruption_budget = scenarios::DisruptionBudget{false, true, 25, {}};
  std::string text = text_of(export_of("bundle", scenario));
  EXPECT_THAT(text, AllOf(HasSubstr("==> pods/keda.yaml <=="), HasSubstr("maxUnavailable: \"25%\""),
                          HasSubstr("==> pods/disruption-budgets.yaml <=="),
                          HasSubstr("==> pods/priority-classes.yaml <==")));
  text.erase(0, text.find("==> apply.sh <=="));
  EXPECT_LT(text.find("kubectl apply -f pods/priority-classes.yaml"),
            text.find("\npatch_objects none"));
  EXPECT_THAT(text, HasSubstr("kubectl delete --ignore-not-found -f pods/priority-classes.yaml"));
}

// rollback.sh deleted it, and the pods had none.
TEST(Bundle, LeavesTheBudgetOfTheClusterAlone) {
  Scenario scenario = sample_of("scaled-services");
  scenario.workloads.front().disruption_budget =
      scenarios::DisruptionBudget{false, true, 25, {}, "own"};
  EXPECT_THAT(text_of(export_of("bundle", scenario)),
              AllOf(Not(HasSubstr("disruption-budgets.yaml")), Not(HasSubstr("maxUnavailable"))));
}

// Their NodePool has one label for both: all of them were labelled with the config of the first.
TEST(Bundle, LabelsNodesOfOneNodePoolOnlyWhereTheyAreAlike) {
  Scenario scenario = with_pool(time_sliced("a", "g4dn.xlarge", 2, true));
  scenario.node_pools.push_back(whole_gpus("b", "g4dn.2xlarge"));
  for (NodePool& pool : scenario.node_pools) pool.labels["karpenter.sh/nodepool"] = "gpu";
  const std::string text = text_of(export_of("bundle", scenario));
  EXPECT_THAT(text,
              AllOf(HasSubstr("by hand: nodes with karpenter.sh/nodepool=gpu differ"),
                    Not(HasSubstr("\nkubectl label nodes -l karpenter.sh/nodepool=gpu nvidia")),
                    Not(HasSubstr("check_type"))));
}

// Two that scale one workload undo each other's numbers.
TEST(Keda, TakesThePlaceOfWhatScalesIt) {
  Scenario scenario = sample_of("scaled-services");
  const auto keda = [&](const char* by) {
    scenario.workloads.front().manifest.scaled_by = by;
    return text_of(export_of("keda", scenario));
  };
  const std::string hpa = keda("HorizontalPodAutoscaler/old");
  EXPECT_THAT(hpa, AllOf(HasSubstr("scaledobject.keda.sh/transfer-hpa-ownership: \"true\""),
                         HasSubstr("      name: old\n"),
                         HasSubstr("It takes the place of HorizontalPodAutoscaler/old")));
  EXPECT_THAT(keda("ScaledObject/old"), AllOf(HasSubstr("  name: old\n  namespace:"),
                                              Not(HasSubstr("transfer-hpa-ownership"))));
  // A bundle, whose rollback would delete it, leaves it alone.
  EXPECT_THAT(text_of(export_of("bundle", scenario)),
              AllOf(HasSubstr("as ScaledObject/old has it"), Not(HasSubstr("name: old\n")),
                    HasSubstr("==> pods/keda.yaml <==")));
  EXPECT_THAT(keda(""), Not(HasSubstr("takes the place")));
}

// KServe and NIM's operator make an HPA themselves, and KEDA's webhook refused the one beside it,
// which ended apply.sh.
TEST(Keda, IsNothingForWhatScalesItself) {
  Scenario scenario = sample_of("scaled-services");
  for (scenarios::Workload& workload : scenario.workloads) {
    workload.manifest.kind = "InferenceService";
    workload.manifest.name = "fraud";
  }
  EXPECT_THAT(refusals(export_of("keda", scenario)),
              ElementsAre(HasSubstr("scales itself: inferenceservice fraud")));
  EXPECT_THAT(text_of(export_of("bundle", scenario)),
              AllOf(Not(HasSubstr("kind: ScaledObject")), Not(HasSubstr("get scaledobject")),
                    HasSubstr(" get inferenceservice fraud   # MIN ")));
}

TEST(Keda, IsNothingForThoseWhomNobodyScales) {
  EXPECT_THAT(refusals(export_of("keda", sample_of("demo-after"))),
              ElementsAre(HasSubstr("no workload is autoscaled")));
}

TEST(ExportKinds, NamesAndPathsAreDistinct) {
  std::set<std::string_view> names;
  for (const ExportKind& kind : kExportKinds) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    const auto files = kind.render(sample_of("demo-after"), models::load_catalogue(), {});
    if (!files) continue;
    std::set<std::string> paths;
    for (const ExportFile& file : *files) EXPECT_TRUE(paths.insert(file.path).second) << file.path;
  }
}

// Renamed shares are unknown to EC2, and whole GPUs of that name are hidden.
TEST(Karpenter, OverlayHoldsTheCountOfTheInstanceType) {
  const std::string shared =
      text_of(export_of("karpenter", with_pool(time_sliced("t4", "g4dn.12xlarge", 4, true))));
  EXPECT_THAT(shared, HasSubstr("  capacity:\n    nvidia.com/gpu: \"0\"\n"
                                "    nvidia.com/gpu.shared: \"16\"\n"));
  const std::string kept =
      text_of(export_of("karpenter", with_pool(time_sliced("t4", "g4dn.12xlarge", 4))));
  EXPECT_THAT(kept, HasSubstr("  capacity:\n    nvidia.com/gpu: \"16\"\n"));
  const std::string whole =
      text_of(export_of("karpenter", with_pool(whole_gpus("t4", "g4dn.12xlarge"))));
  EXPECT_THAT(whole, Not(HasSubstr("kind: NodeOverlay")));
}

scenarios::Scenario with_karpenter(NodePool pool) {
  Scenario scenario = with_pool(std::move(pool));
  scenario.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
  return scenario;
}

TEST(Karpenter, APoolThatGrowsIsLimitedByItsMost) {
  NodePool pool = whole_gpus("t4", "g4dn.xlarge");
  pool.nodes = 0;
  pool.most_nodes = 8;
  EXPECT_THAT(text_of(export_of("karpenter", with_karpenter(pool))),
              HasSubstr("  limits:\n    nodes: \"8\"\n"));
}

// Karpenter compares prices within a NodePool alone: as several it would take the last name.
TEST(Karpenter, PoolsOfOneNodePoolAreItsInstanceTypes) {
  Scenario scenario = with_karpenter(whole_gpus("small", "g5.xlarge"));
  scenario.node_pools.push_back(whole_gpus("large", "g5.12xlarge"));
  for (NodePool& pool : scenario.node_pools) {
    pool.nodes = 0;
    pool.most_nodes = 4;
  }
  const auto node_pools = [&] {
    const std::string text = text_of(export_of("karpenter", scenario));
    int count = 0;
    for (std::size_t at = 0; (at = text.find("kind: NodePool\n", at)) != text.npos; ++at) ++count;
    return std::pair(count, text);
  };
  EXPECT_EQ(node_pools().first, 2);
  for (NodePool& pool : scenario.node_pools) pool.labels["karpenter.sh/nodepool"] = "gpus";
  EXPECT_EQ(node_pools().first, 1);
  EXPECT_THAT(node_pools().second,
              AllOf(HasSubstr("        - g5.xlarge\n        - g5.12xlarge\n"),
                    HasSubstr("  name: gpus\n"), HasSubstr("    nodes: \"8\"\n")));
  scenario.node_pools.front().expire_after = hours(1);
  EXPECT_EQ(node_pools().first, 2) << "they differ";
  EXPECT_THAT(node_pools().second, Not(HasSubstr("  name: gpus\n"))) << "nor have both its name";
  EXPECT_THAT(node_pools().second, HasSubstr("      expireAfter: \"3600s\"\n"));
  scenario.node_pools.pop_back();
  EXPECT_THAT(node_pools().second, HasSubstr("  name: gpus\n")) << "its pods select it";
}

TEST(Karpenter, SaysWhatTheProvisionerOfTheScenarioDoes) {
  NodePool pool = time_sliced("t4", "g4dn.12xlarge", 4, true);
  pool.capacity_type = scenarios::CapacityType::Spot;
  pool.spot.emplace();
  Scenario scenario = with_karpenter(pool);
  scenario.provisioner.consolidate_after = seconds(300);
  const std::string text = text_of(export_of("karpenter", scenario));
  EXPECT_THAT(text, AllOf(HasSubstr("      - key: karpenter.sh/capacity-type\n"
                                    "        operator: In\n        values:\n        - spot\n"),
                          Not(HasSubstr("- on-demand")),
                          HasSubstr("    consolidateAfter: \"300s\"\n"
                                    "    consolidationPolicy: WhenEmptyOrUnderutilized\n"),
                          Not(HasSubstr("kind: NodeOverlay")), HasSubstr("# No NodeOverlay for t4"),
                          Not(HasSubstr("featureGates"))));
  scenario.node_pools.front().spot->falls_back_to_on_demand = true;
  scenario.provisioner.node_overlay = true;
  scenario.provisioner.consolidation = scenarios::Provisioner::Consolidation::WhenEmpty;
  scenario.provisioner.consolidate_after = milliseconds(1);
  EXPECT_THAT(text_of(export_of("karpenter", scenario)),
              AllOf(HasSubstr("        - spot\n        - on-demand\n"),
                    HasSubstr("    consolidateAfter: \"1s\"\n    consolidationPolicy: WhenEmpty\n"),
                    HasSubstr("kind: NodeOverlay"), HasSubstr("featureGates")));
}

// The EC2 API counts 0 GPUs in a g6f, so Karpenter would never start one.
TEST(Karpenter, FractionsOfACardNeedAnOverlay) {
  EXPECT_THAT(text_of(export_of("karpenter", with_pool(whole_gpus("small", "g6f.xlarge")))),
              HasSubstr("  capacity:\n    nvidia.com/gpu: \"1\"\n"));
}

TEST(Karpenter, LabelsThatKarpenterRefusesAreLeftOut) {
  NodePool pool = whole_gpus("t4", "g4dn.xlarge");
  pool.labels = {{"team", "ml"}, {"node.kubernetes.io/instance-type", "g4dn.xlarge"}};
  const std::string text = text_of(export_of("karpenter", with_pool(std::move(pool))));
  EXPECT_THAT(text, AllOf(HasSubstr("        team: ml\n"),
                          HasSubstr("# Left out: label node.kubernetes.io/instance-type"),
                          Not(HasSubstr("        node.kubernetes.io/instance-type:"))));
}

// By what each of them says it with.
TEST(Karpenter, ThePoolsZoneIsThatOfItsNodes) {
  NodePool pool = whole_gpus("t4", "g4dn.xlarge");
  pool.labels = {{std::string(scenarios::kZoneLabel), "us-east-1b"}};
  EXPECT_THAT(text_of(export_of("karpenter", with_pool(pool))),
              AllOf(HasSubstr("      - key: topology.kubernetes.io/zone\n        operator: In\n"
                              "        values:\n        - us-east-1b\n"),
                    Not(HasSubstr("Left out"))));
  EXPECT_THAT(text_of(export_of("eksctl", with_pool(pool))),
              AllOf(HasSubstr("availabilityZones:\n  - us-east-1b\n"), Not(HasSubstr("Left out"))));
}

TEST(MigParted, LayoutThatDoesNotFitIsRefused) {
  NodePool pool = cut("twice", scenarios::MigStrategy::Mixed);
  scenarios::MigPartedEntry entry;
  entry.mig_devices = {{{"4g.20gb", {}}, 2}};
  pool.mig->configs["twice"] = {entry};
  EXPECT_THAT(refusals(export_of("mig-parted", with_pool(std::move(pool)))),
              ElementsAre(HasSubstr("MIG_LAYOUT_IMPOSSIBLE")));
}

TEST(MigParted, LayoutOfALaterChangeIsCheckedAndWritten) {
  NodePool pool = cut("all-1g.5gb", scenarios::MigStrategy::Mixed);
  pool.mig->changes = {{seconds(60), {"all-3g.20gb", {}}}};
  const std::string text = text_of(export_of("mig-parted", with_pool(pool)));
  EXPECT_THAT(text, AllOf(HasSubstr("  all-3g.20gb:\n"), HasSubstr("  all-1g.5gb:\n")));
  pool.mig->changes.front().config.value = "all-9g.90gb";
  EXPECT_FALSE(export_of("mig-parted", with_pool(pool)).has_value());
}

TEST(MigParted, NothingToSayWithoutMig) {
  EXPECT_THAT(refusals(export_of("mig-parted", sample_of("demo-after"))),
              ElementsAre(HasSubstr("EXPORT_UNFIT: no node pool of this variant has a MIG")));
}

// The operator's variable of the environment beats the config of a node.
TEST(GpuOperator, TwoStrategiesAreLeftToTheNodes) {
  Scenario scenario = with_pool(cut("all-1g.5gb", scenarios::MigStrategy::Mixed));
  EXPECT_THAT(text_of(export_of("gpu-operator", scenario)), HasSubstr("mig:\n  strategy: mixed\n"));
  scenario.node_pools.push_back(cut("all-7g.40gb", scenarios::MigStrategy::Single));
  scenario.node_pools.back().name.value = "b100";
  EXPECT_THAT(text_of(export_of("gpu-operator", scenario)), HasSubstr("  strategy: \"\"\n"));
}

TEST(Bottlerocket, SaysWhatTheScenarioSays) {
  EXPECT_THAT(text_of(export_of("bottlerocket",
                                with_pool(cut("all-1g.5gb", scenarios::MigStrategy::Single)))),
              HasSubstr("device-partitioning-strategy = \"mig\"\n"
                        "[settings.kubelet-device-plugins.nvidia.mig.profile]\n"
                        "\"a100.40gb\" = \"1g.5gb\"\n"));
  EXPECT_THAT(text_of(export_of("bottlerocket", with_pool(with_mps("t4", "g4dn.xlarge", 4)))),
              HasSubstr("[settings.kubelet-device-plugins.nvidia.mps]\nreplicas = 4\n"
                        "rename-by-default = false\n"));
  EXPECT_THAT(text_of(export_of("karpenter", with_pool(time_sliced("t4", "g4dn.xlarge", 4)),
                                on_bottlerocket())),
              AllOf(HasSubstr("alias: bottlerocket@latest"),
                    HasSubstr("device-sharing-strategy = \\\"time-slicing\\\"")));
}

TEST(Bottlerocket, RefusesWhatItHasNoSettingFor) {
  NodePool pool = cut("all-1g.5gb", scenarios::MigStrategy::Mixed);
  EXPECT_THAT(refusals(export_of("bottlerocket", with_pool(pool))),
              ElementsAre(HasSubstr("mig.strategy mixed")));
  pool = time_sliced("t4", "g4dn.xlarge", 4);
  pool.device_plugin->allocation_policy = scenarios::AllocationPolicy::Packed;
  pool.device_plugin->other_flags = {{"flags.failOnInitError", "false"}};
  EXPECT_THAT(refusals(export_of("bottlerocket", with_pool(pool))),
              ElementsAre(HasSubstr("sharedDevicesAllocationPolicy"),
                          HasSubstr("no setting for flags.failOnInitError")));
}

TEST(Eksctl, GroupsOfBottlerocketCarryTheirSettings) {
  EXPECT_THAT(text_of(export_of("eksctl", with_pool(time_sliced("t4", "g4dn.xlarge", 4)),
                                on_bottlerocket())),
              AllOf(HasSubstr("amiFamily: Bottlerocket\n"),
                    HasSubstr("        nvidia:\n          device-sharing-strategy: "
                              "time-slicing\n          time-slicing:\n"),
                    HasSubstr("            rename-by-default: false\n"),
                    Not(HasSubstr("--install-nvidia-plugin"))));
  EXPECT_THAT(
      text_of(export_of("eksctl", with_pool(cut("all-1g.5gb", scenarios::MigStrategy::Single)),
                        on_bottlerocket())),
      HasSubstr("              a100.40gb: \"1g.5gb\"\n"));
}

TEST(Eksctl, AGroupThatGrowsIsTaggedForTheAutoscaler) {
  NodePool pool = time_sliced("t4", "g4dn.12xlarge", 4, true);
  pool.nodes = 0;
  pool.most_nodes = 6;
  pool.capacity_type = scenarios::CapacityType::Spot;
  pool.spot.emplace();
  pool.spot->falls_back_to_on_demand = true;
  Scenario scenario = with_pool(pool);
  scenario.provisioner.kind = scenarios::Provisioner::Kind::ClusterAutoscaler;
  scenario.provisioner.resource_tags = true;
  ExportOptions options;
  options.cluster = "prod";
  EXPECT_THAT(
      text_of(export_of("eksctl", scenario, options)),
      AllOf(HasSubstr("  desiredCapacity: 0\n"), HasSubstr("  maxSize: 6\n  minSize: 0\n"),
            HasSubstr("k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu.shared: "
                      "\"16\"\n"),
            HasSubstr("k8s.io/cluster-autoscaler/prod: owned\n"), HasSubstr("  spot: true\n"),
            HasSubstr("k8s.amazonaws.com/accelerator: nvidia-t4\n"),
            HasSubstr("either spot or on-demand")));
}

TEST(Nos, MatchesTheGoldenText) {
  NodePool pool = whole_gpus("l4", "g6.xlarge");
  pool.nos.emplace();
  pool.nos->slices = {{"10gb", {}}, {"10gb", {}}};
  Scenario scenario = with_pool(std::move(pool));
  scenario.workloads = {asking("small", 4, "nvidia.com/gpu-10gb")};
  expect_golden("../../export/golden/nos-slices.nos.txt", text_of(export_of("nos", scenario)));
}

TEST(Hami, WritesTheValuesOfItsChartAndThePods) {
  NodePool pool = whole_gpus("t4", "g4dn.xlarge");
  pool.hami.emplace();
  pool.hami->split_count = 4;
  pool.hami->core_policy = scenarios::Hami::CorePolicy::Force;
  Scenario scenario = with_pool(std::move(pool));
  scenario.workloads = {asking("small", 4, "nvidia.com/gpu")};
  scenario.workloads[0].pod.extended.push_back({{"nvidia.com/gpumem", {}}, 3'000, {}});
  expect_golden("../../export/golden/hami.hami.txt", text_of(export_of("hami", scenario)));
}

TEST(Hami, HasOneSetOfValuesForAllNodes) {
  EXPECT_THAT(refusals(export_of("hami", with_pool(whole_gpus("t4", "g4dn.xlarge")))),
              ElementsAre(HasSubstr("it is shared in another way")));
  NodePool first = whole_gpus("a", "g4dn.xlarge");
  first.hami.emplace();
  NodePool second = first;
  second.name.value = "b";
  second.hami->split_count = 2;
  Scenario scenario = with_pool(std::move(first));
  scenario.node_pools.push_back(std::move(second));
  EXPECT_THAT(refusals(export_of("hami", scenario)),
              ElementsAre(HasSubstr("others than those of the first pool")));
}

TEST(Hami, IsNoPluginOfNvidias) {
  NodePool pool = whole_gpus("t4", "g4dn.xlarge");
  pool.hami.emplace();
  const Scenario by_hami = with_pool(pool);
  pool.hami.reset();
  pool.kai = true;
  for (const char* kind : {"helm-values", "gpu-operator", "bottlerocket", "nos", "dra"}) {
    EXPECT_FALSE(refusals(export_of(kind, by_hami)).empty()) << kind;
    EXPECT_FALSE(refusals(export_of(kind, with_pool(pool))).empty()) << kind;
  }
}

TEST(AwsVgpu, IsItsDaemonSetWithWhatWasSimulated) {
  NodePool pool = whole_gpus("t4", "g4dn.xlarge");
  EXPECT_THAT(refusals(export_of("aws-vgpu", with_pool(pool))),
              ElementsAre(HasSubstr("shared in another way")));
  pool.virtual_gpu.emplace().per_gpu = 12;
  pool.taints = {{"team", "vision", "NoSchedule"}};
  const std::string text = text_of(export_of("aws-vgpu", with_pool(pool)));
  EXPECT_THAT(text, AllOf(HasSubstr("--vgpu=12"), HasSubstr("key: team\n"),
                          HasSubstr("k8s.amazonaws.com/accelerator: vgpu\n")));
  EXPECT_THAT(text, Not(HasSubstr("name: CUDA_MPS_ACTIVE_THREAD_PERCENTAGE\n")));
  pool.mps.emplace().active_threads = 0.1;
  EXPECT_THAT(text_of(export_of("aws-vgpu", with_pool(pool))),
              HasSubstr("name: CUDA_MPS_ACTIVE_THREAD_PERCENTAGE\n"));
  pool.mps->active_threads = 0.125;
  EXPECT_THAT(text_of(export_of("aws-vgpu", with_pool(pool))), HasSubstr("12.5"));
  Scenario several = with_pool(pool);
  several.node_pools.push_back(pool);
  several.node_pools[1].virtual_gpu->per_gpu = 3;
  EXPECT_THAT(refusals(export_of("aws-vgpu", several)),
              ElementsAre(HasSubstr("others than those of the first pool")));
}

TEST(ProbeJob, AsksForOneGpuOfEachPoolAsItIsOffered) {
  EXPECT_THAT(text_of(export_of("probe-job", with_pool(whole_gpus("t4", "g4dn.xlarge")))),
              AllOf(HasSubstr("kind: Job\n"), HasSubstr("name: gpu-probe-t4\n"),
                    HasSubstr("node.kubernetes.io/instance-type: g4dn.xlarge\n"),
                    HasSubstr("nvidia.com/gpu: 1\n"),
                    HasSubstr("#   kubectl logs job/gpu-probe-t4 > t4.json\n")));
  EXPECT_THAT(
      text_of(export_of("probe-job", with_pool(cut("all-1g.5gb", scenarios::MigStrategy::Mixed)))),
      HasSubstr("nvidia.com/mig-1g.5gb: 1\n"));
}

TEST(Nos, HasTheWindowsOfItsPartitioner) {
  NodePool pool = cut("all-7g.40gb", scenarios::MigStrategy::Mixed);
  pool.mig->nos.emplace().window_idle = seconds(5);
  EXPECT_THAT(text_of(export_of("nos", with_pool(pool))),
              HasSubstr("batchWindowTimeoutSeconds=60,gpuPartitioner.batchWindowIdleSeconds=5"));
  for (const char* kind : {"helm-values", "gpu-operator", "mig-parted", "bottlerocket", "dra"}) {
    EXPECT_FALSE(refusals(export_of(kind, with_pool(pool))).empty()) << kind;
  }
  EXPECT_THAT(text_of(export_of("eksctl", with_pool(pool))),
              HasSubstr("nos.nebuly.com/gpu-partitioning: mig\n"));
}

TEST(Nos, IsForMemorySlicesAndMixedMig) {
  EXPECT_THAT(refusals(export_of("nos", with_pool(with_mps("t4", "g4dn.xlarge", 4)))),
              ElementsAre(HasSubstr("shares by slices of memory under MPS")));
  EXPECT_THAT(refusals(export_of("nos", with_pool(whole_gpus("t4", "g4dn.xlarge")))),
              ElementsAre(HasSubstr("no node pool of this variant is partitioned")));
  EXPECT_THAT(
      text_of(export_of("nos", with_pool(cut("all-1g.5gb", scenarios::MigStrategy::Mixed)))),
      HasSubstr("nos.nebuly.com/gpu-partitioning=mig --overwrite"));
}

TEST(GpuOperator, RenamedResourcesAreNamedToTheExporter) {
  EXPECT_THAT(
      text_of(export_of("gpu-operator", with_pool(time_sliced("t4", "g4dn.xlarge", 4, true)))),
      HasSubstr("  - name: NVIDIA_RESOURCE_NAMES\n    value: nvidia.com/gpu.shared\n"));
  EXPECT_THAT(text_of(export_of("gpu-operator", with_pool(time_sliced("t4", "g4dn.xlarge", 4)))),
              Not(HasSubstr("NVIDIA_RESOURCE_NAMES")));
}

TEST(Bundle, BottlerocketInstallsNoPlugin) {
  const Expected<ExportFiles> files =
      export_of("bundle", with_pool(time_sliced("t4", "g4dn.xlarge", 4)), on_bottlerocket());
  EXPECT_THAT(text_of(files), AllOf(Not(HasSubstr("helm upgrade -i")), HasSubstr("karpenter.yaml"),
                                    HasSubstr("==> bottlerocket-t4.toml <==")));
}

}  // namespace
}  // namespace slicewise::reports
