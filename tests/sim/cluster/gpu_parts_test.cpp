#include <algorithm>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/isolation.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../demo.hpp"

// Parts of GPUs by the books of HAMi and KAI: where pods go, who waits, what holds whom to his
// part.
namespace slicewise::sim {
namespace {

using scenarios::Hami;
using scenarios::Scenario;
using scenarios::Workload;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

scenarios::NodePool hami_pool(int nodes = 1) {
  scenarios::NodePool pool = demo::pool(0, nodes);
  pool.hami.emplace();
  return pool;
}

scenarios::NodePool kai_pool(int nodes = 1) {
  scenarios::NodePool pool = demo::pool(0, nodes);
  pool.kai = true;
  return pool;
}

// 0: not asked for.
Workload asking(Workload workload, const char* name, std::int64_t mebibytes, std::int64_t cores) {
  workload.name.value = name;
  if (mebibytes > 0) workload.pod.extended.push_back({{"nvidia.com/gpumem", {}}, mebibytes, {}});
  if (cores > 0) workload.pod.extended.push_back({{"nvidia.com/gpucores", {}}, cores, {}});
  return workload;
}

Workload of_kai(Workload workload, const char* name, const char* fraction) {
  workload.name.value = name;
  workload.pod.extended.clear();
  workload.pod.annotations["gpu-fraction"] = fraction;
  return workload;
}

// Keeps the GPU busy for half an hour.
Workload busy(int count = 1) {
  Workload workload = demo::training(count);
  workload.measured->gpu_busy = 1;
  workload.measured->sm_active = 1;
  workload.pod.cpu_request = {100};
  return workload;
}

// Pods on each GPU when most were there, the fewest first.
std::vector<std::size_t> pods_by_gpu(const VariantResult& r) {
  std::vector<std::size_t> pods;
  for (const GpuResult& gpu : r.gpus) pods.push_back(gpu.pods.size());
  std::ranges::sort(pods);
  return pods;
}

TEST(Hami, FillsNodesFirstAndSpreadsOverTheirGpus) {
  const Scenario s = demo::scenario(hami_pool(2), {asking(demo::training(5), "a", 4'000, 0)});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.node_pools[0].strategy, "hami");
  const std::vector<std::size_t> pods = pods_by_gpu(r);
  ASSERT_EQ(pods.size(), 8);
  EXPECT_THAT(pods, ElementsAre(0, 0, 0, 0, 1, 1, 1, 2));
}

TEST(Hami, FillsOneGpuAfterTheOtherWhereItIsToldTo) {
  Scenario s = demo::scenario(hami_pool(), {asking(demo::training(5), "a", 4'000, 0)});
  s.node_pools[0].hami->gpus = Hami::Packing::Binpack;
  const VariantResult r = demo::result(s);
  const std::vector<std::size_t> pods = pods_by_gpu(r);
  EXPECT_THAT(pods, ElementsAre(0, 0, 1, 4));  // of 16384 MiB
}

// As of the AWS demo without sharing: the fifth waits for the first.
TEST(Hami, APodThatAsksForNoPartHasItsGpuAlone) {
  const VariantResult r = demo::result(demo::scenario(hami_pool(), {demo::training(5)}));
  EXPECT_EQ(r.pods.running_max, 4);
  EXPECT_THAT(r.pods.pending_reasons,
              ElementsAre("0/1 nodes are available: 1 CardInsufficientMemory."));
  EXPECT_EQ(r.makespan.mean, minutes(60));
}

TEST(Hami, SaysOfWhatItsGpusHaveTooLittle) {
  const auto reasons = [](std::int64_t mebibytes, std::int64_t cores, int split) {
    Scenario s = demo::scenario(hami_pool(), {asking(demo::training(9), "a", mebibytes, cores)});
    s.node_pools[0].hami->split_count = split;
    for (Workload& workload : s.workloads) workload.pod.cpu_request = {100};
    return demo::result(s).pods.pending_reasons;
  };
  EXPECT_THAT(reasons(9'000, 0, 10),
              ElementsAre("0/1 nodes are available: 1 CardInsufficientMemory."));
  EXPECT_THAT(reasons(2'000, 60, 10),
              ElementsAre("0/1 nodes are available: 1 CardInsufficientCore."));
  EXPECT_THAT(reasons(2'000, 100, 10),
              ElementsAre("0/1 nodes are available: 1 CardInsufficientCore."));
  EXPECT_THAT(reasons(2'000, 10, 2),
              ElementsAre("0/1 nodes are available: 1 CardTimeSlicingExhausted."));
}

// Scaled to twice the cores, one that asks for 100 shares its GPU with another.
TEST(Hami, ScalesWhatItGivesAway) {
  Scenario s = demo::scenario(hami_pool(), {asking(demo::training(8), "a", 2'000, 100)});
  s.workloads[0].pod.cpu_request = {100};
  s.node_pools[0].hami->core_scaling = 2;
  EXPECT_EQ(demo::result(s).pods.running_max, 8);
  s.node_pools[0].hami->memory_scaling = 0.1;  // 1638 MiB
  EXPECT_THAT(demo::refusal(s), HasSubstr("no node pool offers nvidia.com/gpu, gpumem 2000"));
}

// 1400 MiB beside its CUDA context pass a limit of 1400; the neighbour on the GPU does not notice.
TEST(Hami, ALimitEndsTheContainerThatPassesItAndNoOther) {
  Scenario s = demo::scenario(hami_pool(), {asking(demo::training(1), "over", 1'400, 0),
                                            asking(demo::training(1), "under", 3'000, 0)});
  s.node_pools[0].hami->gpus = Hami::Packing::Binpack;
  s.workloads[0].backoff_limit = 0;
  const World world = demo::world(s);
  ASSERT_TRUE(demo::has(world.findings, Code::GpuOom));
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.failed, 1);
  EXPECT_EQ(r.workloads[0].completed, 0);
  EXPECT_EQ(r.workloads[1].completed, 1);
}

// What its processes share, not what each may have.
TEST(Hami, ALimitIsOfTheContainerWithAllItsProcesses) {
  Scenario s = demo::scenario(hami_pool(), {asking(demo::training(1), "two", 3'000, 0)});
  EXPECT_FALSE(demo::has(demo::world(s).findings, Code::GpuOom));
  s.workloads[0].processes_per_pod = 2;
  EXPECT_TRUE(demo::has(demo::world(s).findings, Code::GpuOom));
}

VariantResult on_one_gpu(Hami::CorePolicy policy, std::vector<Workload> workloads,
                         scenarios::Fidelity fidelity) {
  Scenario s = demo::scenario(hami_pool(), std::move(workloads));
  s.fidelity = fidelity;
  s.node_pools[0].hami->gpus = Hami::Packing::Binpack;
  s.node_pools[0].hami->core_policy = policy;
  s.node_pools[0].gpu.switch_cost = Duration{};
  return demo::result(s);
}

void expect_minutes(Duration got, double minutes, double within) {
  EXPECT_NEAR(to_seconds(got) / 60, minutes, within * minutes);
}

// A quarter of the time for half an hour of GPU time: two hours. By default a pod that is alone is
// not held back.
TEST(Hami, CoresHoldAPodBackAsThePolicySays) {
  for (const auto fidelity : {scenarios::Fidelity::Auto, scenarios::Fidelity::Exact}) {
    const Workload quarter = asking(busy(), "a", 2'000, 25);
    expect_minutes(on_one_gpu(Hami::CorePolicy::Force, {quarter}, fidelity).makespan.mean, 120,
                   0.001);
    expect_minutes(on_one_gpu(Hami::CorePolicy::Default, {quarter}, fidelity).makespan.mean, 30,
                   0.001);
    expect_minutes(on_one_gpu(Hami::CorePolicy::Disable, {quarter}, fidelity).makespan.mean, 30,
                   0.001);
  }
}

// One with a quarter and one with three of them keep the GPU busy between them: the second is done
// after 40 minutes, and then the first goes on alone. Turns would have been equal: 60 and 60.
TEST(Hami, CoresDivideTheTimeOfAGpuThatBothWant) {
  for (const auto phase :
       {scenarios::Work::HostPhase::Serial, scenarios::Work::HostPhase::Overlapped}) {
    for (const auto fidelity : {scenarios::Fidelity::Auto, scenarios::Fidelity::Exact}) {
      Workload quarter = asking(busy(), "quarter", 2'000, 25);
      Workload rest = asking(busy(), "rest", 2'000, 75);
      quarter.work->host_phase = rest.work->host_phase = phase;
      const VariantResult r = on_one_gpu(Hami::CorePolicy::Default, {quarter, rest}, fidelity);
      // Of overlapped work the law of turns is soft where the GPU is just full.
      const bool is_soft =
          phase == scenarios::Work::HostPhase::Overlapped && fidelity == scenarios::Fidelity::Auto;
      EXPECT_NEAR(to_seconds(r.workloads[1].job_completion->mean) / 60, 40, is_soft ? 6 : 0.4);
      expect_minutes(r.makespan.mean, 60, is_soft ? 0.08 : 0.01);
    }
  }
}

// A quarter of the time for half an hour of it takes two hours, whoever has the rest: waits for the
// neighbour's turns are a part of them. They came on top of them in steady state.
TEST(ThoroughHami, WaitsForOthersAreAPartOfWhatCoresHoldBack) {
  using Phase = scenarios::Work::HostPhase;
  for (const Phase phase : {Phase::Serial, Phase::Overlapped}) {
    for (const auto fidelity : {scenarios::Fidelity::Auto, scenarios::Fidelity::Exact}) {
      Workload quarter = asking(busy(), "quarter", 2'000, 25);
      quarter.work->host_phase = phase;
      Workload rest = asking(busy(), "rest", 2'000, 0);
      rest.work->units *= 4;
      const VariantResult r = on_one_gpu(Hami::CorePolicy::Force, {quarter, rest}, fidelity);
      expect_minutes(r.workloads[0].job_completion->mean, 120, 0.01);
      expect_minutes(r.makespan.mean, 150, 0.01);
    }
  }
}

TEST(Hami, RefusesPartsOfSeveralGpusAndPoolsThatGetNoPods) {
  Scenario s = demo::scenario(hami_pool(), {asking(demo::training(1), "a", 2'000, 0)});
  s.workloads[0].pod.extended[0].count = 2;
  EXPECT_THAT(demo::refusal(s), HasSubstr("asks for parts of 2 GPUs"));
  s.workloads = {demo::training(1)};
  s.workloads[0].pod.extended[0].count = 2;
  EXPECT_EQ(demo::refusal(s), "");
  s.node_pools.push_back(demo::pool(0));
  s.node_pools.back().name.value = "plain";
  EXPECT_THAT(demo::refusal(s), HasSubstr("no pod comes to node pool \"plain\""));
}

TEST(Hami, DropsNothingThatPodsSay) {
  const Scenario s = demo::scenario(hami_pool(), {asking(demo::training(1), "a", 2'000, 0)});
  Scenario other = s;
  other.workloads[0].pod.extended.push_back({{"nvidia.com/priority", {}}, 1, {}});
  EXPECT_THAT(demo::refusal(other), HasSubstr("asks for nvidia.com/priority beside parts of GPUs"));
  other = s;
  other.workloads[0].pod.annotations["nvidia.com/use-gputype"] = "V100";
  EXPECT_THAT(demo::refusal(other), HasSubstr("the annotation nvidia.com/use-gputype is HAMi's"));
  other = s;
  other.node_pools[0].hami.reset();
  EXPECT_THAT(demo::refusal(other),
              HasSubstr("nvidia.com/gpumem is HAMi's, and no node pool has HAMi"));
}

// A pod that is on its GPU alone takes turns with nobody.
TEST(Hami, APodMayHaveSeveralWholeGpus) {
  Scenario s = demo::scenario(hami_pool(), {demo::training(3)});
  s.workloads[0].pod.extended[0].count = 2;
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.running_max, 2);
  EXPECT_EQ(r.makespan.mean, minutes(60));
}

TEST(Kai, ThatItStopsNobodyHereIsTold) {
  Workload urgent = of_kai(demo::training(1), "urgent", "0.5");
  const auto is_told = [&](int priority) {
    urgent.priority = priority;
    const Scenario s =
        demo::scenario(kai_pool(), {of_kai(demo::training(1), "low", "0.5"), urgent});
    return demo::has(demo::world(s).findings, Code::StrategyNotModelled);
  };
  EXPECT_FALSE(is_told(0));
  EXPECT_TRUE(is_told(1000));
}

// Every GPU has room for one, and the node has too few: none of it is cordoned.
TEST(GpuParts, TooFewGpusAreWhatIsInTheWay) {
  Scenario s = demo::scenario(hami_pool(), {demo::training(1)});
  s.workloads[0].pod.extended[0].count = 5;
  EXPECT_THAT(demo::result(s).pods.pending_reasons,
              ElementsAre("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."));
  s.node_pools[0].hami.reset();
  s.node_pools[0].kai = true;
  EXPECT_THAT(
      demo::result(s).pods.pending_reasons,
      ElementsAre("0/1 nodes are available: 1 node(s) didn't have enough resources: GPUs."));
}

TEST(Kai, PacksPartsOntoOneGpuUntilItIsFull) {
  const Scenario s = demo::scenario(kai_pool(2), {of_kai(demo::training(5), "a", "0.3")});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.node_pools[0].strategy, "kai");
  const std::vector<std::size_t> pods = pods_by_gpu(r);
  EXPECT_THAT(pods, ElementsAre(0, 0, 0, 0, 0, 0, 2, 3));
}

// Whole GPUs are those that no part is taken of.
TEST(Kai, WholeGpusAndPartsMeetOnNoGpu) {
  const VariantResult r = demo::result(
      demo::scenario(kai_pool(), {of_kai(demo::training(1), "part", "0.1"), demo::training(4)}));
  EXPECT_EQ(r.pods.running_max, 4);
  EXPECT_THAT(
      r.pods.pending_reasons,
      ElementsAre("0/1 nodes are available: 1 node(s) didn't have enough resources: GPUs."));
}

// 12 GiB each by the part of 0.4: the second to start finds no room, whoever is to blame.
TEST(Kai, HoldsNobodyToHisPart) {
  Scenario s = demo::scenario(kai_pool(), {of_kai(demo::training(2), "a", "0.4")});
  s.workloads[0].gpu_memory.resident = gibibytes(12);
  s.workloads[0].backoff_limit = 0;
  const World world = demo::world(s);
  ASSERT_TRUE(demo::has(world.findings, Code::GpuMemUnlimited));
  EXPECT_EQ(demo::result(s).pods.failed, 1);
  s.workloads[0].gpu_memory.resident = gibibytes(5);
  EXPECT_FALSE(demo::has(demo::world(s).findings, Code::GpuMemUnlimited));
  EXPECT_EQ(demo::result(s).pods.failed, 0);
}

TEST(Kai, RefusesWhatItsAdmissionRefuses) {
  Scenario s = demo::scenario(kai_pool(), {of_kai(demo::training(1), "a", "1.5")});
  EXPECT_THAT(demo::refusal(s), HasSubstr("must be a positive number smaller than 1.0"));
  s.workloads = {of_kai(demo::training(1), "a", "0.5")};
  s.workloads[0].pod.annotations["gpu-memory"] = "2000";
  EXPECT_THAT(demo::refusal(s), HasSubstr("cannot request both GPU and GPU memory"));
  s.workloads[0].pod.annotations.erase("gpu-fraction");
  EXPECT_EQ(demo::refusal(s), "");
  s.workloads[0].pod.annotations["gpu-fraction-num-devices"] = "2";
  EXPECT_THAT(demo::refusal(s), HasSubstr("parts of several GPUs in one pod"));
}

TEST(GpuParts, OfOneSizeATenantIsTold) {
  const auto rooms = gpu_rooms(
      demo::world(demo::scenario(hami_pool(), {asking(demo::training(9), "a", 4'000, 0)})));
  ASSERT_EQ(rooms.size(), 1);
  EXPECT_EQ(rooms[0].safe, 4);
  EXPECT_THAT(room_sentence(rooms[0]), HasSubstr("what its pods ask for of the GPU binds"));
  EXPECT_EQ(Spelling<GpuRoom::Bound>::of(rooms[0].bound), "parts");
}

TEST(GpuParts, SeparateAsTheirKeeperDoes) {
  using Memory = Isolation::Memory;
  const auto of = [](scenarios::NodePool pool) {
    const Scenario s = demo::scenario(std::move(pool), {demo::training(1)});
    return isolation_of(demo::result(s).node_pools[0]);
  };
  EXPECT_EQ(of(hami_pool()).memory, Memory::ProcessLimit);
  EXPECT_EQ(of(kai_pool()).memory, Memory::None);
}

}  // namespace
}  // namespace slicewise::sim
