#include "slicewise/sim/plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../demo.hpp"
#include "small_plans.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::ScenarioSet;
using scenarios::Workload;
using small_plans::cheapest_of_all;
using small_plans::light_on_t4;
using small_plans::limit;
using small_plans::random_set;
using small_plans::set_with;
using small_plans::small_space;

TEST(Plan, IsTheSameWhateverTheThreadsAndWhoeverAnswers) {
  const ScenarioSet set = random_set(3);
  PlanOptions options = small_space();
  options.flips = true;
  const auto one = make_plan(set, 0, demo::catalogue(), options);
  options.run.threads = 3;
  const auto three = make_plan(set, 0, demo::catalogue(), options);
  // Another process: questions and answers travel as text, and come back to front.
  options.run.threads = 1;
  options.probes = [&](std::span<const PlanProbe> probes, const ProbeAnswered&) {
    std::vector<PlanAnswer> answers(probes.size());
    for (std::size_t p = probes.size(); p-- > 0;) {
      const auto asked = read_probe(probe_line(probes[p]));
      EXPECT_TRUE(asked && *asked == probes[p]);
      const PlanAnswer found = probe_answerer(set.variants.front(), demo::catalogue())(*asked, 1);
      const auto told = read_answer(answer_line(found));
      EXPECT_TRUE(told && answer_line(*told) == answer_line(found));
      answers[p] = *told;
    }
    return answers;
  };
  const auto elsewhere = make_plan(set, 0, demo::catalogue(), options);
  const auto text_of = [](const Plan& plan) {
    std::string text;
    for (const PlanOption& option : plan.options) {
      text += probe_line({option.pools, 1, "", 1}) + answer_line({option.figures, {}, {}, false}) +
              "\n";
    }
    for (const Flip& flip : plan.flips) text += flip.input + std::to_string(flip.factor);
    return text + std::to_string(plan.counts.simulations);
  };
  // Half of it from the journal of a run that was stopped.
  options.probes = nullptr;
  std::map<std::string, std::string> journal;
  int kept = 0;
  options.journal =
      ProbeJournal{[&](const PlanProbe& probe) {
                     const auto known = journal.find(probe_line(probe));
                     return known == journal.end() ? std::nullopt : read_answer(known->second);
                   },
                   [&](const PlanProbe& probe, const PlanAnswer& answer) {
                     ++kept;
                     EXPECT_TRUE(journal.emplace(probe_line(probe), answer_line(answer)).second);
                   }};
  const auto first = make_plan(set, 0, demo::catalogue(), options);
  const int all = kept;
  for (int half = all / 2; half > 0; --half) journal.erase(journal.begin());
  const auto resumed = make_plan(set, 0, demo::catalogue(), options);
  EXPECT_EQ(kept, all + all / 2);
  ASSERT_TRUE(one && three && elsewhere && first && resumed);
  EXPECT_EQ(text_of(*one), text_of(*first));
  EXPECT_EQ(text_of(*one), text_of(*resumed));
  EXPECT_EQ(text_of(*one), text_of(*three));
  EXPECT_EQ(text_of(*one), text_of(*elsewhere));
}

TEST(PlanLines, RefuseWhatIsNotOurs) {
  for (const char* line :
       {"", "x", "1", "1 .a", "0 1 . 0", "0 1 . 0 0", "-1 1 . 0", "99999999999999999999"}) {
    EXPECT_FALSE(read_probe(line)) << line;
    EXPECT_FALSE(read_answer(line)) << line;
  }
}

