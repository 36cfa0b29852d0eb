#include "slicewise/sim/recording.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

#include "../demo.hpp"

// A recording holds what the result holds, spread over time: whatever is added up again must come
// to the same.
namespace slicewise::sim {
namespace {

double total(const std::vector<std::int64_t>& counts) {
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
}

double seconds_of(const std::vector<Duration>& times) {
  Duration sum;
  for (const Duration time : times) sum += time;
  return to_seconds(sum);
}

// Shipped scenarios that between them have every strategy, both kinds of simulation, requests,
// pipelines, language models, notebooks, MIG changes, nodes that come and go, and pods that die.
std::vector<World> shipped(const std::string& name) {
  const std::string path =
      std::string(SLICEWISE_SOURCE_DIR) + "/scenarios/examples/" + name + ".yaml";
  std::ifstream file(path);
  const auto set = scenarios::load_scenario({path, {std::istreambuf_iterator<char>(file), {}}});
  std::vector<World> worlds;
  for (scenarios::Scenario scenario : set.value().variants) {
    scenario.replications = 1;
    // As long as a day has everything; the shape of the check does not depend on it.
    if (scenario.duration && *scenario.duration > minutes(30)) scenario.duration = minutes(30);
    scenario.warmup = std::min(scenario.warmup, minutes(1));
    worlds.push_back(demo::world(scenario));
  }
  return worlds;
}

void expect_same(const VariantResult& plain, const VariantResult& recorded) {
  EXPECT_EQ(plain.makespan.mean, recorded.makespan.mean);
  EXPECT_EQ(plain.cost.ledger.total, recorded.cost.ledger.total);
  EXPECT_EQ(plain.cost.ledger.useful, recorded.cost.ledger.useful);
  EXPECT_EQ(plain.cost.ledger.idle, recorded.cost.ledger.idle);
  EXPECT_EQ(plain.pods.restarts, recorded.pods.restarts);
  ASSERT_EQ(plain.workloads.size(), recorded.workloads.size());
  for (std::size_t w = 0; w < plain.workloads.size(); ++w) {
    EXPECT_EQ(plain.workloads[w].completed, recorded.workloads[w].completed);
    EXPECT_EQ(plain.workloads[w].gpu_busy_share, recorded.workloads[w].gpu_busy_share);
    if (!plain.workloads[w].latency) continue;
    EXPECT_EQ(plain.workloads[w].latency->mean, recorded.workloads[w].latency->mean);
    EXPECT_EQ(plain.workloads[w].latency->p99, recorded.workloads[w].latency->p99);
  }
  ASSERT_EQ(plain.gpus.size(), recorded.gpus.size());
  for (std::size_t g = 0; g < plain.gpus.size(); ++g) {
    EXPECT_EQ(plain.gpus[g].time_busy_ratio, recorded.gpus[g].time_busy_ratio);
    EXPECT_EQ(plain.gpus[g].context_switch_ratio, recorded.gpus[g].context_switch_ratio);
  }
}

void expect_buckets_hold_no_more_than_their_time(const Recording& r) {
  for (const RecordedGpu& gpu : r.gpus) {
    ASSERT_EQ(gpu.busy.size(), r.buckets());
    for (std::size_t n = 0; n < r.buckets(); ++n) {
      const Duration width = r.bucket_end(n) - (n == 0 ? TimePoint{} : r.bucket_end(n - 1));
      EXPECT_LE(gpu.busy[n] + gpu.switching[n], width + nanoseconds(2));
      EXPECT_LE(gpu.memory[n], gpu.memory_total);
    }
  }
}

// Of nodes that are always there: the ratios of others are of the time that they were.
void expect_gpus_add_up(const Recording& r) {
  ASSERT_EQ(r.gpus.size(), r.result.gpus.size());
  const double length = to_seconds(r.length);
  for (std::size_t g = 0; g < r.gpus.size(); ++g) {
    const GpuResult& gpu = r.result.gpus[g];
    EXPECT_EQ(r.gpus[g].node, gpu.node);
    EXPECT_EQ(r.gpus[g].index, gpu.index);
    EXPECT_EQ(r.gpus[g].instance, gpu.instance);
    EXPECT_NEAR(seconds_of(r.gpus[g].busy), gpu.time_busy_ratio * length, 1e-6);
    EXPECT_NEAR(seconds_of(r.gpus[g].switching), gpu.context_switch_ratio * length, 1e-6);
    EXPECT_EQ(*std::ranges::max_element(r.gpus[g].memory), gpu.memory_peak);
    EXPECT_EQ(r.gpus[g].sm_active.empty(), !gpu.sm_active_ratio);
    if (!gpu.sm_active_ratio) continue;
    // What is under way when a container ends is recorded, and lost to the result.
    EXPECT_NEAR(seconds_of(r.gpus[g].sm_active), *gpu.sm_active_ratio * length, 0.005 * length);
  }
}

void expect_pods_and_workloads_have_the_gpus_time(const Recording& r) {
  std::vector<double> of_pods(r.workloads.size());
  for (const RecordedPod& pod : r.pods) of_pods[pod.workload] += seconds_of(pod.gpu_busy);
  double gpus = 0;
  for (const RecordedGpu& gpu : r.gpus) gpus += seconds_of(gpu.busy) * gpu.share;
  double workloads = 0;
  for (const RecordedWorkload& w : r.workloads) workloads += seconds_of(w.gpu_busy);
  EXPECT_NEAR(gpus, workloads, 1e-5 * (1 + gpus));
  const bool whole_gpus =
      std::ranges::all_of(r.gpus, [](const RecordedGpu& gpu) { return gpu.share == 1; });
  if (!whole_gpus || r.left_out.pods > 0) return;
  for (std::size_t w = 0; w < r.workloads.size(); ++w) {
    EXPECT_NEAR(of_pods[w], seconds_of(r.workloads[w].gpu_busy), 1e-5 * (1 + of_pods[w]));
  }
}

void expect_lanes_do_not_overlap(const Recording& r) {
  std::int64_t deaths = 0;
  for (const RecordedPod& pod : r.pods) {
    TimePoint reached;
    for (const LaneInterval& interval : pod.intervals) {
      EXPECT_GE(interval.from, reached) << pod.name;
      EXPECT_LT(interval.from, interval.until) << pod.name;
      const bool on_gpu = interval.phase != LanePhase::Pending;
      if (interval.phase != LanePhase::BackOff) {
        EXPECT_NE(interval.gpus.empty(), on_gpu);
      }
      reached = interval.until;
    }
    EXPECT_LE(reached, TimePoint{} + r.length);
    deaths += std::ranges::count(pod.marks, LaneMark::Kind::OutOfMemory, &LaneMark::kind);
  }
  if (r.left_out.pods > 0 || r.left_out.intervals > 0) return;
  EXPECT_EQ(static_cast<double>(deaths), r.result.pods.oom_kills);
}

void expect_nodes_times_price_is_the_bill(const Recording& r) {
  Usd bill;
  for (const RecordedNode& node : r.nodes) {
    bill += node.billed;
    if (!node.launched) continue;
    const Duration billed = std::max(seconds(60), node.until - *node.launched);
    EXPECT_EQ(cost_of(node.price, billed), node.billed) << node.name;
  }
  EXPECT_EQ(bill, r.result.cost.ledger.nodes());
}

// Those that came after the warm-up, as the result counts them.
void expect_requests_add_up(const Recording& r) {
  using Outcome = RecordedRequest::Outcome;
  for (const WorkloadResult& result : r.result.workloads) {
    if (!result.requests) continue;
    const auto w = std::ranges::find(r.workloads, result.name, &RecordedWorkload::name);
    ASSERT_NE(w, r.workloads.end()) << result.name;
    std::map<Outcome, double> counts;
    double latencies = 0;
    for (const RecordedRequest& request : r.requests) {
      if (&r.workloads[request.workload] != &*w || request.arrived < TimePoint{} + r.warmup)
        continue;
      ++counts[request.outcome];
      const bool answered = request.outcome == Outcome::InTime || request.outcome == Outcome::Late;
      if (answered) latencies += to_seconds(request.over - request.arrived);
      EXPECT_EQ(answered && result.kind == "Service", request.pod.has_value());
    }
    const double answered = counts[Outcome::InTime] + counts[Outcome::Late];
    EXPECT_EQ(answered, result.requests->answered) << result.name;
    EXPECT_EQ(counts[Outcome::InTime], result.requests->in_objectives) << result.name;
    EXPECT_EQ(counts[Outcome::Refused], result.requests->refused) << result.name;
    EXPECT_EQ(counts[Outcome::TimedOut], result.requests->timed_out) << result.name;
    if (answered == 0) continue;
    EXPECT_NEAR(latencies / answered, to_seconds(result.latency->mean), 1e-6) << result.name;
  }
}

class ShippedScenario : public testing::TestWithParam<const char*> {};

TEST_P(ShippedScenario, AddsUpToItsResult) {
  std::vector<World> worlds = shipped(GetParam());
  if (worlds.size() > 2) worlds.erase(worlds.begin() + 2, worlds.end());  // differ in numbers only
  for (const World& world : worlds) {
    SCOPED_TRACE(world.name);
    RecordingLimits limits;
    limits.requests = 10'000'000;
    const Recording r = record(world, limits).value();
    EXPECT_FALSE(r.left_out.any());
    expect_requests_add_up(r);
    expect_same(simulate(world).value(), r.result);
    expect_buckets_hold_no_more_than_their_time(r);
    if (!world.changes_nodes()) expect_gpus_add_up(r);
    expect_pods_and_workloads_have_the_gpus_time(r);
    expect_lanes_do_not_overlap(r);
    expect_nodes_times_price_is_the_bill(r);
  }
}

std::string without_dashes(const testing::TestParamInfo<const char*>& example) {
  std::string name = example.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Examples, ShippedScenario,
                         testing::Values("asr-tts-t4", "aws-cifar10", "karpenter-thrash",
                                         "mig-change", "mps-g5", "voice-pipeline", "chat-llm",
                                         "notebooks-g5", "data-parallel-p3"),
                         without_dashes);

// Arrivals stop early, so that all are through at the end.
World ten_minutes_of_requests(Duration warmup) {
  scenarios::Workload api =
      demo::service(3, 40, milliseconds(30), scenarios::ServiceTime::Law::Exponential);
  const Rate rate = api.traffic->mean;
  api.traffic->shape = std::vector<scenarios::RateStep>{{{}, rate}, {minutes(9), {}}};
  scenarios::Objective objective;
  objective.figure = scenarios::Figure::LatencyP99;
  objective.limit = scenarios::FigureValue(milliseconds(60));
  api.objectives = {objective};
  scenarios::Scenario s = demo::scenario(demo::pool(2), {api});
  s.duration = minutes(10);
  s.warmup = warmup;
  return demo::world(s);
}

TEST(RecordedRequests, BeyondTheLimitAreCounted) {
  RecordingLimits limits;
  limits.requests = 100;
  const Recording r = record(ten_minutes_of_requests({}), limits).value();
  const RecordedWorkload& api = r.workloads.at(0);
  EXPECT_EQ(r.requests.size(), 100U);
  EXPECT_EQ(total(api.completed) + total(api.lost), 100 + static_cast<double>(r.left_out.requests));
  EXPECT_TRUE(std::ranges::is_sorted(r.requests, {}, &RecordedRequest::over));
}

TEST(RecordedRequests, AddUpToTheResult) {
  const Recording r = record(ten_minutes_of_requests({})).value();
  const RecordedWorkload& api = r.workloads.at(0);
  const RequestCounts& counts = r.result.workloads.at(0).requests.value();
  EXPECT_EQ(total(api.arrived), counts.arrived);
  EXPECT_EQ(total(api.completed), counts.answered);
  EXPECT_EQ(total(api.completed) - total(api.late), counts.in_objectives);
  EXPECT_EQ(total(api.lost), counts.refused + counts.dropped + counts.timed_out);
  EXPECT_GT(total(api.late), 0);
  EXPECT_EQ(api.in_system.back(), 0);
  // The limit is a bound of the histogram: within it are those that are not late.
  const auto limit = std::ranges::find(api.latency_bounds, milliseconds(60));
  ASSERT_NE(limit, api.latency_bounds.end());
  const auto bound = static_cast<std::size_t>(limit - api.latency_bounds.begin());
  for (std::size_t n = 0; n < r.buckets(); ++n) {
    EXPECT_EQ(api.within_bound.at(n * api.latency_bounds.size() + bound),
              api.completed[n] - api.late[n]);
    EXPECT_EQ(api.p99[n].has_value(), api.completed[n] > 0);
    EXPECT_LE(api.p50[n], api.p99[n]);
  }
}

// Requests whose host work takes ten times as long as they may wait. They were dropped at a moment
// that had been: the clock went back.
TEST(RecordedRequests, NobodyIsDroppedBeforeTheHostIsDone) {
  scenarios::Workload api =
      demo::service(1, 50, milliseconds(30), scenarios::ServiceTime::Law::Exponential);
  api.serving.cpu_before = milliseconds(50);
  api.serving.timeout = milliseconds(5);
  scenarios::Scenario s = demo::scenario(demo::pool(1), {api});
  s.duration = minutes(1);
  RecordingLimits limits;
  limits.requests = 10'000;
  const Recording r = record(demo::world(s), limits).value();
  EXPECT_TRUE(std::ranges::is_sorted(r.requests, {}, &RecordedRequest::over));
  std::int64_t dropped = 0;
  for (const RecordedRequest& request : r.requests) {
    if (request.outcome != RecordedRequest::Outcome::TimedOut) continue;
    ++dropped;
    EXPECT_GE(request.over - request.arrived, milliseconds(50));
  }
  EXPECT_GT(dropped, 500);
}

TEST(RecordedRequests, WithTheWarmUp) {
  const Recording r = record(ten_minutes_of_requests(minutes(1))).value();
  EXPECT_GT(total(r.workloads[0].arrived), r.result.workloads[0].requests->arrived);
}

TEST(RecordingLimits, WhatDoesNotFitIsCounted) {
  scenarios::Workload job = demo::training(20);
  job.startup = {seconds(10), seconds(9)};  // three intervals each, in turn on four GPUs
  const World world = demo::world(demo::scenario(demo::pool(5), {job}));
  RecordingLimits limits;
  limits.buckets = 10;
  limits.gpus = 3;
  limits.pods = 4;
  limits.intervals_per_pod = 1;
  limits.nodes = 0;
  const Recording r = record(world, limits).value();
  EXPECT_LE(r.buckets(), 10U);
  EXPECT_EQ(r.pods.size(), 4U);
  EXPECT_EQ(r.left_out.pods, 16);
  EXPECT_EQ(r.gpus.size() + static_cast<std::size_t>(r.left_out.gpus), 4U);
  EXPECT_EQ(r.gpus.size(), 3U);
  EXPECT_EQ(r.left_out.nodes, 1);
  EXPECT_GT(r.left_out.intervals, 0);
}

TEST(RecordingLimits, LargeWorkloadsDoNotCrowdOutSmallOnes) {
  scenarios::Workload small = demo::training(2);
  small.name.value = "small";
  RecordingLimits limits;
  limits.pods = 6;
  const Recording r =
      record(demo::world(demo::scenario(demo::pool(5), {demo::training(20), small})), limits)
          .value();
  EXPECT_EQ(std::ranges::count(r.pods, 1U, &RecordedPod::workload), 2);
}

TEST(RecordingGrid, EndsFallOnRoundTimes) {
  scenarios::Scenario s = demo::scenario(demo::pool(1), {demo::training(1)});
  s.duration = hours(24);
  const Recording day = record(demo::world(s)).value();
  EXPECT_EQ(day.bucket, minutes(5));
  EXPECT_EQ(day.buckets(), 288U);
  EXPECT_EQ(day.bucket_end(287), TimePoint{} + hours(24));
}

// Two services on one GPU, each with more to do than its share.
World two_rivals() {
  scenarios::Workload api =
      demo::service(1, 30, milliseconds(15), scenarios::ServiceTime::Law::Deterministic);
  scenarios::Workload other = api;
  other.name.value = "other";
  scenarios::NodePool pool = demo::pool(2);
  pool.instance_type.value = "p3.2xlarge";
  scenarios::Scenario s = demo::scenario(pool, {api, other});
  s.duration = minutes(5);
  s.warmup = minutes(1);
  return demo::world(s);
}

// One after the other without overlap; no turn longer than q, no switch longer than c, and between
// two turns of different pods a switch.
TEST(RecordedTurns, FollowTheTimeSlice) {
  const World world = two_rivals();
  const models::TimeSlice slice =
      std::get<models::TimeSlicing>(world.pools[0].kinds[0].sharing).slice;
  const Recording r = record(world).value();
  ASSERT_EQ(r.turns.seen, RecordedTurns::Seen::Some);
  EXPECT_GE(r.turns.from, TimePoint{} + minutes(1));
  ASSERT_EQ(r.turns.turns.size(), 4'000U);
  const RecordedTurn* before = nullptr;
  int full = 0;
  for (const RecordedTurn& turn : r.turns.turns) {
    EXPECT_GE(turn.from, r.turns.from);
    EXPECT_LE(turn.until, r.turns.until);
    if (turn.is_switch) {
      EXPECT_EQ(turn.until - turn.from, slice.switch_cost);
      full += before != nullptr && before->until - before->from == slice.turn ? 1 : 0;
    }
    if (before != nullptr) {
      EXPECT_GE(turn.from, before->until);
      const bool handed_over = turn.from == before->until && !turn.is_switch;
      if (handed_over) {
        EXPECT_TRUE(before->is_switch);
        EXPECT_EQ(before->pod, turn.pod);
      }
    }
    before = &turn;
  }
  EXPECT_GT(full, 100);
}

TEST(RecordedTurns, SayWhyThereAreNone) {
  const World steady = demo::world(demo::scenario(demo::pool(5), {demo::training(2)}));
  EXPECT_EQ(record(steady)->turns.seen, RecordedTurns::Seen::NoEngine);
}

}  // namespace
}  // namespace slicewise::sim
