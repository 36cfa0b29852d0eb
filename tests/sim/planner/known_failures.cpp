#include "studies/probe/known_failures.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../demo.hpp"
#include "studies/probe/probe.hpp"
#include "studies/probe/simulations.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::ServiceTime;
using scenarios::Workload;

constexpr const char* kGpuTime = "workloads.api.requestGpuTime";
constexpr const char* kMemory = "workloads.api.gpuMemory";

// Two Services that are slow on one T4; each has its own load.
Scenario busy_pair(double rate, Duration limit) {
  Workload api = demo::service(1, rate, milliseconds(20), ServiceTime::Law::Exponential);
  api.measured->device.value = "T4";
  api.objectives.push_back({scenarios::Figure::LatencyP95, limit, {}});
  Workload other = api;
  other.name.value = "other";
  Scenario scenario = demo::scenario(demo::pool(0), {api, other});
  scenario.node_pools.front().instance_type.value = "g4dn.xlarge";
  scenario.duration = seconds(20);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  return scenario;
}

PlanProbe probe_with(const std::string& input, double factor) {
  PlanProbe probe;
  PoolChoice pool;
  pool.instance_type = "g4dn.xlarge";
  pool.strategy = Strategy::TimeSlicing;
  pool.replicas = 2;
  pool.workloads = {"api", "other"};
  probe.pools = {pool};
  probe.replications = 2;
  probe.input = input;
  probe.factor = factor;
  probe.until_clear = true;
  return probe;
}

PlanAnswer no_because(Verdict::Cause cause) {
  PlanAnswer answer;
  answer.figures.emplace().verdict.reasons.push_back({cause, "api", "", ""});
  return answer;
}

KnownFailures known_of(const Scenario& scenario, const PlanProbe& failed,
                       Verdict::Cause cause = Verdict::Cause::ObjectiveMissed) {
  KnownFailures known(scenario);
  known.note(failed, no_because(cause));
  return known;
}

TEST(KnownFailures, MoreIsWorse) {
  const KnownFailures known = known_of(busy_pair(10, seconds(1)), probe_with("", 1));
  EXPECT_TRUE(known.find(probe_with(kGpuTime, 1.1)));
  EXPECT_TRUE(known.find(probe_with("traffic", 2)));
  EXPECT_TRUE(known.find(probe_with("traffic", 2))->partial);
  EXPECT_FALSE(known.find(probe_with(kGpuTime, 0.5)));
  EXPECT_FALSE(known.find(probe_with("smActive", 1.5)));  // a share, not how many times
}

TEST(KnownFailures, OfOneInputSayNothingOfAnother) {
  const KnownFailures known = known_of(busy_pair(10, seconds(1)), probe_with(kGpuTime, 1.5));
  EXPECT_TRUE(known.find(probe_with(kGpuTime, 1.6)));
  EXPECT_FALSE(known.find(probe_with(kGpuTime, 1.4)));
  EXPECT_FALSE(known.find(probe_with("traffic", 1.6)));
  EXPECT_FALSE(known.find(probe_with("", 1)));
}

TEST(KnownFailures, AreOfThesePoolsInAsManyReplications) {
  KnownFailures known = known_of(busy_pair(10, seconds(1)), probe_with("", 1));
  PlanProbe other = probe_with("traffic", 2);
  other.pools.front().nodes = 2;
  EXPECT_FALSE(known.find(other));
  PlanProbe longer = probe_with("traffic", 2);
  longer.replications = 5;
  EXPECT_FALSE(known.find(longer));
  longer.input = "";
  longer.factor = 1;
  longer.draw = 1;  // stood, but not with other random numbers
  known.note(longer, no_because(Verdict::Cause::ObjectiveMissed));
  longer.draw = 0;
  longer.input = "traffic";
  longer.factor = 2;
  EXPECT_TRUE(known.find(longer));
}

TEST(KnownFailures, LessMemoryMakesNothingFaster) {
  const Scenario scenario = busy_pair(10, seconds(1));
  EXPECT_TRUE(known_of(scenario, probe_with("", 1)).find(probe_with(kMemory, 0.5)));
  EXPECT_FALSE(known_of(scenario, probe_with("", 1), Verdict::Cause::OutOfMemory)
                   .find(probe_with(kMemory, 0.5)));
}

TEST(KnownFailures, AreForgottenWhereMoreMayBeBetter) {
  Scenario scaled = busy_pair(10, seconds(1));
  scaled.workloads.front().autoscaling.emplace();
  EXPECT_FALSE(known_of(scaled, probe_with("", 1)).find(probe_with("traffic", 2)));
  Scenario waiting = busy_pair(10, seconds(1));
  waiting.workloads.front().traffic->shape = scenarios::ClosedLoop{3, {}};
  EXPECT_FALSE(known_of(waiting, probe_with("", 1)).find(probe_with(kGpuTime, 2)));
  Scenario batched = busy_pair(10, seconds(1));
  batched.workloads.front().serving.max_batch = 8;
  EXPECT_FALSE(known_of(batched, probe_with("", 1)).find(probe_with("traffic", 2)));
  EXPECT_TRUE(known_of(batched, probe_with("", 1)).find(probe_with(kGpuTime, 2)));
}

// The definition: whatever is foregone fails when it is simulated.
TEST(ThoroughKnownFailures, DoFailWhenTheyAreSimulated) {
  int foregone = 0;
  int bears_more = 0;
  for (const double rate : {8.0, 16.0, 24.0}) {
    for (const std::int64_t limit : {40, 60, 120, 400}) {
      const Scenario scenario = busy_pair(rate, milliseconds(limit));
      const ProbeAnswerer answer = probe_answerer(scenario, demo::catalogue());
      KnownFailures known(scenario);
      for (const auto& [input, factor] : std::vector<std::pair<const char*, double>>{
               {"", 1}, {"traffic", 1.2}, {"traffic", 1.5}, {kGpuTime, 1.3}, {kMemory, 0.5}}) {
        const PlanProbe probe = probe_with(input, factor);
        const PlanAnswer is = answer(probe, 1);
        ASSERT_TRUE(is.figures);
        bears_more += factor > 1 && is.figures->stands() ? 1 : 0;
        if (known.find(probe)) {
          ++foregone;
          EXPECT_FALSE(is.figures->stands()) << rate << ' ' << limit << ' ' << input;
        }
        known.note(probe, is);
      }
    }
  }
  EXPECT_GT(foregone, 8);
  EXPECT_GT(bears_more, 2);  // of which a wrong word would be seen
}

// A batch asks the runner nothing that is known to fail.
TEST(KnownFailures, AreNotAskedFor) {
  const Scenario scenario = busy_pair(10, seconds(1));
  int asked = 0;
  ProbeBatch probes(
      [&](std::span<const PlanProbe> open, const ProbeAnswered&) {
        asked += static_cast<int>(open.size());
        return std::vector(open.size(), no_because(Verdict::Cause::ObjectiveMissed));
      },
      std::nullopt, KnownFailures(scenario));
  EXPECT_FALSE(probes.ask_one(probe_with("", 1)).figures->stands());
  EXPECT_FALSE(probes.ask_one(probe_with("traffic", 2)).figures->stands());
  EXPECT_EQ(asked, 1);
  probes.ask_one(probe_with("traffic", 0.5));
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace slicewise::sim
