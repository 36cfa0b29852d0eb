#include "studies/probe/sure_misses.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "run/replications.hpp"
#include "studies/probe/probe.hpp"
#include "studies/probe/simulations.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Figure;
using scenarios::Scenario;
using scenarios::Workload;
using Law = scenarios::ServiceTime::Law;

scenarios::Objective objective(Figure figure, scenarios::FigureValue limit) {
  scenarios::Objective made;
  made.figure = figure;
  made.limit = limit;
  return made;
}

// A pod that takes 10 ms for each request.
Workload service(const char* name, double rate, scenarios::Objective objective) {
  Workload w = demo::service(1, rate, milliseconds(10), Law::Exponential);
  w.name.value = name;
  w.measured->device.value = "T4";
  w.objectives.push_back(std::move(objective));
  return w;
}

Scenario hours_of(std::vector<Workload> workloads, int hours_long = 1) {
  Scenario s = demo::scenario(demo::pool(0), std::move(workloads));
  s.node_pools.front().instance_type.value = "g4dn.xlarge";
  s.duration = hours(hours_long);
  s.warmup = minutes(1);
  s.replications = 3;
  return s;
}

PlanProbe probe_on(const Scenario& s, int nodes) {
  PlanProbe probe;
  PoolChoice choice;
  choice.instance_type = "g4dn.xlarge";
  choice.nodes = nodes;
  choice.workloads = workloads_with_pods(s);
  probe.pools = {choice};
  probe.replications = s.replications;
  probe.until_clear = true;
  return probe;
}

// As far as one replication goes until a miss is sure, and in how many events.
struct Stopped {
  std::vector<SureMiss> misses;
  Replication record;
};
Stopped until_sure(const World& world) {
  Stopped stopped;
  SureMisses sure(world, 0);
  stopped.record = *whole_replication(world, 0, {}, [&](const Replication& so_far) {
    stopped.misses = sure.in(so_far);
    return !stopped.misses.empty();
  });
  return stopped;
}

double share_above(const Replication& record, Duration limit) {
  const RequestRecord& requests = record.workloads.front().requests;
  return static_cast<double>(requests.latency.count_above(limit)) /
         static_cast<double>(requests.answered);
}

// Loads from hardly any to twice what the pod can do, in all ways that requests come: whoever is
// given up misses twice the limit when nobody gives up, and of those that come to so many most are.
TEST(ThoroughSureMisses, WhatIsGivenUpWouldHaveMissedByFar) {
  scenarios::Diurnal day;
  day.peak_at = minutes(30);
  const std::vector<scenarios::RateStep> steps{
      {{}, {40}}, {minutes(20), {160}}, {minutes(45), {10}}};
  int given_up = 0;
  int kept = 0;
  for (const double rate : {60.0, 95.0, 105.0, 150.0}) {
    for (int shape = 0; shape < 4; ++shape) {
      const Duration limit = milliseconds(400);
      Workload api = service("api", rate, objective(Figure::LatencyP95, limit));
      if (shape == 1) {
        day.peak.per_second = 1.5 * rate;
        api.traffic->shape = day;
      }
      if (shape == 2) api.traffic->shape = steps;
      if (shape == 3) api.traffic->shape = scenarios::Bursts{{2 * rate}, minutes(2), minutes(10)};
      const World world = demo::world(hours_of({api}));
      const Stopped stopped = until_sure(world);
      if (stopped.misses.empty()) {
        ++kept;
        continue;
      }
      ++given_up;
      const Replication whole = run_replication(world, 0);
      EXPECT_LT(stopped.record.length, whole.length);
      EXPECT_GT(whole.workloads.front().requests.latency.quantile(0.95), limit * 2)
          << rate << " " << shape;
      EXPECT_GT(share_above(whole, limit * 2), 0.05);
    }
  }
  EXPECT_GE(given_up, 8);
  EXPECT_GE(kept, 2);
}

// 1.5 times what the pod can do: 5 % of an hour's requests are late after some minutes.
TEST(SureMisses, AreKnownLongBeforeTheEnd) {
  const World world = demo::world(
      hours_of({service("api", 150, objective(Figure::LatencyP95, milliseconds(200)))}));
  const Stopped stopped = until_sure(world);
  ASSERT_EQ(stopped.misses.size(), 1U);
  EXPECT_LT(stopped.record.length, minutes(30));
}

// Half of the requests may be late: that is not sure while less than half of all have come.
TEST(SureMisses, AreOfAllThatWillCome) {
  const World world = demo::world(
      hours_of({service("api", 110, objective(Figure::LatencyP50, milliseconds(200)))}, 2));
  const Stopped stopped = until_sure(world);
  ASSERT_EQ(stopped.misses.size(), 1U);
  EXPECT_GT(stopped.record.length, hours(1));
}

TEST(SureMisses, LostRequestsMissAnAvailability) {
  Workload api = service("api", 200, objective(Figure::Availability, scenarios::Share{0.99}));
  api.serving.queue_limit = 3;
  const World world = demo::world(hours_of({api}));
  const Stopped stopped = until_sure(world);
  ASSERT_EQ(stopped.misses.size(), 1U);
  EXPECT_LT(stopped.record.length, minutes(30));
}

