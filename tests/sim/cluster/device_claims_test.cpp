#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/isolation.hpp"

#include "../demo.hpp"

// Devices that pods claim of NVIDIA's DRA driver: who shares one, who waits, and for how long.
namespace slicewise::sim {
namespace {

using scenarios::ClaimSharing;
using scenarios::ResourceClaim;
using scenarios::Scenario;
using scenarios::TurnInterval;
using scenarios::Workload;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Law = scenarios::ServiceTime::Law;

scenarios::NodePool dra_pool(const char* instance_type, int nodes = 1) {
  scenarios::NodePool pool = demo::pool(0, nodes);
  pool.instance_type.value = instance_type;
  pool.dra = true;
  return pool;
}

ResourceClaim claim(std::string name) {
  ResourceClaim claim;
  claim.name.value = std::move(name);
  return claim;
}

ResourceClaim of_each_pod(std::string name, int devices = 1) {
  ResourceClaim own = claim(std::move(name));
  own.is_template = true;
  own.count = devices;
  return own;
}

Workload claiming(Workload workload, const char* name, const char* claim_name) {
  workload.name.value = name;
  workload.pod.extended.clear();
  workload.pod.claim.value = claim_name;
  return workload;
}

Scenario claimed(scenarios::NodePool pool, std::vector<ResourceClaim> claims,
                 std::vector<Workload> workloads) {
  Scenario s = demo::scenario(std::move(pool), std::move(workloads));
  s.claims = std::move(claims);
  return s;
}

// As of the AWS demo without sharing: the fifth waits for the first.
TEST(DeviceClaims, ATemplateGivesEachPodAGpu) {
  const VariantResult r = demo::result(claimed(dra_pool("p3.8xlarge"), {of_each_pod("gpu")},
                                               {claiming(demo::training(5), "cifar10", "gpu")}));
  EXPECT_EQ(r.node_pools[0].strategy, "exclusive");
  EXPECT_EQ(r.pods.running_max, 4);
  EXPECT_THAT(r.pods.pending_reasons,
              ElementsAre("0/1 nodes are available: 1 cannot allocate all claims."));
  EXPECT_EQ(r.makespan.mean, minutes(60));
  EXPECT_EQ(r.cost.ledger.total, from_dollars(12.24));
}

// Of two at a time one pod has its pair, and the second the other.
TEST(DeviceClaims, APodMayClaimSeveralDevices) {
  Workload pairs = claiming(demo::training(3), "pairs", "gpus");
  const VariantResult r =
      demo::result(claimed(dra_pool("p3.8xlarge"), {of_each_pod("gpus", 2)}, {pairs}));
  EXPECT_EQ(r.pods.running_max, 2);
  EXPECT_EQ(r.makespan.mean, minutes(60));
}

// The claim is where the finding points: such pods ask for no extended resource.
TEST(DeviceClaims, DevicesWithoutALinkAreTold) {
  Workload pair = claiming(demo::training(1), "pair", "gpus");
  pair.pod.claim.where.line = 7;
  const VariantResult r =
      demo::result(claimed(dra_pool("g4dn.12xlarge"), {of_each_pod("gpus", 2)}, {pair}));
  const auto told = std::ranges::find(r.findings, Code::GangAcrossSlowLinks, &Diagnostic::code);
  ASSERT_NE(told, r.findings.end());
  EXPECT_EQ(told->where.line, 7);
}

// What the device plugin puts on each GPU of its own accord, four claims say.
TEST(DeviceClaims, FourClaimsOfFivePodsAreTheAwsDemo) {
  std::vector<ResourceClaim> claims;
  std::vector<Workload> workloads;
  for (const char* name : {"one", "two", "three", "four"}) {
    claims.push_back(claim(name));
    workloads.push_back(claiming(demo::training(5), name, name));
  }
  const VariantResult r = demo::result(claimed(dra_pool("p3.8xlarge"), claims, workloads));
  const VariantResult plugin = demo::result(demo::scenario(demo::pool(10), {demo::training(20)}));
  EXPECT_EQ(r.node_pools[0].strategy, "timeSlicing");
  EXPECT_EQ(r.pods.running_max, 20);
  EXPECT_EQ(r.makespan.mean, plugin.makespan.mean);
  EXPECT_EQ(r.cost.ledger.total, plugin.cost.ledger.total);
  ASSERT_EQ(r.gpus.size(), plugin.gpus.size());
  for (std::size_t g = 0; g < r.gpus.size(); ++g) {
    EXPECT_DOUBLE_EQ(r.gpus[g].context_switch_ratio, plugin.gpus[g].context_switch_ratio);
    EXPECT_EQ(r.gpus[g].memory_peak, plugin.gpus[g].memory_peak);
  }
}

TEST(DeviceClaims, PodsOfOneClaimAreOnOneGpu) {
  const Scenario s = claimed(dra_pool("p3.8xlarge"), {claim("gpu")},
                             {claiming(demo::training(5), "cifar10", "gpu")});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.running_max, 5);
  EXPECT_GT(r.gpus[0].time_busy_ratio, 0.8);
  for (std::size_t g = 1; g < 4; ++g) EXPECT_EQ(r.gpus[g].time_busy_ratio, 0);
  const auto rooms = gpu_rooms(demo::world(s));
  ASSERT_EQ(rooms.size(), 1U);
  EXPECT_THAT(room_sentence(rooms.front()), HasSubstr("5 per GPU: 5 x (1.4 + "));
  EXPECT_THAT(room_sentence(rooms.front()), HasSubstr("all that there are fit"));
}

// The first has taken the claim to its node, whose CPU the second does not find. In the words of
// kube-scheduler 1.36.
TEST(DeviceClaims, TheClaimIsWhereItsFirstPodIs) {
  Workload large = claiming(demo::training(2), "large", "gpu");
  large.pod.cpu_request = {20'000};
  const VariantResult r = demo::result(claimed(dra_pool("p3.8xlarge", 2), {claim("gpu")}, {large}));
  EXPECT_EQ(r.pods.running_max, 1);
  EXPECT_THAT(r.pods.pending_reasons,
              ElementsAre("0/2 nodes are available: 1 Insufficient cpu, 1 resourceclaim not "
                          "available on the node."));
  EXPECT_EQ(r.makespan.mean, minutes(60));
}

// The one GPU is the first claim's until the last of its pods is gone, however long.
TEST(DeviceClaims, AClaimEndsWithTheLastOfItsPods) {
  Workload longer = claiming(demo::training(1), "longer", "first");
  longer.work->units = 200;
  longer.measured->gpu_busy = longer.measured->sm_active = 0.01;
  Workload shorter = longer;
  shorter.name.value = "shorter";
  shorter.work->units = 100;
  Workload next = claiming(demo::training(1), "next", "second");
  next.submit_at = seconds(1);
  const VariantResult r = demo::result(
      claimed(dra_pool("p3.2xlarge"), {claim("first"), claim("second")}, {longer, shorter, next}));
  EXPECT_EQ(r.pods.running_max, 2);
  EXPECT_NEAR(to_seconds(r.makespan.mean), to_seconds(minutes(90)), 60);
}

// Turns of the interval, two of them for copies: R = (n-1)(q+c)(k - 1/2) + s + k c.
TEST(DeviceClaims, TheIntervalIsTheLengthOfTheTurns) {
  for (const auto& [interval, times] :
       {std::pair(TurnInterval::Default, 1.0), std::pair(TurnInterval::Long, 4.0)}) {
    ResourceClaim shared = claim("gpu");
    shared.sharing.emplace().interval = interval;
    Workload busy = claiming(demo::training(3), "busy", "gpu");
    busy.measured->gpu_busy = 1.0;
    busy.pod.cpu_request = {100};
    busy.work->units = 1'000'000;
    Scenario s = claimed(
        dra_pool("p3.2xlarge"), {shared},
        {claiming(demo::service(1, 0.5, milliseconds(5), Law::Deterministic), "api", "gpu"), busy});
    s.duration = seconds(4'000);
    s.replications = 4;
    s.node_pools[0].gpu.switch_cost = microseconds(110);
    const double q = 1.024e-3 * times;
    const double c = 110e-6;
    const double turns = std::ceil(5e-3 / q) + 2;
    const double expected = 3 * (q + c) * (turns - 0.5) + 5e-3 + turns * c;
    const VariantResult r = demo::result(s, 2);
    EXPECT_NEAR(to_seconds(r.workloads[0].latency->mean), expected, 0.03 * expected) << times;
    EXPECT_NEAR(r.gpus[0].context_switch_ratio, c / (q + c), 0.002) << times;
  }
}

// A quarter of the threads and of the memory, as the device plugin gives with four replicas.
TEST(DeviceClaims, MpsHasThePercentageAndTheLimitOfTheClaim) {
  ResourceClaim shared = claim("gpu");
  ClaimSharing& sharing = shared.sharing.emplace();
  sharing.strategy = ClaimSharing::Strategy::Mps;
  sharing.active_threads = 25;
  sharing.memory_limit = mebibytes(4096);
  Scenario s =
      claimed(dra_pool("p3.2xlarge"), {shared}, {claiming(demo::training(4), "cifar10", "gpu")});
  scenarios::NodePool plugin = demo::pool(4);
  plugin.instance_type.value = "p3.2xlarge";
  plugin.device_plugin->mps = std::exchange(plugin.device_plugin->time_slicing, {});
  const VariantResult expected = demo::result(demo::scenario(plugin, {demo::training(4)}));
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.makespan.mean, expected.makespan.mean);
  EXPECT_EQ(r.node_pools[0].active_threads, expected.node_pools[0].active_threads);
  EXPECT_EQ(r.node_pools[0].memory_limit, mebibytes(4096));
  s.workloads[0].gpu_memory.resident = gibibytes(5);
  EXPECT_TRUE(demo::has(demo::world(s).findings, Code::GpuOom));
  EXPECT_EQ(demo::result(s).pods.succeeded, 0);
}

// A claim of MIG devices has one instance, whose neighbours are other claims'.
TEST(DeviceClaims, MigDevicesAreSelectedByTheirProfile) {
  scenarios::NodePool pool = dra_pool("p4d.24xlarge");
  pool.mig.emplace().config.value = "all-1g.5gb";
  ResourceClaim own = of_each_pod("slice");
  own.selectors = {{"device.attributes['gpu.nvidia.com'].profile == '1g.5gb'", {}}};
  Workload lab = claiming(demo::training(57), "lab", "slice");
  lab.pod.memory_request = gibibytes(1);
  const Scenario s = claimed(pool, {own}, {lab});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.node_pools[0].strategy, "mig");
  EXPECT_EQ(r.pods.running_max, 56);
  Scenario other = s;
  other.claims[0].selectors[0].value = "device.attributes['gpu.nvidia.com'].profile == '3g.20gb'";
  EXPECT_THAT(demo::refusal(other), HasSubstr("no node pool has a device for the claim \"slice\""));
}

// Two pools, and the claim selects the product of one.
TEST(DeviceClaims, DevicesAreSelectedByProductAndMemory) {
  ResourceClaim own = of_each_pod("gpu");
  own.selectors = {
      {"device.attributes['gpu.nvidia.com'].productName == 'Tesla T4'", {}},
      {"device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('10Gi')) >= 0", {}}};
  Scenario s = claimed(dra_pool("p3.8xlarge"), {own}, {claiming(demo::training(2), "t4", "gpu")});
  EXPECT_THAT(demo::refusal(s), HasSubstr("no node pool has a device"));
  Scenario as_they_are = s;  // an imported cluster: they stay Pending there, too
  as_they_are.workloads[0].may_stay_pending = true;
  EXPECT_EQ(demo::result(as_they_are).pods.running_max, 0);
  s.node_pools.push_back(dra_pool("g4dn.xlarge"));
  s.node_pools.back().name.value = "t4";
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.running_max, 1);
  EXPECT_THAT(r.pods.pending_reasons,
              ElementsAre("0/2 nodes are available: 2 cannot allocate all claims."));
}

