#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

#include "../demo.hpp"

// All ways of sharing, from the scenario to the report: closed forms and what must hold for each.
namespace slicewise::sim {
namespace {

using Law = scenarios::ServiceTime::Law;
using scenarios::Scenario;
using scenarios::Workload;

scenarios::PluginSharing replicas(int count) {
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{"nvidia.com/gpu", {}}, count, {}});
  return sharing;
}

// One A100-80 node, all pods on one GPU where the plugin packs replicas.
Scenario a100(std::vector<Workload> workloads) {
  Scenario s = demo::scenario(demo::pool(0), std::move(workloads));
  s.node_pools[0].instance_type.value = "p4de.24xlarge";
  for (Workload& w : s.workloads) {
    w.measured->device.value = "";
    w.pod.cpu_request = {100};
  }
  return s;
}

Scenario with_mps(std::vector<Workload> workloads, int count, bool uncapped) {
  Scenario s = a100(std::move(workloads));
  auto& plugin = s.node_pools[0].device_plugin.emplace();
  plugin.mps = replicas(count);
  plugin.allocation_policy = scenarios::AllocationPolicy::Packed;
  s.node_pools[0].mps.emplace().uncapped = uncapped;
  return s;
}

Scenario with_time_slicing(std::vector<Workload> workloads, int count) {
  Scenario s = a100(std::move(workloads));
  auto& plugin = s.node_pools[0].device_plugin.emplace();
  plugin.time_slicing = replicas(count);
  plugin.allocation_policy = scenarios::AllocationPolicy::Packed;
  return s;
}

Scenario with_mig(std::vector<Workload> workloads, const std::string& config) {
  Scenario s = a100(std::move(workloads));
  s.node_pools[0].mig.emplace().config.value = config;
  return s;
}

Scenario with_vgpu(std::vector<Workload> workloads, int count,
                   scenarios::VgpuSettings::Policy policy) {
  Scenario s = a100(std::move(workloads));
  s.node_pools[0].vgpu = scenarios::VgpuSettings{policy, count, {}, {}};
  s.node_pools[0].device_plugin.emplace().allocation_policy = scenarios::AllocationPolicy::Packed;
  return s;
}

Workload job(double u, double beta, double p, int count) {
  Workload w = demo::training(count);
  w.measured->gpu_busy = 1.0;
  w.measured->sm_active.reset();
  w.measured->capacity_share = u;
  w.measured->bandwidth_share = beta;
  w.measured->norm_p = p;
  return w;
}

double completion_s(const VariantResult& r, std::size_t workload = 0) {
  return to_seconds(r.workloads[workload].job_completion.value().mean);
}

constexpr double kAlone = 1800;  // 100 epochs of 18 s

// E1: n clients without a limit take || T0, n W ||_p.
TEST(Mps, IdenticalJobsTakeWhatTheLawSays) {
  for (const int n : {1, 2, 4, 7}) {
    const double slowdown = std::cbrt(1 - 0.44 * 0.44 * 0.44 + std::pow(n * 0.44, 3));
    const VariantResult r = demo::result(with_mps({job(0.44, 0.3, 3, n)}, 7, true));
    EXPECT_NEAR(completion_s(r), kAlone * slowdown, 1e-6) << n;
  }
}

// With the stock plugin a lone pod has 15 of 108 SMs, and the bandwidth that those reach.
TEST(Mps, ALonePodUnderTheStockPluginCannotBorrowIdleSms) {
  const VariantResult r = demo::result(with_mps({job(0.44, 0.3, 2, 1)}, 7, false));
  const double work = 0.44 * (0.7 * 108 / 15 + 0.3 / (2.2 * 15 / 108));
  EXPECT_NEAR(completion_s(r), kAlone * std::sqrt(1 - 0.44 * 0.44 + work * work), 1e-6);
}