// The curve had each number of pods on the fewest nodes that hold them, and ended at the first that
// does not fit: it missed the option.
TEST(ThoroughPlan, ItsCurveOfPodsPerGpuHoldsTheOptionAsItIsRecommended) {
  int curves = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    PlanOptions options = small_space();
    options.headroom = false;
    options.flips = false;
    const auto plan = make_plan(random_set(i), 0, demo::catalogue(), options);
    ASSERT_TRUE(plan) << i;
    if (plan->options.empty() || plan->replicas.empty()) continue;
    const PlanOption& best = plan->options.front();
    const PoolChoice& pool = best.pools.front();
    const auto own = std::ranges::find(plan->replicas, pool.replicas, &ReplicasPoint::replicas);
    ASSERT_NE(own, plan->replicas.end()) << i;
    EXPECT_EQ(own->nodes, pool.nodes) << i;
    ASSERT_TRUE(own->figures) << i << own->refused;
    EXPECT_EQ(own->figures->monthly, best.figures.monthly) << i;
    EXPECT_TRUE(own->figures->stands()) << i;
    ++curves;
  }
  EXPECT_GT(curves, 10);
}

// A run of the option says it; a plan that hangs on it did not.
TEST(Plan, NamesTimesThatNobodyMeasuredOnItsGpu) {
  Scenario scenario = light_on_t4();
  EXPECT_FALSE(demo::has(make_plan(set_with(scenario), 0, demo::catalogue(), small_space())->notes,
                         Code::ProfileScaled));
  scenario.workloads[0].measured->device.value = "A10G";
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  EXPECT_TRUE(demo::has(make_plan(set_with(scenario), 0, demo::catalogue(), options)->notes,
                        Code::ProfileScaled));
}

TEST(Plan, RefusesSharingThatDoesNotIsolateNamespaces) {
  ScenarioSet set = random_set(1);
  Scenario& scenario = set.variants.front();
  if (scenario.workloads.size() < 2) scenario.workloads.push_back(scenario.workloads.front());
  scenario.workloads[1].name.value = "second";
  scenario.workloads[1].namespace_name = "team-b";
  scenario.isolation = scenarios::IsolationRule{true, false, true, {}, {}};
  const auto plan = make_plan(set, 0, demo::catalogue(), small_space());
  ASSERT_TRUE(plan);
  for (const PlanOption& option : plan->options) {
    EXPECT_EQ(option.pools.front().strategy, Strategy::Exclusive);
  }
  EXPECT_TRUE(std::ranges::any_of(plan->rejected, [](const RejectedChoice& rejected) {
    return rejected.code == Code::IsolationTooWeak;
  }));
}

// The first small problem of which closed forms say that no T4 will do, and that one A10G solves;
// 100: there is none.
std::uint32_t solved_by_one_a10g() {
  PlanOptions on_t4 = small_space();
  on_t4.instance_types = {"g4dn.xlarge"};
  for (std::uint32_t instance = 0; instance < 100; ++instance) {
    const auto none = make_plan(random_set(instance), 0, demo::catalogue(), on_t4);
    if (!none || none->counts.simulations > 0) continue;
    const auto plan = make_plan(random_set(instance), 0, demo::catalogue(), small_space());
    if (!plan || plan->options.empty()) continue;
    const PoolChoice& best = plan->options.front().pools.front();
    if (best.instance_type == "g5.xlarge" && best.nodes == 1) return instance;
  }
  return 100;
}

TEST(ThoroughPlan, SaysWhatIsNearestWhereNothingStands) {
  const std::uint32_t instance = solved_by_one_a10g();
  ASSERT_LT(instance, 100U);
  ScenarioSet set = random_set(instance);
  PlanOptions options = small_space();
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && !plan->options.empty());
  EXPECT_NEAR(to_dollars(plan->options.front().figures.monthly), 734.38, 0.01);
  options.max_monthly_cost = from_dollars(1);
  const auto dear = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(dear && dear->options.empty());
  ASSERT_EQ(dear->nearest.size(), 1U);
  EXPECT_NE(dear->nearest.front().find("the cheapest that stands is 1 x g5.xlarge"),
            std::string::npos)
      << dear->nearest.front();
  EXPECT_NE(dear->nearest.front().find("$734 a month: --max-cost 735"), std::string::npos)
      << dear->nearest.front();
  set.variants.front().workloads.front().gpu_memory.resident = gibibytes(30);
  const auto large = make_plan(set, 0, demo::catalogue(), small_space());
  ASSERT_TRUE(large && large->options.empty());
  ASSERT_EQ(large->nearest.size(), 1U);
  EXPECT_NE(large->nearest.front().find("--instances g6e.xlarge"), std::string::npos)
      << large->nearest.front();
}