// kube-scheduler takes nobody's device away: its DynamicResources turns nodes down for good.
TEST(DeviceClaims, APriorityTakesNoDeviceFromAnother) {
  Workload low = claiming(demo::training(1), "low", "gpu");
  Workload high = claiming(demo::training(1), "high", "gpu");
  high.priority = 1000;
  high.submit_at = minutes(1);
  const VariantResult r =
      demo::result(claimed(dra_pool("p3.2xlarge"), {of_each_pod("gpu")}, {low, high}));
  EXPECT_EQ(r.pods.restarts, 0);
  EXPECT_EQ(r.makespan.mean, minutes(60));
}

TEST(DeviceClaims, OfOnePoolAllClaimsShareInOneWay) {
  ResourceClaim turns = claim("turns");
  ResourceClaim mps = claim("mps");
  mps.sharing.emplace().strategy = ClaimSharing::Strategy::Mps;
  const Scenario s =
      claimed(dra_pool("p3.8xlarge"), {turns, mps},
              {claiming(demo::training(2), "a", "turns"), claiming(demo::training(2), "b", "mps")});
  EXPECT_THAT(demo::refusal(s),
              HasSubstr("share the devices of node pool \"v100\" in different ways"));
}

// Only pods of one claim meet.
TEST(DeviceClaims, NeighboursAreThoseOfTheClaim) {
  Scenario s =
      claimed(dra_pool("p3.8xlarge"), {claim("a"), claim("b")},
              {claiming(demo::training(1), "a", "a"), claiming(demo::training(1), "b", "b")});
  EXPECT_FALSE(gpu_neighbours(demo::world(s)).pods);
  s.workloads[1].pod.claim.value = "a";
  EXPECT_TRUE(gpu_neighbours(demo::world(s)).pods);
}

