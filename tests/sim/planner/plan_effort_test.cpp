// What a plan does not simulate.
#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "small_plans.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using small_plans::limit;
using small_plans::random_set;
using small_plans::set_with;
using small_plans::small_space;

using Asked = std::vector<std::pair<PlanProbe, PlanAnswer>>;

Asked asked_by(const scenarios::ScenarioSet& set, PlanOptions options, Plan& plan) {
  Asked asked;
  options.journal = ProbeJournal{
      [](const PlanProbe&) { return std::nullopt; },
      [&](const PlanProbe& probe, const PlanAnswer& answer) { asked.emplace_back(probe, answer); }};
  auto made = make_plan(set, 0, demo::catalogue(), options);
  EXPECT_TRUE(made);
  if (made) plan = std::move(*made);
  return asked;
}

// Pods of three Services that are scaled come half a minute after the requests they are for.
Scenario scaled_too_late() {
  std::vector<scenarios::Workload> services;
  for (const char* name : {"asr", "tts", "rank"}) {
    scenarios::Workload service =
        demo::service(10, 80, milliseconds(50), scenarios::ServiceTime::Law::Deterministic);
    service.name.value = name;
    service.measured->device.value = "T4";
    service.autoscaling.emplace();
    service.autoscaling->max_replicas = 10;
    service.autoscaling->target = 2;
    service.autoscaling->sync_period = seconds(30);
    service.objectives.push_back(limit(scenarios::Figure::LatencyP95, milliseconds(300)));
    services.push_back(std::move(service));
  }
  Scenario scenario = demo::scenario(demo::pool(0), std::move(services));
  scenario.node_pools.front().most_nodes = 100;
  scenario.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
  scenario.duration = minutes(1);
  scenario.replications = 2;
  return scenario;
}

// Each was tried with 1 to 8, 16 and 29 nodes, for the ranking and again at every flip: a plan of a
// Karpenter pool took more than ten minutes.
TEST(ThoroughPlanEffort, SeesThatMoreNodesDoNotHelp) {
  PlanOptions options = small_space();
  options.max_nodes = 32;
  Plan plan;
  std::map<std::string, std::set<int>> tried;
  for (const auto& [probe, answer] : asked_by(set_with(scaled_too_late()), options, plan)) {
    if (probe.pools.size() != 1 || !probe.until_clear) continue;
    PoolChoice choice = probe.pools.front();
    const int nodes = std::exchange(choice.nodes, 1);
    PlanProbe anywhere;
    anywhere.pools = {choice};
    tried[probe_line(anywhere)].insert(nodes);
  }
  EXPECT_TRUE(plan.options.empty());
  EXPECT_GT(tried.size(), 5U);
  for (const auto& [choice, nodes] : tried) EXPECT_LE(nodes.size(), 3U) << choice;
}

TEST(ThoroughPlanEffort, RanksNothingThatCostsMoreThanThriceTheBest) {
  PlanOptions options = small_space();
  options.top = 20;
  int dearer = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const auto plan = make_plan(random_set(i), 0, demo::catalogue(), options);
    ASSERT_TRUE(plan) << i;
    for (const PlanOption& option : plan->options) {
      EXPECT_LE(*option.goal, 3 * *plan->options.front().goal) << i;
    }
    dearer += static_cast<int>(std::ranges::count_if(plan->rejected, [](const auto& rejected) {
      return rejected.reason.form == "it costs ${} a month or more: cheaper ones stand";
    }));
  }
  EXPECT_GT(dearer, 0);
}

// A day of more requests than one pod's GPU bears at noon. Nobody waits for a day on the one node,
// which is asked first otherwise, to hear of the two.
TEST(ThoroughPlanEffort, BeginsWithWhatStandsInTheBusiestMinutes) {
  scenarios::Workload api =
      demo::service(4, 30, milliseconds(20), scenarios::ServiceTime::Law::Deterministic);
  api.measured->device.value = "T4";
  scenarios::Diurnal day;
  day.peak = {60};
  day.peak_at = hours(12);
  api.traffic->shape = day;
  api.objectives.push_back(limit(scenarios::Figure::LatencyP95, milliseconds(300)));
  Scenario scenario = demo::scenario(demo::pool(0), {api});
  scenario.duration = hours(24);
  scenario.replications = 2;
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"timeSlicing"};
  options.replicas = {4};
  std::vector<std::string> said;
  std::atomic<bool> interrupted{false};  // what comes after the first answer takes as long again
  options.run.interrupted = &interrupted;
  options.run.so_far = [&](const std::string& line) {
    said.push_back(line);
    interrupted = line.starts_with("best so far");
  };
  Plan plan;
  const Asked asked = asked_by(set_with(scenario), options, plan);
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked.front().first.pools.front().nodes, 2);
  EXPECT_TRUE(asked.front().second.figures->stands());
  ASSERT_FALSE(said.empty());
  EXPECT_TRUE(said.front().starts_with("stands in the busiest minutes: 2 x g4dn.xlarge"));
}

// With less of an input somebody may only want what costs less than the answer does.
TEST(ThoroughPlanEffort, LooksForCheaperPoolsOnlyWhereThereIsLessToDo) {
  PlanOptions options = small_space();
  options.flips = true;
  int looked = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    Plan plan;
    const Asked asked = asked_by(random_set(i), options, plan);
    if (plan.options.empty()) continue;
    for (const auto& [probe, answer] : asked) {
      const bool less = !probe.input.empty() && probe.input != "smActive" && probe.factor < 1;
      if (!less || !answer.figures) continue;
      EXPECT_LT(answer.figures->monthly, plan.options.front().figures.monthly)
          << i << " " << probe.input;
      ++looked;
    }
  }
  EXPECT_GT(looked, 0);
}

}  // namespace
}  // namespace slicewise::sim
