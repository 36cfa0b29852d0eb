#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/reports/export.hpp"

#include "scenario_samples.hpp"

namespace slicewise::reports {
namespace {

using scenarios::NodePool;
using scenarios::Scenario;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Scenario with_pools(std::vector<NodePool> pools) {
  Scenario out;
  out.name = "base";
  out.node_pools = std::move(pools);
  return out;
}

Expected<std::string> values_of(std::vector<NodePool> pools, const std::string& chart = "0.20.0") {
  return helm_values(with_pools(std::move(pools)), sample_catalogue(), {chart, {}});
}

std::vector<Code> codes_of(std::vector<NodePool> pools, const std::string& chart = "0.20.0") {
  std::vector<Code> codes;
  const auto values = values_of(std::move(pools), chart);
  if (values) return codes;
  for (const Diagnostic& d : values.error()) codes.push_back(d.code);
  return codes;
}

// The comment block that shows `kubectl describe node`.
std::string expected_node(const std::string& values) {
  const std::size_t start = values.find("# Expected of `kubectl describe node`");
  return values.substr(start, values.find("# Running pods") - start);
}

// The node advertises GPUs x replicas under the unchanged name: 4 x 10 = 40.
TEST(HelmValues, SharedGpusKeepTheirName) {
  const auto values = values_of({time_sliced("v100", "p3.8xlarge", 10)});
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(
      expected_node(*values),
      AllOf(HasSubstr("# Capacity:\n#   nvidia.com/gpu: 40\n"),
            HasSubstr("# Allocatable:\n#   nvidia.com/gpu: 40\n"),
            HasSubstr("gpu.product=Tesla-V100-SXM2-16GB-SHARED\n"), HasSubstr("gpu.replicas=10\n"),
            HasSubstr("gpu.count=4\n"), HasSubstr("gpu.sharing-strategy=time-slicing\n")));
}

// Renamed: only nvidia.com/gpu.shared is offered and the product label has no suffix.
TEST(HelmValues, RenamedGpusHaveOneNameOnly) {
  const auto values = values_of({time_sliced("v100", "p3.8xlarge", 10, true)});
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(expected_node(*values),
              AllOf(HasSubstr("nvidia.com/gpu.shared: 40\n"), Not(HasSubstr("nvidia.com/gpu: ")),
                    HasSubstr("gpu.product=Tesla-V100-SXM2-16GB\n")));
  EXPECT_THAT(*values, HasSubstr("renameByDefault: true. A node offers nvidia.com/gpu.shared: 40"));
}

// It was exported: plugins before 0.20 refuse such pods under MPS whatever the setting says.
TEST(HelmValues, PodsOfTwoSharesUnderMpsNeedAPluginThatLetsThem) {
  Scenario scenario = with_pools({with_mps("t4", "g4dn.12xlarge", 4)});
  scenarios::Workload& train = scenario.workloads.emplace_back();
  train.name.value = "train";
  train.pod.extended.resize(1);
  train.pod.extended.front().name.value = "nvidia.com/gpu";
  train.pod.extended.front().count = 2;
  const auto values = [&](const char* chart) {
    return helm_values(scenario, sample_catalogue(), {chart, {}});
  };
  EXPECT_TRUE(values("0.20.0").has_value());
  ASSERT_FALSE(values("0.19.3").has_value());
  EXPECT_THAT(values("0.19.3").error().front().message,
              HasSubstr("refuses the pods of \"train\", which ask for 2"));
  train.pod.extended.front().count = 1;
  EXPECT_TRUE(values("0.19.3").has_value());
}

TEST(HelmValues, WholeGpusAreTheExclusiveConfig) {
  const auto values = values_of({whole_gpus("v100", "p3.8xlarge")});
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(*values, AllOf(HasSubstr("  default: exclusive\n"), HasSubstr("    exclusive: |-\n"),
                             Not(HasSubstr("sharing:\n"))));
  EXPECT_THAT(expected_node(*values),
              AllOf(HasSubstr("nvidia.com/gpu: 4\n"), HasSubstr("gpu.sharing-strategy=none\n")));
}

// A node that nobody labelled must not share silently.
TEST(HelmValues, DefaultIsExclusiveWhereOnePoolIs) {
  const auto values =
      values_of({time_sliced("l4", "g6.xlarge", 4), whole_gpus("v100", "p3.8xlarge")});
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(*values,
              AllOf(HasSubstr("  default: exclusive\n"),
                    HasSubstr("-l eks.amazonaws.com/nodegroup=l4 "
                              "nvidia.com/device-plugin.config=l4-timeslicing4 --overwrite"),
                    Not(HasSubstr("nodegroup=v100"))));
}

// Flags of its own give the unshared pool another key than "exclusive".
TEST(HelmValues, SharedPoolIsLabelledWhereTheOtherHasFlags) {
  NodePool flags = whole_gpus("v100", "p3.8xlarge");
  flags.device_plugin.emplace();
  flags.device_plugin->other_flags = {{"flags.failOnInitError", "false"}};
  const auto values = values_of({time_sliced("l4", "g6.xlarge", 4), flags});
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(*values, AllOf(HasSubstr("  default: v100-exclusive\n"),
                             HasSubstr("nodegroup=l4 nvidia.com/device-plugin.config=l4-timesl"),
                             Not(HasSubstr("nodegroup=v100"))));
}

// 7 devices of 1g.5gb fit on an A100: 8 x 7 = 56 on a node, 112 shared by two.
TEST(HelmValues, MigNodesShowTheirDevices) {
  const models::Catalogue catalogue = models::load_catalogue();
  NodePool pool = whole_gpus("a100", "p4d.24xlarge");
  pool.mig.emplace();
  pool.mig->config.value = "all-1g.5gb";
  pool.mig->strategy = scenarios::MigStrategy::Mixed;
  const auto mixed = helm_values(with_pools({pool}), catalogue, {});
  ASSERT_TRUE(mixed.has_value());
  EXPECT_THAT(expected_node(*mixed),
              AllOf(HasSubstr("Capacity:\n#   nvidia.com/mig-1g.5gb: 56\n"),
                    HasSubstr("mig.strategy=mixed\n"), HasSubstr("gpu.count=8\n"),
                    HasSubstr("mig-1g.5gb.count=56\n")));
  pool.mig->strategy = scenarios::MigStrategy::Single;
  pool.device_plugin = time_sliced("a100", "p4d.24xlarge", 2).device_plugin;
  const auto single = helm_values(with_pools({pool}), catalogue, {});
  ASSERT_TRUE(single.has_value());
  EXPECT_THAT(expected_node(*single),
              AllOf(HasSubstr("Capacity:\n#   nvidia.com/gpu: 112\n"), HasSubstr("gpu.count=56\n"),
                    HasSubstr("-MIG-1g.5gb-SHARED\n")));
}

scenarios::MigPartedEntry entry(std::vector<int> gpus, const std::string& profile, int count) {
  scenarios::MigPartedEntry out;
  out.devices = std::move(gpus);
  out.mig_devices.push_back({{profile, {}}, count});
  return out;
}

// GPUs 0 and 1 are cut, the six that no entry names stay whole.
TEST(HelmValues, MigConfigsOfOnesOwnAreCountedDeviceByDevice) {
  const models::Catalogue catalogue = models::load_catalogue();
  NodePool pool = whole_gpus("a100", "p4d.24xlarge");
  pool.mig.emplace();
  pool.mig->config.value = "all-1g.5gb";  // the name of a shipped one, which it replaces
  pool.mig->strategy = scenarios::MigStrategy::Mixed;
  pool.mig->configs["all-1g.5gb"] = {entry({0}, "1g.5gb", 7), entry({1}, "3g.20gb", 2)};
  pool.device_plugin = time_sliced("a100", "p4d.24xlarge", 2).device_plugin;
  pool.device_plugin->time_slicing->resources.front().name.value = "nvidia.com/mig-3g.20gb";
  const auto values = helm_values(with_pools({pool}), catalogue, {});
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(*values, HasSubstr("a config of your own"));
  EXPECT_THAT(expected_node(*values),
              AllOf(HasSubstr("Capacity:\n#   nvidia.com/mig-1g.5gb: 7\n#   "
                              "nvidia.com/mig-3g.20gb: 4\n#   nvidia.com/gpu: 6\n"),
                    HasSubstr("gpu.count=8\n"), HasSubstr("mig-3g.20gb.count=2\n")));
  pool.mig->strategy = scenarios::MigStrategy::Single;
  const auto single = helm_values(with_pools({pool}), catalogue, {});
  ASSERT_FALSE(single.has_value());
  EXPECT_EQ(single.error().front().code, Code::MigNotUniform);
  pool.mig->configs["all-1g.5gb"] = {entry({}, "4g.20gb", 2)};
  const auto impossible = helm_values(with_pools({pool}), catalogue, {});
  ASSERT_FALSE(impossible.has_value());
  EXPECT_EQ(impossible.error().front().code, Code::MigLayoutImpossible);
}

TEST(HelmValues, PoolsWithTheSameConfigShareAnEntry) {
  const auto values =
      values_of({time_sliced("a", "g6.xlarge", 4), time_sliced("b", "p3.8xlarge", 4)});
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(*values,
              AllOf(HasSubstr("    a-timeslicing4: |-\n"), Not(HasSubstr("b-timeslicing4")),
                    HasSubstr("node pool a, b;"), Not(HasSubstr("kubectl label"))));
}

// Two pools whose keys would be equal: "a" with MIG single, and "a-mig-single" without.
TEST(HelmValues, KeysStayDistinct) {
  NodePool mig = time_sliced("a", "p4d.24xlarge", 2);
  mig.device_plugin->mig_strategy = scenarios::MigStrategy::Single;
  const auto values = values_of({mig, time_sliced("a-mig-single", "g6.xlarge", 2)});
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(*values, AllOf(HasSubstr("    a-mig-single-timeslicing2: |-\n"),
                             HasSubstr("    a-mig-single-timeslicing2-2: |-\n")));
}

TEST(HelmValues, NodeSelectorOnlyWhereAsked) {
  const Scenario scenario = with_pools({whole_gpus("v100", "p3.8xlarge")});
  const auto with = helm_values(scenario, sample_catalogue(), {"0.14.5", {{"eks-node", "gpu"}}});
  const auto without = helm_values(scenario, sample_catalogue(), {"0.14.5", {}});
  ASSERT_TRUE(with && without);
  EXPECT_THAT(*with, HasSubstr("nodeSelector:\n  eks-node: gpu\n"));
  EXPECT_THAT(*without, Not(HasSubstr("nodeSelector")));
}

TEST(HelmValues, MpsRootIsTheChartsValue) {
  NodePool pool = with_mps("t4", "g4dn.12xlarge", 8);
  EXPECT_THAT(*values_of({pool}), HasSubstr("  root: /run/nvidia/mps\n"));
  pool.device_plugin->other_flags = {{"flags.mpsRoot", "\"/var/mps\""}};
  EXPECT_THAT(*values_of({pool}), HasSubstr("  root: /var/mps\n"));
  EXPECT_THAT(codes_of({pool, with_mps("l4", "g6.xlarge", 4)}),
              testing::ElementsAre(Code::SettingConflict));
}

// Before 0.15 GPU Feature Discovery had no label for the strategy.
TEST(HelmValues, OldChartShowsNoStrategyLabel) {
  const auto values = values_of({time_sliced("v100", "p3.8xlarge", 10)}, "0.14.5");
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(*values, AllOf(Not(HasSubstr("sharing-strategy")), HasSubstr("gpu.replicas=10\n"),
                             HasSubstr("-n kube-system")));
}

TEST(ConfigMapExport, OldChartHasTheNamesOfTheAwsDemo) {
  const auto map = config_map(demo_after(), sample_catalogue(), {"0.14.5", {}});
  ASSERT_TRUE(map.has_value());
  EXPECT_THAT(*map, AllOf(HasSubstr("  name: nvidia-device-plugin\n  namespace: kube-system\n"),
                          HasSubstr("  any: |-\n    version: v1\n"),
                          HasSubstr("--set-string 'config.default=any'")));
}

TEST(ConfigMapExport, SaysThatAChangeRestartsNothing) {
  const auto map = config_map(demo_after(), sample_catalogue(), {});
  ASSERT_TRUE(map.has_value());
  EXPECT_THAT(*map, HasSubstr("rollout restart daemonset/nvdp-nvidia-device-plugin "));
}

TEST(DevicePluginExport, PackedNeedsChart020) {
  NodePool pool = time_sliced("v100", "p3.8xlarge", 10);
  pool.device_plugin->allocation_policy = scenarios::AllocationPolicy::Packed;
  EXPECT_THAT(codes_of({pool}, "0.19.3"), testing::ElementsAre(Code::SettingConflict));
  const auto values = values_of({pool});
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(*values, HasSubstr("          sharedDevicesAllocationPolicy: packed\n"));
}

TEST(DevicePluginExport, KeysUnknownToTheChartAreErrors) {
  NodePool pool = whole_gpus("v100", "p3.8xlarge");
  pool.device_plugin.emplace();
  pool.device_plugin->other_flags = {{"flags.gdrcopyEnabled", "true"}, {"imex.required", "false"}};
  EXPECT_THAT(codes_of({pool}, "0.18.2"), testing::IsEmpty());
  EXPECT_THAT(codes_of({pool}, "0.17.4"), testing::ElementsAre(Code::SettingConflict));
  EXPECT_THAT(codes_of({pool}, "0.16.0").size(), 2U);
  EXPECT_THAT(codes_of({with_mps("t4", "g4dn.12xlarge", 4)}, "0.14.5"),
              testing::ElementsAre(Code::SettingConflict));
}

// The daemon allows 48 replicas from compute capability 7.5 on, 16 below (V100).
TEST(DevicePluginExport, MpsReplicasAreLimitedByTheGpu) {
  EXPECT_THAT(codes_of({with_mps("t4", "g4dn.12xlarge", 48)}), testing::IsEmpty());
  EXPECT_THAT(codes_of({with_mps("t4", "g4dn.12xlarge", 49)}),
              testing::ElementsAre(Code::MpsTooManyClients));
  EXPECT_THAT(codes_of({with_mps("v100", "p3.8xlarge", 16)}), testing::IsEmpty());
  EXPECT_THAT(codes_of({with_mps("v100", "p3.8xlarge", 17)}),
              testing::ElementsAre(Code::MpsTooManyClients));
}

TEST(DevicePluginExport, RefusesWhatThePluginRefuses) {
  NodePool both = with_mps("t4", "g4dn.12xlarge", 4);
  both.device_plugin->time_slicing = both.device_plugin->mps;
  EXPECT_THAT(codes_of({both}), testing::ElementsAre(Code::MpsWithTimeSlicing));

  NodePool on_mig = with_mps("a100", "p4d.24xlarge", 4);
  on_mig.mig.emplace();
  on_mig.mps.emplace().force = true;
  EXPECT_THAT(codes_of({on_mig}), testing::ElementsAre(Code::MpsOnMig));

  NodePool empty = time_sliced("t4", "g4dn.12xlarge", 4);
  empty.device_plugin->time_slicing->resources.clear();
  EXPECT_THAT(codes_of({empty}), testing::ElementsAre(Code::FieldMissing));

  NodePool no_mig = whole_gpus("v100", "p3.8xlarge");
  no_mig.mig.emplace();
  EXPECT_THAT(codes_of({no_mig}), testing::ElementsAre(Code::MigUnsupported));
}

// NVIDIA's plugin is not what shares the GPUs: its config file would do something else.
TEST(DevicePluginExport, RefusesPoolsOfOtherPlugins) {
  NodePool aws = whole_gpus("t4", "g4dn.12xlarge");
  aws.virtual_gpu.emplace();
  EXPECT_THAT(codes_of({aws}), testing::ElementsAre(Code::ExportUnfit));
  NodePool nos = whole_gpus("t4", "g4dn.12xlarge");
  nos.nos.emplace();
  EXPECT_THAT(codes_of({nos}), testing::ElementsAre(Code::ExportUnfit));
  NodePool vgpu = whole_gpus("t4", "g4dn.12xlarge");
  vgpu.vgpu.emplace();
  EXPECT_THAT(codes_of({vgpu}), testing::ElementsAre(Code::ExportUnfit));
}

// The plugin always limits a client to 100 / replicas % of the threads.
TEST(DevicePluginExport, RefusesThreadPercentagesThatThePluginCannotSet) {
  NodePool pool = with_mps("t4", "g4dn.12xlarge", 4);
  pool.mps.emplace();
  EXPECT_THAT(codes_of({pool}), testing::IsEmpty());
  pool.mps->uncapped = true;
  EXPECT_THAT(codes_of({pool}), testing::ElementsAre(Code::SettingConflict));
  pool.mps.emplace().active_threads = 0.5;
  EXPECT_THAT(codes_of({pool}), testing::ElementsAre(Code::SettingConflict));
}

TEST(DevicePluginExport, ReportsEveryPoolAtOnce) {
  EXPECT_THAT(codes_of({whole_gpus("a", "p9.large"), time_sliced("b", "p3.8xlarge", 1)}),
              testing::ElementsAre(Code::InstanceUnknown, Code::ReplicasTooFew));
  EXPECT_THAT(codes_of({}), testing::ElementsAre(Code::FieldMissing));
}

}  // namespace
}  // namespace slicewise::reports