// Six pods of two templates are two nodes of four GPUs, started at once.
TEST(DeviceClaims, KarpenterStartsNodesForClaimsOfEachPod) {
  scenarios::NodePool pool = dra_pool("g4dn.12xlarge", 0);
  pool.most_nodes = 4;
  Scenario s =
      claimed(pool, {of_each_pod("a"), of_each_pod("b")},
              {claiming(demo::training(3), "a", "a"), claiming(demo::training(3), "b", "b")});
  s.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
  s.provisioner.start_up.variation = 0;
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.running_max, 6);
  EXPECT_EQ(r.nodes.size(), 2U);
  EXPECT_EQ(r.workloads[0].wait->mean, r.workloads[1].wait->mean);

  Scenario shared = s;
  shared.claims[0].is_template = false;
  EXPECT_THAT(demo::refusal(shared),
              HasSubstr("pods that share the claim \"a\" on nodes that come"));
  Scenario by_autoscaler = s;
  by_autoscaler.provisioner.kind = scenarios::Provisioner::Kind::ClusterAutoscaler;
  EXPECT_THAT(demo::refusal(by_autoscaler), HasSubstr("that the Cluster Autoscaler starts"));
}

// Of NVIDIA's DRA driver with its gate DynamicMIG, and one GPU.
scenarios::NodePool on_demand(const char* instance_type) {
  scenarios::NodePool pool = dra_pool(instance_type);
  pool.allocatable.gpus = 1;
  pool.dynamic_mig = scenarios::DynamicMig{seconds(10), seconds(7), {}};
  return pool;
}