// The present pools are held against others by the same rules.
TEST(Plan, KnowsNoQuotasInThePresentPoolsEither) {
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "g5.xlarge";
  Workload job = demo::training(1);
  job.measured->device.value = "A10G";
  job.queue.value = "none";
  Scenario scenario = demo::scenario(pool, {job});
  scenario.flavors.push_back({{"any", {}}, {}, {}, {}});
  scenarios::ClusterQueue& none = scenario.cluster_queues.emplace_back();
  none.name.value = "none";
  const scenarios::ResourceQuota gpus{{"nvidia.com/gpu", {}}, {"0", {}}, {}, {}, {}};
  none.groups.push_back({{{"nvidia.com/gpu", {}}}, {{{"any", {}}, {gpus}, {}}}, {}});
  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), small_space());
  ASSERT_TRUE(plan && plan->today);
  EXPECT_TRUE(plan->today->figures.stands());
  EXPECT_TRUE(std::ranges::any_of(plan->notes, [](const Diagnostic& note) {
    return note.message == "plans are without quotas: queue \"none\" of \"cifar10\" is not kept";
  }));
}

// One node runs all of it, and a plan may not use its type.
TEST(Plan, KeepsWhatStandsAndCostsLess) {
  Scenario scenario = light_on_t4();
  PlanOptions options = small_space();
  options.instance_types = {"g5.xlarge"};
  const auto dearer = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(dearer && !dearer->options.empty() && dearer->today);
  EXPECT_LT(dearer->today->figures.monthly, dearer->options.front().figures.monthly);
  EXPECT_TRUE(dearer->keep_as_is);
  scenario.node_pools.front().nodes = 4;
  const auto cheaper = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(cheaper && !cheaper->options.empty());
  EXPECT_FALSE(cheaper->keep_as_is);
  // What does not stand is not kept, however little it costs: one is too slow, one lacks memory.
  scenario.node_pools.front().nodes = 1;
  scenario.workloads.front().traffic->mean = {230};
  const auto slow = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(slow && !slow->options.empty() && slow->today);
  ASSERT_FALSE(slow->today->figures.stands());
  EXPECT_LT(slow->today->figures.monthly, slow->options.front().figures.monthly);
  EXPECT_FALSE(slow->keep_as_is);
  scenario.workloads.front().gpu_memory.resident = gibibytes(18);
  const auto dead = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(dead && !dead->options.empty());
  EXPECT_FALSE(dead->keep_as_is);
}

// Five jobs of half an hour, 40 minutes: of four ways to share a T4 one gets all of them done.
TEST(Plan, OfOnePriceIsFirstWhatGetsTheJobsDone) {
  Workload jobs = demo::training(5);
  jobs.measured->device.value = "T4";
  jobs.measured->gpu_busy = 0.5;
  jobs.pod.cpu_request = {500};
  jobs.pod.memory_request = gibibytes(2);
  Scenario scenario = demo::scenario(demo::pool(0), {jobs});
  scenario.duration = minutes(40);
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"mps", "timeSlicing"};
  options.replicas = {4, 5};
  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->options.size() > 2);
  const OptionFigures& best = plan->options.front().figures;
  EXPECT_TRUE(best.unfinished_jobs.empty());
  for (std::size_t o = 1; o < 3; ++o) {
    const OptionFigures& other = plan->options[o].figures;
    EXPECT_EQ(other.monthly, best.monthly);
    ASSERT_EQ(other.unfinished_jobs.size(), 1U);
    EXPECT_EQ(other.unfinished_jobs.front().workload, "cifar10");
    EXPECT_EQ(other.unfinished_jobs.front().of, 5);
    EXPECT_EQ(read_answer(answer_line({other, {}, {}, false}))->figures->unfinished_jobs,
              other.unfinished_jobs);
  }
}

