#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/pool_choice.hpp"

#include "../demo.hpp"

// How node pools are shared: what they advertise, what a pod may use, what is refused.
namespace slicewise::sim {
namespace {

using ::testing::HasSubstr;

scenarios::PluginSharing replicas(int count, const std::string& device = "nvidia.com/gpu") {
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{device, {}}, count, {}});
  return sharing;
}

scenarios::Scenario node_of(const std::string& instance,
                            const std::string& resource = "nvidia.com/gpu") {
  scenarios::Scenario s = demo::scenario(demo::pool(0), {demo::training(1)});
  s.node_pools[0].instance_type.value = instance;
  s.workloads[0].pod.extended[0].name.value = resource;
  return s;
}

scenarios::Scenario mps(const std::string& instance, int count) {
  scenarios::Scenario s = node_of(instance);
  s.node_pools[0].device_plugin.emplace().mps = replicas(count);
  return s;
}

scenarios::Scenario mig(const std::string& config, scenarios::MigStrategy strategy,
                        const std::string& resource) {
  scenarios::Scenario s = node_of("p4d.24xlarge", resource);
  s.node_pools[0].mig.emplace();
  s.node_pools[0].mig->strategy = strategy;
  s.node_pools[0].mig->config.value = config;
  return s;
}

Diagnostics refusals_of(const scenarios::Scenario& s) {
  const auto built = build_world(s, demo::catalogue());
  return built ? Diagnostics{} : built.error();
}

const Diagnostic* finding_with(const Diagnostics& diagnostics, Code code) {
  const auto found = std::ranges::find(diagnostics, code, &Diagnostic::code);
  return found == diagnostics.end() ? nullptr : &*found;
}

const models::Mps& mps_of(const World& world) {
  return std::get<models::Mps>(world.pools[0].kinds[0].sharing);
}

std::int64_t advertised(const World& world, const std::string& name) {
  const PoolModel& pool = world.pools[0];
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    if (pool.offers[offer].name == name) return pool.tickets_per_node(offer, 0);
  }
  return 0;
}

// What the control daemon of the plugin writes: floor(100 / replicas) % of the threads, rounded
// down to SMs, and floor(MiB / replicas). Figures seen on the daemon: T4 / 4: 25 %, 4096M of 16384;
// A100-40 / 7: 14 %, 5851M of 40960.
TEST(MpsPool, GivesEachClientTheIntegerShareOfThreadsAndMemory) {
  const World t4 = demo::world(mps("g4dn.xlarge", 4));
  EXPECT_DOUBLE_EQ(mps_of(t4).active_threads, 10.0 / 40);
  EXPECT_EQ(mps_of(t4).memory_limit,
            mebibytes(t4.pools[0].gpu->memory_total.count / mebibytes(1).count / 4));
  const World a100 = demo::world(mps("p4d.24xlarge", 7));
  EXPECT_DOUBLE_EQ(mps_of(a100).active_threads, 15.0 / 108);  // 14 % of 108 SMs are 15.12
  EXPECT_EQ(mps_of(a100).memory_limit, mebibytes(5851));
  EXPECT_EQ(advertised(a100, "nvidia.com/gpu"), 56);
  EXPECT_TRUE(demo::has(a100.findings, Code::MpsUnevenSplit));
  EXPECT_FALSE(demo::has(t4.findings, Code::MpsUnevenSplit));
}

TEST(MpsPool, UncappedClientsMayUseAllThreadsButNotMoreMemory) {
  scenarios::Scenario s = mps("g5.xlarge", 4);
  s.node_pools[0].mps.emplace().uncapped = true;
  EXPECT_DOUBLE_EQ(mps_of(demo::world(s)).active_threads, 1);
  EXPECT_TRUE(mps_of(demo::world(s)).memory_limit.has_value());
  s.node_pools[0].mps->uncapped = false;
  s.node_pools[0].mps->active_threads = 0.5;
  EXPECT_DOUBLE_EQ(mps_of(demo::world(s)).active_threads, 0.5);
}

// 48 clients per GPU; the stock plugin stops at 16 below compute capability 7.5, V100 included.
TEST(MpsPool, TheClientLimitIsAnError) {
  EXPECT_TRUE(refusals_of(mps("g5.xlarge", 48)).empty());
  const Diagnostics a10g = refusals_of(mps("g5.xlarge", 49));
  ASSERT_NE(finding_with(a10g, Code::MpsTooManyClients), nullptr);
  EXPECT_THAT(finding_with(a10g, Code::MpsTooManyClients)->message, HasSubstr("49 > 48"));
  EXPECT_TRUE(refusals_of(mps("p3.2xlarge", 16)).empty());
  EXPECT_THAT(finding_with(refusals_of(mps("p3.2xlarge", 17)), Code::MpsTooManyClients)->message,
              HasSubstr("17 > 16"));
  // What a newer driver takes, the plugin still refuses; force simulates it.
  scenarios::Scenario newer = mps("g5.xlarge", 60);
  newer.node_pools[0].mps.emplace().client_limit = 60;
  EXPECT_NE(finding_with(refusals_of(newer), Code::MpsTooManyClients), nullptr);
  newer.node_pools[0].mps->force = true;
  EXPECT_TRUE(refusals_of(newer).empty());
}