ResourceClaim of_profile(const std::string& profile) {
  ResourceClaim own = of_each_pod("p" + profile.substr(0, profile.find('.')));
  own.selectors = {{"device.attributes['gpu.nvidia.com'].profile == '" + profile + "'", {}}};
  return own;
}

// One Job, so many pods at once, of each profile.
Scenario makes(const char* instance_type, const std::vector<std::pair<const char*, int>>& jobs) {
  Scenario s = claimed(on_demand(instance_type), {}, {});
  for (const auto& [profile, pods] : jobs) {
    s.claims.push_back(of_profile(profile));
    s.workloads.push_back(
        claiming(demo::training(pods), profile, s.claims.back().name.value.c_str()));
  }
  return s;
}

TEST(DynamicMig, AnA100IsSevenOfTheSmallest) {
  const VariantResult r = demo::result(makes("p4d.24xlarge", {{"1g.5gb", 8}}));
  EXPECT_EQ(r.node_pools[0].strategy, "mig");
  EXPECT_EQ(r.pods.running_max, 7);
  EXPECT_EQ(r.pods.succeeded, 8);
  EXPECT_THAT(r.pods.pending_reasons,
              ElementsAre("0/1 nodes are available: 1 cannot allocate all claims."));
}

// Memory slices decide: two of 3g have all eight, and 4g with 3g as well; 2g has two of them.
TEST(DynamicMig, DevicesHaveTheirPlacesOnTheGpu) {
  const auto at_once = [](const std::vector<std::pair<const char*, int>>& jobs) {
    return demo::result(makes("p4d.24xlarge", jobs)).pods.running_max;
  };
  EXPECT_EQ(at_once({{"3g.20gb", 2}, {"1g.5gb", 1}}), 2);
  EXPECT_EQ(at_once({{"4g.20gb", 1}, {"3g.20gb", 1}, {"1g.5gb", 1}}), 2);
  EXPECT_EQ(at_once({{"4g.20gb", 1}, {"2g.10gb", 1}, {"1g.5gb", 2}}), 3);  // 1g has no eighth place
  EXPECT_EQ(at_once({{"3g.20gb", 1}, {"1g.5gb", 4}}), 4);  // ... and 3g comes first, on 0 to 3
  EXPECT_EQ(at_once({{"1g.5gb+me", 2}}), 1);
}