// Which pods meet is up to chance on several GPUs: what stands is simulated again with other random
// numbers, but not where something cheaper has stood.
TEST(Plan, WhatIsTooDearIsNotConfirmed) {
  std::vector<Workload> workloads;
  for (const char* name : {"a", "b", "c"}) {
    workloads.push_back(
        demo::service(1, 10, milliseconds(10), scenarios::ServiceTime::Law::Exponential));
    workloads.back().name.value = name;
    workloads.back().measured->device.value = "T4";
    workloads.back().gpu_memory.resident = gibibytes(5);
    workloads.back().objectives.push_back(limit(scenarios::Figure::LatencyP95, milliseconds(300)));
  }
  Scenario scenario = demo::scenario(demo::pool(0), workloads);
  scenario.duration = seconds(30);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  PlanOptions options = small_space();
  options.replicas = {2};
  options.top = 1;
  std::vector<Usd> confirmed;
  options.journal = ProbeJournal{[](const PlanProbe&) { return std::nullopt; },
                                 [&](const PlanProbe& probe, const PlanAnswer& answer) {
                                   if (probe.draw == 1)
                                     confirmed.push_back(answer.figures->monthly);
                                 }};
  const auto plan = make_plan(set_with(std::move(scenario)), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && !plan->options.empty());
  EXPECT_FALSE(confirmed.empty());
  for (const Usd monthly : confirmed) EXPECT_LE(monthly, plan->options.front().figures.monthly);
}

// What the definition finds where smActive is so and so: it is what the plan says of it.
void expect_the_turn_with_sm_active(std::uint32_t instances) {
  int turns = 0;
  int holds = 0;
  const auto cheapest_at = [](Scenario scenario, double sm_active) {
    for (Workload& workload : scenario.workloads) workload.measured->sm_active = sm_active;
    return cheapest_of_all(scenario);
  };
  for (std::uint32_t instance = 0; instance < instances; ++instance) {
    ScenarioSet set = random_set(instance);
    for (Workload& workload : set.variants.front().workloads) workload.measured->sm_active.reset();
    PlanOptions options = small_space();
    options.flips = true;
    const auto plan = make_plan(set, 0, demo::catalogue(), options);
    ASSERT_TRUE(plan);
    if (plan->options.empty()) continue;
    ASSERT_TRUE(plan->sm_active) << instance;
    const SmActiveRange& range = *plan->sm_active;
    EXPECT_EQ(range.workloads.size(), set.variants.front().workloads.size());
    const Usd best = plan->options.front().figures.monthly;
    if (!range.turns_at) {
      ++holds;
      EXPECT_EQ(cheapest_at(set.variants.front(), range.holds_from), best) << instance;
      continue;
    }
    ++turns;
    EXPECT_LT(*range.turns_at, range.holds_from);
    const auto there = cheapest_at(set.variants.front(), *range.turns_at);
    ASSERT_EQ(range.then.has_value(), there.has_value()) << instance;
    if (!there) continue;
    EXPECT_TRUE(range.then->figures.stands());
    EXPECT_GE(range.then->figures.monthly, *there) << instance;
    // It is cheaper, or the best option misses an objective there and another takes its place.
    EXPECT_NE(range.then->pools, plan->options.front().pools) << instance;
  }
  EXPECT_GT(turns, 0);
  EXPECT_GT(holds, 0);
}

TEST(ThoroughPlan, SaysWhereTheAnswerTurnsWithSmActive) { expect_the_turn_with_sm_active(12); }
TEST(NightlyPlan, SaysWhereTheAnswerTurnsWithSmActive) { expect_the_turn_with_sm_active(40); }

