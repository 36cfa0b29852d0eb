#include "studies/probe/islands.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "studies/probe/probe.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Figure;
using scenarios::Scenario;
using scenarios::ServiceTime;
using scenarios::Workload;

// A Service of one to three pods: with host work, clients that wait, a queue limit or neither.
Workload random_service(RandomStream& random, int n) {
  const auto law =
      random.below(2) == 0 ? ServiceTime::Law::LogNormal : ServiceTime::Law::Exponential;
  Workload w = demo::service(1 + static_cast<int>(random.below(3)), 4.0 + random.below(30),
                             milliseconds(5 + static_cast<std::int64_t>(random.below(25))), law);
  w.name.value = "service-" + std::to_string(n);
  w.measured->device.value = "T4";
  w.pod.cpu_request = {500};
  w.gpu_memory.resident = mebibytes(1000 + static_cast<std::int64_t>(random.below(3000)));
  if (random.below(2) == 0) w.serving.cpu_before = milliseconds(3);
  if (random.below(3) == 0) w.serving.queue_limit = 5;
  if (random.below(3) == 0) w.traffic->shape = scenarios::ClosedLoop{3, {}};
  if (random.below(3) > 0) {
    w.objectives.push_back(
        {Figure::LatencyP95, milliseconds(40 + static_cast<std::int64_t>(random.below(200))), {}});
  }
  return w;
}

Scenario random_scenario(std::uint32_t instance) {
  RandomStream random(77, instance, 0, Purpose::Test);
  std::vector<Workload> workloads;
  const int count = 2 + static_cast<int>(random.below(4));
  for (int n = 0; n < count; ++n) workloads.push_back(random_service(random, n));
  Scenario scenario = demo::scenario(demo::pool(0), std::move(workloads));
  scenario.node_pools.front().instance_type.value = "g4dn.xlarge";
  scenario.duration = seconds(20);
  scenario.warmup = seconds(2);
  scenario.replications = 5;
  scenario.seed = 3 + instance;
  return scenario;
}

// One pool for all, or one for each half of the workloads.
std::vector<PlanProbe> probes_of(const Scenario& scenario, const PoolChoice& like, bool split) {
  PlanProbe probe;
  probe.replications = scenario.replications;
  for (std::size_t half = 0; half < (split ? 2U : 1U); ++half) {
    PoolChoice choice = like;
    for (std::size_t w = 0; w < scenario.workloads.size(); ++w) {
      if (!split || w % 2 == half) choice.workloads.push_back(scenario.workloads[w].name.value);
    }
    probe.pools.push_back(choice);
  }
  PlanProbe scaled = probe;
  scaled.input = "workloads.service-0.requestGpuTime";
  scaled.factor = 1.4;
  PlanProbe busier = probe;
  busier.input = "traffic";
  busier.factor = 1.3;
  PlanProbe filled = probe;
  filled.input = "smActive";
  filled.factor = 0.3;
  return {probe, scaled, busier, filled};
}

std::string whole_line(const Scenario& scenario, const PlanProbe& probe) {
  const auto world = probe_world(scenario, probe, demo::catalogue());
  return world && !refusal_of(world)
             ? answer_line({figures_of(*simulate(*world, {})), std::nullopt, {}, false})
             : "";
}

PoolChoice choice_of(const char* type, Strategy strategy, int replicas, int nodes) {
  PoolChoice choice;
  choice.instance_type = type;
  choice.strategy = strategy;
  choice.replicas = replicas;
  choice.nodes = nodes;
  return choice;
}

std::vector<PoolChoice> choices() {
  std::vector<PoolChoice> all;
  for (const int nodes : {3, 5}) {
    all.push_back(choice_of("g4dn.xlarge", Strategy::TimeSlicing, 3, nodes));
    all.push_back(choice_of("g4dn.xlarge", Strategy::TimeSlicing, 4, nodes));
    all.push_back(choice_of("g4dn.xlarge", Strategy::Mps, 3, nodes));
    all.push_back(choice_of("g4dn.xlarge", Strategy::Mps, 4, nodes));
    all.push_back(choice_of("g5.xlarge", Strategy::TimeSlicing, 4, nodes));
    all.push_back(choice_of("g5.12xlarge", Strategy::Exclusive, 1, nodes));
    PoolChoice mig = choice_of("p4d.24xlarge", Strategy::Mig, 1, 2);
    mig.mig = {{"1g.5gb", 7}};
    all.push_back(mig);
  }
  return all;
}