// Limits do not add capacity: what saturates the GPU gets no more done with them than without.
TEST(Mps, LimitsDoNotAddCapacity) {
  for (const double beta : {0.0, 0.3, 0.5, 1.0}) {
    const double capped = completion_s(demo::result(with_mps({job(0.9, beta, 2, 7)}, 7, false)));
    const double uncapped = completion_s(demo::result(with_mps({job(0.9, beta, 2, 7)}, 7, true)));
    EXPECT_GT(capped, kAlone * 7 * 0.9 - 1e-6) << beta;
    EXPECT_GT(capped, 0.97 * uncapped) << beta;
  }
}

// Light clients on disjoint SMs still share L2, DRAM and power: 7 %.
TEST(Mps, LimitedNeighboursInterfereAlittle) {
  const double alone = completion_s(demo::result(with_mps({job(0.1, 0, 2, 1)}, 4, false)));
  const double two = completion_s(demo::result(with_mps({job(0.1, 0, 2, 2)}, 4, false)));
  EXPECT_NEAR(two / alone, 1.07, 1e-6);
}

// MIG: f_c = 14/108, f_m = 1/8, whoever is next door.
TEST(Mig, AnInstanceRunsAsTheLawSaysWhateverItsNeighboursDo) {
  const double work = 0.44 * (0.7 * 108 / 14 + 0.3 * 8);
  for (const int n : {1, 7, 56}) {
    const VariantResult r = demo::result(with_mig({job(0.44, 0.3, 2, n)}, "all-1g.10gb"));
    EXPECT_NEAR(completion_s(r), kAlone * std::sqrt(1 - 0.44 * 0.44 + work * work), 1e-6) << n;
  }
}

// The very same requests take the very same time beside a saturating neighbour.
TEST(Mig, ANeighbourNeverMatters) {
  const Workload api = demo::service(1, 20, milliseconds(10), Law::Exponential);
  Scenario alone = with_mig({api}, "all-1g.10gb");
  alone.duration = seconds(200);
  Scenario beside = with_mig({api, job(1, 0.5, 2, 6)}, "all-1g.10gb");
  beside.duration = seconds(200);
  const auto a = demo::result(alone).workloads[0].latency;
  const auto b = demo::result(beside).workloads[0].latency;
  EXPECT_EQ(a->mean, b->mean);
  EXPECT_EQ(a->p99, b->p99);
}

// MIG + MPS: n and f together, T = || T0, n W ((1 - beta)/f_c + beta/f_m) ||_p.
TEST(Mig, WithMpsInsideTheLawTakesBoth) {
  Scenario s = with_mig({job(0.44, 0.3, 2, 3)}, "all-3g.40gb");
  auto& plugin = s.node_pools[0].device_plugin.emplace();
  plugin.mps = replicas(3);
  plugin.allocation_policy = scenarios::AllocationPolicy::Packed;
  s.node_pools[0].mps.emplace().uncapped = true;
  s.node_pools[0].mps->force = true;
  const double work = 3 * 0.44 * (0.7 * 108 / 42 + 0.3 * 2);
  EXPECT_NEAR(completion_s(demo::result(s)), kAlone * std::sqrt(1 - 0.44 * 0.44 + work * work),
              1e-6);
}

// MIG + time-slicing: two saturating jobs on one instance take twice its time and the switches.
TEST(Mig, WithTimeSlicingInsideJobsTakeTurnsOnTheInstance) {
  Scenario s = with_mig({job(1, 0, 2, 2)}, "all-1g.10gb");
  auto& plugin = s.node_pools[0].device_plugin.emplace();
  plugin.time_slicing = replicas(2);
  plugin.allocation_policy = scenarios::AllocationPolicy::Packed;
  s.node_pools[0].gpu.switch_cost = microseconds(100);
  const double expected = kAlone * 108 / 14 * 2 * (1 + 100.0 / 1024);
  EXPECT_NEAR(completion_s(demo::result(s)), expected, 1e-3);
}

