#include "slicewise/sim/replay/sharing.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/sim/kernel/random.hpp"

#include "job_samples.hpp"

// Recorded jobs under ways of sharing, against the laws written out by hand and against `run`.
namespace slicewise::sim {
namespace {

void use_gpus(scenarios::JobTrace& trace, const std::vector<std::int32_t>& permille) {
  trace.gpu_permille.owned = permille;
}

// Jobs of all sizes, with priorities, limits and some gangs.
scenarios::JobTrace mixed_jobs(std::uint64_t seed, bool gangs) {
  RandomStream random(seed, 0, 0, Purpose::Arrival);
  scenarios::JobTrace trace;
  trace.names = {"", "a", "b", "c"};
  std::int64_t now = 0;
  for (int job = 0; job < 400; ++job) {
    now += random.below(90);
    constexpr std::int32_t kSizes[] = {1, 1, 1, 1, 2, 4, 8, 12, 0};
    trace.arrival.owned.push_back(seconds(now));
    trace.run.owned.push_back(milliseconds(1 + random.below(900'000)));
    trace.gpus.owned.push_back(kSizes[random.below(9)]);
    trace.priority.owned.push_back(static_cast<std::int32_t>(random.below(3)));
    trace.time_limit.owned.push_back(trace.run.owned.back() * 2);
    trace.user.owned.push_back(1 + random.below(3));
    trace.cpu_milli.owned.push_back(1'000 + static_cast<std::int32_t>(random.below(3'000)));
    trace.gpu_permille.owned.push_back(static_cast<std::int32_t>(random.below(1001)));
  }
  // More nanoseconds than a double holds.
  trace.run.owned[395] = nanoseconds((std::int64_t{1} << 53U) + 1);
  trace.gpus.owned[395] = 1;
  if (!gangs) return trace;
  trace.gang.owned.assign(400, 0);
  for (std::uint32_t gang = 0; gang < 40; ++gang) {
    trace.names.push_back("gang" + std::to_string(gang));
    for (std::size_t row = gang * 10; row < gang * 10 + 3; ++row) {
      trace.gang.owned[row] = 4 + gang;
      trace.gpus.owned[row] = 1;
      trace.arrival.owned[row] = trace.arrival.owned[gang * 10 + 2];
    }
  }
  return trace;
}

TEST(ReplaySharing, OneJobPerGpuIsTheReplayWithoutSharingBitForBit) {
  for (const auto& [gangs, knows_cpu] : {std::pair(false, true), {true, true}, {false, false}}) {
    auto trace = mixed_jobs(7, gangs);
    if (!knows_cpu) trace.cpu_milli.owned.clear();
    for (const QueuePolicy queue :
         {QueuePolicy::Fifo, QueuePolicy::Backfill, QueuePolicy::Easy, QueuePolicy::Priority}) {
      for (const bool restart : {false, true}) {
        for (const NodePolicy placement : {NodePolicy::BestFit, NodePolicy::Random,
                                           NodePolicy::LeastAllocated, NodePolicy::Fgd}) {
          ReplaySettings plain = on_instances("p3.16xlarge", 2, "", queue);
          plain.placement = placement;
          plain.restart_preempted = restart;
          ReplaySettings alone = on_instances("p3.16xlarge", 2, "exclusive", queue);
          alone.placement = placement;
          alone.restart_preempted = restart;
          const ReplayResult a = replayed_shared(trace, plain);
          const ReplayResult b = replayed_shared(trace, alone);
          for (std::size_t job = 0; job < trace.size(); ++job) {
            ASSERT_EQ(a.job_times[job].start, b.job_times[job].start) << job;
            ASSERT_EQ(a.job_times[job].end, b.job_times[job].end) << job;
          }
          EXPECT_EQ(a.wait.mean().ns, b.wait.mean().ns)
              << gangs << policy_name(queue) << restart << policy_name(placement);
          EXPECT_EQ(a.completion.mean(), b.completion.mean());
          EXPECT_EQ(a.preemptions, b.preemptions);
          EXPECT_EQ(a.lost_gpu_hours, b.lost_gpu_hours);
          EXPECT_EQ(a.peak_gpus, b.peak_gpus);
          EXPECT_EQ(a.gpu_hours, b.gpu_hours);
          EXPECT_EQ(a.events, b.events);
          EXPECT_EQ(b.sharing->slowdown.most(), 1);
        }
      }
    }
  }
}

TEST(ReplaySharing, TwoJobsTakeTurnsAsTheLawSays) {
  auto trace = trace_of({{0, 1'000, 1}, {0, 600, 1}});
  use_gpus(trace, {800, 400});
  const ReplaySettings settings = on_instances("g4dn.xlarge", 1, "time-slicing:4");
  const ReplayResult result = replayed_shared(trace, settings);
  const double first = scenarios::kBusyOfGpuUtil * 0.8;
  const double second = scenarios::kBusyOfGpuUtil * 0.4;
  const models::TimeSlice& slice = settings.sharing->pools.front().driver_slice;
  const double overhead = to_seconds(slice.switch_cost) / to_seconds(slice.turn);
  const double of_first = models::overlapped_slowdown(first, first + second, overhead);
  const double of_second = models::overlapped_slowdown(second, first + second, overhead);
  const double until = 600 * of_second;
  const double left = 1'000 - until / of_first;
  EXPECT_GT(of_first, 1.005);
  EXPECT_NEAR(end_s(result, 1), until, 1e-6);
  EXPECT_NEAR(end_s(result, 0), until + left, 1e-6);
  EXPECT_NEAR(result.sharing->slowdown.mean(), (of_second + (until + left) / 1'000) / 2, 1e-9);
  // Kernels run as long as they would without the neighbour.
  EXPECT_NEAR(result.sharing->gpu_busy * (until + left), 1'000 * first + 600 * second, 1e-5);
}

// The same two with 65 and 100 % of what GPU_UTIL says, and which way is faster with each.
TEST(ReplaySharing, BusyTimeOfUtilisationHasARange) {
  auto trace = trace_of({{0, 1'000, 1}, {0, 1'000, 1}});
  use_gpus(trace, {800, 800});
  ReplaySettings settings = on_instances("g4dn.xlarge", 1, "time-slicing:4");
  const std::vector<Scheduling> ways = {
      {settings.queue, settings.placement, settings.sharing},
      {settings.queue, settings.placement, on_instances("g4dn.xlarge", 1, "exclusive").sharing}};
  const auto given = replay_each(trace, settings, ways, {}, {});
  ASSERT_TRUE(given);
  EXPECT_TRUE(given->outcomes[0].ranges.empty());
  settings.sampled_inputs = true;
  const auto study = replay_each(trace, settings, ways, {}, {});
  ASSERT_TRUE(study);
  const models::TimeSlice& slice = settings.sharing->pools.front().driver_slice;
  const double overhead = to_seconds(slice.switch_cost) / to_seconds(slice.turn);
  const auto completion = [&](double of_util) {
    const double duty = of_util * 0.8;
    return 1'000 * models::overlapped_slowdown(duty, 2 * duty, overhead);
  };
  const auto range =
      std::ranges::find(study->outcomes[0].ranges, "completionMean", &FigureRange::name);
  ASSERT_NE(range, study->outcomes[0].ranges.end());
  EXPECT_NEAR(range->value, completion(scenarios::kBusyOfGpuUtil), 1e-5);
  EXPECT_NEAR(range->least, completion(kLeastBusyOfGpuUtil), 1e-5);
  EXPECT_NEAR(range->most, completion(kMostBusyOfGpuUtil), 1e-5);
  EXPECT_GT(range->most, range->value);
  EXPECT_LT(range->least, range->value);
  // One after the other they take 1,500 s in the mean.
  ASSERT_EQ(study->fastest.size(), 3U);
  EXPECT_EQ(study->fastest[0].outcome, 0U);
  EXPECT_EQ(study->fastest[1].outcome, 0U);
  EXPECT_EQ(study->fastest[2].busy_of_util, kMostBusyOfGpuUtil);
  EXPECT_EQ(study->fastest[2].outcome, 1U);
  EXPECT_TRUE(study->outcomes[0].result.sharing->known.with_util == 2);
  trace.gpu_permille.owned = {};
  const auto unknown = replay_each(trace, settings, ways, {}, {});
  ASSERT_TRUE(unknown);
  EXPECT_TRUE(unknown->outcomes[0].ranges.empty());
}

TEST(ReplaySharing, TwoJobsUnderMpsRunAtTheSpeedsOfTheLaw) {
  auto trace = trace_of({{0, 1'000, 1}, {0, 1'000, 1}});
  use_gpus(trace, {1'000, 600});
  trace.sm_permille.owned = {600, scenarios::kUnknownNumber};
  const ReplaySettings settings = on_instances("g4dn.xlarge", 1, "mps:4");
  const ReplayResult result = replayed_shared(trace, settings);
  const auto& mps = std::get<models::Mps>(settings.sharing->pools.front().kinds.front().sharing);
  EXPECT_NEAR(mps.active_threads, 0.25, 0.01);
  std::vector<models::DomainClient> clients;
  for (const auto& [share, gpu_util] :
       // Between SM activity and the time that kernels run: sqrt(0.6), but no more than that time.
       {std::pair{0.75, 1.0}, {scenarios::kBusyOfGpuUtil * 0.6, 0.6}}) {
    const double busy = scenarios::kBusyOfGpuUtil * gpu_util;
    const auto limited = [&](double part) {
      const models::ClientLaw law{
          part, models::kDefaultBandwidthShare, models::kDefaultNorm, {}, {}};
      return models::client_in(law, {}, mps.active_threads);
    };
    clients.push_back(limited(share));
    // The kernels' own time grows by the work in it.
    clients.back().duty = busy * limited(share / busy).stretch / clients.back().stretch;
  }
  std::vector<double> speeds(2);
  models::shared_speeds(clients, speeds);
  const double until = 1'000 * clients[1].stretch / speeds[1];
  const double done = until * speeds[0] / clients[0].stretch;
  EXPECT_NEAR(end_s(result, 1), until, 1e-5);
  EXPECT_NEAR(end_s(result, 0), until + (1'000 - done) * clients[0].stretch, 1e-5);
}

// Nothing of them is a kernel that neighbours could make longer.
TEST(ReplaySharing, JobsWithoutKernelsAreNotSlowedUnderMps) {
  auto trace = trace_of({{0, 1'000, 1}, {0, 2'000, 1}});
  use_gpus(trace, {0, 0});
  const ReplayResult result = replayed_shared(trace, on_instances("g4dn.xlarge", 1, "mps:4"));
  EXPECT_NEAR(end_s(result, 0), 1'000, 1e-3);
  EXPECT_NEAR(end_s(result, 1), 2'000, 1e-3);
}

TEST(ReplaySharing, AMigInstanceStretchesJobsAndKeepsThemApart) {
  auto trace = trace_of({{0, 1'000, 1}, {0, 1'000, 1}, {0, 500, 2}});
  use_gpus(trace, {1'000, 200, 500});
  const ReplaySettings settings = on_instances("p4d.24xlarge", 1, "mig:all-1g.5gb");
  const DomainKind& kind = settings.sharing->pools.front().kinds.front();
  EXPECT_EQ(settings.sharing->tickets, 7);
  const ReplayResult result = replayed_shared(trace, settings);
  for (const std::size_t job : {0U, 1U}) {
    const double busy = scenarios::kBusyOfGpuUtil * (job == 0 ? 1.0 : 0.2);
    const models::ClientLaw law{busy, models::kDefaultBandwidthShare, models::kDefaultNorm, {}, {}};
    EXPECT_NEAR(end_s(result, job), 1'000 * models::client_in(law, kind.share, 1).stretch, 1e-6);
  }
  EXPECT_GT(end_s(result, 0), 4'000);
  ASSERT_EQ(result.sharing->refusals.size(), 1U);
  EXPECT_EQ(result.sharing->refusals[0].reason, TurnedAway::SeveralGpus);
  EXPECT_EQ(result.sharing->refusals[0].first.row, 3);
  EXPECT_EQ(judge(result, false).reasons.front().brief, "1 fit nowhere");
}

TEST(ReplaySharing, WhoFindsNoMemoryComesBackAsTheJobControllerHasIt) {
  // A T4 has 15 GiB; both jobs do not fit together.
  for (const auto& [first_runs, killed, end] :
       {std::tuple{300, 5, 415}, std::tuple{635, 6, 735}, std::tuple{2'000, 7, -1}}) {
    for (const QueuePolicy queue :
         {QueuePolicy::Fifo, QueuePolicy::Backfill, QueuePolicy::Easy, QueuePolicy::Priority}) {
      auto trace = trace_of({{0, first_runs, 1}, {5, 100, 1}});
      trace.gpu_memory.owned = {gibibytes(10), gibibytes(10)};
      const ReplayResult result =
          replayed_shared(trace, on_instances("g4dn.xlarge", 1, "time-slicing:2", queue));
      EXPECT_EQ(result.sharing->oom_killed, killed);
      EXPECT_EQ(end_s(result, 1), end);
      EXPECT_EQ(end_s(result, 0), first_runs);  // nobody ran beside it
      EXPECT_EQ(result.sharing->failed, end < 0 ? 1 : 0);
      EXPECT_EQ(judge(result, false).stands(), end >= 0);
    }
  }
}

TEST(ReplaySharing, WhatNeedsMoreMemoryThanASliceHasIsCountedAndNamed) {
  auto trace = trace_of({{0, 10, 1}, {1, 10, 1}, {2, 10, 1}});
  trace.gpu_memory.owned = {gibibytes(1), gibibytes(8), gibibytes(100)};
  const ReplayResult mps = replayed_shared(trace, on_instances("g4dn.xlarge", 1, "mps:4"));
  EXPECT_EQ(mps.finished, 1);
  EXPECT_EQ(mps.sharing->refused(), 2);
  EXPECT_EQ(mps.sharing->refusals[0].first.row, 2);
  const ReplayResult alone = replayed_shared(trace, on_instances("g4dn.xlarge", 1, "exclusive"));
  EXPECT_EQ(alone.finished, 2);
  EXPECT_EQ(alone.sharing->refusals[0].first.row, 3);
}

// A T4 has 15 GiB, an A10G 22: who needs more than the first goes to the second, whatever the rule
// would rather have, and waits there though the others are free.
TEST(ReplaySharing, OfTwoKindsOfGpusAJobTakesThoseThatHaveItsMemory) {
  auto trace = trace_of({{0, 100, 1}, {0, 100, 1}, {1, 100, 1}, {2, 100, 1}, {3, 100, 4}});
  trace.gpu_memory.owned = {gibibytes(18), gibibytes(2), gibibytes(18), gibibytes(30),
                            gibibytes(18)};
  for (const NodePolicy placement :
       {NodePolicy::BestFit, NodePolicy::LeastAllocated, NodePolicy::Fgd, NodePolicy::Random}) {
    ReplaySettings settings = on_instances("g4dn.12xlarge", 1, "", QueuePolicy::Backfill);
    settings.cluster.nodes.push_back(on_instances("g5.xlarge", 1, "").cluster.nodes.front());
    settings.placement = placement;
    settings.sharing = shared("exclusive", {"g4dn.12xlarge", "g5.xlarge"});
    const ReplayResult result = replayed_shared(trace, settings);
    EXPECT_EQ(result.sharing->oom_killed, 0) << policy_name(placement);
    EXPECT_EQ(end_s(result, 0), 100);
    EXPECT_EQ(end_s(result, 1), 100);
    EXPECT_EQ(end_s(result, 2), 200);
    EXPECT_EQ(result.sharing->refused(), 1);  // 30 GiB: no GPU has them
    EXPECT_EQ(result.never_fit, 1);           // four GPUs have too little, and the one is one
    trace.gpu_models.owned = {1, 0, 0, 0, 0};
    trace.names = {"", "T4"};
    EXPECT_EQ(replayed_shared(trace, settings).never_fit, 2);  // it names the one that is too small
    trace.gpu_models.owned.clear();
  }
}

// Whatever meets whatever, preempted or not: the time in which kernels run is that of the jobs
// alone, so no work is lost or done twice while paces change.
TEST(ReplaySharing, NoWorkIsLostWhilePacesChange) {
  for (const bool gangs : {false, true}) {
    const auto trace = mixed_jobs(11, gangs);
    double busy_s = 0;
    for (std::size_t row = 0; row < trace.size(); ++row) {
      Duration run = trace.run[row];
      // A gang holds all its GPUs until its longest row is through.
      for (std::size_t at = 0; gangs && at < trace.size(); ++at) {
        if (trace.gang[row] != 0 && trace.gang[at] == trace.gang[row]) {
          run = std::max(run, trace.run[at]);
        }
      }
      busy_s += to_seconds(run) * trace.gpus[row] * scenarios::kBusyOfGpuUtil *
                trace.gpu_permille[row] / 1000.0;
    }
    for (const QueuePolicy queue :
         {QueuePolicy::Fifo, QueuePolicy::Backfill, QueuePolicy::Easy, QueuePolicy::Priority}) {
      const ReplayResult result =
          replayed_shared(trace, on_instances("p3.16xlarge", 2, "time-slicing:3", queue));
      EXPECT_EQ(result.finished, 400);
      EXPECT_GT(result.sharing->slowdown.mean(), 1.01);
      const double measured_s =
          result.sharing->gpu_busy * result.total_gpus * to_seconds(result.makespan());
      EXPECT_NEAR(measured_s / busy_s, 1, 1e-6) << policy_name(queue);
    }
  }
}

// The same three jobs, written down as a scenario, in steady state.
TEST(ReplaySharing, AgreesWithRunOnTheSameJobs) {
  struct Case {
    std::string way;
    std::string instance;
  };
  for (const Case& at : {Case{"time-slicing:4", "p3.2xlarge"}, Case{"mps:4", "p3.2xlarge"},
                         Case{"exclusive", "p3.8xlarge"}}) {
    constexpr std::int64_t kArrivals[] = {0, 100, 900};
    constexpr int kUnits[] = {100, 40, 70};  // of 18 s
    constexpr double kUse[] = {0.9, 0.5, 0.75};
    scenarios::JobTrace trace;
    scenarios::NodePool pool = demo::pool(0);
    pool.instance_type.value = at.instance;
    if (at.way != "exclusive") {
      scenarios::PluginSharing plugin;
      plugin.resources.push_back({{"nvidia.com/gpu", {}}, 4, {}});
      pool.device_plugin.emplace();
      (at.way == "mps:4" ? pool.device_plugin->mps : pool.device_plugin->time_slicing) = plugin;
    }
    std::vector<scenarios::Workload> workloads;
    for (std::size_t job = 0; job < 3; ++job) {
      trace.arrival.owned.push_back(seconds(kArrivals[job]));
      trace.run.owned.push_back(seconds(18 * kUnits[job]));
      trace.gpus.owned.push_back(1);
      trace.gpu_permille.owned.push_back(static_cast<std::int32_t>(1000 * kUse[job]));
      trace.sm_permille.owned.push_back(300);
      scenarios::Workload workload = demo::training(1);
      workload.name.value = "job" + std::to_string(job);
      workload.submit_at = seconds(kArrivals[job]);
      workload.work = scenarios::Work{kUnits[job], "epoch", 1563};
      workload.measured->gpu_busy.reset();
      workload.measured->gpu_util = kUse[job];
      workload.measured->sm_active = 0.3;
      workloads.push_back(workload);
    }
    const VariantResult run = demo::result(demo::scenario(pool, workloads));
    const ReplayResult result = replayed_shared(trace, on_instances(at.instance, 1, at.way));
    for (std::size_t job = 0; job < 3; ++job) {
      const Duration completion = run.workloads[job].job_completion->mean;
      const double here = end_s(result, job) - static_cast<double>(kArrivals[job]);
      EXPECT_NEAR(here / to_seconds(completion), 1, 1e-6) << at.way << " " << job;
    }
  }
}

TEST(ReplaySharing, WhatATraceSaysOfItsJobsIsCounted) {
  constexpr std::int32_t kUnknown = scenarios::kUnknownNumber;
  auto trace = trace_of({{0, 10, 1}, {0, 10, 1}, {0, 10, 1}, {0, 10, 1}, {0, 10, 0}});
  trace.gpu_permille.owned = {400, kUnknown, kUnknown, kUnknown, kUnknown};
  trace.sm_permille.owned = {100, 300, kUnknown, kUnknown, kUnknown};
  trace.gpu_milli.owned = {1000, 500, 250, 1000, 1000};
  trace.gpu_memory.owned = {gibibytes(1), {-1}, {-1}, gibibytes(2), {-1}};
  trace.names = {"", "g4dn.xlarge", "T4", "G9"};
  trace.instance_type.owned = {1, 0, 0, 0, 0};
  trace.gpu_models.owned = {0, 2, 3, 0, 0};
  ReplaySettings settings = on_instances("g4dn.xlarge", 5, "time-slicing:2");
  settings.cluster.any_gpu_model = true;
  const ReplayResult result = replayed_shared(trace, settings);
  const JobFigures& known = result.sharing->known;
  EXPECT_EQ(known.jobs, 4);
  EXPECT_EQ(known.with_use, 2);
  EXPECT_EQ(known.with_fraction, 1);
  EXPECT_EQ(known.with_sm, 2);
  EXPECT_EQ(known.with_memory, 2);
  EXPECT_EQ(known.with_gpu, 2);
  // Kernels run 0.75 x 0.4, 0.3, 0.25 and all of the time.
  const double busy_s = result.sharing->gpu_busy * 5 * to_seconds(result.makespan());
  EXPECT_NEAR(busy_s, 10 * (0.3 + 0.3 + 0.25 + 1), 1e-6);
}

// A job that was recorded on a T4 is carried over to an A10G by the roofline rule.
TEST(ReplaySharing, TimesAreCarriedOverFromTheGpuOfTheLog) {
  auto trace = trace_of({{0, 1'000, 1}});
  use_gpus(trace, {1'000});
  trace.names = {"", "g4dn.xlarge"};
  trace.instance_type.owned = {1};
  const ReplayResult result = replayed_shared(trace, on_instances("g5.xlarge", 1, "exclusive"));
  const models::Catalogue& catalogue = demo::catalogue();
  const double scale = models::roofline_scale(
      *catalogue.find_gpu("T4"), *catalogue.find_gpu("A10G"), models::kDefaultBandwidthShare);
  models::ClientLaw law{
      scenarios::kBusyOfGpuUtil, models::kDefaultBandwidthShare, models::kDefaultNorm, {}, {}};
  EXPECT_NEAR(end_s(result, 0), 1'000 * models::client_in(law, {1 / scale, 1 / scale}, 1).stretch,
              1e-5);
  EXPECT_LT(end_s(result, 0), 900);
  EXPECT_NEAR(result.sharing->slowdown.mean(), 1, 1e-9);
}

TEST(ReplaySharing, JobsAreGroupedWorstFirst) {
  const auto trace = mixed_jobs(3, false);
  ReplaySettings settings = on_instances("p3.16xlarge", 2, "time-slicing:4");
  settings.group_by = GroupBy::User;
  const ReplayResult result = replayed_shared(trace, settings);
  ASSERT_EQ(result.groups.size(), 3U);
  std::int64_t finished = 0;
  for (std::size_t group = 0; group < 3; ++group) {
    finished += result.groups[group].finished;
    if (group > 0) {
      EXPECT_GE(result.groups[group - 1].slowdown.mean(), result.groups[group].slowdown.mean());
    }
  }
  EXPECT_EQ(finished, 400);
  EXPECT_EQ(result.sharing->users.front().name, result.groups.front().name);
  EXPECT_EQ(result.sharing->users.front().mean_slowdown, result.groups.front().slowdown.mean());
}

TEST(ReplaySharing, SpreadingSharesOnlyWhatItMust) {
  auto trace = trace_of({{0, 100, 1}, {0, 100, 1}, {0, 100, 1}, {0, 100, 1}});
  ReplaySettings settings = on_instances("g4dn.12xlarge", 1, "time-slicing:4");
  EXPECT_GT(replayed_shared(trace, settings).sharing->slowdown.mean(), 3);
  settings.placement = NodePolicy::LeastAllocated;
  EXPECT_EQ(replayed_shared(trace, settings).sharing->slowdown.mean(), 1);
  ReplaySettings nodes = on_instances("g4dn.xlarge", 4, "time-slicing:4");
  nodes.placement = NodePolicy::LeastAllocated;
  EXPECT_EQ(replayed_shared(trace, nodes).sharing->slowdown.mean(), 1);
}

TEST(ReplaySharing, WaysThatAGpuDoesNotHaveAreRefused) {
  const auto refused = [](const std::string& way, const std::string& instance) {
    const std::vector<std::string> types = {instance};
    const auto sharing =
        share_gpus(*scenarios::read_sharing_way(way), types, "us-east-1", demo::catalogue());
    return sharing ? Code{} : sharing.error().front().code;
  };
  EXPECT_EQ(refused("mig:all-1g.5gb", "g4dn.xlarge"), Code::MigUnsupported);
  EXPECT_EQ(refused("mig:all-1g.10g", "p4d.24xlarge"), Code::MigConfigUnknown);
  EXPECT_EQ(refused("mig:all-balanced", "p4d.24xlarge"), Code::StrategyNotModelled);
  EXPECT_EQ(refused("mig:all-disabled", "p4d.24xlarge"), Code::StrategyNotModelled);
  EXPECT_EQ(refused("mps:60", "p4d.24xlarge"), Code::MpsTooManyClients);
  for (const char* way :
       {"", "exclusiv", "exclusive:2", "time-slicing", "time-slicing:1", "time-slicing:4x",
        "timeslice:4", "ts:4", "mps:99999999999", "mig", "mig:"}) {
    EXPECT_FALSE(scenarios::read_sharing_way(way).has_value()) << way;
  }
}

// What people type, and what results call it.
TEST(ReplaySharing, AWayIsTakenInTheSpellingsOfOtherFilesToo) {
  const std::pair<const char*, const char*> table[] = {
      {"time-slicing:4", "time-slicing:4"}, {"timeSlicing:4", "time-slicing:4"},
      {"time_slicing:4", "time-slicing:4"}, {"MPS:2", "mps:2"},
      {"MIG:all-1g.5gb", "mig:all-1g.5gb"}, {"Exclusive", "exclusive"}};
  for (const auto& [typed, canonical] : table) {
    const auto way = scenarios::read_sharing_way(typed);
    ASSERT_TRUE(way.has_value()) << typed;
    EXPECT_EQ(way->text, canonical);
  }
  const std::pair<const char*, const char*> meant[] = {
      {"ts:4", "time-slicing"}, {"timeslice:4", "time-slicing"}, {"none", "exclusive"}};
  for (const auto& [typed, word] : meant) {
    const auto way = scenarios::read_sharing_way(typed);
    ASSERT_FALSE(way.has_value()) << typed;
    EXPECT_NE(way.error().front().help.find("did you mean " + std::string(word)), std::string::npos)
        << way.error().front().help;
  }
}

}  // namespace
}  // namespace slicewise::sim
