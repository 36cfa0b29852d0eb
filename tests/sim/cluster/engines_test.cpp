
#include <utility>

#include <gtest/gtest.h>

#include "../demo.hpp"

// The whole simulator against closed forms and against itself.
namespace slicewise::sim {
namespace {

using Law = scenarios::ServiceTime::Law;

scenarios::Scenario one_gpu_scenario(std::vector<scenarios::Workload> workloads, int replicas) {
  scenarios::Scenario s = demo::scenario(demo::pool(replicas), std::move(workloads));
  s.node_pools[0].instance_type.value = "p3.2xlarge";
  return s;
}

double mean_latency(const VariantResult& r) { return to_seconds(r.workloads[0].latency->mean); }
double interval(const VariantResult& r) { return to_seconds(*r.workloads[0].latency->ci95); }

// M/M/1 and M/D/1 first come, first served: R = S/(1-rho) and S (1 + rho/(2 (1-rho))), from the
// scenario to the report. The bound is twice the 95 % interval of 10 replications.
TEST(ThoroughExclusiveService, MeetsTheClosedFormsAtEveryLoad) {
  for (const double rho : {0.3, 0.5, 0.7, 0.9, 0.95}) {
    for (const Law law : {Law::Exponential, Law::Deterministic}) {
      scenarios::Scenario s =
          one_gpu_scenario({demo::service(1, rho / 0.010, milliseconds(10), law)}, 0);
      s.duration = seconds(rho > 0.8 ? 5'000 : 1'000);
      s.warmup = seconds(100);
      s.replications = 10;
      const double expected =
          0.010 * (law == Law::Exponential ? 1 / (1 - rho) : 1 + rho / (2 * (1 - rho)));
      const VariantResult r = demo::result(s, 2);
      EXPECT_NEAR(mean_latency(r), expected, 2 * interval(r)) << "rho " << rho;
      EXPECT_LT(interval(r), 0.15 * expected);
      EXPECT_NEAR(r.gpus[0].time_busy_ratio, rho, 0.01);
    }
  }
}

// A tenant on a GPU with three saturating neighbours waits for its turns, k of them:
// R = (n-1)(q+c)(k - 1/2) + s + k c, at random arrival phases and light load. Its kernels need
// ceil(s/q), in bursts of their own those of each; a copy before and one after all one more each.
TEST(ThoroughTimeSlicedService, WaitsForTheTurnsOfSaturatingNeighbours) {
  scenarios::Workload busy = demo::training(3);
  busy.measured->gpu_busy = 1.0;
  busy.pod.cpu_request = {100};
  busy.work->units = 1'000'000;
  const double q = 1.024e-3;
  const double c = 110e-6;
  const auto of_turns = [&](int bursts, bool copies, double turns) {
    scenarios::Workload probe = demo::service(1, 0.5, milliseconds(5), Law::Deterministic);
    probe.serving.bursts = bursts;
    probe.serving.copies = copies;
    scenarios::Scenario s = one_gpu_scenario({probe, busy}, 4);
    s.duration = seconds(4'000);
    s.replications = 4;
    s.node_pools[0].gpu.switch_cost = microseconds(110);
    const double expected = 3 * (q + c) * (turns - 0.5) + 5e-3 + turns * c;
    const VariantResult r = demo::result(s, 2);
    EXPECT_NEAR(mean_latency(r), expected, 0.03 * expected) << bursts;
    EXPECT_NEAR(r.gpus[0].context_switch_ratio, c / (q + c), 0.002);
  };
  of_turns(1, false, 5);
  of_turns(1, true, 7);
  of_turns(4, false, 8);
  of_turns(4, true, 10);
}

// The host starts the next request when it has seen the end of the last: the turn is gone, however
// many wait. Beside one that never rests a request takes q + s + 2 c, and three clients wait for
// three.
TEST(TimeSlicedService, ARequestThatWaitedBeginsATurnOfItsOwn) {
  scenarios::Workload busy = demo::training(1);
  busy.measured->gpu_busy = 1.0;
  busy.pod.cpu_request = {100};
  busy.work->units = 1'000'000;
  scenarios::Workload probe = demo::service(1, 1, microseconds(600), Law::Deterministic);
  probe.serving.copies = false;
  probe.traffic->shape = scenarios::ClosedLoop{3, {}};
  scenarios::Scenario s = one_gpu_scenario({probe, busy}, 4);
  s.duration = seconds(100);
  s.node_pools[0].gpu.switch_cost = microseconds(110);
  const double expected = 3 * (1.024e-3 + 0.6e-3 + 2 * 110e-6);
  EXPECT_NEAR(mean_latency(demo::result(s)), expected, 0.001 * expected);
}

// Nobody else is there: waits for the host cost nothing, and all of the work is done.
TEST(TimeSlicedService, CopiesTakeNoTimeAlone) {
  scenarios::Workload probe = demo::service(1, 20, milliseconds(5), Law::Deterministic);
  probe.traffic->gaps = scenarios::Traffic::Gaps::Constant;
  probe.serving.bursts = 3;
  scenarios::Scenario s = one_gpu_scenario({probe}, 4);
  s.duration = seconds(100);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.workloads[0].latency->mean, milliseconds(5));
  EXPECT_EQ(r.gpus[0].context_switch_ratio, 0);
}

struct TwoEngines {
  VariantResult steady;
  VariantResult exact;