// The driver makes one device after the other.
TEST(DynamicMig, DevicesAreMadeOneByOne) {
  const VariantResult r = demo::result(makes("p4d.24xlarge", {{"1g.5gb", 3}}));
  ASSERT_TRUE(r.workloads[0].wait);
  EXPECT_EQ(r.workloads[0].wait->mean, seconds(20));
}

// All of the GPU, then a seventh: when the first device has been destroyed, the second is made.
TEST(DynamicMig, TheGpuIsCutAnew) {
  Scenario s = makes("p4d.24xlarge", {{"7g.40gb", 1}, {"1g.5gb", 1}});
  s.workloads[1].submit_at = seconds(1);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.running_max, 1);
  EXPECT_EQ(r.workloads[1].wait->mean,
            r.workloads[0].job_completion->mean + seconds(7) + seconds(10) - seconds(1));
}

// Pods of one claim wait for one device.
TEST(DynamicMig, PodsOfAClaimHaveOneDevice) {
  Scenario s = makes("p4d.24xlarge", {{"3g.20gb", 3}});
  s.claims[0].is_template = false;
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.running_max, 3);
  EXPECT_EQ(r.workloads[0].wait->mean, seconds(10));
}

// From Hopper on MIG mode needs no reset: the GPU is given whole, or cut, by who comes first.
TEST(DynamicMig, AHopperGpuIsWholeOrCut) {
  Scenario s = makes("p5.48xlarge", {{"1g.10gb", 7}});
  s.claims.push_back(of_each_pod("whole"));
  s.claims[1].selectors = {{"device.attributes['gpu.nvidia.com'].type == 'gpu'", {}}};
  s.workloads.push_back(claiming(demo::training(1), "whole", "whole"));
  s.workloads[1].submit_at = seconds(1);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.running_max, 7);
  EXPECT_EQ(r.pods.succeeded, 8);
  Scenario ampere = s;
  ampere.node_pools[0].instance_type.value = "p4d.24xlarge";
  ampere.claims[0].selectors[0].value = "device.attributes['gpu.nvidia.com'].profile == '1g.5gb'";
  EXPECT_THAT(demo::refusal(ampere),
              HasSubstr("no node pool has a device for the claim \"whole\""));
}

// Three halves in one zone are in none: the gang that was tried there leaves nothing behind.
TEST(DynamicMig, AGangThatDoesNotFitHasNoDevices) {
  Scenario s = makes("p4d.24xlarge", {{"3g.20gb", 3}});
  s.node_pools.push_back(s.node_pools[0]);
  const char* const zones[] = {"a", "b"};
  for (std::size_t p = 0; p < 2; ++p) {
    s.node_pools[p].name.value = zones[p];
    s.node_pools[p].labels["topology.kubernetes.io/zone"] = zones[p];
  }
  s.workloads.push_back(s.workloads[0]);
  Workload& gang = s.workloads[0];
  gang.pods_per_job = 3;
  gang.may_stay_pending = true;
  gang.pod.labels["app"] = "gang";
  scenarios::PodAffinityTerm& near = gang.pod.pod_affinity.emplace_back();
  near.topology_key = "topology.kubernetes.io/zone";
  near.match_labels["app"] = "gang";
  s.workloads[1].name.value = "single";
  s.workloads[1].count = 4;
  s.workloads[1].submit_at = minutes(5);
  s.duration = hours(10);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.running_max, 4);
  EXPECT_EQ(r.pods.succeeded, 4);
}

TEST(DynamicMig, ExcludesWhatTheDriverExcludes) {
  Scenario by_mps = makes("p4d.24xlarge", {{"3g.20gb", 1}});
  by_mps.claims[0].sharing.emplace().strategy = ClaimSharing::Strategy::Mps;
  EXPECT_THAT(demo::refusal(by_mps), HasSubstr("DynamicMIG and MPSSupport exclude each other"));
  Scenario cut = makes("p4d.24xlarge", {{"3g.20gb", 1}});
  cut.node_pools.push_back(dra_pool("p4d.24xlarge"));
  cut.node_pools[1].name.value = "cut";
  cut.node_pools[1].mig.emplace().config.value = "all-3g.20gb";
  EXPECT_THAT(demo::refusal(cut), HasSubstr("destroys MIG devices that it did not make"));
  EXPECT_THAT(demo::refusal(makes("g5.xlarge", {{"3g.20gb", 1}})), HasSubstr("has no MIG"));
}

}  // namespace
}  // namespace slicewise::sim