// Limits hold processes, not pods: three processes have three shares, and count three times.
TEST(MpsPool, EveryProcessOfAPodIsAClient) {
  scenarios::Scenario s = mps("g5.xlarge", 20);
  s.workloads[0].processes_per_pod = 2;
  const World world = demo::world(s);
  EXPECT_TRUE(demo::has(world.findings, Code::MpsPerProcessLimits));
  EXPECT_DOUBLE_EQ(world.workloads[0].on_pool[0].in_kind[0].client.active_threads, 8.0 / 80);
  s.workloads[0].processes_per_pod = 3;
  EXPECT_TRUE(refusals_of(s).empty());  // there is one pod
  s.workloads[0].count = 20;
  EXPECT_NE(finding_with(refusals_of(s), Code::MpsTooManyClients), nullptr);
}

TEST(MigPool, AdvertisesTheNamesOfItsStrategy) {
  using Strategy = scenarios::MigStrategy;
  const World mixed = demo::world(mig("all-1g.5gb", Strategy::Mixed, "nvidia.com/mig-1g.5gb"));
  EXPECT_EQ(advertised(mixed, "nvidia.com/mig-1g.5gb"), 56);
  EXPECT_EQ(mixed.pools[0].strategy, scenarios::Strategy::Mig);
  const World single = demo::world(mig("all-1g.5gb", Strategy::Single, "nvidia.com/gpu"));
  EXPECT_EQ(advertised(single, "nvidia.com/gpu"), 56);
  EXPECT_EQ(single.pools[0].labels.at("nvidia.com/gpu.product"),
            "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb");
  const World balanced =
      demo::world(mig("all-balanced", Strategy::Mixed, "nvidia.com/mig-3g.20gb"));
  EXPECT_EQ(advertised(balanced, "nvidia.com/mig-1g.5gb"), 16);
  EXPECT_EQ(advertised(balanced, "nvidia.com/mig-2g.10gb"), 8);
  EXPECT_EQ(advertised(balanced, "nvidia.com/mig-3g.20gb"), 8);
  EXPECT_NE(finding_with(refusals_of(mig("all-balanced", Strategy::Single, "nvidia.com/gpu")),
                         Code::MigNotUniform),
            nullptr);
  scenarios::Scenario some = mig("mine", Strategy::Single, "nvidia.com/gpu");
  scenarios::MigPartedEntry cut;
  cut.devices = {0, 1, 2, 3};
  cut.mig_devices = {{{"1g.5gb", {}}, 7}};
  scenarios::MigPartedEntry bare;
  bare.devices = {4, 5, 6, 7};
  some.node_pools[0].mig->configs["mine"] = {cut, bare};
  EXPECT_NE(finding_with(refusals_of(some), Code::MigNotUniform), nullptr);
  const World hidden = demo::world(mig("all-1g.5gb", Strategy::None, "nvidia.com/gpu"));
  EXPECT_EQ(advertised(hidden, "nvidia.com/gpu"), 8);
  EXPECT_TRUE(demo::has(hidden.findings, Code::MigNotAdvertised));
}

// f_c = 14 of 108 SMs, f_m = 1 of 8 memory slices; 10 SMs of each GPU are in no instance.
TEST(MigPool, AnInstanceHasItsSmsAndItsMemorySlices) {
  const World world =
      demo::world(mig("all-1g.5gb", scenarios::MigStrategy::Mixed, "nvidia.com/mig-1g.5gb"));
  const DomainKind& kind = world.pools[0].kinds[0];
  EXPECT_DOUBLE_EQ(kind.share.compute, 14.0 / 108);
  EXPECT_DOUBLE_EQ(kind.share.bandwidth, 1.0 / 8);
  EXPECT_DOUBLE_EQ(kind.time_share, 1.0 / 7);
  EXPECT_EQ(kind.memory, mebibytes(4864));
}