// The definition: all of the world at once.
void expect_the_whole_run(std::uint32_t from, std::uint32_t to, int least_apart) {
  int apart = 0;
  for (std::uint32_t instance = from; instance < to; ++instance) {
    const Scenario scenario = random_scenario(instance);
    const ProbeAnswerer answer = probe_answerer(scenario, demo::catalogue());
    for (const PoolChoice& choice : choices()) {
      for (const bool split : {false, true}) {
        for (const PlanProbe& probe : probes_of(scenario, choice, split)) {
          const std::string whole = whole_line(scenario, probe);
          if (whole.empty()) continue;
          EXPECT_EQ(answer_line(answer(probe, 2)), whole) << instance << " " << describe(choice);
          const auto world = probe_world(scenario, probe, demo::catalogue());
          const RunOptions run;
          apart += IslandRun(*world, run).is_apart() ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(apart, least_apart);
}

TEST(ThoroughIslands, TogetherAreTheWholeRunToTheLastBit) { expect_the_whole_run(0, 2, 20); }
TEST(NightlyIslands, TogetherAreTheWholeRunToTheLastBit) { expect_the_whole_run(2, 12, 120); }

// Ending at the first thing that says no never changes what a whole run says, unless that leaves it
// open; what is scaled may be answered by fewer replications.
void expect_the_whole_run_after_an_early_end(int instances) {
  int stand = 0;
  int partial = 0;
  for (int instance = 0; instance < instances; ++instance) {
    const Scenario scenario = random_scenario(static_cast<std::uint32_t>(instance));
    const ProbeAnswerer answer = probe_answerer(scenario, demo::catalogue());
    for (const PoolChoice& choice : choices()) {
      std::vector<PlanProbe> probes = probes_of(scenario, choice, false);
      // Of two pools what nobody knows is simulated together.
      probes.push_back(probes_of(scenario, choice, true).front());
      for (PlanProbe& probe : probes) {
        const std::string whole = whole_line(scenario, probe);
        if (whole.empty()) continue;
        probe.until_clear = true;
        const PlanAnswer found = answer(probe, 1);
        // Threads look ahead, and nothing of that is seen.
        EXPECT_EQ(answer_line(probe_answerer(scenario, demo::catalogue())(probe, 3)),
                  answer_line(found));
        const bool stands = found.figures->stands();
        const OptionFigures figures = *read_answer(whole)->figures;
        const bool open = figures.verdict.has(Verdict::Cause::ObjectiveUndecided) ||
                          found.figures->replications > probe.replications;
        EXPECT_TRUE(open || stands == figures.stands()) << instance;
        if (stands && found.figures->replications == probe.replications) {
          EXPECT_EQ(answer_line(found), whole);
        }
        stand += stands ? 1 : 0;
        partial += found.partial ? 1 : 0;
      }
    }
  }
  EXPECT_GT(stand, 3 * instances);
  EXPECT_GT(partial, instances);
}

TEST(ThoroughIslands, AnEarlyEndSaysWhatTheWholeRunSays) {
  expect_the_whole_run_after_an_early_end(2);
}
TEST(NightlyIslands, AnEarlyEndSaysWhatTheWholeRunSays) {
  expect_the_whole_run_after_an_early_end(5);
}

// Worlds that have an island in common have its workloads in other places.
TEST(Islands, AMissIsOfTheSameWorkloadInEveryWorld) {
  Workload fine = demo::service(1, 5, milliseconds(5), ServiceTime::Law::Exponential);
  fine.pod.cpu_request = {1000};  // so that they are spread
  fine.name.value = "fine";
  Workload late = demo::service(1, 60, milliseconds(16), ServiceTime::Law::Exponential);
  late.pod.cpu_request = {1000};
  late.name.value = "late";
  late.objectives.push_back({Figure::LatencyP95, milliseconds(2), {}});
  IslandRecords known;
  const auto missed_of = [&](const std::vector<Workload>& workloads) {
    Scenario scenario = demo::scenario(demo::pool(0, 2), workloads);
    scenario.duration = hours(2);
    const World world = demo::world(scenario);
    const RunOptions options;
    IslandRun run(world, options, &known, {{"pool"}, [&](const Island& island) {
                                             std::string names;
                                             for (const std::size_t w : island.workloads)
                                               names += world.workloads[w].name + " ";
                                             return names;
                                           }});
    run.give_up_what_is_missed(true);
    EXPECT_TRUE(run.is_apart());
    EXPECT_TRUE(run.run_all(1));
    std::vector<std::string> names;
    for (const SureMiss& miss : run.misses()) names.push_back(world.workloads[miss.of].name);
    return names;
  };
  EXPECT_EQ(missed_of({fine, late}), std::vector<std::string>{"late"});
  EXPECT_EQ(missed_of({late, fine}), std::vector<std::string>{"late"});
}

// What is as calm as that is known long before the end, by who glances at it alone.
TEST(Islands, AGlanceEndsAsSoonAsItTells) {
  Workload calm = demo::service(1, 20, milliseconds(5), ServiceTime::Law::Exponential);
  calm.objectives.push_back({Figure::LatencyP95, seconds(1), {}});
  Workload late = calm;
  late.name.value = "late";
  late.objectives.front().limit = milliseconds(12);  // of which 15 ms are 1.25 times
  for (const bool is_calm : {true, false}) {
    Scenario scenario = demo::scenario(demo::pool(0, 1), {is_calm ? calm : late});
    scenario.duration = hours(1);
    const World world = demo::world(scenario);
    const RunOptions options;
    const IslandKeys keys{{"pool"}, [](const Island&) { return std::string(); }};
    IslandRecords known;
    const auto answered = [](IslandRun& run) {
      EXPECT_TRUE(run.run_all(1));
      return run.records(1).front().workloads.front().requests.answered;
    };
    IslandRun glance(world, options, &known, keys);
    glance.glance();
    const std::int64_t before = answered(glance);
    EXPECT_EQ(glance.misses().empty(), is_calm);
    EXPECT_EQ(known.size(), 0U);  // nobody glances at the same twice
    IslandRun doubtful(world, options, &known, keys);
    doubtful.give_up_what_is_missed(true);
    const std::int64_t all = answered(doubtful);
    EXPECT_TRUE(doubtful.misses().empty());  // not by far
    EXPECT_EQ(known.size(), 1U);
    EXPECT_GT(before, 500);
    EXPECT_LT(before, 3 * all / 4) << is_calm;
    EXPECT_EQ(run_replication(world, 0).workloads.front().requests.answered, all);
  }
}

// What moves pods, or ties their requests together, is run as a whole.
TEST(Islands, AreNotMadeWherePodsMoveOrDepend) {
  const auto is_apart = [](const Scenario& scenario) {
    const World world = demo::world(scenario);
    const RunOptions run;
    return IslandRun(world, run).is_apart();
  };
  Workload one = demo::service(1, 5, milliseconds(5), ServiceTime::Law::Exponential);
  one.pod.cpu_request = {1000};  // so that they are spread
  Workload two = one;
  two.name.value = "two";
  Scenario scenario = demo::scenario(demo::pool(0, 2), {one, two});
  scenario.duration = seconds(20);
  EXPECT_TRUE(is_apart(scenario));
  Scenario spot = scenario;
  spot.node_pools.front().capacity_type = scenarios::CapacityType::Spot;
  spot.node_pools.front().spot.emplace();
  EXPECT_FALSE(is_apart(spot));
  Scenario faulty = scenario;
  faulty.workloads.front().faults = Rate{0.001};
  EXPECT_FALSE(is_apart(faulty));
  Scenario mixed = scenario;
  mixed.workloads.push_back(demo::training(1));
  EXPECT_FALSE(is_apart(mixed));
  Scenario grown = scenario;
  grown.node_pools.front().most_nodes = 4;
  EXPECT_FALSE(is_apart(grown));
  Scenario piped = scenario;
  scenarios::Pipeline pipeline;
  pipeline.name.value = "both";
  pipeline.stages = {{{"api", {}}, {}, {}, {}}, {{"two", {}}, {{"api", {}}}, {}, {}}};
  pipeline.traffic.mean = {1};
  piped.pipelines.push_back(pipeline);
  piped.workloads[0].traffic.reset();
  piped.workloads[1].traffic.reset();
  EXPECT_FALSE(is_apart(piped));
}

}  // namespace
}  // namespace slicewise::sim
