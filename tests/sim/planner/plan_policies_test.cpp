#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "small_plans.hpp"

// Policies and the headroom that they may ask for.
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

// figure OP value, as an assertion that was read.
scenarios::Policy policy(const std::string& name, const std::string& figure,
                         scenarios::PolicyNode::Op op, scenarios::PolicyNode value) {
  scenarios::Policy policy;
  policy.name = name;
  policy.nodes.resize(3);
  policy.nodes[0].op = scenarios::PolicyNode::Op::Figure;
  policy.nodes[0].text = figure;
  policy.nodes[1] = std::move(value);
  policy.nodes[2].op = op;
  policy.nodes[2].left = 0;
  policy.nodes[2].right = 1;
  return policy;
}

scenarios::PolicyNode policy_number(double value) {
  scenarios::PolicyNode node;
  node.value = value;
  return node;
}

TEST(ThoroughPlan, HasNoOptionThatAPolicyDenies) {
  using Op = scenarios::PolicyNode::Op;
  int denied = 0;
  int checked = 0;
  for (std::uint32_t instance = 0; instance < 40 && checked < 10; ++instance) {
    ScenarioSet set = random_set(instance);
    Scenario& scenario = set.variants.front();
    const auto free = make_plan(set, 0, demo::catalogue(), small_space());
    ASSERT_TRUE(free);
    if (free->options.empty()) continue;
    // Where each pod has a node of its own, one more of them would be dearer and stand idle: the
    // exhaustive search would buy it, a plan does not.
    int pods = 0;
    for (const Workload& workload : scenario.workloads) pods += workload.count;
    if (pods > 1 && free->options.front().pools.front().nodes >= pods) continue;
    ++checked;
    const Usd cheapest = free->options.front().figures.monthly;
    // Whatever stands must cost more than the best did.
    scenario.policies = {
        policy("not-too-cheap", "cost.monthly", Op::Greater, policy_number(to_dollars(cheapest)))};
    const auto dearer = make_plan(set, 0, demo::catalogue(), small_space());
    ASSERT_TRUE(dearer);
    for (const PlanOption& option : dearer->options) {
      EXPECT_GT(option.figures.monthly, cheapest) << instance;
      EXPECT_TRUE(option.figures.denied_by.empty());
    }
    const std::optional<Usd> truth = cheapest_of_all(scenario);
    ASSERT_EQ(dearer->options.empty(), !truth) << instance;
    if (truth) {
      EXPECT_EQ(dearer->options.front().figures.monthly, *truth) << instance;
    }
    denied += std::ranges::any_of(dearer->rejected, [](const RejectedChoice& rejected) {
      return rejected.reason.text().find("not-too-cheap denies it") != std::string::npos;
    });
    // A warning changes nothing but that it is said.
    scenario.policies.front().severity = scenarios::PolicySeverity::Warn;
    const auto warned = make_plan(set, 0, demo::catalogue(), small_space());
    ASSERT_TRUE(warned && !warned->options.empty());
    EXPECT_EQ(warned->options.front().figures.monthly, cheapest);
    EXPECT_EQ(warned->options.front().figures.warned_by, std::vector<std::string>{"not-too-cheap"});
  }
  EXPECT_EQ(checked, 10);
  EXPECT_GT(denied, 0);
}

TEST(ThoroughPlan, JudgesPoliciesThatAskForHeadroom) {
  using Op = scenarios::PolicyNode::Op;
  int checked = 0;
  for (std::uint32_t instance = 0; instance < 30 && checked < 3; ++instance) {
    ScenarioSet set = random_set(instance);
    Scenario& scenario = set.variants.front();
    PlanOptions options = small_space();
    options.headroom = true;
    const auto free = make_plan(set, 0, demo::catalogue(), options);
    ASSERT_TRUE(free);
    if (free->options.empty() || !free->headroom || !free->headroom_fails) continue;
    ++checked;
    scenario.policies = {
        policy("headroom", "headroom", Op::GreaterEqual, policy_number(*free->headroom + 0.01))};
    const auto more = make_plan(set, 0, demo::catalogue(), options);
    ASSERT_TRUE(more);
    if (more->options.empty()) continue;
    EXPECT_GT(*more->headroom, *free->headroom) << instance;
    EXPECT_NE(more->options.front().pools, free->options.front().pools) << instance;
  }
  EXPECT_GT(checked, 0);
}

// A Service at a hundredth of a GPU bears six times its load.
TEST(Plan, LooksForAsMuchHeadroomAsPoliciesAskFor) {
  using Op = scenarios::PolicyNode::Op;
  Scenario scenario = light_on_t4();
  for (const Op op : {Op::GreaterEqual, Op::Greater}) {
    scenario.policies = {policy("headroom", "headroom", op, policy_number(6))};
    const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), small_space());
    ASSERT_TRUE(plan);
    ASSERT_FALSE(plan->options.empty());
    EXPECT_GE(plan->headroom.value(), 6);
  }
}

