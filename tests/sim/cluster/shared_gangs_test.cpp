#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../../sim/cluster/control/scheduler.hpp"
#include "../demo.hpp"

// Pods with several replicas of shared GPUs: which GPUs the device plugin takes them from, and how
// fast a process on each goes beside others.
namespace slicewise::sim::shared_gangs {
namespace {

using scenarios::AllocationPolicy;
using scenarios::Scenario;
using scenarios::Workload;
using ::testing::HasSubstr;

constexpr auto kFixed = scenarios::ServiceTime::Law::Deterministic;

// 100 s with so many replicas on p3.8xlarge, which has four GPUs: 1,000 steps that keep them busy.
Workload jobs(const char* name, int count, int replicas) {
  Workload w = demo::training(count);
  w.name.value = name;
  w.pod.extended.front().count = replicas;
  w.work = scenarios::Work{10, "epoch", 100};
  w.measured->unit_time = seconds(10);
  w.measured->gpu_busy = 1;
  return w;
}

Scenario time_sliced(int replicas, std::vector<Workload> workloads) {
  return demo::scenario(demo::pool(replicas), std::move(workloads));
}

Scenario under_mps(int replicas, std::vector<Workload> workloads) {
  Scenario s = time_sliced(replicas, std::move(workloads));
  std::swap(s.node_pools[0].device_plugin->mps, s.node_pools[0].device_plugin->time_slicing);
  return s;
}

double seconds_of(const VariantResult& result, std::size_t workload) {
  return to_seconds(result.workloads[workload].job_completion->mean);
}

// A line of what the plugin's own code answered: "distributed 4 0 1 + 2 = 0:1 1:1".
struct Allocation {
  std::string policy;
  int replicas = 0;
  std::vector<int> taken;  // of each GPU, before
  int asked = 0;
  std::vector<std::pair<int, int>> given;  // taken before and now, in order
};

Allocation parsed(const std::string& line) {
  Allocation out;
  std::istringstream in(line);
  in >> out.policy >> out.replicas;
  for (std::string word; in >> word && word != "+";) out.taken.push_back(std::stoi(word));
  std::string word;
  in >> out.asked >> word;
  while (in >> word) {
    const std::size_t colon = word.find(':');
    out.given.emplace_back(std::stoi(word.substr(0, colon)), std::stoi(word.substr(colon + 1)));
  }
  return out;
}

std::vector<std::pair<int, int>> chosen(const Allocation& from, std::uint64_t seed) {
  Scenario s = time_sliced(from.replicas, {jobs("pair", 1, from.asked)});
  if (from.policy == "packed") {
    s.node_pools[0].device_plugin->allocation_policy = AllocationPolicy::Packed;
  }
  const World world = demo::world(s);
  ClusterState cluster = make_cluster(world);
  const Node& node = cluster.nodes[0];
  std::vector<std::pair<int, int>> counts;
  for (std::size_t gpu = 0; gpu < node.domains().size(); ++gpu) {
    const int taken = gpu < from.taken.size() ? from.taken[gpu] : from.replicas;
    Domain& domain = cluster.domains[index(node.domains()[gpu])];
    domain.allocated = taken;
    domain.tickets_free[0] = from.replicas - taken;
    if (gpu < from.taken.size()) counts.emplace_back(taken, 0);
  }
  RandomStream random(seed, 0, 0, Purpose::Placement);
  std::vector<DomainId> pod;
  for (int n = 0; n < from.asked; ++n) {
    const DomainId id = choose_domain(cluster, node, world.workloads[0], pod, random);
    Domain& domain = cluster.domains[index(id)];
    ++domain.allocated;
    --domain.tickets_free[0];
    pod.push_back(id);
    ++counts[domain.gpu].second;
  }
  std::ranges::sort(counts);
  return counts;
}

TEST(SharedGangs, GetTheReplicasThatTheDevicePluginsOwnCodeGives) {
  std::ifstream file(SLICEWISE_SOURCE_DIR "/tests/sim/cluster/plugin/replica_allocations.txt");
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    ++lines;
    const Allocation told = parsed(line);
    for (std::uint64_t seed = 0; seed < 5; ++seed)
      EXPECT_EQ(chosen(told, seed), told.given) << line;
  }
  EXPECT_EQ(lines, 136);
}

// Two in turns on four GPUs are two in turns on one, four times over.
TEST(SharedGangs, TwoOnEqualGpusGoAsTwoOnOneGpu) {
  const VariantResult four = demo::result(time_sliced(2, {jobs("gang", 2, 4)}));
  Scenario s = time_sliced(2, {jobs("single", 2, 1)});
  s.node_pools[0].device_plugin->allocation_policy = AllocationPolicy::Packed;
  s.fidelity = scenarios::Fidelity::Exact;
  const VariantResult one = demo::result(s);
  EXPECT_EQ(four.makespan.mean, one.makespan.mean);
  EXPECT_GT(four.makespan.mean, seconds(200));
  EXPECT_LT(four.makespan.mean, seconds(230));  // a turn of 2 ms ends with a switch
  EXPECT_EQ(four.workloads[0].gang->sets.size(), 1U);
  EXPECT_EQ(four.workloads[0].gang->sets[0].gpus.size(), 4U);
}

TEST(SharedGangs, AloneTheyGoAsOnWholeGpus) {
  for (const Scenario& s :
       {time_sliced(4, {jobs("gang", 1, 4)}), under_mps(4, {jobs("gang", 1, 4)})}) {
    Scenario uncapped = s;
    uncapped.node_pools[0].mps.emplace().uncapped = true;
    const VariantResult r = demo::result(uncapped);
    EXPECT_NEAR(seconds_of(r, 0), 100, 1e-6);
    for (const GpuResult& gpu : r.gpus) EXPECT_NEAR(gpu.time_busy_ratio, 1, 1e-6);
  }
}

// Three GPUs have somebody. The fourth and one of them are the pair's: it works on both at the pace
// of the one that is shared, and the other stands idle half of the time.
TEST(SharedGangs, GoAtThePaceOfTheSlowestGpu) {
  Workload single = jobs("single", 3, 1);
  single.priority = 1;
  single.work->units = 100;  // they outlast the pair
  for (const bool mps : {false, true}) {
    Scenario s = time_sliced(2, {single, jobs("pair", 1, 2)});
    if (mps) s = under_mps(2, {single, jobs("pair", 1, 2)});
    s.node_pools[0].mps.emplace().uncapped = true;
    s.duration = seconds(150);
    const VariantResult r = demo::result(s);
    EXPECT_EQ(r.workloads[1].gang->sets[0].gpus.size(), 2U);
    std::vector<double> busy;
    for (const GpuResult& gpu : r.gpus) busy.push_back(gpu.time_busy_ratio);
    std::ranges::sort(busy);
    EXPECT_GT(busy[0], 0.3) << mps;
    EXPECT_LT(busy[0], 0.7) << mps;
    EXPECT_GT(busy[1], 0.8) << mps;
  }
}

// On every GPU that a pod sees its process has the memory, and no GPU is given more than it has.
TEST(SharedGangs, MemoryIsTakenOnEveryGpu) {
  Workload pair = jobs("pair", 2, 4);
  const VariantResult r = demo::result(time_sliced(2, {pair}));
  for (const GpuResult& gpu : r.gpus) {
    EXPECT_GT(gpu.memory_peak, mebibytes(2 * 1400));
    EXPECT_EQ(gpu.memory_peak, r.gpus[0].memory_peak);
  }
  pair.gpu_memory.resident = gibibytes(9);
  const VariantResult full = demo::result(time_sliced(2, {pair}));
  EXPECT_GT(full.workloads[0].left_behind.oom_kills, 0);
  for (const GpuResult& gpu : full.gpus) EXPECT_LT(gpu.memory_peak, gibibytes(16));
}

// A pod pays for the part of each GPU that its replicas are.
TEST(SharedGangs, TheBillAddsUp) {
  const VariantResult r = demo::result(time_sliced(4, {jobs("gang", 1, 4), jobs("other", 1, 4)}));
  const CostLedger& ledger = r.cost.ledger;
  EXPECT_EQ((ledger.useful + ledger.idle + ledger.switching + ledger.failed + ledger.cold_start +
             ledger.missed_slo + ledger.thrash)
                .nano,
            ledger.total.nano);
  EXPECT_NEAR(static_cast<double>(ledger.useful.nano + ledger.switching.nano),
              static_cast<double>(ledger.total.nano),
              0.03 * static_cast<double>(ledger.total.nano));
  EXPECT_NEAR(r.workloads[0].gpu_busy_share, r.workloads[1].gpu_busy_share, 0.01);
}

// A replica on a GPU that the pod has already is no second process.
TEST(SharedGangs, MoreReplicasThanGpusAreNoMoreProcesses) {
  const VariantResult r = demo::result(time_sliced(4, {jobs("gang", 1, 8)}));
  EXPECT_NEAR(seconds_of(r, 0), 100, 1e-6);
  EXPECT_EQ(r.workloads[0].gang->gpus, 4);
  EXPECT_TRUE(demo::has(r.findings, Code::RequestNoEffect));
  EXPECT_FALSE(demo::has(r.findings, Code::StrategyNotModelled));
}

// All is taken, in two rounds over the GPUs. The one of each that leaves first may have been on the
// same GPU: that has the fewest taken.
TEST(SharedGangs, FewerGpusThanReplicasAreTold) {
  std::vector<Workload> workloads;
  for (const int priority : {4, 3, 2, 1}) {
    const bool is_short = priority % 2 == 0;
    Workload w = jobs("single", is_short ? 1 : 3, 1);
    w.name.value += std::to_string(priority);
    w.priority = priority;
    if (!is_short) w.work->units = 100;
    workloads.push_back(w);
  }
  workloads.push_back(jobs("pair", 1, 2));
  Scenario s = time_sliced(2, workloads);
  s.replications = 20;
  const VariantResult r = demo::result(s);
  std::string told;
  for (const Diagnostic& d : r.findings) {
    if (d.message.find("from fewer than 2 GPUs") != std::string::npos) told = d.message;
  }
  EXPECT_THAT(told, HasSubstr("of 1 pods of \"pair\""));
}

// A fault under MPS ends the clients of all GPUs of the pod, in turns nobody else.
TEST(SharedGangs, AFaultReachesTheClientsOfAllItsGpus) {
  Workload faulty = demo::service(1, 1, milliseconds(1), kFixed);
  faulty.pod.extended.front().count = 4;
  faulty.faults = Rate{1.0 / 600};
  Workload victims = demo::service(4, 1, milliseconds(1), kFixed);
  victims.name.value = "victims";
  const auto run = [](Scenario s) {
    s.duration = hours(10);
    return demo::result(s).pods;
  };
  const auto mps = run(under_mps(2, {faulty, victims}));
  EXPECT_GT(mps.faults, 30);
  EXPECT_GT(mps.fault_victims, 3 * mps.faults);
  EXPECT_EQ(run(time_sliced(2, {faulty, victims})).fault_victims, 0);
}

// Requests go to all GPUs of a replica.
TEST(SharedGangs, ARequestIsOverWhenAllGpusAreDone) {
  Workload api = demo::service(1, 10, milliseconds(20), kFixed);
  api.pod.extended.front().count = 4;
  Scenario s = time_sliced(4, {api});
  s.duration = minutes(2);
  const VariantResult r = demo::result(s);
  for (const GpuResult& gpu : r.gpus) EXPECT_NEAR(gpu.time_busy_ratio, 0.2, 0.05);
  EXPECT_NEAR(to_seconds(r.workloads[0].latency->p50), 0.02, 0.0005);
}

}  // namespace
}  // namespace slicewise::sim::shared_gangs
