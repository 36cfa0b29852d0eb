#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

#include "sharing_scenarios.hpp"

// All ways of sharing, from the scenario to the report: closed forms and what must hold for each.
namespace slicewise::sim::sharing {
namespace {

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

// 1 ms of the GPU's work a request, 4 ms alone: batches of 8 fill it (8 of 8.04 ms by the law,
// of 9.6 ms as measured). Each ran beside the others as one request would, and four pods did three
// times what the GPU can.
TEST(Mps, FullBatchesOfSeveralPodsDoNoMoreThanTheGpuCan) {
  for (const bool is_measured : {false, true}) {
    for (const bool uncapped : {false, true}) {
      Workload w = demo::service(4, 3'000, milliseconds(4), Law::Deterministic);
      w.serving.max_batch = 8;
      w.serving.queue_limit = 64;
      w.measured->capacity_share = 0.25;
      if (is_measured) w.measured->extra_per_item = microseconds(800);
      Scenario s = with_mps({w}, 4, uncapped);
      s.duration = seconds(20);
      const World world = demo::world(s);
      const RequestRecord r = run_replication(world, 0, nullptr).workloads[0].requests;
      EXPECT_GT(static_cast<double>(r.batched), 7.9 * static_cast<double>(r.batches));
      const double per_s = static_cast<double>(r.answered) / 20;
      EXPECT_LE(per_s, 1'000) << is_measured << uncapped;
      EXPECT_GE(per_s, 700) << is_measured << uncapped;
    }
  }
}

// Light clients on disjoint SMs still share L2, DRAM and power: their kernels take 7 % longer.
TEST(Mps, LimitedNeighboursInterfereAlittle) {
  const double alone = completion_s(demo::result(with_mps({job(0.1, 0, 2, 1)}, 4, false)));
  const double two = completion_s(demo::result(with_mps({job(0.1, 0, 2, 2)}, 4, false)));
  EXPECT_NEAR(two / alone, 1.07, 1e-6);
}

// A request of 20 kernels of 50 us, and 9 ms of something else, waits at each for one of the
// trainer's, on average; with the plugin's limits SMs are free for it.
TEST(Mps, LongKernelsOfANeighbourDelayShortOnes) {
  const auto latency = [](std::optional<Duration> kernels_of_job, bool uncapped) {
    Workload api = demo::service(1, 1, milliseconds(10), Law::Deterministic);
    api.measured->capacity_share = 0.1;
    api.measured->norm_p = 1;
    api.measured->kernel_time = microseconds(50);
    api.traffic->gaps = scenarios::Traffic::Gaps::Constant;
    Workload trainer = job(1, 0, 1, 1);
    trainer.work->units *= 100;
    trainer.measured->kernel_time = kernels_of_job;
    Scenario s = with_mps({api, trainer}, 2, uncapped);
    s.duration = seconds(5'000);
    return *demo::result(s).workloads[0].latency;
  };
  const auto mean_ms = [](const TimeSummary& of) { return to_seconds(of.mean) * 1e3; };
  // Deviations of one: sqrt(2 E K), of 5,000 requests 0.0045 and 0.45.
  const TimeSummary alike = latency(microseconds(50), true);
  EXPECT_NEAR(mean_ms(alike), 11, 0.02);
  EXPECT_LT(alike.p99, milliseconds(13));
  const TimeSummary longer = latency(milliseconds(5), true);
  EXPECT_NEAR(mean_ms(longer), 9 + 101, 2);
  EXPECT_GT(longer.p99, milliseconds(180));
  const TimeSummary unknown = latency({}, true);
  EXPECT_NEAR(mean_ms(unknown), 20, 1e-6);  // in proportion, and without chance
  EXPECT_LE(unknown.p99, from_seconds(20.1e-3));
  EXPECT_EQ(latency(milliseconds(5), false).mean, latency({}, false).mean);
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
  EXPECT_EQ(r.node_pools[0].vgpu_policy, "fixedShare");
  EXPECT_EQ(r.node_pools[0].vgpus_per_gpu, 8);
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

// A quarter of them, however long its kernels take there.
TEST(Mps, AClientIsActiveOnTheSmsThatItMayUse) {
  Workload w = demo::training(1);
  w.measured->gpu_busy = 0.8;
  w.measured->sm_active = 0.6;
  const VariantResult result = demo::result(with_mps({w}, 4, false));
  double active = 0;
  for (const GpuResult& gpu : result.gpus) {
    EXPECT_LE(gpu.sm_active_ratio.value_or(0), 0.25 * gpu.time_busy_ratio + 1e-9);
    active += gpu.sm_active_ratio.value_or(0);
  }
  EXPECT_GT(active, 0.1);
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
    jobs.reserve(4);
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
  jobs.reserve(4);
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

// What admission counts: processes with their contexts, and the server that they talk to.
TEST(Mps, TheServerIsInTheMemoryThatIsUsed) {
  Workload w = job(0.2, 0, 2, 3);
  w.gpu_memory.resident = gibibytes(2);
  const Scenario s = with_mps({w}, 4, true);
  const Bytes pod = gibibytes(2) + demo::world(s).pools[0].context_memory;
  for (const GpuResult& gpu : demo::result(s).gpus) {
    const auto pods = static_cast<std::int64_t>(gpu.pods.size());
    EXPECT_EQ(gpu.memory_peak, pods == 0 ? Bytes{} : Bytes{pods * pod.count} + mebibytes(30));
  }
}

// 3 of a p3.8xlarge's 4 GPUs are healthy: whoever asks for all of them waits, as in the cluster.
TEST(UnhealthyGpus, AreOfferedToNobody) {
  scenarios::Scenario s = demo::scenario(demo::pool(10), {demo::training(40)});
  s.node_pools[0].allocatable.gpus = 3;
  const VariantResult shared = demo::result(s);
  EXPECT_EQ(shared.pods.running_max, 30);
  EXPECT_EQ(shared.node_pools[0].advertised.at("nvidia.com/gpu"), 30);
  EXPECT_EQ(shared.node_pools[0].gpus_per_node, 4) << "they are paid for";
  EXPECT_EQ(shared.node_pools[0].unhealthy_gpus, 1);
  EXPECT_EQ(shared.gpus.size(), 3U);
  s = demo::scenario(demo::pool(0), {demo::training(1)});
  s.workloads[0].pod.extended[0].count = 4;
  s.workloads[0].may_stay_pending = true;
  EXPECT_EQ(demo::result(s).pods.running_max, 1);
  s.node_pools[0].allocatable.gpus = 3;
  EXPECT_EQ(demo::result(s).pods.pending_reasons,
            std::vector<std::string>{"0/1 nodes are available: 1 Insufficient nvidia.com/gpu."});
  s.node_pools[0].allocatable.gpus = 5;
  EXPECT_EQ(demo::refusal(s), "allocatable.gpus is 5, p3.8xlarge has 4");
}

}  // namespace
}  // namespace slicewise::sim::sharing