// A request for a slice that the layout lacks is a question of capacity: the pods stay Pending. A
// name that no layout of this GPU could have is a mistake.
TEST(MigPool, AskingForAnotherSliceIsPendingNotAnError) {
  const auto strategy = scenarios::MigStrategy::Mixed;
  const World world = demo::world(mig("all-1g.5gb", strategy, "nvidia.com/mig-2g.10gb"));
  EXPECT_TRUE(demo::has(world.findings, Code::ResourceNameMismatch));
  EXPECT_NE(finding_with(refusals_of(mig("all-1g.5gb", strategy, "nvidia.com/mig-1g.10g")),
                         Code::ResourceNameMismatch),
            nullptr);
  // ... unless the scenario says that the pods may stay Pending.
  scenarios::Scenario known = mig("all-1g.5gb", strategy, "nvidia.com/gpu");
  EXPECT_NE(finding_with(refusals_of(known), Code::ResourceNameMismatch), nullptr);
  known.workloads[0].may_stay_pending = true;
  EXPECT_TRUE(demo::has(demo::world(known).findings, Code::ResourceNameMismatch));
}

TEST(MigPool, PlacementRulesRefuseALayoutWithItsPlace) {
  scenarios::Scenario s = mig("mine", scenarios::MigStrategy::Mixed, "nvidia.com/mig-3g.20gb");
  scenarios::MigPartedEntry entry;
  entry.where = {"s.yaml", 7, 3};
  entry.mig_devices = {{{"3g.20gb", {}}, 2}, {{"1g.5gb", {}}, 1}};
  s.node_pools[0].mig->configs["mine"] = {entry};
  EXPECT_NE(finding_with(refusals_of(s), Code::MigLayoutImpossible), nullptr);
  s.node_pools[0].mig->configs["mine"][0].mig_devices.pop_back();
  const World two = demo::world(s);
  EXPECT_EQ(advertised(two, "nvidia.com/mig-3g.20gb"), 16);
  EXPECT_TRUE(demo::has(two.findings, Code::MigSlicesUnused));
  s.node_pools[0].mig->configs["mine"][0].devices = {0, 8};
  EXPECT_NE(finding_with(refusals_of(s), Code::MigLayoutImpossible), nullptr);
  s.node_pools[0].mig->configs["mine"][0].devices = {-1};
  EXPECT_NE(finding_with(refusals_of(s), Code::MigLayoutImpossible), nullptr);
  s.node_pools[0].mig->configs["mine"][0].devices = {0, 1};  // the others stay whole
  const World some = demo::world(s);
  EXPECT_EQ(advertised(some, "nvidia.com/mig-3g.20gb"), 4);
  EXPECT_EQ(advertised(some, "nvidia.com/gpu"), 6);
}

TEST(Combinations, MigInstancesAreTimeSlicedByTheirOwnName) {
  scenarios::Scenario s =
      mig("all-1g.5gb", scenarios::MigStrategy::Mixed, "nvidia.com/mig-1g.5gb.shared");
  s.node_pools[0].device_plugin.emplace().time_slicing = replicas(4, "nvidia.com/mig-1g.5gb");
  s.node_pools[0].device_plugin->time_slicing->rename_by_default = true;
  const World world = demo::world(s);
  EXPECT_EQ(advertised(world, "nvidia.com/mig-1g.5gb.shared"), 224);
  EXPECT_EQ(world.pools[0].strategy, scenarios::Strategy::MigTimeSlicing);
  s.node_pools[0].device_plugin->time_slicing = replicas(4);  // nvidia.com/gpu: no such device
  EXPECT_NE(finding_with(refusals_of(s), Code::ResourceNameMismatch), nullptr);
}

// The hardware can, the stock device plugin refuses: an error, or with force a warning.
TEST(Combinations, MpsOnMigNeedsForce) {
  scenarios::Scenario s = mig("all-3g.20gb", scenarios::MigStrategy::Single, "nvidia.com/gpu");
  s.node_pools[0].device_plugin.emplace().mps = replicas(2);
  EXPECT_NE(finding_with(refusals_of(s), Code::MpsOnMig), nullptr);
  s.node_pools[0].mps.emplace().force = true;
  const World world = demo::world(s);
  ASSERT_TRUE(demo::has(world.findings, Code::MpsOnMig));
  EXPECT_EQ(world.pools[0].strategy, scenarios::Strategy::MigMps);
  EXPECT_DOUBLE_EQ(mps_of(world).active_threads, 0.5);  // of the instance's 42 SMs
}

// 48 clients for seven compute slices: 20 for three of them.
TEST(Combinations, AMigInstanceTakesItsPartOfTheClients) {
  scenarios::Scenario s = mig("all-3g.20gb", scenarios::MigStrategy::Single, "nvidia.com/gpu");
  s.node_pools[0].mps.emplace().force = true;
  s.node_pools[0].device_plugin.emplace().mps = replicas(20);
  EXPECT_EQ(mps_of(demo::world(s)).client_limit, 20);
  s.node_pools[0].device_plugin->mps = replicas(21);
  const Diagnostics refused = refusals_of(s);
  ASSERT_NE(finding_with(refused, Code::MpsTooManyClients), nullptr);
  EXPECT_THAT(finding_with(refused, Code::MpsTooManyClients)->message, HasSubstr("21 > 20"));
}

