#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

namespace slicewise::scenarios {
namespace {

// Line 7 begins with the fields under test.
std::string with_pool(const std::string& fields) {
  return "apiVersion: slicewise.dev/v1alpha1\n"
         "kind: Scenario\n"
         "metadata: {name: test}\n"
         "spec:\n"
         "  nodePools:\n"
         "  - {name: gpu, instanceType: p4d.24xlarge,\n" +
         fields +
         "}\n"
         "  workloads:\n"
         "  - {name: a, work: {units: 1}, measured: {unitTime: 18s}}\n";
}

NodePool pool_of(const std::string& fields, std::vector<std::string> set = {}) {
  const auto loaded = load_scenario({"f.yaml", with_pool(fields)}, {std::move(set)});
  if (!loaded) {
    ADD_FAILURE() << loaded.error().front().message;
    return {};
  }
  return loaded->variants.at(0).node_pools.at(0);
}

void expect_pool_problem(const std::string& fields, Code code, const std::string& message) {
  const Diagnostics found = read_scenario_file({"f.yaml", with_pool(fields)}).problems;
  ASSERT_EQ(found.size(), 1U) << fields;
  EXPECT_EQ(info(found[0].code).name, info(code).name) << fields;
  EXPECT_NE(found[0].message.find(message), std::string::npos) << found[0].message;
  EXPECT_GE(found[0].where.line, 7) << fields;
}

std::string entry(const std::string& keys) {
  return "mig: {config: c, configs: {c: [{" + keys + "}]}}";
}

TEST(MigParted, AConfigIsReadAsItIsPasted) {
  const NodePool pool = pool_of(
      "mig: {strategy: mixed, config: custom, configs: {\n"
      "  custom: [{devices: [0, 1], mig-enabled: true, mig-devices: {3g.20gb: 1, 1g.5gb+me: 2}},\n"
      "           {devices: all, mig-enabled: false}],\n"
      "  all-enabled: [{devices: all, mig-enabled: true, mig-devices: {}}]}}");
  const auto& custom = pool.mig->configs.at("custom");
  ASSERT_EQ(custom.size(), 2U);
  EXPECT_EQ(custom[0].devices, (std::vector<int>{0, 1}));
  EXPECT_TRUE(custom[0].mig_enabled);
  ASSERT_EQ(custom[0].mig_devices.size(), 2U);
  EXPECT_EQ(custom[0].mig_devices[0].first.value, "3g.20gb");
  EXPECT_EQ(custom[0].mig_devices[1].first.value, "1g.5gb+me");
  EXPECT_EQ(custom[0].mig_devices[1].first.where.line, 8);
  EXPECT_EQ(custom[0].mig_devices[1].second, 2);
  EXPECT_TRUE(custom[1].devices.empty());
  EXPECT_FALSE(custom[1].mig_enabled);
  EXPECT_TRUE(pool.mig->configs.at("all-enabled")[0].mig_devices.empty());
}

// The texts are those of nvidia-mig-parted (api/spec/v1/spec.go, pkg/types/mig_config.go).
TEST(MigParted, RefusesWhatMigPartedRefusesInItsWords) {
  expect_pool_problem(entry("devices: all, mig-enabled: true"), Code::FieldMissing,
                      "missing required field 'mig-devices' when 'mig-enabled' is true");
  expect_pool_problem(entry("devices: all, mig-enabled: false, mig-devices: {1g.5gb: 1}"),
                      Code::SettingConflict, "MIG devices included when 'mig-enabled' is false");
  expect_pool_problem(
      entry("devices: all, mig-enabled: true, mig-devices: {1g.5gb: 0, 2g.10gb: 0}"),
      Code::ValueRange, "all counts for all MigProfiles are 0");
  expect_pool_problem(entry("devices: all, mig-enabled: true, mig-devices: {1g.5gb.me: 1}"),
                      Code::MigConfigUnknown, "invalid format for '1g.5gb.me'");
  expect_pool_problem(entry("mig-enabled: false"), Code::FieldMissing, "\"devices\" is missing");
  expect_pool_problem(entry("devices: all, mig-devices: {1g.5gb: 1}"), Code::FieldMissing,
                      "\"mig-enabled\" is missing");
  expect_pool_problem("mig: {config: c, configs: {}}", Code::ValueRange, "configs is empty");
  expect_pool_problem("mig: {config: c, configs: {c: []}}", Code::ValueRange, "configs.c is empty");
}

TEST(MigParted, AnEmptyMappingBesideMigOffIsAllowed) {
  EXPECT_FALSE(pool_of(entry("devices: all, mig-enabled: false, mig-devices: {}"))
                   .mig->configs.at("c")[0]
                   .mig_enabled);
}

TEST(MigParted, CountsAreWholeAndDevicesAreIndexes) {
  const std::string on = "mig-enabled: true, mig-devices: ";
  expect_pool_problem(entry("devices: all, " + on + "{1g.5gb: -1}"), Code::ValueRange, "-1");
  expect_pool_problem(entry("devices: all, " + on + "{1g.5gb: 1.5}"), Code::FieldType, "1.5");
  expect_pool_problem(entry("devices: any, " + on + "{1g.5gb: 1}"), Code::FieldType, "devices");
  expect_pool_problem(entry("devices: [], " + on + "{1g.5gb: 1}"), Code::ValueRange, "empty");
  expect_pool_problem(entry("devices: [-1], " + on + "{1g.5gb: 1}"), Code::ValueRange, "-1");
}

TEST(MigParted, ADeviceFilterIsRefusedBecauseTheInstanceTypeDecides) {
  const std::string fields =
      entry("device-filter: \"0x20B010DE\", devices: all, mig-enabled: false");
  const Diagnostics found = read_scenario_file({"f.yaml", with_pool(fields)}).problems;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, Code::FieldUnknown);
  EXPECT_NE(found[0].help.find("the instance type decides"), std::string::npos) << found[0].help;
}

TEST(MigParted, ProfileNamesAreJudgedByTheirForm) {
  for (const char* good : {"7g.40gb", "1c.3g.20gb", "1g.10gb+me.all", "1g.24gb-me", "1g.24gb+gfx",
                           "12g.345gb+me,gfx"}) {
    pool_of(
        entry("devices: all, mig-enabled: true, mig-devices: {\"" + std::string(good) + "\": 1}"));
  }
  for (const char* bad : {"1g", "1g.5", "5gb", "1g.5GB", "0g.5gb", "1g.05gb", "1g.5gb+", "1g.5gb++",
                          "1g.5gb+me.", "1g.5gb me", "all-1g.5gb", "1g.5gb+1", "1.1g.5gb"}) {
    expect_pool_problem(
        entry("devices: all, mig-enabled: true, mig-devices: {\"" + std::string(bad) + "\": 1}"),
        Code::MigConfigUnknown, bad);
  }
}

TEST(MigChanges, AreReadWithTheirTimes) {
  const NodePool pool = pool_of(
      "mig: {config: a, changes: [{at: 2h, config: b}, {at: 3h, config: a}],\n"
      "      changeTimes: {drain: 1s, create: 2s}}");
  ASSERT_EQ(pool.mig->changes.size(), 2U);
  EXPECT_EQ(pool.mig->changes[0].at, seconds(7200));
  EXPECT_EQ(pool.mig->changes[1].config.value, "a");
  EXPECT_EQ(pool.mig->change_times.drain, seconds(1));
  EXPECT_EQ(pool.mig->change_times.destroy, seconds(5));
  EXPECT_EQ(pool.mig->change_times.create, seconds(2));
  EXPECT_EQ(pool.mig->change_times.plugin_restart, seconds(30));
}

TEST(MigChanges, AreInOrderOfTimeAndNeverTwoAtOnce) {
  expect_pool_problem("mig: {config: a, changes: [{at: 2h, config: b}, {at: 120m, config: c}]}",
                      Code::SettingConflict, "at the same time");
  expect_pool_problem("mig: {config: a, changes: [{at: 2h, config: b}, {at: 1h, config: c}]}",
                      Code::SettingConflict, "not in order of time");
  expect_pool_problem("mig: {config: a, changes: [{at: 0s, config: b}]}", Code::ValueRange,
                      "more than zero");
}

TEST(MigByNos, TakesAFixedNumberOfNodesWhosePluginNamesProfiles) {
  const NodePool pool =
      pool_of("mig: {strategy: mixed, config: all-7g.40gb, nos: {batchWindowTimeout: 30s}}");
  EXPECT_EQ(pool.mig->nos->window_timeout, seconds(30));
  EXPECT_EQ(pool.mig->nos->window_idle, seconds(10));
  expect_pool_problem("mig: {config: all-7g.40gb, nos: {}}", Code::SettingConflict, "mixed");
  const std::string mixed = "mig: {strategy: mixed, config: a, nos: {}";
  expect_pool_problem(mixed + ", changes: [{at: 2h, config: b}]}", Code::SettingConflict,
                      "mig.changes");
  expect_pool_problem(mixed + "}, dra: true", Code::SettingConflict, "shares MIG devices");
  expect_pool_problem(mixed + "}, capacityType: spot", Code::StrategyNotModelled, "come and go");
}

const std::string kMps =
    "devicePlugin: {sharing: {mps: {resources: [{name: gpu, replicas: 4}]}}}, ";

TEST(Mps, SettingsAreRead) {
  const NodePool pool =
      pool_of(kMps + "mps: {activeThreads: 30%, clientLimit: 16, serverMemory: 30Mi, force: true}");
  EXPECT_FALSE(pool.mps->uncapped);
  EXPECT_DOUBLE_EQ(*pool.mps->active_threads, 0.3);
  EXPECT_EQ(pool.mps->client_limit, 16);
  EXPECT_EQ(pool.mps->server_memory.count, 30 << 20);
  EXPECT_TRUE(pool.mps->force);
  EXPECT_TRUE(pool_of(kMps + "mps: {uncapped: true}").mps->uncapped);
}

TEST(Mps, UncappedLeavesNoPercentageToSet) {
  expect_pool_problem(kMps + "mps: {uncapped: true, activeThreads: 30%}", Code::SettingConflict,
                      "uncapped and activeThreads");
  EXPECT_TRUE(pool_of(kMps + "mps: {uncapped: false, activeThreads: 30%}").mps.has_value());
  expect_pool_problem(kMps + "mps: {activeThreads: 0%}", Code::ValueRange, "more than zero");
}

TEST(Mps, SettingsWithoutMpsWouldBeIgnored) {
  expect_pool_problem("mps: {force: true}", Code::SettingConflict, "without MPS");
  expect_pool_problem(
      "devicePlugin: {sharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}}, mps: {}",
      Code::SettingConflict, "without MPS");
  EXPECT_TRUE(pool_of("virtualGpu: {}, mps: {clientLimit: 10}").mps.has_value());
  EXPECT_TRUE(pool_of("nos: {slices: [10gb]}, mps: {clientLimit: 10}").mps.has_value());
}

TEST(Mps, ForceLetsTheMixedMigStrategyPass) {
  const std::string mixed =
      "devicePlugin: {flags: {migStrategy: mixed}, sharing: {mps: {resources: [{name: "
      "mig-1g.5gb, replicas: 4}]}}}";
  expect_pool_problem(mixed, Code::SettingConflict, "is not supported with MPS");
  expect_pool_problem(mixed + ", mps: {clientLimit: 48}", Code::SettingConflict,
                      "is not supported with MPS");
  EXPECT_TRUE(pool_of(mixed + ", mps: {force: true}").device_plugin->mps.has_value());
}

TEST(Vgpu, IsReadWithItsPolicies) {
  const NodePool pool = pool_of("vgpu: {policy: fixedShare, perGpu: 4, slice: 2ms}");
  EXPECT_EQ(pool.vgpu->policy, VgpuSettings::Policy::FixedShare);
  EXPECT_EQ(pool.vgpu->per_gpu, 4);
  EXPECT_EQ(pool.vgpu->slice, milliseconds(2));
  EXPECT_EQ(pool_of("vgpu: {}").vgpu->policy, std::nullopt);
  EXPECT_EQ(pool_of("vgpu: {policy: equalShare}").vgpu->policy, VgpuSettings::Policy::EqualShare);
}

TEST(Hami, IsReadWithTheSettingsOfItsChart) {
  const NodePool pool = pool_of(
      "hami: {deviceSplitCount: 4, deviceMemoryScaling: 0.5, gpuCorePolicy: force,\n"
      "  nodeSchedulerPolicy: spread, gpuSchedulerPolicy: binpack}");
  EXPECT_EQ(pool.hami->split_count, 4);
  EXPECT_EQ(pool.hami->memory_scaling, 0.5);
  EXPECT_EQ(pool.hami->core_policy, Hami::CorePolicy::Force);
  EXPECT_EQ(pool.hami->nodes, Hami::Packing::Spread);
  EXPECT_EQ(pool.hami->gpus, Hami::Packing::Binpack);
  EXPECT_EQ(pool_of("hami: {}").hami->split_count, 10);
}

TEST(Hami, AndKaiAreAloneOnNodesThatStay) {
  expect_pool_problem("hami: {}, nos: {slices: [10gb]}", Code::SettingConflict, "hami and nos");
  expect_pool_problem("kai: true, hami: {}", Code::SettingConflict, "kai and hami");
  expect_pool_problem("kai: true, dra: true", Code::SettingConflict, "kai and dra");
  EXPECT_TRUE(pool_of("kai: true, dra: false").kai);
  expect_pool_problem("kai: true, capacityType: spot", Code::StrategyNotModelled,
                      "parts of GPUs by KAI on nodes that come and go");
}

TEST(OtherPlugins, AreReadWithTheirDefaults) {
  EXPECT_EQ(pool_of("virtualGpu: {}").virtual_gpu->per_gpu, 10);
  EXPECT_EQ(pool_of("virtualGpu: {perGpu: 48}").virtual_gpu->per_gpu, 48);
  expect_pool_problem("virtualGpu: {perGpu: 49}", Code::ValueRange, "between 1 and 48");
  const NodePool pool = pool_of("nos: {slices: [10gb, 5gb]}");
  ASSERT_EQ(pool.nos->slices.size(), 2U);
  EXPECT_EQ(pool.nos->slices[1].value, "5gb");
  EXPECT_EQ(pool.nos->slices[1].where.line, 7);
  for (const char* bad : {"10Gi", "10GB", "gb", "0gb", "010gb", "10gb ", "1.5gb", "1234567gb"}) {
    expect_pool_problem("nos: {slices: [\"" + std::string(bad) + "\"]}", Code::UnitUnknown, bad);
  }
  expect_pool_problem("nos: {slices: []}", Code::ValueRange, "empty");
}

// Each of these runs a node's GPUs by itself, so two of them on one pool contradict each other.
TEST(OneOwnerPerGpu, EveryForbiddenPairIsAConflict) {
  const std::string vgpu = "vgpu: {}";
  const std::string aws = "virtualGpu: {}";
  const std::string nos = "nos: {slices: [10gb]}";
  const std::string mig = "mig: {config: all-1g.5gb}";
  const std::string sliced =
      "devicePlugin: {sharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}}";
  const std::string unshared = "devicePlugin: {version: v1}";
  const std::pair<std::string, std::string> forbidden[] = {
      {vgpu, sliced}, {vgpu, mig}, {vgpu, aws},     {vgpu, nos}, {aws, sliced},
      {aws, mig},     {aws, nos},  {aws, unshared}, {nos, mig},  {nos, unshared},
  };
  for (const auto& [first, second] : forbidden) {
    for (std::string pair : {first, second}) {
      const bool in_order = pair == first;
      pair.append(", ").append(in_order ? second : first);
      expect_pool_problem(pair, Code::SettingConflict, "on one node pool");
    }
  }
  pool_of(vgpu + ", " + unshared);
  pool_of(mig + ", " + sliced);
}

TEST(OneOwnerPerGpu, AVariantMaySwapTheOwner) {
  const auto loaded = load_scenario(
      {"f.yaml", with_pool("mig: {config: all-1g.5gb}") +
                     "  variants:\n"
                     "  - {name: mig}\n"
                     "  - {name: nos, patch: {nodePools: [{name: gpu, mig: null, nos: {slices: "
                     "[10gb]}}]}}\n"});
  ASSERT_TRUE(loaded.has_value()) << loaded.error().front().message;
  EXPECT_TRUE(loaded->variants[0].node_pools[0].mig.has_value());
  EXPECT_FALSE(loaded->variants[1].node_pools[0].mig.has_value());
  EXPECT_TRUE(loaded->variants[1].node_pools[0].nos.has_value());
}

TEST(SetInMigConfigs, GoesByTheNameOfTheLayoutAndOfTheProfile) {
  const std::string fields =
      "mig: {config: a.b, configs: {a: [{devices: all, mig-enabled: false}],\n"
      "  a.b: [{devices: all, mig-enabled: true, mig-devices: {1g.5gb: 1}}]}}";
  const std::string path = "nodePools.gpu.mig.configs.a.b[0].mig-devices.1g.5gb";
  EXPECT_EQ(pool_of(fields, {path + "=7"}).mig->configs.at("a.b")[0].mig_devices[0].second, 7);
  const LoadedScenario wrong =
      read_scenario_file({"f.yaml", with_pool(fields)}, {{path + "=many"}});
  ASSERT_EQ(wrong.problems.size(), 1U);
  EXPECT_EQ(wrong.problems[0].code, Code::FieldType);
  const auto added =
      pool_of(fields, {"nodePools.gpu.mig.configs.new.one=[{devices: all, mig-enabled: false}]"});
  EXPECT_EQ(added.mig->configs.at("new.one").size(), 1U);
}

TEST(SetInMigConfigs, ExplainTakesTheNameOfALayout) {
  const auto field = describe_field("nodePools.gpu.mig.configs.custom[0].mig-devices");
  ASSERT_TRUE(field.has_value());
  EXPECT_EQ(field->path, "spec.nodePools.mig.configs.mig-devices");
}

}  // namespace
}  // namespace slicewise::scenarios
