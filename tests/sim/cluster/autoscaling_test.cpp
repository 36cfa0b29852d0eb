#include <gtest/gtest.h>

#include "slicewise/scenarios/cron.hpp"

#include "../demo.hpp"

// Replicas that come and go with the load. The expected times are worked out by hand.
namespace slicewise::sim {
namespace {

using scenarios::Autoscaling;
using scenarios::RateStep;
using scenarios::Scenario;
using scenarios::Workload;
using Law = scenarios::ServiceTime::Law;

constexpr Duration kPull = seconds(40);
constexpr Duration kLoad = seconds(20);

// Up to `most` replicas, each on a V100 of its own; every 15 s the mean of the last 15 s counts.
Workload scaled_service(int least, int most, Duration gpu_time, Autoscaling::Metric metric,
                        double target) {
  Workload w = demo::service(most, 1, gpu_time, Law::Deterministic);
  w.traffic->gaps = scenarios::Traffic::Gaps::Constant;
  w.serving.routing = scenarios::Routing::LeastOutstanding;
  Autoscaling scaling;
  scaling.min_replicas = least;
  scaling.max_replicas = most;
  scaling.metric = metric;
  scaling.target = target;
  scaling.window = seconds(15);
  w.autoscaling = scaling;
  return w;
}

Scenario scenario_of(Workload workload, Duration duration, int replicas_per_gpu = 0) {
  Scenario s = demo::scenario(demo::pool(replicas_per_gpu), {std::move(workload)});
  s.duration = duration;
  return s;
}

double lost(const RequestCounts& requests) {
  return requests.refused + requests.dropped + requests.timed_out;
}

// 10/s need one pod. The four at the start stay for as long as the largest wish of the last 300 s
// counts, which their number at the start is one of.
TEST(Autoscaling, StartsWithTheReplicasOfTheWorkload) {
  Workload w = scaled_service(1, 4, milliseconds(20), Autoscaling::Metric::RequestRate, 10);
  w.traffic->mean = {10};
  w.autoscaling->start_replicas = 4;
  const ScalingFigures scaling =
      demo::result(scenario_of(w, seconds(600))).workloads[0].scaling.value();
  EXPECT_EQ(scaling.max_replicas, 4);
  EXPECT_EQ(scaling.scale_ups, 0);
  EXPECT_NEAR(scaling.mean_replicas, (300 * 4 + 300 * 1) / 600.0, 0.1);
}

// Six of at most eight were wanted, and four have a GPU.
TEST(Autoscaling, LeavesNoPodsBehindThatNeverWere) {
  Workload w = scaled_service(1, 8, milliseconds(20), Autoscaling::Metric::RequestRate, 10);
  w.traffic->mean = {58};
  const LeftBehind left = demo::result(scenario_of(w, seconds(600))).workloads[0].left_behind;
  EXPECT_EQ(left.pods, 6);
  EXPECT_EQ(left.pending, 2);
}

// The one that was there before the run began was not waited for.
TEST(Autoscaling, StartUpsAreOfThosePodsThatWereWaitedFor) {
  Workload w = scaled_service(1, 2, milliseconds(20), Autoscaling::Metric::RequestRate, 10);
  w.startup = {kPull, kLoad};
  w.startup.cold = false;
  w.traffic->mean = {15};
  const ScalingFigures scaling =
      demo::result(scenario_of(w, seconds(600))).workloads[0].scaling.value();
  EXPECT_EQ(scaling.scale_ups, 1);
  ASSERT_EQ(scaling.start_up->count, 1);
  EXPECT_GE(scaling.start_up->mean, kLoad);
}

// 5/s, then 35/s from 100 s on, at 10/s per pod. The look at 105 s sees 15/s and wants 2 pods, that
// at 120 s sees 35/s and wants 4. The first pod takes pull and load, the others, on the same node,
// load only.
TEST(Autoscaling, FollowsAStepInLoad) {
  Workload w = scaled_service(1, 4, milliseconds(20), Autoscaling::Metric::RequestRate, 10);
  w.startup = {kPull, kLoad};
  w.traffic->shape =
      std::vector<RateStep>{{seconds(0), {0}}, {seconds(60), {5}}, {seconds(100), {35}}};
  const VariantResult r = demo::result(scenario_of(w, seconds(300)));
  const ScalingFigures& scaling = r.workloads[0].scaling.value();
  EXPECT_NEAR(scaling.mean_replicas, (105 * 1 + 15 * 2 + 180 * 4) / 300.0, 1e-9);
  EXPECT_EQ(scaling.max_replicas, 4);
  EXPECT_EQ(scaling.scale_ups, 2);
  EXPECT_EQ(scaling.scale_downs, 0);
  ASSERT_EQ(scaling.start_up->count, 4);
  EXPECT_EQ(scaling.start_up->mean, seconds((60 + 20 + 20 + 20) / 4));
  EXPECT_EQ(lost(*r.workloads[0].requests), 0);
}

// Requests at 0, 400 and 401 s. The first waits for pull and load, the second for the load only.
// Nothing happens after 60 s and 420 s: 60 s later the service is at zero again.
TEST(Autoscaling, ScalesToZeroAndHoldsRequestsAtTheFront) {
  Workload w = scaled_service(0, 2, milliseconds(20), Autoscaling::Metric::Concurrency, 2);
  w.startup = {kPull, kLoad};
  w.autoscaling->cooldown = seconds(60);
  scenarios::RequestTrace trace;
  trace.rows = {{}, {seconds(400)}, {seconds(401)}};
  w.traffic->shape = trace;
  const VariantResult r = demo::result(scenario_of(w, seconds(600)));
  const WorkloadResult& service = r.workloads[0];
  EXPECT_EQ(service.requests->answered, 3);
  EXPECT_NEAR(to_seconds(service.latency->mean), (60.02 + 20.02 + 19.04) / 3, 0.001);
  EXPECT_EQ(service.scaling->start_up->count, 2);
  EXPECT_EQ(service.scaling->start_up->mean, seconds(40));
  EXPECT_NEAR(service.scaling->mean_replicas, (120 + 80) / 600.0, 1e-9);
  EXPECT_EQ(service.scaling->max_replicas, 1);
  EXPECT_EQ(service.scaling->scale_ups, 2);
  EXPECT_EQ(service.scaling->scale_downs, 2);
  EXPECT_EQ(r.pods.submitted, 2);
  EXPECT_TRUE(demo::has(r.findings, Code::ScaleFromZero)) << "not by a metric of its pods";
}

TEST(Autoscaling, WithoutScaleToZeroRequestsBeforeTheFirstPodAreRefused) {
  Workload w = scaled_service(1, 2, milliseconds(20), Autoscaling::Metric::Concurrency, 2);
  w.startup = {kPull, kLoad};
  const VariantResult r = demo::result(scenario_of(w, seconds(100)));
  EXPECT_NEAR(r.workloads[0].requests->refused, 60, 1);
}

TEST(Autoscaling, AHeldRequestTimesOutAtTheFront) {
  Workload w = scaled_service(0, 2, milliseconds(20), Autoscaling::Metric::Concurrency, 2);
  w.startup = {kPull, kLoad};
  w.serving.timeout = milliseconds(30'250);
  scenarios::RequestTrace trace;
  trace.rows = {{}, {seconds(29)}, {seconds(31)}};
  w.traffic->shape = trace;
  const VariantResult r = demo::result(scenario_of(w, seconds(100)));
  EXPECT_EQ(r.workloads[0].requests->timed_out, 2);
  EXPECT_EQ(r.workloads[0].requests->answered, 1);
}

// One request every 10 s from 20 s to 100 s, two pods wanted at 30 s, one at 135 s.
VariantResult scaled_down_under_work(Duration gpu_time) {
  Workload w = scaled_service(1, 2, gpu_time, Autoscaling::Metric::RequestRate, 0.05);
  w.autoscaling->window = seconds(60);
  w.autoscaling->scale_down_window = {};
  w.traffic->shape =
      std::vector<RateStep>{{seconds(0), {0}}, {seconds(10), {0.1}}, {seconds(105), {0}}};
  return demo::result(scenario_of(w, seconds(600)));
}

TEST(Autoscaling, APodThatIsNotWantedFinishesWhatItHas) {
  const VariantResult r = scaled_down_under_work(seconds(25));
  EXPECT_EQ(r.workloads[0].scaling->scale_downs, 1);
  EXPECT_NEAR(r.workloads[0].scaling->mean_replicas, (600 + 105) / 600.0, 1e-9);
  EXPECT_EQ(r.workloads[0].requests->arrived, 9);
  EXPECT_EQ(r.workloads[0].requests->answered, 9);
}

TEST(Autoscaling, APodThatDoesNotFinishInTheGracePeriodIsKilled) {
  const VariantResult r = scaled_down_under_work(seconds(40));
  EXPECT_EQ(r.workloads[0].scaling->scale_downs, 1);
  EXPECT_EQ(r.workloads[0].requests->arrived, 9);
  EXPECT_GE(r.workloads[0].requests->refused, 1);
  EXPECT_EQ(r.workloads[0].requests->answered + lost(*r.workloads[0].requests), 9);
}

// A language model answers every 5 s from 65 s to 120 s; the second pod is wanted at 75 s, and not
// any more at 135 s. It goes when its last answer is out, before the grace period ends at 165 s.
TEST(Autoscaling, ALanguageModelFinishesItsSequences) {
  Workload w = scaled_service(1, 2, milliseconds(1), Autoscaling::Metric::RequestRate, 0.1);
  w.autoscaling->scale_down_window = {};
  w.measured.reset();
  w.gpu_memory = {};
  w.pod.cpu_request = {100};
  w.llm.emplace().model.value = "llama-3-8b-fp16/a10g";
  w.llm->input = scenarios::RandomAmount{{}, 600, 0, {}, {}};
  w.llm->output = scenarios::RandomAmount{{}, 700, 0, {}, {}};
  w.traffic->shape =
      std::vector<RateStep>{{seconds(0), {0}}, {seconds(60), {0.2}}, {milliseconds(121'000), {0}}};
  Scenario s = scenario_of(w, seconds(300));
  s.node_pools[0].instance_type.value = "g5.2xlarge";
  s.node_pools[0].nodes = 2;
  const Replication record = run_replication(demo::world(s), 0);
  const WorkloadRecord& service = record.workloads[0];
  EXPECT_EQ(service.scaling.ups, 1);
  EXPECT_EQ(service.scaling.downs, 1);
  EXPECT_EQ(service.requests.arrived, 12);
  EXPECT_EQ(service.requests.answered, 12);
  const Duration second_pod = service.pod_running - seconds(300);
  EXPECT_GT(second_pod, seconds(135 - 75));
  EXPECT_LT(second_pod, seconds(160 - 75));
}

// 8 replicas for 4 GPUs: what is Pending goes first, and leaves no trace in the scheduler.
TEST(Autoscaling, PendingPodsGoFirst) {
  Workload w = scaled_service(1, 8, milliseconds(20), Autoscaling::Metric::RequestRate, 5);
  w.autoscaling->scale_down_window = {};
  w.traffic->shape =
      std::vector<RateStep>{{milliseconds(500), {1}}, {seconds(15), {40}}, {seconds(60), {15}}};
  const World world = demo::world(scenario_of(w, seconds(200)));
  const Replication record = run_replication(world, 0);
  EXPECT_EQ(record.pending_max, 4);
  EXPECT_EQ(record.pending_at_end, 0);
  EXPECT_EQ(record.running_max, 4);
  EXPECT_EQ(record.workloads[0].scaling.most, 8);
  EXPECT_EQ(record.workloads[0].scaling.start_up.count(), 4);
  EXPECT_EQ(record.workloads[0].requests.refused, 0);
}

// A load of 0.6 GPUs at a target of 50 %. On GPUs of their own two pods show 30 % each. Where they
// share one, each shows the 60 % of all, and the count runs away: DCGM reports whole devices.
TEST(Autoscaling, GpuUtilizationRunsAwayOnASharedGpu) {
  Workload w = scaled_service(1, 4, milliseconds(20), Autoscaling::Metric::GpuUtilization, 50);
  w.traffic->shape = std::vector<RateStep>{{seconds(1), {30}}};
  const VariantResult own = demo::result(scenario_of(w, seconds(600)));
  EXPECT_EQ(own.workloads[0].scaling->max_replicas, 2);
  Scenario shared = scenario_of(w, seconds(600), 4);
  shared.node_pools[0].device_plugin->allocation_policy = scenarios::AllocationPolicy::Packed;
  EXPECT_EQ(demo::result(shared).workloads[0].scaling->max_replicas, 4);
}

// Every request is accounted for, whatever happens to the pods: bursts, faults, limits, retries,
// graceful ends and kills. The traffic ends long before the run does.
TEST(Autoscaling, ConservesRequests) {
  using Metric = Autoscaling::Metric;
  for (const int least : {0, 1, 2}) {
    for (const Metric metric :
         {Metric::Queue, Metric::Concurrency, Metric::RequestRate, Metric::GpuUtilization}) {
      Workload w =
          scaled_service(least, 6, seconds(2), metric, metric == Metric::GpuUtilization ? 60 : 2);
      w.startup = {seconds(10), seconds(5)};
      w.autoscaling->scale_down_window = seconds(30);
      w.autoscaling->cooldown = seconds(45);
      w.traffic->gaps = scenarios::Traffic::Gaps::Poisson;
      w.serving.timeout = seconds(20);
      w.serving.queue_limit = 12;
      w.serving.max_batch = 2;
      w.serving.max_delay = milliseconds(300);
      w.serving.cpu_before = milliseconds(5);
      w.serving.cpu_after = milliseconds(5);
      w.serving.retries = 1;
      w.serving.retry_after = seconds(1);
      w.faults = Rate{1.0 / 200};
      std::vector<RateStep> steps;
      for (int n = 0; n < 40; ++n) {
        steps.push_back({seconds(n * 100), {n % 4 == 0 ? 3.0 : n % 4 == 1 ? 0.3 : 0.0}});
      }
      steps.push_back({seconds(4'000), {0}});
      w.traffic->shape = steps;
      const VariantResult r = demo::result(scenario_of(w, seconds(6'000), 2));
      const RequestCounts& requests = *r.workloads[0].requests;
      EXPECT_GT(requests.arrived, 3'000);
      EXPECT_GT(requests.answered, 1'000);
      EXPECT_EQ(requests.arrived, requests.answered + lost(requests));
      EXPECT_GT(r.workloads[0].scaling->scale_downs, 3);
    }
  }
}

TEST(Autoscaling, RepeatsItself) {
  Workload w = scaled_service(0, 4, milliseconds(200), Autoscaling::Metric::Concurrency, 2);
  w.startup = {kPull, kLoad};
  w.traffic->mean = {5};
  w.traffic->gaps = scenarios::Traffic::Gaps::Poisson;
  w.traffic->shape = scenarios::Bursts{{30}, seconds(60), seconds(600)};
  Scenario s = scenario_of(w, hours(2));
  s.replications = 4;
  const VariantResult one = demo::result(s, 1);
  const VariantResult four = demo::result(s, 4);
  EXPECT_GT(one.workloads[0].scaling->scale_ups, 3);
  EXPECT_EQ(one.workloads[0].scaling->mean_replicas, four.workloads[0].scaling->mean_replicas);
  EXPECT_EQ(one.workloads[0].latency->mean, four.workloads[0].latency->mean);
  EXPECT_EQ(one.workloads[0].requests->answered, four.workloads[0].requests->answered);
}

// From 00:05 to 00:10 three of four; they stay for the 300 s of the scale-down window after the
// last look that wished for them, at 585 s.
Workload in_a_window(int least) {
  Workload w = scaled_service(least, 4, milliseconds(20), Autoscaling::Metric::Concurrency, 0);
  w.autoscaling->schedule.push_back(
      {*scenarios::parse_cron("5 0 * * *"), *scenarios::parse_cron("10 0 * * *"), "", 3, {}});
  w.traffic->mean = {1};
  return w;
}

TEST(Autoscaling, FollowsASchedule) {
  const VariantResult r = demo::result(scenario_of(in_a_window(1), seconds(1200)));
  const ScalingFigures& scaling = r.workloads[0].scaling.value();
  EXPECT_NEAR(scaling.mean_replicas, (300 * 1 + 585 * 3 + 315 * 1) / 1200.0, 1e-9);
  EXPECT_EQ(scaling.max_replicas, 3);
  EXPECT_EQ(lost(*r.workloads[0].requests), 0);
}

// Three share a GPU and the fourth has one of its own, on a node that came for it. A ReplicaSet
// lets one of the three go, a StatefulSet the last.
TEST(Autoscaling, WhoGoesIsAsItsControllerHasIt) {
  Workload w = in_a_window(3);
  w.autoscaling->schedule[0].replicas = 4;
  Scenario s = scenario_of(w, hours(1), 3);
  s.node_pools[0].instance_type.value = "p3.2xlarge";
  s.node_pools[0].nodes = 0;
  s.node_pools[0].most_nodes = 4;
  s.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
  s.provisioner.consolidation = scenarios::Provisioner::Consolidation::WhenEmpty;
  s.provisioner.node_overlay = true;
  EXPECT_EQ(demo::result(s).node_pools[0].dynamics->removed, 0);
  s.workloads[0].manifest.kind = "StatefulSet";
  EXPECT_EQ(demo::result(s).node_pools[0].dynamics->removed, 1);
}

// Nobody sees requests that find no pod. The first pod comes with the look that finds the window
// open, the HPA adds the others at the next one, and all go after the cool-down.
TEST(Autoscaling, AScheduleAloneHoldsNoRequests) {
  const VariantResult r = demo::result(scenario_of(in_a_window(0), seconds(1200)));
  EXPECT_NEAR(r.workloads[0].scaling->mean_replicas, (15 * 1 + 570 * 3) / 1200.0, 1e-9);
  EXPECT_GT(r.workloads[0].requests->refused, 0.4 * r.workloads[0].requests->arrived);
  EXPECT_FALSE(demo::has(r.findings, Code::ScaleFromZero)) << "KEDA's clock needs no pods";
}

// Whether the run ends within the window or after it.
TEST(Autoscaling, WhatAWindowWantsAndNoNodeHoldsIsLost) {
  Workload w = in_a_window(1);
  w.autoscaling->schedule.front().replicas = 6;
  w.autoscaling->max_replicas = w.count = 6;
  for (const Duration length : {seconds(540), seconds(1200)}) {
    const VariantResult r = demo::result(scenario_of(w, length));
    EXPECT_EQ(r.workloads[0].left_behind.pending, 2) << length.ns;
  }
  // The window is a floor beside a metric, too. What that alone wants is judged by objectives.
  w.autoscaling->metric = Autoscaling::Metric::Concurrency;
  w.autoscaling->target = 50;
  EXPECT_EQ(demo::result(scenario_of(w, seconds(1200))).workloads[0].left_behind.pending, 2);
  w.autoscaling->schedule.front().replicas = 4;
  EXPECT_EQ(demo::result(scenario_of(w, seconds(1200))).workloads[0].left_behind.pending, 0);
}

// "Allow more replicas" was the advice at 1/s, as a window asks for all of them.
TEST(Autoscaling, ThatItIsAtItsMostIsToldWhereTheMetricAsksForIt) {
  const auto is_told = [](double rate, int in_window) {
    Workload w = in_a_window(1);
    w.autoscaling->metric = Autoscaling::Metric::RequestRate;
    w.autoscaling->target = 10;
    w.autoscaling->max_replicas = w.count = 3;
    w.autoscaling->schedule.front().replicas = in_window;
    w.traffic->mean = {rate};
    const Diagnostics found = demo::result(scenario_of(w, seconds(1200))).findings;
    return std::ranges::find(found, Code::AutoscalerAtMax, &Diagnostic::code) != found.end();
  };
  EXPECT_FALSE(is_told(1, 3));
  EXPECT_FALSE(is_told(15, 2));
  EXPECT_TRUE(is_told(50, 2));
  EXPECT_TRUE(is_told(50, 3));
}

TEST(Autoscaling, ARunWithinAWindowStartsWithItsReplicas) {
  Scenario s = scenario_of(in_a_window(1), seconds(120));
  s.starts_at = minutes(6);
  const ScalingFigures scaling = demo::result(s).workloads[0].scaling.value();
  EXPECT_NEAR(scaling.mean_replicas, 3, 1e-9);
  EXPECT_EQ(scaling.scale_ups, 0);
}

}  // namespace
}  // namespace slicewise::sim