// Fixed share: 1/N of the time and its switches for ever; equal share: of those that run.
TEST(Vgpu, SharesAreStrict) {
  using Policy = scenarios::VgpuSettings::Policy;
  Scenario fixed = with_vgpu({job(1, 0.5, 2, 1)}, 4, Policy::FixedShare);
  fixed.node_pools[0].gpu.switch_cost = microseconds(100);
  const double longer = 1 + 100e-6 / 2e-3;  // slices of 2 ms
  EXPECT_NEAR(completion_s(demo::result(fixed)), kAlone * 4 * longer, 1e-3);
  Scenario equal = with_vgpu({job(1, 0.5, 2, 1)}, 4, Policy::EqualShare);
  EXPECT_NEAR(completion_s(demo::result(equal)), kAlone, 1e-3);
}

// A fixed-share vGPU is an M/D/1 queue of its own: seen from far below the slice, R is near
// N S (1 + c/q) (1 + rho/(2 (1 - rho))).
TEST(Vgpu, AFixedShareServesRequestsAtItsFraction) {
  Workload api = demo::service(1, 2, milliseconds(100), Law::Deterministic);
  Scenario s = with_vgpu({api}, 2, scenarios::VgpuSettings::Policy::FixedShare);
  s.node_pools[0].gpu.switch_cost = Duration{};
  s.duration = seconds(4'000);
  s.replications = 4;
  const double rho = 0.4;
  const VariantResult r = demo::result(s, 2);
  EXPECT_NEAR(to_seconds(r.workloads[0].latency->mean), 0.2 * (1 + rho / (2 * (1 - rho))), 0.006);
}

// Serial work adds its phases up whatever the policy: Z + D N (1 + c/q), in both engines.
TEST(Vgpu, SerialWorkWaitsForItsSlots) {
  using Policy = scenarios::VgpuSettings::Policy;
  Workload w = demo::training(1);
  w.measured->gpu_busy = 0.5;
  w.work->units = 10;
  w.work->host_phase = scenarios::Work::HostPhase::Serial;
  Scenario s = with_vgpu({w}, 2, Policy::FixedShare);
  s.node_pools[0].gpu.switch_cost = microseconds(100);
  s.replications = 3;
  const double expected = 10 * (9 + 9 * 2 * 1.05);
  EXPECT_NEAR(completion_s(demo::result(s)), expected, 1e-3);
  s.fidelity = scenarios::Fidelity::Exact;
  EXPECT_NEAR(completion_s(demo::result(s, 2)), expected, 0.03 * expected);
}

// A vGPU has its turns from the start of its container: one that loads its model slows the other.
TEST(Vgpu, EqualSharesCountContainersThatLoad) {
  Workload first = job(1, 0.5, 2, 1);
  first.work->units = 10;
  Workload loads = job(1, 0.5, 2, 1);
  loads.name.value = "loads";
  loads.work->units = 10;
  loads.startup.model_load = seconds(100);
  Scenario s = with_vgpu({first, loads}, 2, scenarios::VgpuSettings::Policy::EqualShare);
  s.node_pools[0].gpu.switch_cost = Duration{};
  const double steady = completion_s(demo::result(s));
  s.fidelity = scenarios::Fidelity::Exact;
  EXPECT_NEAR(completion_s(demo::result(s)), steady, 0.01 * steady);
  EXPECT_NEAR(steady, 360, 0.1);
}

// The eighth of an L4 that a g6f sells is busy when its pod is, and the bill says so.
TEST(Vgpu, AFractionIsJudgedByWhatItIs) {
  Scenario s = demo::scenario(demo::pool(0), {job(1, 0.5, 2, 1)});
  s.node_pools[0].instance_type.value = "g6f.large";
  s.workloads[0].pod.cpu_request = {100};
  s.workloads[0].pod.memory_request = gibibytes(1);
  const VariantResult r = demo::result(s);
  EXPECT_GT(r.gpus[0].time_busy_ratio, 0.8);
  EXPECT_LE(r.gpus[0].time_busy_ratio + r.gpus[0].context_switch_ratio, 1 + 1e-9);
  EXPECT_GE(r.cost.ledger.idle.nano, 0);
  EXPECT_GT(r.cost.ledger.useful.nano, r.cost.ledger.total.nano * 8 / 10);
}

struct Strategy {
  const char* name;
  std::function<Scenario(std::vector<Workload>)> make;
};

const std::vector<Strategy>& uncapped_strategies() {
  using Policy = scenarios::VgpuSettings::Policy;
  static const std::vector<Strategy> all{
      {"exclusive", [](std::vector<Workload> w) { return a100(std::move(w)); }},
      {"timeSlicing", [](std::vector<Workload> w) { return with_time_slicing(std::move(w), 8); }},
      {"mps", [](std::vector<Workload> w) { return with_mps(std::move(w), 8, true); }},
      {"vgpu best effort",
       [](std::vector<Workload> w) { return with_vgpu(std::move(w), 8, Policy::BestEffort); }},
      {"vgpu equal share",
       [](std::vector<Workload> w) { return with_vgpu(std::move(w), 8, Policy::EqualShare); }},
  };
  return all;
}

// One pod under any strategy without a cap is one pod on an unshared GPU, in both engines.
TEST(EveryStrategy, AloneEqualsExclusive) {
  const Workload train = demo::training(1);
  Workload api = demo::service(1, 30, milliseconds(10), Law::Exponential);
  for (const Strategy& strategy : uncapped_strategies()) {
    for (const auto fidelity : {scenarios::Fidelity::Auto, scenarios::Fidelity::Exact}) {
      Scenario s = strategy.make({train});
      s.workloads[0].work->units = 3;
      s.fidelity = fidelity;
      EXPECT_NEAR(completion_s(demo::result(s)), 54, 2e-8) << strategy.name;
    }
    Scenario served = strategy.make({api});
    Scenario exclusive = a100({api});
    served.duration = exclusive.duration = seconds(100);
    EXPECT_EQ(demo::result(served).workloads[0].latency->p99,
              demo::result(exclusive).workloads[0].latency->p99)
        << strategy.name;
  }
}

Workload random_job(RandomStream& random, const std::string& name) {
  Workload w = demo::training(1);
  w.name.value = name;
  w.work->units = 10;
  const double d = 0.05 + 0.95 * random.uniform();
  w.measured->gpu_busy = d;
  w.measured->sm_active.reset();
  w.measured->capacity_share = d * (0.05 + 0.95 * random.uniform());
  w.measured->bandwidth_share = random.uniform();
  w.measured->norm_p = 1 + 4 * random.uniform();
  return w;
}

// One more job never makes another one faster; money adds up; memory stays within the GPU.
TEST(EveryStrategy, CompanyNeverHelpsAndNothingIsLost) {
  RandomStream random(7, 0, 0, Purpose::Test);
  std::vector<Strategy> strategies = uncapped_strategies();
  strategies.push_back(
      {"mps capped", [](std::vector<Workload> w) { return with_mps(std::move(w), 8, false); }});
  strategies.push_back(
      {"mig", [](std::vector<Workload> w) { return with_mig(std::move(w), "all-1g.10gb"); }});
  for (int round = 0; round < 20; ++round) {
    std::vector<Workload> jobs;
    for (int n = 0; n < 4; ++n) jobs.push_back(random_job(random, "job-" + std::to_string(n)));
    for (const Strategy& strategy : strategies) {
      std::vector<double> before(jobs.size(), 0);
      for (std::size_t count = 1; count <= jobs.size(); ++count) {
        const VariantResult r =
            demo::result(strategy.make({jobs.begin(), jobs.begin() + static_cast<int>(count)}));
        for (std::size_t w = 0; w < count; ++w) {
          // A job that outlives the newcomer may end at the same instant, to the nanosecond.
          EXPECT_GE(completion_s(r, w), before[w] - 1e-8) << strategy.name << " " << w;
          before[w] = completion_s(r, w);
        }
        const CostLedger& cost = r.cost.ledger;
        EXPECT_EQ(cost.total, cost.useful + cost.idle + cost.switching + cost.failed +
                                  cost.cold_start + cost.missed_slo);
        EXPECT_GE(cost.idle.nano, 0) << strategy.name;
        for (const GpuResult& gpu : r.gpus) {
          EXPECT_LE(gpu.memory_peak, gpu.memory_total);
          EXPECT_LE(gpu.time_busy_ratio + gpu.context_switch_ratio, 1 + 1e-9) << strategy.name;
        }
      }
    }
  }
}

// The order in which workloads are listed changes nothing but the order of the report.
TEST(EveryStrategy, TheOrderOfTheListDoesNotMatter) {
  RandomStream random(11, 0, 0, Purpose::Test);
  std::vector<Workload> jobs;
  for (int n = 0; n < 3; ++n) jobs.push_back(random_job(random, "job-" + std::to_string(n)));
  jobs.push_back(demo::service(1, 20, milliseconds(10), Law::Exponential));
  std::vector<Workload> reversed(jobs.rbegin(), jobs.rend());
  for (const Strategy& strategy : uncapped_strategies()) {
    if (std::string(strategy.name) == "exclusive") continue;
    Scenario a = strategy.make(jobs);
    Scenario b = strategy.make(reversed);
    a.duration = b.duration = seconds(1'500);
    const VariantResult first = demo::result(a);
    const VariantResult second = demo::result(b);
    for (std::size_t w = 0; w < 3; ++w) {
      EXPECT_NEAR(completion_s(first, w), completion_s(second, 3 - w), 0.1) << strategy.name;
    }
    EXPECT_EQ(first.workloads[3].latency->count, second.workloads[0].latency->count);
    EXPECT_NEAR(to_seconds(first.workloads[3].latency->mean),
                to_seconds(second.workloads[0].latency->mean), 1e-3)
        << strategy.name;
  }
}

// Four pods of 24 GiB on an A100 of 80: under MPS in four replicas each dies at its 20 GiB.
TEST(Mps, AProcessThatPassesItsLimitDies) {
  Workload w = job(0.2, 0, 2, 2);
  w.gpu_memory.resident = gibibytes(24);
  w.backoff_limit = 1;
  const VariantResult r = demo::result(with_mps({w}, 4, false));
  EXPECT_EQ(r.pods.failed, 2);
  EXPECT_EQ(demo::result(with_time_slicing({w}, 4)).pods.failed, 0);
}

// A fault takes the clients of the MPS server with it; time-slicing and MIG confine it.
TEST(Faults, AreSharedUnderMpsOnly) {
  Workload faulty = demo::service(1, 1, milliseconds(1), Law::Deterministic);
  faulty.faults = Rate{1.0 / 600};
  Workload victim = demo::service(1, 1, milliseconds(1), Law::Deterministic);
  victim.name.value = "victim";
  const auto run = [](Scenario s) {
    s.duration = hours(20);
    return demo::result(s);
  };
  const VariantResult mps = run(with_mps({faulty, victim}, 4, true));
  EXPECT_NEAR(mps.pods.faults, 120, 40);
  EXPECT_GT(mps.pods.fault_victims, 0.7 * mps.pods.faults);
  EXPECT_TRUE(demo::has(mps.findings, Code::FaultShared));
  EXPECT_EQ(run(with_time_slicing({faulty, victim}, 4)).pods.fault_victims, 0);
  EXPECT_EQ(run(with_mig({faulty, victim}, "all-1g.10gb")).pods.fault_victims, 0);
}

// Drain 30 s, destroy 5 s, create 5 s, plugin restart 30 s: the pod that was evicted at 600 s runs
// again at 670 s, on the layout that then is there.
TEST(MigChange, DrainsThenOffersTheNewLayout) {
  Workload api = demo::service(1, 1, milliseconds(1), Law::Deterministic);
  api.traffic->shape = scenarios::Traffic::Shape::Constant;
  Workload waits = demo::service(1, 1, milliseconds(1), Law::Deterministic);
  waits.name.value = "large";
  waits.traffic->shape = scenarios::Traffic::Shape::Constant;
  Scenario s = with_mig({api, waits}, "all-1g.10gb");
  s.node_pools[0].mig->strategy = scenarios::MigStrategy::Mixed;
  s.node_pools[0].mig->changes.push_back({seconds(600), {"all-balanced", {}}});
  s.workloads[0].pod.extended[0].name.value = "nvidia.com/mig-1g.10gb";
  s.workloads[1].pod.extended[0].name.value = "nvidia.com/mig-3g.40gb";
  s.duration = seconds(1'000);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.evicted, 1);
  EXPECT_NEAR(*r.workloads[0].refused, 70, 1);
  EXPECT_NEAR(*r.workloads[1].refused, 670, 1);
  EXPECT_EQ(r.pods.pending_max, 2);
}

// Jobs whose slice the new layout lacks are not waited for: the run ends with what can still run.
TEST(MigChange, JobsThatFitNoLongerDoNotHoldUpTheEnd) {
  Workload small = job(0.2, 0.5, 2, 2);
  small.pod.extended[0].name.value = "nvidia.com/mig-1g.10gb";
  Scenario s = with_mig({small}, "all-1g.10gb");
  s.node_pools[0].mig->strategy = scenarios::MigStrategy::Mixed;
  s.node_pools[0].mig->changes.push_back({seconds(60), {"all-3g.40gb", {}}});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.makespan.mean, seconds(130));
  EXPECT_EQ(r.pods.evicted, 2);
  EXPECT_EQ(r.pods.succeeded, 0);
}

// Throughput is what leaves in the observed time, also when a backlog from before is served.
TEST(Overload, ThroughputIsTheCapacityWhateverTheWarmup) {
  Scenario s = a100({demo::service(1, 150, milliseconds(10), Law::Deterministic)});
  s.duration = seconds(300);
  for (const auto warmup : {seconds(0), seconds(60), seconds(200)}) {
    s.warmup = warmup;
    EXPECT_NEAR(demo::result(s).workloads[0].throughput_per_second, 100, 1) << warmup.ns;
  }
}

// A latency objective is not met by refusing: 30 s of 100 without a replica miss any percentile.
TEST(Objectives, RefusedRequestsMeetNone) {
  Workload api = demo::service(1, 10, milliseconds(1), Law::Deterministic);
  api.startup.model_load = seconds(30);
  api.objectives.push_back({scenarios::Objective::Figure::LatencyP95, milliseconds(100), {}});
  Scenario s = a100({api});
  s.duration = seconds(100);
  const VariantResult r = demo::result(s);
  EXPECT_LT(r.workloads[0].objectives[0].value, milliseconds(100));
  EXPECT_FALSE(r.workloads[0].objectives[0].pass);
  s.warmup = seconds(31);
  EXPECT_TRUE(demo::result(s).workloads[0].objectives[0].pass);
}

// Pods that ask for nothing all open GPU 0 and take turns there; three GPUs stay idle, and the
// fifth process does not fit its memory.
TEST(ManualSharing, PilesPodsUpOnGpuZero) {
  Workload w = demo::training(4);
  w.measured->gpu_busy = 1.0;
  w.pod.extended.clear();
  w.work->units = 10;
  w.gpu_memory.resident = gibibytes(3);
  const VariantResult four = demo::result(demo::scenario(demo::pool(0), {w}));
  EXPECT_GT(completion_s(four), 4 * 180);
  EXPECT_GT(four.gpus[0].time_busy_ratio, 0.8);
  EXPECT_EQ(four.gpus[1].time_busy_ratio, 0);
  EXPECT_EQ(four.pods.pending_max, 0);
  w.count = 6;
  EXPECT_GT(demo::result(demo::scenario(demo::pool(0), {w})).pods.oom_kills, 0);
}

}  // namespace
}  // namespace slicewise::sim