// Whose answers bring the next request: how many will come is not known.
TEST(SureMisses, KnowNothingOfAClosedLoop) {
  Workload api = service("api", 150, objective(Figure::LatencyP95, milliseconds(200)));
  api.traffic->shape = scenarios::ClosedLoop{100, {}};
  EXPECT_TRUE(until_sure(demo::world(hours_of({api}))).misses.empty());
}

// Where the cheapest alone is sought a tenth beyond the limit is enough, if a replication tells it.
// Of an M/M/1 queue that bears 100 requests/s and gets 70 the 99th percentile is 153 ms.
TEST(ThoroughSureMisses, ATenthIsEnoughOfManyRequests) {
  const auto misses = [](std::int64_t limit_ms, double by_far, Duration length) {
    const Duration limit = milliseconds(limit_ms);
    Scenario s = hours_of({service("api", 70, objective(Figure::LatencyP99, limit))});
    s.duration = length;
    const World world = demo::world(s);
    SureMisses sure(world, 0, by_far);
    std::vector<SureMiss> found;
    const Replication record = *whole_replication(world, 0, {}, [&](const Replication& so_far) {
      found = sure.in(so_far);
      return !found.empty();
    });
    if (!found.empty()) {
      const Replication whole = run_replication(world, 0);
      EXPECT_LT(record.length, whole.length);
      EXPECT_GT(share_above(whole, from_seconds(kMissEnough * to_seconds(limit))), 0.01);
    }
    return !found.empty();
  };
  EXPECT_TRUE(misses(90, kMissEnough, hours(1)));
  EXPECT_FALSE(misses(90, kClearFactor, hours(1)));
  EXPECT_FALSE(misses(150, kMissEnough, hours(1)));
  // After the warm-up of a minute 70 or 42 requests lie beyond.
  EXPECT_TRUE(misses(90, kMissEnough, seconds(160)));
  EXPECT_FALSE(misses(90, kMissEnough, seconds(120)));
}

// Far below the limit that is likely soon, close to it never; nobody says so of traffic that
// changes.
TEST(ThoroughSureMisses, WhatIsLikelyToHoldHolds) {
  const auto likely_after = [](Workload api) -> std::optional<double> {
    const World world = demo::world(hours_of({std::move(api)}));
    bool likely = false;
    const Replication record = *whole_replication(world, 0, {}, [&](const Replication& so_far) {
      return likely = is_likely_to_hold(world, so_far);
    });
    if (!likely) return std::nullopt;
    return to_seconds(record.length) / to_seconds(*world.duration);
  };
  const auto with_limit = [](std::int64_t ms) {
    return service("api", 70, objective(Figure::LatencyP95, milliseconds(ms)));
  };
  const auto soon = likely_after(with_limit(300));
  ASSERT_TRUE(soon);
  EXPECT_LT(*soon, 0.1);
  EXPECT_FALSE(likely_after(with_limit(90)));  // it misses
  Workload daily = with_limit(300);
  scenarios::Diurnal day;
  day.peak.per_second = 90;
  daily.traffic->shape = day;
  EXPECT_FALSE(likely_after(daily));
  Workload answered = with_limit(300);
  answered.objectives.push_back(objective(Figure::Availability, scenarios::Share{0.9}));
  EXPECT_FALSE(likely_after(answered));
}

// A pod that is scaled far too late, which cannot be taken apart; and two Services apart, one after
// the other: what an answer says does not hang on who asked before, nor on how many threads.
TEST(ThoroughSureMisses, AnAnswerSaysWhatIsSureAndNothingElse) {
  const Duration limit = milliseconds(200);
  Workload good = service("good", 20, objective(Figure::LatencyP95, limit));
  Workload bad = service("bad", 150, objective(Figure::LatencyP95, limit));
  bad.objectives.push_back(objective(Figure::LatencyP50, milliseconds(1)));
  Workload scaled = bad;
  scaled.autoscaling.emplace();
  scaled.autoscaling->max_replicas = 1;
  scaled.autoscaling->target = 2;
  for (const Workload& hopeless : {bad, scaled}) {
    const Scenario s = hours_of({good, hopeless});
    const PlanProbe probe = probe_on(s, 2);
    const ProbeAnswerer answer = probe_answerer(s, demo::catalogue());
    const PlanAnswer first = answer(probe, 1);
    ASSERT_TRUE(first.figures);
    EXPECT_TRUE(first.partial);
    EXPECT_FALSE(first.figures->stands());
    EXPECT_TRUE(fails_clearly(*first.figures));
    EXPECT_EQ(first.figures->replications, 1);
    ASSERT_EQ(first.figures->objectives.size(), 1U);
    EXPECT_EQ(first.figures->objectives.front().result.name, "latencyP95");
    PlanProbe whole = probe;
    whole.until_clear = false;
    whole.replications = 1;
    const PlanAnswer all = answer(whole, 2);
    ASSERT_TRUE(all.figures);
    EXPECT_TRUE(fails_clearly(*all.figures));
    EXPECT_EQ(all.figures->objectives.size(), 3U);
    EXPECT_EQ(answer_line(answer(whole, 1)),
              answer_line(probe_answerer(s, demo::catalogue())(whole, 1)));
    EXPECT_EQ(answer_line(answer(probe, 2)), answer_line(first));
  }
}

}  // namespace
}  // namespace slicewise::sim