// A g6f is one vGPU of an L4: a fixed eighth, an assumption that the report names.
TEST(VgpuPool, AFractionalInstanceIsOneVgpuOfItsHost) {
  const World world = demo::world(node_of("g6f.xlarge"));
  const auto& vgpu = std::get<models::Vgpu>(world.pools[0].kinds[0].sharing);
  EXPECT_EQ(vgpu.policy, models::Vgpu::Policy::FixedShare);
  EXPECT_EQ(vgpu.per_gpu, 8);
  EXPECT_EQ(advertised(world, "nvidia.com/gpu"), 1);
  EXPECT_THAT(world.provenance.assumed_inputs,
              ::testing::Contains(HasSubstr("vGPU scheduling policy")));
}

TEST(VgpuPool, AFractionIsNotSharedFurtherAndOtherTypesAreTold) {
  scenarios::Scenario shared = node_of("g6f.xlarge");
  shared.node_pools[0].device_plugin.emplace().time_slicing = replicas(2);
  EXPECT_NE(finding_with(refusals_of(shared), Code::StrategyNotModelled), nullptr);
  scenarios::Scenario whole = node_of("g6.xlarge");
  whole.node_pools[0].vgpu.emplace();
  EXPECT_TRUE(demo::has(demo::world(whole).findings, Code::VgpuNotOnEks));
  whole.workloads[0].pod.extended.clear();
  EXPECT_NE(finding_with(refusals_of(whole), Code::StrategyNotModelled), nullptr);
}

TEST(OtherPlugins, AdvertiseTheirOwnResources) {
  scenarios::Scenario aws = node_of("p3.2xlarge", "k8s.amazonaws.com/vgpu");
  aws.node_pools[0].virtual_gpu.emplace();
  const World virtual_gpu = demo::world(aws);
  EXPECT_EQ(advertised(virtual_gpu, "k8s.amazonaws.com/vgpu"), 10);
  EXPECT_FALSE(mps_of(virtual_gpu).memory_limit.has_value());
  EXPECT_DOUBLE_EQ(mps_of(virtual_gpu).active_threads, 1);

  scenarios::Scenario nos = node_of("g5.xlarge", "nvidia.com/gpu-4gb");
  nos.node_pools[0].nos.emplace().slices = {{"10gb", {}}, {"4gb", {}}, {"4gb", {}}};
  const World slices = demo::world(nos);
  EXPECT_EQ(advertised(slices, "nvidia.com/gpu-4gb"), 2);
  EXPECT_EQ(advertised(slices, "nvidia.com/gpu-10gb"), 1);
  EXPECT_EQ(slices.pools[0].kinds[0].tickets[1].memory_limit, gibibytes(4));
  nos.node_pools[0].nos->slices.push_back({"10gb", {}});
  EXPECT_NE(finding_with(refusals_of(nos), Code::ValueRange), nullptr);
}

TEST(ManualSharing, IsToldAndRefusedBesideMps) {
  scenarios::Scenario s = node_of("g4dn.12xlarge");
  s.workloads[0].pod.extended.clear();
  EXPECT_TRUE(demo::has(demo::world(s).findings, Code::GpuNotRequested));
  s.workloads[0].pod.env["CUDA_VISIBLE_DEVICES"] = "3";
  EXPECT_EQ(demo::world(s).workloads[0].visible_gpu, 3);
  scenarios::Scenario unhealthy = s;
  unhealthy.node_pools[0].allocatable.gpus = 3;
  EXPECT_NE(finding_with(refusals_of(unhealthy), Code::ValueRange), nullptr);
  s.workloads[0].pod.env["CUDA_VISIBLE_DEVICES"] = "4";
  EXPECT_NE(finding_with(refusals_of(s), Code::ValueRange), nullptr);
  scenarios::Scenario beside = mps("g5.xlarge", 4);
  beside.workloads[0].pod.extended.clear();
  EXPECT_NE(finding_with(refusals_of(beside), Code::GpuExclusiveProcess), nullptr);
  // A taint keeps them off, as `explain` advises.
  scenarios::NodePool plain = demo::pool(0);
  plain.name.value = "plain";
  beside.node_pools.push_back(plain);
  beside.node_pools[0].taints.push_back({"nvidia.com/gpu", "", "NoSchedule"});
  EXPECT_TRUE(refusals_of(beside).empty());
}

}  // namespace
}  // namespace slicewise::sim