// Jobs of half the length cost half as much on the same nodes: that does not turn the answer.
TEST(Plan, DoesNotCallItAFlipThatLessWorkCostsLess) {
  Workload jobs = demo::training(4);
  ScenarioSet set = set_with(demo::scenario(demo::pool(0), {jobs}));
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"exclusive"};
  options.goal = scenarios::PlanGoal::CostPerJob;
  options.flips = true;
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  const PlanOption& best = plan->options.front();
  for (const Flip& flip : plan->flips) {
    if (flip.factor >= 1) continue;
    ASSERT_TRUE(flip.winner) << flip.input;
    EXPECT_NE(flip.winner->pools, best.pools) << flip.input;
    PlanProbe probe{best.pools, set.variants.front().replications, flip.input, flip.factor};
    const PlanAnswer there = probe_answerer(set.variants.front(), demo::catalogue())(probe, 1);
    ASSERT_TRUE(there.figures);
    EXPECT_LT(*flip.winner->goal, to_dollars(there.figures->per_job.value()))
        << flip.input << flip.factor;
  }
}

TEST(ThoroughPlan, SaysWhatTheSecondOptionBears) {
  int borne = 0;
  int missed = 0;
  for (std::uint32_t instance = 0; instance < 12; ++instance) {
    const ScenarioSet set = random_set(instance);
    PlanOptions options = small_space();
    options.flips = true;
    const auto plan = make_plan(set, 0, demo::catalogue(), options);
    if (!plan || plan->options.size() < 2) continue;
    for (const Flip& flip : plan->flips) {
      if (!flip.misses) continue;
      PlanProbe probe{plan->options[1].pools, set.variants.front().replications, flip.input,
                      flip.factor};
      probe.until_clear = true;
      const PlanAnswer answer = probe_answerer(set.variants.front(), demo::catalogue())(probe, 1);
      const bool stands = answer.figures && answer.figures->stands();
      EXPECT_EQ(flip.second_stands, stands) << instance << flip.input;
      ++(flip.second_stands ? borne : missed);
    }
  }
  EXPECT_GT(borne, 0);
  EXPECT_GT(missed, 0);
}

// What takes the answer's place may be several pools, too.
TEST(ThoroughPlan, LooksForPoolsOfTheirOwnWhereSmActiveIsLow) {
  int several = 0;
  for (std::uint32_t instance = 0; instance < 60 && several == 0; ++instance) {
    ScenarioSet set = random_set(instance);
    if (set.variants.front().workloads.size() < 2) continue;
    for (Workload& workload : set.variants.front().workloads) workload.measured->sm_active.reset();
    PlanOptions options = small_space();
    options.flips = true;
    options.split = true;
    const auto plan = make_plan(set, 0, demo::catalogue(), options);
    ASSERT_TRUE(plan);
    if (!plan->sm_active || !plan->sm_active->then) continue;
    EXPECT_TRUE(plan->sm_active->then->figures.stands());
    several += plan->sm_active->then->pools.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(several, 0);
}

TEST(ThoroughPlan, DoesNotAskForSmActiveThatIsGivenOrDoesNotMatter) {
  ScenarioSet set = random_set(1);
  PlanOptions options = small_space();
  options.flips = true;
  for (Workload& workload : set.variants.front().workloads) workload.measured->sm_active = 0.5;
  EXPECT_FALSE(make_plan(set, 0, demo::catalogue(), options)->sm_active);
  for (Workload& workload : set.variants.front().workloads) workload.measured->sm_active.reset();
  options.instance_types = {"g4dn.xlarge"};  // has the T4 that they were measured on
  EXPECT_FALSE(make_plan(set, 0, demo::catalogue(), options)->sm_active);
}

}  // namespace
}  // namespace slicewise::sim
