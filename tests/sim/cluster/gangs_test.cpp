#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/pool_choice.hpp"

#include "../demo.hpp"

// Pods with several whole GPUs: which GPUs they get, how long their steps take, and what becomes of
// the money.
namespace slicewise::sim {
namespace {

using ::testing::ElementsAre;

// Jobs on `gpus` GPUs each: 10 units of 100 steps, 10 s a unit, the GPUs busy all the time.
scenarios::Workload gang_jobs(int count, int gpus) {
  scenarios::Workload w = demo::training(count);
  w.name.value = "gang";
  w.pod.extended.front().count = gpus;
  w.work = scenarios::Work{10, "epoch", 100};
  w.measured->unit_time = seconds(10);
  w.measured->gpu_busy = 1;
  return w;
}

scenarios::Scenario gangs_on(const char* instance, std::vector<scenarios::Workload> workloads) {
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = instance;
  return demo::scenario(pool, std::move(workloads));
}

std::vector<std::vector<int>> given_sets(const WorkloadResult& workload) {
  std::vector<std::vector<int>> sets;
  for (const GpuSetFigures& set : workload.gang->sets) sets.push_back(set.gpus);
  return sets;
}

void exchange_per_step(scenarios::Workload& w, Bytes bytes) {
  w.work->all_reduce = scenarios::AllReduce{bytes, {}};
}

std::int64_t sum_of_parts(const CostLedger& ledger) {
  return (ledger.useful + ledger.idle + ledger.switching + ledger.failed + ledger.cold_start +
          ledger.missed_slo + ledger.thrash)
      .nano;
}

TEST(Gangs, TwoOfFourGpusGetBothQuads) {
  const VariantResult one = demo::result(gangs_on("p3.16xlarge", {gang_jobs(1, 4)}));
  EXPECT_THAT(given_sets(one.workloads[0]), ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_TRUE(one.workloads[0].gang->sets[0].all_linked);
  const VariantResult two = demo::result(gangs_on("p3.16xlarge", {gang_jobs(2, 4)}));
  EXPECT_THAT(given_sets(two.workloads[0]),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
  EXPECT_EQ(two.makespan.mean, seconds(100));
  EXPECT_FALSE(demo::has(two.findings, Code::GangAcrossSlowLinks));
}

// A third one waits for its turn; one that asks for more GPUs than any node has waits for ever.
TEST(Gangs, WaitUntilEnoughGpusAreFree) {
  const VariantResult three = demo::result(gangs_on("p3.16xlarge", {gang_jobs(3, 4)}));
  EXPECT_EQ(three.makespan.mean, seconds(200));
  EXPECT_EQ(three.pods.pending_max, 1);
  scenarios::Workload giant = gang_jobs(1, 4);
  giant.pod.extended.front().count = 1'000'000'000'000;
  const VariantResult never = demo::result(gangs_on("p3.16xlarge", {giant}));
  EXPECT_EQ(never.pods.running_max, 0);
  EXPECT_THAT(never.pods.pending_reasons,
              ElementsAre("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."));
}

// Single pods took GPU 0 and 1: the six that remain are not all joined.
TEST(Gangs, LeftOverGpusMayHaveNoLink) {
  scenarios::Workload single = demo::training(2);
  single.priority = 1;
  scenarios::Workload six = gang_jobs(1, 6);
  exchange_per_step(six, gibibytes(1));
  const VariantResult r = demo::result(gangs_on("p3.16xlarge", {single, six}));
  EXPECT_THAT(given_sets(r.workloads[1]), ElementsAre(ElementsAre(2, 3, 4, 5, 6, 7)));
  EXPECT_FALSE(r.workloads[1].gang->sets[0].all_linked);
  EXPECT_TRUE(demo::has(r.findings, Code::GangAcrossSlowLinks));
}

// Closed form: 1,000 steps of 100 ms, each with an all-reduce of 600 MB at 60 GB/s (9 links of a
// quad carry 3 trees of 25 GB/s, of which NCCL leaves 80 %). Both engines.
TEST(Gangs, AStepIsTheUnitAndItsAllReduce) {
  for (const scenarios::Fidelity fidelity :
       {scenarios::Fidelity::Auto, scenarios::Fidelity::Exact}) {
    scenarios::Workload w = gang_jobs(2, 4);
    exchange_per_step(w, Bytes{600'000'000});
    scenarios::Scenario s = gangs_on("p3.16xlarge", {w});
    s.fidelity = fidelity;
    const VariantResult r = demo::result(s);
    EXPECT_NEAR(to_seconds(r.makespan.mean), 1000 * (0.1 + 0.01), 1e-6);
    EXPECT_EQ(r.workloads[0].gang->sets[0].all_reduce, milliseconds(10));
    EXPECT_NEAR(r.workloads[0].gang->all_reduce_share, 0.01 / 0.11, 1e-6);
  }
}

// With a host phase of its own that it overlaps with, or takes turns with.
TEST(Gangs, BothEnginesAgreeOnStepsWithAHostPhase) {
  for (const auto phase :
       {scenarios::Work::HostPhase::Overlapped, scenarios::Work::HostPhase::Serial}) {
    scenarios::Workload w = gang_jobs(1, 4);
    w.measured->gpu_busy = 0.4;
    w.work->host_phase = phase;
    exchange_per_step(w, Bytes{600'000'000});
    scenarios::Scenario s = gangs_on("p3.8xlarge", {w});
    const double steady = to_seconds(demo::result(s).makespan.mean);
    s.fidelity = scenarios::Fidelity::Exact;
    EXPECT_NEAR(to_seconds(demo::result(s).makespan.mean), steady, 0.05 * steady);
    EXPECT_NEAR(steady, 110, 1e-6);
  }
}

// Each GPU of the pod is busy, holds the memory, and the parts of the bill add up to it.
TEST(Gangs, EveryGpuIsAccountedFor) {
  for (const scenarios::Fidelity fidelity :
       {scenarios::Fidelity::Auto, scenarios::Fidelity::Exact}) {
    scenarios::Workload w = gang_jobs(1, 3);
    w.measured->gpu_busy = 0.5;
    scenarios::Scenario s = gangs_on("p3.8xlarge", {w});
    s.fidelity = fidelity;
    const VariantResult r = demo::result(s);
    int busy = 0;
    for (const GpuResult& gpu : r.gpus) {
      if (gpu.time_busy_ratio == 0) {
        EXPECT_EQ(gpu.memory_peak, Bytes{});
        continue;
      }
      ++busy;
      EXPECT_NEAR(gpu.time_busy_ratio, 0.5, 0.01);
      EXPECT_GT(gpu.memory_peak, mebibytes(1400));
    }
    EXPECT_EQ(busy, 3);
    EXPECT_NEAR(r.workloads[0].gpu_busy_share, 0.5 * 3 / 4, 0.01);
    const CostLedger& ledger = r.cost.ledger;
    EXPECT_EQ(sum_of_parts(ledger), ledger.total.nano);
    EXPECT_NEAR(static_cast<double>(ledger.useful.nano),
                0.375 * static_cast<double>(ledger.total.nano), 0.005e9);
  }
}

// Host CPU is the pod's, not that of each of its GPUs.
TEST(Gangs, HostCpuCountsOncePerPod) {
  scenarios::Workload w = gang_jobs(1, 4);
  w.measured->cpu = Millicores{8000};
  const VariantResult r = demo::result(gangs_on("p3.8xlarge", {w}));
  EXPECT_NEAR(r.nodes[0].cpu_busy_ratio, 8.0 / 32, 0.001);
  EXPECT_EQ(r.makespan.mean, seconds(100));
}

// A pod that nobody counts opens GPU 0 of the gang: the other ranks wait for the slowed one.
TEST(Gangs, GoAtThePaceOfTheSlowestRank) {
  scenarios::Workload stranger = demo::training(1);
  stranger.name.value = "stranger";
  stranger.pod.extended.clear();
  stranger.measured->gpu_busy = 1;
  scenarios::Scenario s = gangs_on("p3.8xlarge", {gang_jobs(1, 4), stranger});
  const double alone = 100;
  const double steady = to_seconds(demo::result(s).workloads[0].job_completion->mean);
  EXPECT_GT(steady, 1.9 * alone);
  s.fidelity = scenarios::Fidelity::Exact;
  EXPECT_NEAR(to_seconds(demo::result(s).workloads[0].job_completion->mean), steady, 0.05 * steady);
}

// Jobs of a log that ran for 100 s on so many GPUs each, all submitted at once.
scenarios::Workload recorded_jobs(const char* name, int count, int gpus) {
  scenarios::Workload w = gang_jobs(count, gpus);
  w.name.value = name;
  w.work = scenarios::Work{100, "job-second", 10};
  w.measured->unit_time = seconds(1);
  scenarios::RecordedJobs& trace = w.trace.emplace();
  trace.workload = name;
  trace.at_once = count;
  using Jobs = std::vector<scenarios::RecordedJobs::Job>;
  const scenarios::RecordedJobs::Job job{Duration{}, seconds(100)};
  trace.jobs = std::make_shared<const Jobs>(static_cast<std::size_t>(count), job);
  return w;
}

// Three jobs on all GPUs, one after the other. Who is not done when the run ends, and older than
// its limit, has missed it; of the others nothing is known yet.
TEST(Objectives, AreMissedByJobsThatAreLateAlready) {
  for (const bool is_recorded : {true, false}) {
    scenarios::Workload w = recorded_jobs("jobs", 3, 4);
    if (!is_recorded) w.trace.reset();
    w.objectives = {{scenarios::Figure::CompletionP95, seconds(150), {}},
                    {scenarios::Figure::WaitP95, seconds(120), {}}};
    scenarios::Scenario s = gangs_on("p3.8xlarge", {w});
    const auto judged_after = [&](Duration duration) {
      s.duration = duration;
      return demo::result(s).workloads[0].objectives;
    };
    std::vector<ObjectiveResult> judged = judged_after(seconds(110));
    EXPECT_TRUE(judged[0].pass && judged[1].pass) << is_recorded;
    judged = judged_after(seconds(140));
    EXPECT_TRUE(judged[0].pass) << is_recorded;
    EXPECT_FALSE(judged[1].pass) << is_recorded;
    EXPECT_EQ(std::get<Duration>(judged[1].value), seconds(140));
    judged = judged_after(seconds(190));
    EXPECT_FALSE(judged[0].pass) << is_recorded;
    EXPECT_EQ(std::get<Duration>(judged[0].value), seconds(190));
  }
}

// Two nodes of four GPUs: a job on all of them is two pods, and has none while another has one.
TEST(Gangs, AJobOverSeveralNodesHasAllItsPodsOrNone) {
  for (const auto fidelity : {scenarios::Fidelity::Auto, scenarios::Fidelity::Exact}) {
    scenarios::Scenario s =
        gangs_on("p3.8xlarge", {recorded_jobs("one", 1, 1), recorded_jobs("wide", 2, 8)});
    s.node_pools[0].nodes = 2;
    s.fidelity = fidelity;
    const VariantResult r = demo::result(s);
    EXPECT_EQ(r.workloads[1].completed, 2);
    EXPECT_EQ(r.workloads[1].job_completion->count, 2);
    EXPECT_EQ(r.workloads[1].recorded->all.finished, 2);
    EXPECT_EQ(r.pods.succeeded, 5);
    EXPECT_EQ(r.pods.pending_max, 4);
    EXPECT_NEAR(to_seconds(r.workloads[1].wait->p50), 100, 0.1);
    EXPECT_NEAR(to_seconds(r.makespan.mean), 300, 0.1);
    EXPECT_NEAR(r.workloads[1].gpu_busy_share, 2.0 / 3, 0.001);
  }
}

TEST(Gangs, AJobIsCutIntoAsFewEqualPodsAsCanBe) {
  scenarios::Scenario s = gangs_on("p3.8xlarge", {recorded_jobs("odd", 1, 7)});
  s.node_pools[0].nodes = 2;
  EXPECT_EQ(demo::result(s).pods.succeeded, 7);  // 7 = 7 x 1
  s.workloads[0] = recorded_jobs("even", 1, 6);
  EXPECT_EQ(demo::result(s).pods.succeeded, 2);  // 6 = 2 x 3
  s.workloads[0].trace->gpus_per_pod = 2;
  EXPECT_EQ(demo::result(s).pods.succeeded, 3);
  s.workloads[0] = recorded_jobs("too-wide", 1, 9);
  const VariantResult never = demo::result(s);
  EXPECT_EQ(never.pods.succeeded, 0);
  EXPECT_TRUE(demo::has(never.findings, Code::JobNeverFits));
}

// Every option cuts jobs as the scenario's own nodes do, so that they do the same work: by the
// largest node of which no pod shares a GPU; where all share, by the largest; where each has one
// GPU, by the largest node there is.
TEST(Gangs, OptionsCutJobsAsTheScenarioDoes) {
  PoolChoice choice;
  choice.instance_type = "p3.16xlarge";
  choice.strategy = Strategy::Exclusive;
  choice.replicas = 1;
  choice.nodes = 2;
  choice.workloads = {"wide"};
  scenarios::Scenario s = gangs_on("p3.8xlarge", {recorded_jobs("wide", 1, 8)});
  s.node_pools[0].nodes = 2;
  const auto pods = [&] {
    const scenarios::Scenario option = planned_scenario(s, {&choice, 1}, demo::catalogue());
    return demo::world(option).workloads[0].pods_per_job;
  };
  EXPECT_EQ(demo::world(s).workloads[0].pods_per_job, 2);
  EXPECT_EQ(pods(), 2);
  s.node_pools[0].device_plugin = demo::pool(4).device_plugin;
  EXPECT_EQ(pods(), 2);
  s.node_pools[0].instance_type.value = "p3.2xlarge";
  EXPECT_EQ(pods(), 1);
}

// A job that was stopped for a shorter one keeps what it has done, also where the run ends before
// it goes on; one of lower priority starts over, and what it has done is lost.
TEST(Gangs, WhatAStoppedJobHasDoneIsKeptOrLost) {
  scenarios::Workload all_day = gang_jobs(1, 4);
  scenarios::Workload quick = gang_jobs(1, 4);
  quick.name.value = "quick";
  quick.priority = 1;
  quick.work->units = 2;
  quick.submit_at = seconds(50);
  scenarios::Scenario s = gangs_on("p3.8xlarge", {all_day, quick});
  s.duration = seconds(60);
  s.pod_queue = scenarios::PodQueue::ShortestTime;
  const VariantResult kept = demo::result(s);
  EXPECT_NEAR(kept.workloads[0].throughput_per_second, 5.0 / 60, 1e-9);
  EXPECT_NEAR(kept.workloads[1].throughput_per_second, 1.0 / 60, 1e-9);
  EXPECT_EQ(kept.workloads[0].gpu_lost, Duration{});
  s.pod_queue = scenarios::PodQueue::Priority;
  const VariantResult lost = demo::result(s);
  EXPECT_EQ(lost.workloads[0].throughput_per_second, 0);
  EXPECT_NEAR(to_seconds(lost.workloads[0].gpu_lost), 4 * 50, 0.1);
}

// What a stopped job had kept is lost when it crashes later, and so is what a pod of a gang had
// done that waited for the others: all GPU time but that of the work itself.
TEST(Gangs, ACrashLosesWhatAStoppedJobHadKept) {
  scenarios::Workload all_day = gang_jobs(3, 4);
  all_day.faults = Rate{1.0 / 100};
  all_day.backoff_limit = 1000;
  scenarios::Workload quick = gang_jobs(20, 4);
  quick.name.value = "quick";
  quick.work->units = 1;
  quick.submit_at = seconds(30);
  quick.submit_interval = seconds(40);
  scenarios::Scenario s = gangs_on("p3.8xlarge", {all_day, quick});
  s.pod_queue = scenarios::PodQueue::ShortestTime;
  const VariantResult r = demo::result(s);
  EXPECT_GT(r.pods.faults, 0);
  EXPECT_GT(r.pods.evicted, 0);
  const WorkloadResult& faulty = r.workloads[0];
  EXPECT_EQ(faulty.completed, 3);
  const double busy_s = faulty.gpu_busy_share * 4 * to_seconds(r.makespan.mean);
  EXPECT_NEAR(to_seconds(faulty.gpu_lost), busy_s - 3 * 4 * 100, 0.1);
  // The bill says so, too.
  const CostLedger& bill = r.cost.ledger;
  const double of_gpu_second = to_dollars(bill.total) / (4 * to_seconds(r.makespan.mean));
  const double lost_s = to_seconds(faulty.gpu_lost + r.workloads[1].gpu_lost);
  EXPECT_NEAR(to_dollars(bill.failed), lost_s * of_gpu_second, 1e-3);
}

// However many classes a trace has, it is told once.
TEST(Gangs, ATraceIsToldOnceThatNoLinkJoinsItsGpus) {
  scenarios::Scenario s =
      gangs_on("p3.16xlarge", {recorded_jobs("six", 1, 6), recorded_jobs("eight", 2, 8),
                               recorded_jobs("two", 1, 2), gang_jobs(1, 8)});
  for (int w = 0; w < 3; ++w) s.workloads[static_cast<std::size_t>(w)].trace->workload = "team";
  const VariantResult r = demo::result(s);
  std::vector<std::string> told;
  for (const Diagnostic& d : r.findings) {
    if (d.code == Code::GangAcrossSlowLinks) told.push_back(d.message);
  }
  EXPECT_THAT(
      told,
      ElementsAre("3 of 4 pods of \"team\" got 6 and 8 GPUs without an NVLink between some of them",
                  "1 of 1 pods of \"gang\" got 8 GPUs without an NVLink between some of them"));
}

// The numbers of nodes alone tell messages apart: the first is quoted, the others are counted. When
// the first job ends, the third takes its place, and the gang is told that no node has room.
TEST(Gangs, MessagesThatDifferInNumbersAreQuotedOnce) {
  scenarios::Workload first = recorded_jobs("first", 1, 4);
  first.priority = 1;
  scenarios::Workload second = first;
  second.name.value = second.trace->workload = "second";
  second.submit_at = seconds(10);
  scenarios::Workload third = second;
  third.name.value = third.trace->workload = "third";
  third.submit_at = seconds(20);
  scenarios::Scenario s =
      gangs_on("p3.8xlarge", {first, second, third, recorded_jobs("wide", 1, 8)});
  s.node_pools[0].nodes = 2;
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.pending_reasons.size(), 2U);
  const auto pending = std::ranges::find(r.findings, Code::PodPending, &Diagnostic::code);
  ASSERT_NE(pending, r.findings.end());
  EXPECT_EQ(pending->message,
            "up to 3 pods Pending: 0/2 nodes are available: 1 Insufficient nvidia.com/gpu. (and 1 "
            "with other numbers of nodes)");
}

// The pods of a gang crash together: each fault restarts both, and the job ends once.
TEST(Gangs, AFaultOfOnePodIsOneOfAll) {
  scenarios::Workload wide = recorded_jobs("wide", 1, 8);
  wide.faults = Rate{1.0 / 100};
  wide.backoff_limit = 1'000;
  scenarios::Scenario s = gangs_on("p3.8xlarge", {wide});
  s.node_pools[0].nodes = 2;
  s.replications = 20;
  const VariantResult r = demo::result(s);
  ASSERT_GT(r.pods.faults, 0);
  EXPECT_DOUBLE_EQ(r.pods.restarts, 2 * r.pods.faults);
  EXPECT_DOUBLE_EQ(r.workloads[0].completed, 1);
}

// Requests of a Service with several GPUs take all of them at once.
TEST(Gangs, AServiceTakesAllItsGpusForARequest) {
  scenarios::Workload api =
      demo::service(2, 20, milliseconds(20), scenarios::ServiceTime::Law::Deterministic);
  api.pod.extended.front().count = 4;
  scenarios::Scenario s = gangs_on("p3.16xlarge", {api});
  s.duration = seconds(60);
  const VariantResult r = demo::result(s);
  EXPECT_NEAR(to_seconds(r.workloads[0].latency->p50), 0.02, 0.0002);
  for (const GpuResult& gpu : r.gpus) EXPECT_NEAR(gpu.time_busy_ratio, 0.2, 0.05);
}

TEST(Gangs, SeveralMigDevicesAreOne) {
  scenarios::NodePool mig = demo::pool(0);
  mig.instance_type.value = "p4d.24xlarge";
  mig.mig.emplace();
  mig.mig->config.value = "all-1g.5gb";
  scenarios::Workload two = gang_jobs(1, 2);
  two.measured->device.value = "A100-SXM4-40GB";
  const World world = demo::world(demo::scenario(mig, {two}));
  EXPECT_TRUE(demo::has(world.findings, Code::RequestNoEffect));
  EXPECT_EQ(world.workloads[0].on_pool[0].gpus, 1);
}

// Beside a shared pool: what asks for the shared name goes there.
TEST(Gangs, WorkBesideASharedPool) {
  scenarios::NodePool shared = demo::pool(4);
  shared.name.value = "shared";
  shared.device_plugin->time_slicing->rename_by_default = true;
  scenarios::Workload small = demo::training(4);
  small.pod.extended.front().name.value = "nvidia.com/gpu.shared";
  scenarios::Scenario s = gangs_on("p3.16xlarge", {gang_jobs(2, 4), small});
  s.node_pools.push_back(shared);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.succeeded, 6);
  EXPECT_EQ(r.workloads[0].gang->sets.size(), 2U);
  EXPECT_FALSE(r.workloads[1].gang.has_value());
}

}  // namespace
// Jobs of several pods, each on all GPUs of a node.
scenarios::Workload jobs_of_pods(int jobs, int pods) {
  scenarios::Workload w = gang_jobs(jobs * pods, 8);
  w.pods_per_job = pods;
  return w;
}

scenarios::Scenario gangs_on_nodes(int nodes, scenarios::Workload workload) {
  scenarios::Scenario s = gangs_on("p3.16xlarge", {std::move(workload)});
  s.node_pools[0].nodes = nodes;
  return s;
}

// One node is free beside the first Job, and is not given to a half of the second.
TEST(PodsOfAJob, ArePlacedTogetherOrNotAtAll) {
  const VariantResult r = demo::result(gangs_on_nodes(3, jobs_of_pods(2, 2)));
  EXPECT_EQ(r.pods.running_max, 2);
  EXPECT_EQ(r.pods.pending_max, 2);
  EXPECT_EQ(r.makespan.mean, seconds(200));
  EXPECT_EQ(r.workloads[0].completed, 2);
  const VariantResult never = demo::result(gangs_on_nodes(1, jobs_of_pods(1, 2)));
  EXPECT_EQ(never.pods.running_max, 0);
}

// The slowest pod ends the Job: of 1 x 3 pods, drawn as those of three Jobs are.
TEST(PodsOfAJob, EndWithTheLast) {
  scenarios::Workload alone = gang_jobs(3, 8);
  alone.measured->unit_time_cv = 0.3;
  scenarios::Workload together = alone;
  together.pods_per_job = 3;
  const VariantResult each = demo::result(gangs_on_nodes(3, alone));
  const VariantResult gang = demo::result(gangs_on_nodes(3, together));
  EXPECT_EQ(gang.makespan.mean, each.makespan.mean);
  EXPECT_EQ(gang.workloads[0].job_completion->mean, gang.makespan.mean);
  EXPECT_LT(each.workloads[0].job_completion->mean, each.makespan.mean);
}

// Six Jobs of 100 s, two at a time though eight GPUs are free: none waits, the last ends at 300 s.
TEST(Parallelism, MakesTheNextJobWhenOneHasEnded) {
  scenarios::Workload six = gang_jobs(6, 1);
  six.parallelism = 2;
  const VariantResult r = demo::result(gangs_on("p3.16xlarge", {six}));
  EXPECT_EQ(r.pods.running_max, 2);
  EXPECT_EQ(r.pods.pending_max, 0);
  EXPECT_EQ(r.makespan.mean, seconds(300));
  EXPECT_EQ(r.workloads[0].completed, 6);
  six.submit_interval = seconds(70);  // the third would have room at 140 s, when it comes
  EXPECT_EQ(demo::result(gangs_on("p3.16xlarge", {six})).makespan.mean, seconds(450));
}

// Those that are not made yet keep no run going whose first ones no node can hold.
TEST(Parallelism, OfPodsThatFitNowhereEndsTheRun) {
  scenarios::Workload giants = gang_jobs(5, 9);
  giants.parallelism = 2;
  const VariantResult r = demo::result(gangs_on("p3.16xlarge", {giants}));
  EXPECT_EQ(r.pods.submitted, 2);
  EXPECT_EQ(r.pods.running_max, 0);
}

}  // namespace slicewise::sim