  double slower() const {
    return to_seconds(exact.workloads[0].job_completion->mean) /
           to_seconds(steady.workloads[0].job_completion->mean);
  }
};

TwoEngines both_engines(scenarios::Workload w, int pods) {
  w.count = pods;
  w.work->units = 3;
  w.pod.cpu_request = {500};
  scenarios::Scenario s = one_gpu_scenario({w}, 10);
  s.replications = 3;
  TwoEngines result;
  result.steady = demo::result(s);
  s.fidelity = scenarios::Fidelity::Exact;
  result.exact = demo::result(s, 2);
  return result;
}

// Batch pods in steady state (one event per pod) and step by step (one event per step) are two
// implementations of one model. The steps see finite turns (4.4 steps per burst here), the steady
// state does not: 3 %.
TEST(BatchEngines, SteadyStateAgreesWithStepByStepForSerialWork) {
  scenarios::Workload w = demo::training(1);
  w.work->host_phase = scenarios::Work::HostPhase::Serial;
  for (const int pods : {1, 2, 5, 10}) {
    const TwoEngines r = both_engines(w, pods);
    EXPECT_NEAR(r.slower(), 1, 0.03) << pods;
    EXPECT_NEAR(r.exact.gpus[0].time_busy_ratio, r.steady.gpus[0].time_busy_ratio, 0.03);
    EXPECT_NEAR(r.exact.gpus[0].context_switch_ratio, r.steady.gpus[0].context_switch_ratio, 0.02);
  }
}

// Overlapped work: step by step the host is an ideal pipeline, while the steady state rounds the
// corner off as measured pairs do: up to 12 % (2^(1/6)) where demand meets capacity, the same
// before and beyond.
TEST(BatchEngines, OverlappedWorkIsAPipelineWithARoundedCorner) {
  for (const int pods : {1, 2, 3, 5, 10}) {
    const TwoEngines r = both_engines(demo::training(1), pods);
    const double tolerance = pods == 2 || pods == 3 ? 0.12 : 0.02;
    EXPECT_NEAR(r.slower(), 1, tolerance) << pods;
  }
}

// Two jobs that leave the GPU idle most of the time do not slow each other: the host of one works
// while the other has the GPU.
TEST(BatchEngines, LightOverlappedPairsRunAtFullSpeed) {
  scenarios::Workload w = demo::training(2);
  w.measured->gpu_busy = 0.3;
  const VariantResult r = demo::result(one_gpu_scenario({w}, 2));
  EXPECT_NEAR(to_seconds(r.workloads[0].job_completion->mean), 1800, 0.02 * 1800);
}

// Beside pods that never leave the GPU a serial one waits for their turns, in both engines: it took
// 2 and 4 times as long.
TEST(BatchEngines, ASerialPodBesideOverlappedOnesTakesWhatTurnsTake) {
  for (const int neighbours : {1, 3}) {
    scenarios::Workload serial = demo::training(1);
    serial.work->host_phase = scenarios::Work::HostPhase::Serial;
    serial.work->units = 100;
    serial.work->steps_per_unit = 50;  // of 90 ms on the GPU, many turns each
    serial.measured->gpu_busy = 0.25;
    scenarios::Workload busy = demo::training(neighbours);
    busy.name.value = "busy";
    busy.work->units = 1'000;
    busy.measured->gpu_busy = 1.0;
    for (scenarios::Workload* w : {&serial, &busy}) w->pod.cpu_request = {500};
    scenarios::Scenario s = one_gpu_scenario({serial, busy}, 4);
    s.node_pools[0].gpu.switch_cost = Duration{};
    s.duration = hours(1);
    for (const scenarios::Fidelity fidelity :
         {scenarios::Fidelity::Auto, scenarios::Fidelity::Exact}) {
      s.fidelity = fidelity;
      const double taken = to_seconds(demo::result(s).workloads[0].job_completion->mean);
      EXPECT_NEAR(taken / 1'800, 1 + 0.25 * neighbours, 0.05) << neighbours;
    }
  }
}

// MPS without limits in place of time-slicing.
void under_mps(scenarios::Scenario& scenario) {
  auto& plugin = *scenario.node_pools[0].device_plugin;
  std::swap(plugin.mps, plugin.time_slicing);
  scenario.node_pools[0].mps.emplace().uncapped = true;
}

// 20 pods that use 2.6 vCPU each on 31.85: no more than 31.85/46.8 epochs per second, and the
// vCPUs are full.
TEST(HostCpu, BindsWhenThePodsWantMoreThanTheNodeHas) {
  scenarios::Workload w = demo::training(20);
  w.measured->gpu_busy = 0.05;
  w.measured->cpu = Millicores{2600};
  const VariantResult r = demo::result(demo::scenario(demo::pool(10), {w}));
  const double vcpus = 31.85;
  const double epochs = 20 * 100;
  EXPECT_NEAR(to_seconds(r.makespan.mean), epochs * 18 * 2.6 / vcpus, 1);
  EXPECT_EQ(r.workloads[0].bound_by, "host CPU");
  EXPECT_NEAR(r.nodes[0].cpu_busy_ratio, vcpus / 32, 0.001);
  EXPECT_TRUE(demo::has(r.findings, Code::HostCpuOversubscribed));
}

// Pods wait longer for turns on the GPU than for vCPUs, yet the vCPUs are full and the GPU is not.
TEST(HostCpu, BindsWhereTheGpuHasTimeLeft) {
  scenarios::Workload w = demo::training(3);
  w.measured->gpu_busy = 0.38;
  w.measured->cpu = Millicores{26'000};
  const VariantResult r = demo::result(demo::scenario(demo::pool(10), {w}));
  EXPECT_GT(r.nodes[0].cpu_busy_ratio, 0.95);
  EXPECT_LT(r.gpus[0].time_busy_ratio, 0.9);
  EXPECT_EQ(r.workloads[0].bound_by, "host CPU");
}

TEST(HostCpu, ACpuLimitHoldsThePod) {
  scenarios::Workload w = demo::training(1);
  w.measured->cpu = Millicores{2600};
  w.pod.cpu_limit = Millicores{1300};
  const VariantResult r = demo::result(demo::scenario(demo::pool(0), {w}));
  EXPECT_EQ(r.makespan.mean, minutes(60));
  EXPECT_EQ(r.workloads[0].bound_by, "host CPU") << "not the GPU, which it leaves idle";
}

// Steps that are simulated one by one keep to the limit as those in steady state do: four pods that
// use 1.5 of 8 vCPUs each, and may use 0.8.
TEST(HostCpu, ACpuLimitHoldsThePodStepByStep) {
  using Phase = scenarios::Work::HostPhase;
  for (const Phase phase : {Phase::Overlapped, Phase::Serial}) {
    scenarios::Workload w = demo::training(4);
    w.measured->gpu_busy = 0.2;
    w.measured->cpu = Millicores{1500};
    w.pod.cpu_request = {500};
    w.pod.cpu_limit = Millicores{800};
    w.work->host_phase = phase;
    w.work->units = 10;
    for (const bool mps : {false, true}) {
      scenarios::Scenario s = one_gpu_scenario({w}, 4);
      if (mps) under_mps(s);
      const VariantResult steady = demo::result(s);
      s.fidelity = scenarios::Fidelity::Exact;
      const VariantResult exact = demo::result(s);
      EXPECT_NEAR(to_seconds(exact.makespan.mean) / to_seconds(steady.makespan.mean), 1, 0.02)
          << mps;
      EXPECT_LE(exact.nodes[0].cpu_busy_ratio, 1.01 * 4 * 0.8 / 8);
    }
  }
}

// Whom his CPU limit holds leaves the GPU to his neighbours, and waits for them all the same. Of 18
// s alone that one is on the GPU for 4.5 and may take 36 for, beside one that never rests: serial,
// it has 31.5 s of host, 4.5 of kernels and waits for as long. Overlapped, it waits within the 36.
TEST(HostCpu, ACpuLimitLeavesTheGpuToNeighbours) {
  using Phase = scenarios::Work::HostPhase;
  for (const Phase phase : {Phase::Serial, Phase::Overlapped}) {
    scenarios::Workload limited = demo::training(1);
    limited.work->units = 100;
    limited.work->steps_per_unit = 50;
    limited.work->host_phase = phase;
    limited.measured->gpu_busy = 0.25;
    limited.measured->cpu = Millicores{1000};
    limited.pod.cpu_limit = Millicores{500};
    scenarios::Workload busy = demo::training(1);
    busy.name.value = "busy";
    busy.measured->gpu_busy = 1.0;
    busy.work->units = 300;
    for (scenarios::Workload* w : {&limited, &busy}) w->pod.cpu_request = {500};
    scenarios::Scenario s = one_gpu_scenario({limited, busy}, 2);
    s.node_pools[0].gpu.switch_cost = Duration{};
    const double unit_s = phase == Phase::Serial ? 40.5 : 36;
    for (const scenarios::Fidelity fidelity :
         {scenarios::Fidelity::Auto, scenarios::Fidelity::Exact}) {
      s.fidelity = fidelity;
      const VariantResult r = demo::result(s);
      EXPECT_NEAR(to_seconds(r.workloads[0].job_completion->mean) / (100 * unit_s), 1, 0.03);
      // Nobody stands still: it takes its own time and what the other one has of the GPU.
      EXPECT_NEAR(to_seconds(r.workloads[1].job_completion->mean) / (5'400 + 450), 1, 0.01);
    }
  }
}

// Side by side, too: who may work for a quarter of his time meets his neighbours for little more.
TEST(HostCpu, UnderMpsWhomACpuLimitHoldsIsThereForAPartOfTheTime) {
  scenarios::Workload limited = demo::training(1);
  limited.work->units = 100;
  limited.measured->gpu_busy = 1.0;
  limited.measured->capacity_share = 0.7;
  limited.measured->cpu = Millicores{2000};
  scenarios::Workload other = limited;
  other.name.value = "other";
  limited.pod.cpu_limit = Millicores{500};
  for (scenarios::Workload* w : {&limited, &other}) w->pod.cpu_request = {500};
  scenarios::Scenario s = one_gpu_scenario({limited, other}, 2);
  under_mps(s);
  const VariantResult steady = demo::result(s);
  s.fidelity = scenarios::Fidelity::Exact;
  const VariantResult exact = demo::result(s);
  for (const std::size_t w : {0U, 1U}) {
    EXPECT_NEAR(to_seconds(exact.workloads[w].job_completion->mean) /
                    to_seconds(steady.workloads[w].job_completion->mean),
                1, 0.03);
  }
}

// More pods on a GPU never finish sooner, and money is only ever lost to switching.
TEST(BatchEngines, SharingIsMonotone) {
  Duration previous;
  for (int pods = 1; pods <= 10; ++pods) {
    scenarios::Workload w = demo::training(pods);
    w.pod.cpu_request = {500};
    const VariantResult r = demo::result(one_gpu_scenario({w}, 10));
    EXPECT_GE(r.makespan.mean, previous);
    // Work is conserved: every epoch took its 6.84 s of GPU.
    EXPECT_NEAR(r.gpus[0].time_busy_ratio * to_seconds(r.makespan.mean), pods * 684.0, 0.01);
    previous = r.makespan.mean;
  }
}

// No endpoint, no connection: what arrives during the 10 s of start-up is refused, not queued.
TEST(ServiceStart, RequestsWithoutAReadyReplicaAreRefused) {
  scenarios::Workload w = demo::service(1, 100, milliseconds(1), Law::Deterministic);
  w.traffic->gaps = scenarios::Traffic::Gaps::Constant;
  w.startup.model_load = seconds(10);
  scenarios::Scenario s = one_gpu_scenario({w}, 0);
  s.duration = seconds(100);
  const VariantResult cold = demo::result(s);
  EXPECT_NEAR(cold.workloads[0].requests->refused, 1'000, 1);
  EXPECT_NEAR(cold.workloads[0].completed, 9'000, 2);
  EXPECT_TRUE(demo::has(cold.findings, Code::RequestsRefused));
  EXPECT_LT(cold.workloads[0].latency->p99, milliseconds(2));
  s.warmup = seconds(11);
  EXPECT_EQ(demo::result(s).workloads[0].requests->refused, 0);
}

// Two services of load 0.6 each on one GPU, and one of load 0.95 that the switches push over 1:
// what no replica shows alone. A stable one of load 0.95 is left in peace.
TEST(ServiceQueue, GrowthIsFoundWithNeighboursAndSwitchesCounted) {
  const auto run = [](std::vector<scenarios::Workload> services, int tickets) {
    scenarios::Scenario s = one_gpu_scenario(std::move(services), tickets);
    s.duration = seconds(600);
    return demo::result(s);
  };
  scenarios::Workload a = demo::service(1, 60, milliseconds(10), Law::Exponential);
  scenarios::Workload b = a;
  b.name.value = "other";
  EXPECT_TRUE(demo::has(run({a, b}, 4).findings, Code::QueueUnstable));
  const scenarios::Workload many = demo::service(10, 95, milliseconds(10), Law::Exponential);
  EXPECT_TRUE(demo::has(run({many}, 10).findings, Code::QueueUnstable));
  const scenarios::Workload alone = demo::service(1, 95, milliseconds(10), Law::Exponential);
  EXPECT_FALSE(demo::has(run({alone}, 0).findings, Code::QueueUnstable));
}

// What runs at the end has done work, even if its Job is not finished: 5 of 100 epochs each.
TEST(RunWithDuration, CountsTheUnitsOfPodsThatStillRun) {
  for (const auto fidelity : {scenarios::Fidelity::Auto, scenarios::Fidelity::Exact}) {
    scenarios::Scenario s = demo::scenario(demo::pool(0), {demo::training(4)});
    s.duration = seconds(18 * 5 + 9);
    s.fidelity = fidelity;
    const VariantResult r = demo::result(s);
    EXPECT_EQ(r.workloads[0].completed, 0);
    EXPECT_NEAR(r.workloads[0].throughput_per_second * (18 * 5 + 9), 4 * 5, 1e-6);
    EXPECT_EQ(r.cost.ledger.failed, Usd{});
    EXPECT_GT(r.cost.ledger.useful, Usd{});
  }
}

// A Service's measured.cpu is used while it serves, and is not there for the batch pods.
TEST(HostCpu, ServicesAreCountedAndComeFirst) {
  scenarios::Workload api = demo::service(2, 1, milliseconds(1), Law::Deterministic);
  api.measured->cpu = Millicores{2000};
  scenarios::Scenario s = one_gpu_scenario({api}, 10);
  s.duration = seconds(100);
  EXPECT_NEAR(demo::result(s).nodes[0].cpu_busy_ratio, 2 * 2.0 / 8, 1e-6);
}

}  // namespace
}  // namespace slicewise::sim
