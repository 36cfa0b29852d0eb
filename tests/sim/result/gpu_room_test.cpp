#include "slicewise/sim/gpu_room.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../demo.hpp"

namespace slicewise::sim {
namespace {

GpuRoom room_on_a10g(int safe, GpuRoom::Bound bound) {
  GpuRoom room;
  room.pool = "gpu";
  room.safe = safe;
  room.may_meet = safe;
  room.replicas = 8;
  room.bound = bound;
  room.usable = mebibytes(22'630);
  room.context = mebibytes(512);
  if (safe > 0) room.tenants = {{"tts", safe, 1, mebibytes(4'198), false}};
  room.needed = mebibytes(safe * 4'710);
  room.next = mebibytes((safe + 1) * 4'710);
  room.next_workload = "tts";
  return room;
}

TEST(GpuRoom, TheSentenceShowsTheArithmetic) {
  GpuRoom room = room_on_a10g(4, GpuRoom::Bound::Memory);
  EXPECT_EQ(room_sentence(room), "4 per GPU: 4 x (4.1 + 0.5 GiB) of 22.1; a fifth lacks 0.9 GiB");
  room.may_meet = 8;
  EXPECT_EQ(
      room_sentence(room),
      "4 per GPU: 4 x (4.1 + 0.5 GiB) of 22.1; a fifth lacks 0.9 GiB; up to 8 may meet there and "
      "run out of memory");
  room.partition = "3g.20gb";
  EXPECT_TRUE(room_sentence(room).starts_with("4 per 3g.20gb: "));
  EXPECT_EQ(room_sentence(room_on_a10g(4, GpuRoom::Bound::Cpu)),
            "4 per GPU: 4 x (4.1 + 0.5 GiB) of 22.1; the CPU of the node binds");
  room = room_on_a10g(0, GpuRoom::Bound::Memory);
  room.next = mebibytes(23'550);
  EXPECT_EQ(room_sentence(room), "0 per GPU: a pod of tts needs 23.0 GiB, 0.9 more than there is");
}

TEST(GpuRoom, WhatIsMissingReadsAsMoreThanNothing) {
  GpuRoom room = room_on_a10g(2, GpuRoom::Bound::Memory);
  room.usable = mebibytes(22'600);
  room.next = mebibytes(22'620);
  EXPECT_TRUE(room_sentence(room).ends_with(" of 22.1; a third lacks 0.02 GiB"))
      << room_sentence(room);
  // A pod that fits nowhere meets nobody.
  GpuRoom none = room_on_a10g(0, GpuRoom::Bound::Memory);
  none.may_meet = 3;
  none.next = mebibytes(22'640);
  EXPECT_EQ(room_sentence(none), "0 per GPU: a pod of tts needs 22.1 GiB, 0.01 more than there is");
}

TEST(GpuRoom, AShareBelowTheWeightsIsSaidToBeTheCause) {
  GpuRoom room = room_on_a10g(0, GpuRoom::Bound::OwnShare);
  room.process_limit = mebibytes(13'578);
  room.next = mebibytes(15'872);
  EXPECT_EQ(
      room_sentence(room),
      "0 per GPU: tts takes 13.3 of 22.1 GiB (memoryUtilization), its weights, activations and "
      "context need 15.5");
}

World world_of(int replicas, std::vector<scenarios::Workload> workloads) {
  const auto scenario = demo::scenario(demo::pool(replicas), std::move(workloads));
  auto world = build_world(scenario, demo::catalogue());
  if (!world) throw std::runtime_error(world.error().front().message);
  return *world;
}

// Whatever the room says is safe, the ledger of a run takes; one more it does not.
TEST(GpuRoom, MemoryBindsWhereTheLedgerRefusesOneMore) {
  scenarios::Workload work = demo::training(20);
  work.gpu_memory.resident = gibibytes(4);
  work.pod.cpu_request = {};
  work.pod.memory_request = {};
  const World world = world_of(10, {work});
  const auto rooms = gpu_rooms(world);
  ASSERT_EQ(rooms.size(), 1U);
  const GpuRoom& room = rooms.front();
  EXPECT_EQ(room.bound, GpuRoom::Bound::Memory);
  EXPECT_EQ(room.safe, 3);
  EXPECT_EQ(room.may_meet, 10);
  EXPECT_TRUE(room.is_overcommitted());
  EXPECT_LE(room.needed, room.usable);
  EXPECT_GT(room.next, room.usable);
  const Bytes pod = gibibytes(4) + world.pools.front().context_memory;
  EXPECT_EQ(room.needed, (Bytes{3 * pod.count}));
  EXPECT_EQ(room.next, (Bytes{4 * pod.count}));
}

TEST(GpuRoom, ARunLosesPodsBeyondTheRoomAndNoneWithin) {
  scenarios::Workload work = demo::training(20);
  work.gpu_memory.resident = gibibytes(4);
  for (const int replicas : {3, 4}) {
    const scenarios::Scenario scenario = demo::scenario(demo::pool(replicas), {work});
    const bool lost = demo::result(scenario).pods.oom_kills > 0;
    EXPECT_EQ(lost, gpu_rooms(demo::world(scenario)).front().is_overcommitted()) << replicas;
    EXPECT_EQ(lost, replicas == 4);
  }
}

// The kubelet of a g5.12xlarge takes 234 pods: each of four GPUs has its part.
TEST(GpuRoom, ThePodsOfANodeBind) {
  scenarios::Workload work = demo::training(200);
  work.gpu_memory.resident = mebibytes(1);
  work.pod.cpu_request = {1};
  work.pod.memory_request = mebibytes(1);
  scenarios::Scenario scenario = demo::scenario(demo::pool(100), {work});
  scenario.node_pools.front().gpu.context_memory = mebibytes(1);
  const World world = demo::world(scenario);
  const GpuRoom room = gpu_rooms(world).front();
  EXPECT_EQ(room.bound, GpuRoom::Bound::NodePods);
  EXPECT_EQ(room.safe, world.pools.front().max_pods / 4);
  EXPECT_NE(room_sentence(room).find("the kubelet takes no more"), std::string::npos);
}

TEST(GpuRoom, ReplicasCpuAndGreedyProcessesBindToo) {
  scenarios::Workload work = demo::training(20);
  work.pod.memory_request = {};
  work.pod.cpu_request = {};
  EXPECT_EQ(gpu_rooms(world_of(2, {work})).front().bound, GpuRoom::Bound::Replicas);
  EXPECT_EQ(gpu_rooms(world_of(2, {work})).front().safe, 2);
  EXPECT_EQ(gpu_rooms(world_of(0, {work})).front().safe, 1);
  work.pod.cpu_request = {7'000};  // four on a node of four GPUs
  EXPECT_EQ(gpu_rooms(world_of(10, {work})).front().bound, GpuRoom::Bound::Cpu);
  EXPECT_EQ(gpu_rooms(world_of(10, {work})).front().safe, 1);
  work.pod.cpu_request = {};
  work.gpu_memory.allocator = scenarios::Allocator::Greedy;
  const GpuRoom greedy = gpu_rooms(world_of(10, {work})).front();
  EXPECT_EQ(greedy.safe, 1);
  EXPECT_EQ(greedy.bound, GpuRoom::Bound::Memory);
}

// Pods of several workloads may meet: the largest come first.
TEST(GpuRoom, TheLargestPodsAreCountedFirst) {
  scenarios::Workload small = demo::training(4);
  scenarios::Workload large = demo::training(1);
  small.name.value = "small";
  large.name.value = "large";
  large.gpu_memory.resident = gibibytes(9);
  const GpuRoom room = gpu_rooms(world_of(4, {small, large})).front();
  ASSERT_EQ(room.tenants.size(), 2U);
  EXPECT_EQ(room.tenants[0].workload, "large");
  EXPECT_EQ(room.tenants[1].pods, 3);
}

// "1 per GPU; the CPU binds", said the mean of all pods, and the run lost 22.
TEST(GpuRoom, SmallPodsMeetThoughTheMeanOneTakesTheCpu) {
  scenarios::Workload heavy = demo::training(8);
  scenarios::Workload light = demo::training(16);
  heavy.name.value = "heavy";
  heavy.pod.cpu_request = {15'000};  // two on a node
  heavy.gpu_memory.resident = gibibytes(1);
  light.name.value = "light";
  light.pod.cpu_request = {100};
  light.gpu_memory.resident = gibibytes(4);
  light.work->units = heavy.work->units = 5;
  const scenarios::Scenario scenario = demo::scenario(demo::pool(8), {heavy, light});
  const GpuRoom room = gpu_rooms(demo::world(scenario)).front();
  EXPECT_EQ(room.bound, GpuRoom::Bound::Memory);
  EXPECT_EQ(room.safe, 3);
  EXPECT_EQ(room.may_meet, 5);  // 18 on four GPUs
  EXPECT_TRUE(room.is_overcommitted());
  EXPECT_GT(demo::result(scenario).pods.oom_kills, 0);
}

// "0 per GPU: the CPU of the node binds", said the mean of all, and the run did 1,046 jobs.
TEST(GpuRoom, PodsThatNoNodeHoldsDoNotCount) {
  scenarios::Workload huge = demo::training(50);
  scenarios::Workload light = demo::training(5);
  huge.name.value = "huge";
  huge.pod.cpu_request = {1'000'000};
  light.name.value = "light";
  light.pod.cpu_request = {100};
  const GpuRoom room = gpu_rooms(world_of(2, {huge, light})).front();
  EXPECT_GT(room.safe, 0);
  ASSERT_EQ(room.tenants.size(), 1U);
  EXPECT_EQ(room.tenants[0].workload, "light");
}

// Of a pod of 9 GiB a GPU holds one.
TEST(GpuRoom, TheCpuKeepsPodsApartOnlyWhereThereIsNoMoreOfItThanGpus) {
  scenarios::Workload work = demo::training(20);
  work.gpu_memory.resident = gibibytes(9);
  work.work->units = 2;
  for (const int cpu : {7'000, 5'000}) {  // four on a node of four GPUs, six
    work.pod.cpu_request = {cpu};
    const scenarios::Scenario scenario = demo::scenario(demo::pool(10), {work});
    const GpuRoom room = gpu_rooms(demo::world(scenario)).front();
    EXPECT_EQ(room.safe, 1);
    EXPECT_EQ(room.bound, cpu == 7'000 ? GpuRoom::Bound::Cpu : GpuRoom::Bound::Memory);
    EXPECT_EQ(room.is_overcommitted(), cpu == 5'000);
    EXPECT_EQ(demo::result(scenario).pods.oom_kills > 0, cpu == 5'000);
  }
}

TEST(GpuRoom, WhatAsksForAKindOfInstanceSharesTheCpuAmongThose) {
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "p4d.24xlarge";  // eight GPUs, each with one 3g.20gb and three more
  pool.mig.emplace();
  pool.mig->strategy = scenarios::MigStrategy::Mixed;
  pool.mig->config.value = "all-balanced";
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{"nvidia.com/mig-3g.20gb", {}}, 4, {}});
  pool.device_plugin.emplace().time_slicing = sharing;
  scenarios::Workload work = demo::training(32);
  work.pod.cpu_request = {3'000};  // 31 on a node
  work.pod.memory_request = {};
  work.pod.extended.front().name.value = "nvidia.com/mig-3g.20gb";
  const auto rooms = gpu_rooms(demo::world(demo::scenario(pool, {work})));
  ASSERT_EQ(rooms.size(), 1U);
  EXPECT_EQ(rooms.front().bound, GpuRoom::Bound::Cpu);
  EXPECT_EQ(rooms.front().safe, 3);
}

// No arithmetic with pods that do not exist.
TEST(GpuRoom, SeveralWorkloadsAreCountedUpToThePodsThatThereAre) {
  scenarios::Workload small = demo::training(2);
  scenarios::Workload large = demo::training(1);
  small.name.value = "small";
  large.name.value = "large";
  large.gpu_memory.resident = gibibytes(3);
  const GpuRoom room = gpu_rooms(world_of(10, {small, large})).front();
  EXPECT_EQ(room.safe, 3);
  EXPECT_EQ(room.bound, GpuRoom::Bound::Pods);
  EXPECT_EQ(room.next_workload, "");
  EXPECT_TRUE(room_sentence(room).ends_with("; all that there are fit")) << room_sentence(room);
  EXPECT_EQ(room.tenants[0].pods, 1);
  // Of one workload there may be more some day.
  large.pod.cpu_request = {};
  large.pod.memory_request = {};
  EXPECT_EQ(gpu_rooms(world_of(10, {large})).front().bound, GpuRoom::Bound::Memory);
}

TEST(GpuRoom, ADiagnosticStandsAtTheMemoryBeforeTheRun) {
  scenarios::Scenario scenario = demo::scenario(demo::pool(10), {demo::training(20)});
  scenario.workloads.front().gpu_memory.resident = gibibytes(4);
  scenario.workloads.front().gpu_memory.where = {"demo.yaml", 12, 5};
  scenario.workloads.front().pod.cpu_request = {};
  scenario.workloads.front().pod.memory_request = {};
  Diagnostics found;
  scenarios::ScenarioSet set;
  set.variants = {scenario};
  const auto variants = rooms_before_run(set, demo::catalogue(), found);
  ASSERT_EQ(variants.size(), 1U);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().code, Code::GpuOom);
  EXPECT_EQ(found.front().severity, Severity::Warning);
  EXPECT_EQ(found.front().where.line, 12);
  scenario.workloads.front().gpu_memory.resident = gibibytes(1);
  scenario.workloads.front().count = 2;
  set.variants = {scenario};
  found.clear();
  static_cast<void>(rooms_before_run(set, demo::catalogue(), found));
  EXPECT_TRUE(found.empty());
}

TEST(GpuRoom, LinesNameVariantsWhereTheyDiffer) {
  const GpuRoom four = room_on_a10g(4, GpuRoom::Bound::Memory);
  const GpuRoom two = room_on_a10g(2, GpuRoom::Bound::Replicas);
  const std::vector<VariantRooms> alike = {{"a", {four}}, {"b", {four}}};
  EXPECT_EQ(room_lines(alike), std::vector<std::string>{room_sentence(four)});
  // Of a pool that the workload is not on nothing is said.
  EXPECT_EQ(room_lines(std::vector<VariantRooms>{{"a", {four}, "latencyP95", "asr"}}),
            std::vector<std::string>{room_sentence(four)});
  EXPECT_EQ(room_lines(std::vector<VariantRooms>{{"a", {four}, "latencyP95", "tts"}}),
            std::vector<std::string>{room_sentence(four) + "; latencyP95 of tts is missed"});
  const std::vector<VariantRooms> others = {{"a", {four}}, {"b", {two}}};
  EXPECT_EQ(room_lines(others),
            (std::vector<std::string>{"a: " + room_sentence(four), "b: " + room_sentence(two)}));
}

// What is wrong in every variant is a warning, or an error where a workload can start in none; what
// goes wrong in some stands beside what mends it.
TEST(RoomsBeforeRun, SayWhatARunWouldWarnOf) {
  scenarios::Workload large = demo::training(1);
  large.gpu_memory.resident = gibibytes(40);  // no V100 has it
  const scenarios::Scenario never = demo::scenario(demo::pool(0), {large});
  scenarios::Scenario unasked = demo::scenario(demo::pool(0), {demo::training(1)});
  unasked.workloads[0].pod.extended.clear();
  const auto severities = [](std::vector<scenarios::Scenario> variants, Code code) {
    scenarios::ScenarioSet set;
    set.variants = std::move(variants);
    Diagnostics found;
    rooms_before_run(set, demo::catalogue(), found);
    std::vector<Severity> all;
    for (const Diagnostic& d : found) {
      if (d.code == code) all.push_back(d.severity);
    }
    return all;
  };
  const scenarios::Scenario fine = demo::scenario(demo::pool(0), {demo::training(1)});
  using S = std::vector<Severity>;
  EXPECT_EQ(severities({never}, Code::GpuOom), (S{Severity::Warning, Severity::Error}));
  EXPECT_EQ(severities({never, fine}, Code::GpuOom), S{Severity::Warning});
  EXPECT_EQ(severities({unasked}, Code::GpuNotRequested), S{Severity::Warning});
  EXPECT_EQ(severities({unasked, unasked}, Code::GpuNotRequested), S{Severity::Warning});
  EXPECT_EQ(severities({unasked, fine}, Code::GpuNotRequested), S{Severity::Note});
  EXPECT_TRUE(severities({fine}, Code::GpuOom).empty());
  unasked.workloads[0].gpu_memory.resident = gibibytes(40);  // it opens a GPU all the same
  EXPECT_EQ(severities({unasked}, Code::GpuOom), (S{Severity::Warning, Severity::Error}));
}

// 27 pools of one kind were 27 paragraphs.
TEST(GpuRoom, PoolsThatAreAlikeAreWarnedOfOnce) {
  scenarios::Workload large = demo::training(20);
  large.gpu_memory.resident = gibibytes(6);
  large.pod.cpu_request = {};
  large.pod.memory_request = {};
  scenarios::ScenarioSet set;
  set.variants.push_back(demo::scenario(demo::pool(10), {large}));
  scenarios::Scenario& scenario = set.variants.front();
  for (const char* name : {"b", "c", "d", "e"}) {
    scenario.node_pools.push_back(scenario.node_pools.front());
    scenario.node_pools.back().name.value = name;
  }
  Diagnostics found;
  static_cast<void>(rooms_before_run(set, demo::catalogue(), found));
  std::vector<std::string> said;
  for (const Diagnostic& d : found) {
    if (d.code == Code::GpuOom) said.push_back(d.message.substr(0, d.message.find(':')));
  }
  EXPECT_EQ(said, std::vector<std::string>{"pools \"v100\", \"b\", \"c\" and 2 more"});
}

}  // namespace
}  // namespace slicewise::sim