Scenario half_of_a_t4() {
  Workload half =
      demo::service(1, 50, milliseconds(10), scenarios::ServiceTime::Law::Deterministic);
  half.measured->device.value = "T4";
  half.objectives.push_back(limit(scenarios::Figure::LatencyP99, seconds(10)));
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "g4dn.xlarge";
  Scenario scenario = demo::scenario(pool, {half});
  scenario.duration = seconds(60);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  return scenario;
}

Expected<Plan> plan_of_one_node(const Scenario& scenario) {
  PlanOptions options = small_space();
  options.headroom = true;
  options.max_nodes = 1;
  options.strategies = {"exclusive"};
  return make_plan(set_with(scenario), 0, demo::catalogue(), options);
}

// A policy allows 60 % of the GPU: no objective breaks first.
TEST(Plan, HeadroomEndsWhereAPolicyDenies) {
  using Op = scenarios::PolicyNode::Op;
  Scenario scenario = half_of_a_t4();
  scenario.policies = {policy("busy", "gpu.busy", Op::LessEqual, policy_number(0.6))};
  const auto plan = plan_of_one_node(scenario);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  EXPECT_EQ(plan->headroom_binding, "policy busy");
  EXPECT_LT(plan->headroom_fails.value(), 1.4);
}

// The same pools had both verdicts: "ok" as the scenario's own, and denied as an option.
TEST(ThoroughPlan, OwnPoolsNeedTheHeadroomThatPoliciesAskFor) {
  using Op = scenarios::PolicyNode::Op;
  Scenario scenario = half_of_a_t4();
  scenario.policies = {policy("room", "headroom", Op::GreaterEqual, policy_number(3))};
  const auto plan = plan_of_one_node(scenario);
  ASSERT_TRUE(plan && plan->today);
  EXPECT_EQ(plan->today->figures.denied_by, std::vector<std::string>{"room"});
  EXPECT_FALSE(plan->today->figures.stands() || plan->keep_as_is);
  // Two pools, for which no option has words: they are judged as they stand.
  scenario.node_pools.push_back(scenario.node_pools.front());
  scenario.node_pools.back().name.value = "other";
  const auto of_two = plan_of_one_node(scenario);
  ASSERT_TRUE(of_two && of_two->today);
  EXPECT_EQ(of_two->today->figures.denied_by, std::vector<std::string>{"room"});
  // What bears enough is kept.
  scenario.node_pools.pop_back();
  scenario.policies = {policy("room", "headroom", Op::GreaterEqual, policy_number(1.1))};
  const auto kept = plan_of_one_node(scenario);
  ASSERT_TRUE(kept && kept->today);
  EXPECT_TRUE(kept->keep_as_is);
}

// Pods that are ready when the run begins refuse nothing: the note was there all the same.
TEST(Plan, WarnsOfPodsThatStartAfterTheWarmUpWhereTheyStartCold) {
  Scenario scenario = light_on_t4();
  scenario.workloads[0].startup = {seconds(60), seconds(30)};
  for (const bool cold : {false, true}) {
    scenario.workloads[0].startup.cold = cold;
    const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), small_space());
    ASSERT_TRUE(plan);
    const std::string nearest = plan->nearest.empty() ? "" : plan->nearest.back();
    const bool is_told = demo::has(plan->notes, Code::RequestsRefused) ||
                         nearest.find("count as lost") != std::string::npos;
    EXPECT_EQ(is_told, cold);
  }
}

// They said "by chance: other random numbers miss one", and "at least 3 nodes: more than 3 nodes".
TEST(Plan, SaysWhatIsAgainstTheNodesThatMayBeLost) {
  Scenario scenario = light_on_t4();
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"exclusive"};
  options.survive = Outage::Node;
  options.max_nodes = 3;
  const auto why = [&] {
    const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
    EXPECT_TRUE(plan && plan->options.empty() && plan->rejected.size() == 1);
    return plan->rejected.at(0).reason.text();
  };
  scenario.policies = {
      policy("budget", "cost.monthly", scenarios::PolicyNode::Op::LessEqual, policy_number(600))};
  EXPECT_EQ(why(), "with the nodes that may be lost: budget denies it");
  scenario.policies.clear();
  scenario.workloads[0].count = 3;
  EXPECT_NE(why().find(" at least 4 nodes, 3 of them after the loss: more than 3 nodes"),
            std::string::npos)
      << why();
}

}  // namespace
}  // namespace slicewise::sim
