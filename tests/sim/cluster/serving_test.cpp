#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving_scenarios.hpp"

// Requests through queues, workers, host CPU and batches, against hand computation and closed
// forms.
namespace slicewise::sim {
namespace {

using namespace serving;

using Law = scenarios::ServiceTime::Law;
using Gaps = scenarios::Traffic::Gaps;
using scenarios::Routing;

std::int64_t lost_of_record(const RequestRecord& r) { return r.refused + r.dropped + r.timed_out; }

// 100 requests/s at equal distances, batches of 4 that wait 50 ms at most. The first of a batch
// waits 30 ms for the fourth.
TEST(Batching, AFullBatchStartsAtOnceAndTheRestAfterTheDelay) {
  scenarios::Workload w = demo::service(1, 100, milliseconds(8), Law::Deterministic);
  w.traffic->gaps = Gaps::Constant;
  w.serving.max_batch = 4;
  w.serving.max_delay = milliseconds(50);
  w.measured->extra_per_item = milliseconds(2);
  const RequestRecord r = replicate(until_done({w}, milliseconds(985))).workloads[0].requests;
  EXPECT_EQ(r.answered, 98);  // 24 batches of four, and two that wait for the delay
  EXPECT_EQ(r.batches, 25);
  EXPECT_EQ(r.batched, 98);
  // T(4) = 8 + 3 x 2 ms; the last two wait 50 and 40 ms for nobody, then T(2) = 10 ms.
  EXPECT_NEAR(mean_s(r.latency), (24 * (4 * 14 + 30 + 20 + 10) + 60 + 50) / 98.0 * 1e-3, 1e-7);
  EXPECT_NEAR(to_seconds(r.queueing.quantile(1)), 0.050, 0.0002);
}

// Without extraPerItem the law decides: a request that takes all of the GPU gains nothing.
TEST(Batching, ByTheLawWithoutAMeasuredIncrement) {
  scenarios::Workload w = demo::service(1, 1, milliseconds(8), Law::Deterministic);
  w.serving.max_batch = 4;
  w.measured->capacity_share = 1;
  const World full = demo::world(until_done({w}, seconds(1)));
  const auto& times = full.workloads[0].on_pool[0].in_kind[0].batches;
  ASSERT_EQ(times.size(), 4U);
  EXPECT_NEAR(to_seconds(times[3].gpu), 0.032, 1e-6);
  w.measured->capacity_share = 0.25;
  const World light = demo::world(until_done({w}, seconds(1)));
  const double t0 = std::cbrt(1 - 1 / 64.0);
  EXPECT_NEAR(to_seconds(light.workloads[0].on_pool[0].in_kind[0].batches[3].gpu),
              0.008 * std::cbrt(t0 * t0 * t0 + 1), 1e-6);
}

// M/M/1/K: P(loss) = (1 - rho) rho^K / (1 - rho^(K+1)); K counts the one in service.
TEST(ThoroughQueueLimit, LosesWhatMM1KLoses) {
  constexpr double kRho = 0.9;
  constexpr int kInSystem = 5;
  scenarios::Workload w = demo::service(1, 100 * kRho, milliseconds(10), Law::Exponential);
  w.serving.queue_limit = kInSystem - 1;
  const RequestRecord r = replicate(until_done({w}, seconds(4'000))).workloads[0].requests;
  const double loss = (1 - kRho) * std::pow(kRho, kInSystem) / (1 - std::pow(kRho, kInSystem + 1));
  EXPECT_NEAR(static_cast<double>(r.dropped) / static_cast<double>(r.arrived), loss, 0.004);
  EXPECT_EQ(r.arrived, r.answered + r.dropped);
}

// Requests of 30 ms every 20 ms: the queue grows by 10 ms each, until the wait reaches the limit.
TEST(Timeout, DropsWhoWaitedTooLong) {
  scenarios::Workload w = demo::service(1, 50, milliseconds(30), Law::Deterministic);
  w.traffic->gaps = Gaps::Constant;
  w.serving.timeout = milliseconds(95);
  const RequestRecord r = replicate(until_done({w}, seconds(30))).workloads[0].requests;
  EXPECT_LE(r.latency.quantile(1), milliseconds(126));
  EXPECT_NEAR(static_cast<double>(r.answered), 1'000, 6);
  EXPECT_EQ(r.arrived, r.answered + r.timed_out);
}

TEST(Retries, AreCountedAndKeepTheFirstArrival) {
  scenarios::Workload w = demo::service(1, 50, milliseconds(30), Law::Deterministic);
  w.traffic->gaps = Gaps::Constant;
  w.serving.queue_limit = 0;  // nobody waits: one in service, the rest is dropped
  const RequestRecord once = replicate(until_done({w}, seconds(10))).workloads[0].requests;
  w.serving.retries = 3;
  w.serving.retry_after = milliseconds(11);
  const RequestRecord thrice = replicate(until_done({w}, seconds(10))).workloads[0].requests;
  EXPECT_EQ(once.retried, 0);
  EXPECT_GE(thrice.retried, thrice.dropped * 3);
  EXPECT_GT(thrice.retried, 0);
  EXPECT_GE(thrice.answered, once.answered);
  EXPECT_EQ(thrice.arrived, thrice.answered + lost_of_record(thrice));
  EXPECT_GT(thrice.latency.quantile(1), milliseconds(36));  // the first back-off is in it
}

// 40 ms of GPU time in four bursts, 5 ms of the host between two: 55 ms alone, of which the GPU is
// free for 15. Two such pods, each always with a request, use each other's gaps: together
// they do more than one after the other could.
TEST(Bursts, TheHostPhasesOfARequestLeaveTheGpuToOthers) {
  scenarios::Workload w = demo::service(1, 10, milliseconds(40), Law::Deterministic);
  w.traffic->gaps = Gaps::Constant;
  w.serving.bursts = 4;
  w.serving.cpu_between = milliseconds(5);
  const Replication alone = replicate(until_done({w}, milliseconds(9'950)));
  const RequestRecord& requests = alone.workloads[0].requests;
  EXPECT_EQ(requests.latency.quantile(1e-9), requests.latency.quantile(1));
  EXPECT_NEAR(mean_s(requests.latency), 0.055, 1e-7);
  EXPECT_NEAR(to_seconds(alone.domains[0].time.useful),
              0.040 * static_cast<double>(requests.answered), 1e-6);
  EXPECT_NEAR(to_seconds(alone.nodes[0].cpu_time), 0.015 * static_cast<double>(requests.answered),
              1e-6);

  const auto busy_of_two = [&](int bursts, Duration between) {
    w.serving.bursts = bursts;
    w.serving.cpu_between = between;
    w.serving.concurrency = 1;
    w.serving.cpu_after = bursts == 1 ? milliseconds(15) : Duration{};
    w.traffic->shape = scenarios::ClosedLoop{1, microseconds(1)};
    w.name.value = "first";
    scenarios::Workload other = w;
    other.name.value = "second";
    scenarios::Scenario s = demo::scenario(small_nodes(), {w, other});
    s.node_pools[0].device_plugin.emplace().time_slicing.emplace().resources = {
        {{"nvidia.com/gpu", {}}, 2, {}}};
    s.duration = seconds(100);
    return to_seconds(replicate(s).domains[0].time.useful) / 100;
  };
  EXPECT_NEAR(busy_of_two(1, {}), busy_of_two(4, milliseconds(5)), 0.08);
  EXPECT_GT(busy_of_two(4, milliseconds(5)), 40.0 / 55 + 0.04);  // switches are in between
}

// The host's 8 vCPUs as M/G/8 under processor sharing, one thread per request: the mean is that of
// M/M/8 (insensitive), by Erlang's C formula.
TEST(ThoroughHostCpuOfRequests, IsErlangC) {
  constexpr int kCores = 8;
  constexpr double kServiceTime = 0.040;
  constexpr double kOffered = 0.85 * kCores;
  scenarios::Workload w =
      demo::service(1, kOffered / kServiceTime, microseconds(10), Law::Deterministic);
  w.serving.cpu_before = milliseconds(30);
  w.serving.cpu_after = milliseconds(10);
  const Replication run = replicate(until_done({w}, seconds(3'000)));
  double sum = 0;
  double term = 1;
  for (int k = 0; k < kCores; ++k) {
    sum += term;
    term *= kOffered / (k + 1);
  }
  const double waiting = term / (1 - kOffered / kCores);
  const double probability = waiting / (sum + waiting);
  const double mean = kServiceTime + probability * kServiceTime / (kCores - kOffered);
  // Two visits, one law: each is served at the speed of the moment.
  EXPECT_NEAR(mean_s(run.workloads[0].requests.latency), mean + 10e-6, 0.02 * mean);
  EXPECT_NEAR(to_seconds(run.nodes[0].cpu_time),
              static_cast<double>(run.workloads[0].requests.answered) * kServiceTime, 1e-3);
}

// A CPU limit of two vCPUs on a node of eight: M/G/2 under processor sharing, by Erlang's C
// formula.
TEST(ThoroughHostCpuOfRequests, ACpuLimitIsAStationOfItsOwn) {
  constexpr double kServiceTime = 0.040;
  constexpr double kOffered = 1.5;
  scenarios::Workload w =
      demo::service(1, kOffered / kServiceTime, microseconds(10), Law::Deterministic);
  w.serving.cpu_before = milliseconds(40);
  w.pod.cpu_limit = Millicores{2'000};
  const Replication run = replicate(until_done({w}, seconds(3'000)));
  const double waiting = kOffered * kOffered / 2 / (1 - kOffered / 2);
  const double probability = waiting / (1 + kOffered + waiting);
  const double mean = kServiceTime + probability * kServiceTime / (2 - kOffered);
  EXPECT_NEAR(mean_s(run.workloads[0].requests.latency), mean + 10e-6, 0.03 * mean);
}

// Each of 2 pods gets through as many requests as its 200m of CPU let it: 8 of 25 ms a second.
TEST(HostCpuOfRequests, CpuLimitsBoundWhatPodsAnswer) {
  scenarios::Workload w = demo::service(2, 40, microseconds(10), Law::Deterministic);
  w.traffic->gaps = Gaps::Constant;
  w.serving.cpu_before = milliseconds(20);
  w.serving.cpu_after = milliseconds(5);
  w.serving.concurrency = 4;
  w.pod.cpu_limit = Millicores{200};
  scenarios::Scenario s = demo::scenario(demo::pool(2), {w});
  s.duration = seconds(200);
  const RequestRecord r = replicate(s).workloads[0].requests;
  EXPECT_NEAR(static_cast<double>(r.answered), 2 * 8 * 200, 20);
  EXPECT_TRUE(demo::has(demo::world(s).findings, Code::CpuLimitThrottles));
  s.workloads[0].pod.cpu_limit = Millicores{500};
  EXPECT_FALSE(demo::has(demo::world(s).findings, Code::CpuLimitThrottles));
}

TEST(Concurrency, WorkersTakeOneRequestAtATime) {
  scenarios::Workload w = demo::service(1, 10, milliseconds(10), Law::Deterministic);
  w.traffic->gaps = Gaps::Constant;
  w.serving.cpu_before = milliseconds(150);
  const RequestRecord many = replicate(until_done({w}, seconds(20))).workloads[0].requests;
  EXPECT_NEAR(mean_s(many.latency), 0.160, 1e-6);
  w.serving.concurrency = 1;  // 160 ms each, every 100 ms: the queue grows by 60 ms per request
  const RequestRecord one = replicate(until_done({w}, seconds(20))).workloads[0].requests;
  EXPECT_EQ(one.answered, many.answered);
  const double n = static_cast<double>(one.answered);
  EXPECT_NEAR(mean_s(one.latency), 0.160 + 0.060 * (n - 1) / 2, 1e-3);
}

// A GPU takes one request of a pod at a time: one worker changes nothing, beside a neighbour in
// turns as alone. Its next request begins at the instant at which the last one ends.
TEST(Concurrency, OneWorkerIsNoLimitWhereTheGpuIsOne) {
  scenarios::Workload w = demo::service(1, 15, milliseconds(20), Law::Exponential);
  w.measured->capacity_share = 1;
  scenarios::Workload beside = w;
  beside.name.value = "beside";
  for (const bool copies : {true, false}) {
    w.serving.copies = beside.serving.copies = copies;
    scenarios::Scenario s = until_done({w, beside}, seconds(200));
    s.node_pools[0].device_plugin.emplace().time_slicing.emplace().resources.push_back(
        {{"nvidia.com/gpu", {}}, 2, {}});
    const Replication many = replicate(s);
    s.workloads[0].serving.concurrency = s.workloads[1].serving.concurrency = 1;
    const Replication one = replicate(s);
    for (std::size_t n = 0; n < 2; ++n) {
      EXPECT_EQ(one.workloads[n].requests.answered, many.workloads[n].requests.answered);
      EXPECT_EQ(one.workloads[n].requests.latency.mean(),
                many.workloads[n].requests.latency.mean());
    }
  }
}

// Four workers and batches of four, with more waiting: those who take the place of a batch are the
// next one, not the first of them alone.
TEST(Concurrency, WhoTakeThePlacesOfABatchAreABatch) {
  scenarios::Workload w = demo::service(1, 1'000, milliseconds(8), Law::Deterministic);
  w.traffic->gaps = Gaps::Constant;
  w.serving.max_batch = 4;
  w.serving.concurrency = 4;
  const RequestRecord r = replicate(until_done({w}, seconds(1))).workloads[0].requests;
  EXPECT_NEAR(static_cast<double>(r.batched) / static_cast<double>(r.batches), 4, 0.05);
}

// Machine repair, M/M/1//N: N clients, exponential thinking and service. Mean response N/X - Z with
// the throughput X of mean value analysis.
TEST(ThoroughClosedLoop, IsMachineRepair) {
  constexpr int kClients = 6;
  constexpr double kThink = 0.05;
  constexpr double kServiceTime = 0.02;
  scenarios::Workload w = demo::service(1, 1, milliseconds(20), Law::Exponential);
  w.traffic->shape = scenarios::ClosedLoop{kClients, milliseconds(50)};
  scenarios::Scenario s = demo::scenario(small_nodes(), {w});
  s.duration = seconds(4'000);
  const RequestRecord r = replicate(s).workloads[0].requests;
  double queue = 0;
  double response = 0;
  for (int n = 1; n <= kClients; ++n) {
    response = kServiceTime * (1 + queue);
    queue = n * response / (response + kThink);
  }
  EXPECT_NEAR(mean_s(r.latency), response, 0.01 * response);
  EXPECT_NEAR(static_cast<double>(r.answered) / 4'000, kClients / (response + kThink), 0.4);
}

// While nothing is ready the Service refuses at once: a client without think time asks once a
// second, and the run ends.
TEST(ClosedLoop, AClientThatIsRefusedPauses) {
  scenarios::Workload w = demo::service(1, 1, milliseconds(20), Law::Exponential);
  w.traffic->shape = scenarios::ClosedLoop{1, {}};
  w.startup.model_load = seconds(30);
  scenarios::Scenario s = demo::scenario(small_nodes(), {w});
  s.duration = seconds(60);
  const RequestRecord r = replicate(s).workloads[0].requests;
  EXPECT_EQ(r.refused, 30);
  EXPECT_GT(r.answered, 1'000);
}

TEST(ThoroughRouting, KnowingTheQueuesHelps) {
  const auto mean_with = [](Routing routing) {
    scenarios::Workload w = demo::service(4, 340, milliseconds(10), Law::Exponential);
    w.serving.routing = routing;
    return mean_s(replicate(until_done({w}, seconds(1'000), 4)).workloads[0].requests.latency);
  };
  const double random = mean_with(Routing::Random);
  const double turns = mean_with(Routing::RoundRobin);
  const double two = mean_with(Routing::TwoChoices);
  const double least = mean_with(Routing::LeastOutstanding);
  EXPECT_NEAR(random, 0.010 / (1 - 0.85), 0.004);  // four M/M/1
  EXPECT_LT(turns, random);
  EXPECT_LT(two, turns);
  EXPECT_LT(least, two);
  // One queue for all, M/M/4, is the best that there is: C(4, 3.4) = 0.704.
  EXPECT_GT(least, 0.010 + 0.704 * 0.010 / 0.6);
}

// Little: requests in the system, integrated over time, are the time that requests spend in it.
TEST(Littles, LawHoldsToTheNanosecondWhenAllAreThrough) {
  scenarios::Workload w = demo::service(2, 150, milliseconds(8), Law::LogNormal);
  w.traffic->gaps = Gaps::Gamma;
  w.traffic->gap_variation = 2;
  w.serving.max_batch = 4;
  w.serving.max_delay = milliseconds(3);
  w.serving.cpu_before = milliseconds(2);
  w.serving.cpu_after = milliseconds(1);
  const RequestRecord r = replicate(until_done({w}, seconds(200), 2)).workloads[0].requests;
  EXPECT_EQ(r.arrived, r.answered);
  const double spent_ns =
      static_cast<double>(r.latency.mean().ns) * static_cast<double>(r.answered);
  EXPECT_NEAR(r.in_system_ns, spent_ns, static_cast<double>(r.answered));
}

// A pod that dies takes its requests along, wherever they are; its clients come back.
TEST(Conservation, HoldsWhenPodsDie) {
  scenarios::Workload w = demo::service(2, 120, milliseconds(10), Law::Exponential);
  w.faults = Rate{1.0 / 60};
  w.startup.model_load = seconds(2);
  w.serving.cpu_before = milliseconds(5);
  w.serving.cpu_after = milliseconds(5);
  w.serving.concurrency = 8;
  w.serving.retries = 1;
  w.serving.retry_after = milliseconds(100);
  w.serving.bursts = 3;
  w.serving.cpu_between = milliseconds(1);
  const RequestRecord r = replicate(until_done({w}, seconds(600), 2)).workloads[0].requests;
  EXPECT_GT(r.retried, 0);
  EXPECT_EQ(r.arrived, r.answered + lost_of_record(r));
}

// 5 requests/s of 10 ms are 5 % of an L4, 40 % of the eighth that a g6f is, whoever shares the L4.
TEST(FractionalGpu, BusyIsOfThePartThatEc2Sells) {
  const auto busy = [](scenarios::VgpuSettings::Policy policy, double rate) {
    scenarios::Workload w = demo::service(1, rate, milliseconds(10), Law::Deterministic);
    w.measured->device.value = "L4";
    w.gpu_memory.resident = mebibytes(500);
    scenarios::NodePool pool = demo::pool(0);
    pool.instance_type.value = "g6f.xlarge";
    pool.vgpu.emplace().policy = policy;
    scenarios::Scenario s = demo::scenario(pool, {w});
    s.duration = minutes(20);
    const VariantResult result = demo::result(s);
    EXPECT_GE(result.cost.ledger.idle, Usd{});
    // Nobody else is there.
    EXPECT_NEAR(result.workloads[0].gpu_busy_share, result.gpus[0].time_busy_ratio, 1e-6);
    return result.gpus[0].time_busy_ratio;
  };
  using Policy = scenarios::VgpuSettings::Policy;
  const double part = busy(Policy::EqualShare, 5);
  EXPECT_NEAR(part, 0.05 / (1.0 / 8), 0.02);
  EXPECT_NEAR(busy(Policy::BestEffort, 5), part, 0.02);
  // Best effort lends it more than its part: it is busy all the time, not 240 %.
  EXPECT_NEAR(busy(Policy::BestEffort, 30), 1, 0.001);
}

// What a pool of vGPUs lends is no matter of the GPUs beside it.
TEST(FractionalGpu, OthersAreAsBusyAsTheyAre) {
  scenarios::NodePool whole = demo::pool(0);
  whole.name.value = "whole";
  whole.instance_type.value = "p3.2xlarge";
  scenarios::NodePool part = demo::pool(0);
  part.instance_type.value = "g6f.xlarge";
  part.vgpu.emplace().policy = scenarios::VgpuSettings::Policy::BestEffort;
  const auto on = [](const char* name, const char* device, const char* pool, double rate) {
    scenarios::Workload w = demo::service(1, rate, milliseconds(10), Law::Deterministic);
    w.name.value = name;
    w.measured->device.value = device;
    w.gpu_memory.resident = mebibytes(500);
    w.pod.node_selector["eks.amazonaws.com/nodegroup"] = pool;
    return w;
  };
  scenarios::Scenario s = demo::scenario(part, {on("small", "L4", part.name.value.c_str(), 30),
                                                on("large", "V100-SXM2-16GB", "whole", 50)});
  s.node_pools.push_back(whole);
  s.duration = minutes(20);
  const VariantResult result = demo::result(s);
  EXPECT_NEAR(result.workloads[0].gpu_busy_share, 0.5, 0.01);  // of both
  EXPECT_NEAR(result.workloads[1].gpu_busy_share, 0.25, 0.01);
}

// A request at 0 s and one a second later, of a Service that takes 40 s to start.
TEST(WarmServices, AreReadyBeforeTheirFirstRequest) {
  scenarios::Workload w = demo::service(1, 1, milliseconds(10), Law::Deterministic);
  w.traffic->gaps = Gaps::Constant;
  scenarios::RequestTrace trace;
  trace.rows = {{Duration{}, 0, 0}, {seconds(1), 0, 0}};
  w.traffic->shape = trace;
  w.startup.model_load = seconds(40);
  scenarios::Scenario s = demo::scenario(small_nodes(), {w});
  s.duration = minutes(2);
  const RequestRecord cold = replicate(s).workloads[0].requests;
  EXPECT_EQ(cold.refused, 2);
  s.workloads[0].startup.cold = false;
  const RequestRecord warm = replicate(s).workloads[0].requests;
  EXPECT_EQ(warm.refused, 0);
  EXPECT_EQ(warm.answered, 2);
  EXPECT_NEAR(mean_s(warm.latency), 0.010, 1e-6);
}

// Two pods of 6 GiB that grow to 9 meet on a GPU of 15.8: the second to work dies, and not before
// the first has loaded. With 9 GiB from the start it dies as it starts.
TEST(GpuMemoryPeak, IsTakenWhenWorkBegins) {
  scenarios::Workload w = demo::training(2);
  w.gpu_memory.resident = gibibytes(6);
  w.startup.model_load = seconds(50);
  w.restart_policy = scenarios::RestartPolicy::Never;
  w.backoff_limit = 0;
  scenarios::NodePool pool = demo::pool(2);
  pool.instance_type.value = "p3.2xlarge";
  scenarios::Scenario s = demo::scenario(pool, {w});
  EXPECT_EQ(demo::result(s).pods.oom_kills, 0);
  s.workloads[0].gpu_memory.peak = gibibytes(9);
  const VariantResult grows = demo::result(s);
  EXPECT_EQ(grows.pods.oom_kills, 1);
  EXPECT_EQ(grows.pods.running_max, 2);
  s.workloads[0].gpu_memory.resident = gibibytes(9);
  const VariantResult at_once = demo::result(s);
  EXPECT_EQ(at_once.pods.oom_kills, 1);
  EXPECT_EQ(at_once.pods.running_max, 1);
}

// What is calibrated to 24 ms in turns takes 30 ms where nothing scatters: no two drift apart.
TEST(Serving, SaysThatClientsOfConstantTimesKeepInStep) {
  const auto is_told = [](const scenarios::Workload& w, int replicas_per_gpu) {
    scenarios::Scenario s = demo::scenario(demo::pool(replicas_per_gpu), {w});
    s.duration = seconds(5);
    const VariantResult result = demo::result(s);
    return std::ranges::any_of(result.findings, [](const Diagnostic& d) {
      return d.code == Code::InputAssumed && d.message.find("stay in step") != std::string::npos;
    });
  };
  scenarios::Workload w =
      demo::service(2, 1, milliseconds(20), scenarios::ServiceTime::Law::Deterministic);
  w.traffic->shape = scenarios::ClosedLoop{2, {}};
  EXPECT_TRUE(is_told(w, 2));
  EXPECT_FALSE(is_told(w, 0)) << "each has a GPU of its own";
  w.traffic->shape = scenarios::ClosedLoop{2, milliseconds(1)};
  EXPECT_FALSE(is_told(w, 2));
  w.traffic->shape = scenarios::ClosedLoop{2, {}};
  w.measured->request_gpu_time->law = scenarios::ServiceTime::Law::Exponential;
  EXPECT_FALSE(is_told(w, 2));
}

}  // namespace
}  // namespace slicewise::sim
