#include "one_workload.hpp"

namespace slicewise::scenarios {
namespace {

const std::string kPlannedPods = "work: {units: 1}, measured: {unitTime: 18s}";

std::string planning_with(const std::string& lines) { return with_workload(kPlannedPods, lines); }

std::string with_assertion(const std::string& assertion) {
  return planning_with("  policies: [{name: p, assert: \"" + assertion + "\"}]\n");
}

// Nodes as text: "(figure < 3)".
std::string policy_text(const std::vector<PolicyNode>& nodes, std::size_t at) {
  using Op = PolicyNode::Op;
  const PolicyNode& node = nodes[at];
  const auto both = [&](const std::string& sign) {
    return "(" + policy_text(nodes, node.left) + " " + sign + " " + policy_text(nodes, node.right) +
           ")";
  };
  switch (node.op) {
    case Op::And:
      return both("and");
    case Op::Or:
      return both("or");
    case Op::Not:
      return "not " + policy_text(nodes, node.left);
    case Op::Less:
      return both("<");
    case Op::LessEqual:
      return both("<=");
    case Op::Greater:
      return both(">");
    case Op::GreaterEqual:
      return both(">=");
    case Op::Equal:
      return both("==");
    case Op::NotEqual:
      return both("!=");
    case Op::Number:
      return std::to_string(static_cast<int>(node.value * 1000)) + "e-3";
    case Op::Word:
    case Op::Figure:
      return node.text;
  }
  return "";
}

std::string policy_meaning(const std::string& assertion) {
  const Scenario scenario = scenario_of(with_assertion(assertion));
  if (scenario.policies.empty() || scenario.policies[0].nodes.empty()) return "";
  const auto& nodes = scenario.policies[0].nodes;
  return policy_text(nodes, nodes.size() - 1);
}

void expect_policy_mistake(const std::string& assertion, int column, const std::string& message) {
  const std::string text = with_assertion(assertion);
  const Diagnostics found = read_scenario_file({"f.yaml", text}).problems;
  ASSERT_EQ(found.size(), 1U) << text;
  EXPECT_EQ(found[0].code, Code::PolicySyntax);
  EXPECT_NE(found[0].message.find(message), std::string::npos) << found[0].message;
  const int first = static_cast<int>(std::string("  policies: [{name: p, assert: \"").size());
  EXPECT_EQ(found[0].where.column, first + column) << found[0].message;
}

TEST(Planning, EverySettingIsRead) {
  const Scenario scenario = scenario_of(
      planning_with("  planning:\n"
                    "    instanceTypes: [g4dn.xlarge, g5]\n"
                    "    strategies: [timeSlicing, mig+mps]\n"
                    "    purchaseOptions: [on-demand, savingsPlan3y]\n"
                    "    replicas: [2, 4]\n"
                    "    maxNodes: 16\n"
                    "    split: false\n"
                    "    maxMonthlyCost: 1500.5\n"
                    "  objective: {minimize: costPer1kInSlo}\n"
                    "  isolation: {require: [memory, fault], between: pods}\n"
                    "  pricing: {plans: {p4d.24xlarge: {type: savingsPlan3y, discount: 43%}}}\n"));
  const Planning& planning = scenario.planning;
  ASSERT_EQ(planning.instance_types.size(), 2U);
  EXPECT_EQ(planning.instance_types[1].value, "g5");
  EXPECT_EQ(planning.instance_types[1].where.line, 7);
  ASSERT_EQ(planning.strategies.size(), 2U);
  EXPECT_EQ(planning.strategies[1].value, "mig+mps");
  EXPECT_EQ(planning.purchase_options.at(1).value, "savingsPlan3y");
  EXPECT_EQ(planning.replicas, (std::vector<int>{2, 4}));
  EXPECT_EQ(planning.max_nodes, 16);
  EXPECT_EQ(planning.split, false);
  EXPECT_EQ(planning.max_monthly_cost, from_dollars(1500.5));
  EXPECT_EQ(scenario.goal, PlanGoal::CostPer1kInSlo);
  EXPECT_TRUE(scenario.isolation->memory && scenario.isolation->fault);
  EXPECT_FALSE(scenario.isolation->compute);
  EXPECT_EQ(scenario.isolation->between, IsolationRule::Between::Pods);
  ASSERT_EQ(scenario.price_plans.size(), 1U);
  EXPECT_EQ(scenario.price_plans[0].instance_type.value, "p4d.24xlarge");
  EXPECT_DOUBLE_EQ(scenario.price_plans[0].discount, 0.43);
}

TEST(Planning, AbsentSettingsAreLeftToThePlanner) {
  const Scenario scenario = scenario_of(planning_with(""));
  EXPECT_TRUE(scenario.planning.instance_types.empty() && scenario.planning.replicas.empty());
  EXPECT_FALSE(scenario.isolation);
  EXPECT_EQ(scenario.planning.max_nodes, 32);
  EXPECT_TRUE(scenario.planning.split);
  EXPECT_EQ(scenario.goal, PlanGoal::MonthlyCost);
  EXPECT_TRUE(scenario.policies.empty() && scenario.price_plans.empty());
}

TEST(Planning, WrongValuesAreRefused) {
  expect_problem(planning_with("  planning: {strategies: [mps, timeslicing]}\n"), Code::EnumUnknown,
                 "\"timeslicing\" is not a value of strategies");
  expect_problem(planning_with("  planning: {purchaseOptions: [savingsPlan3y]}\n"),
                 Code::EnumUnknown, "neither a purchase option nor the type of a plan");
  expect_problem(planning_with("  planning: {replicas: [2, 4, 2]}\n"), Code::NameDuplicate,
                 "replicas has \"2\" twice");
  expect_problem(planning_with("  planning: {replicas: [0]}\n"), Code::ValueRange,
                 "between 1 and 1000");
  expect_problem(planning_with("  planning: {instanceTypes: []}\n"), Code::ValueRange, "is empty");
  expect_problem(planning_with("  objective: {minimise: monthlyCost, minimize: monthlyCost}\n"),
                 Code::FieldUnknown, "did you mean \"minimize\"?");
  expect_problem(planning_with("  objective: {minimize: cost}\n"), Code::EnumUnknown,
                 "\"cost\" is not a value of minimize");
  expect_problem(planning_with("  isolation: {between: pods}\n"), Code::FieldMissing,
                 "\"require\"");
  expect_problem(planning_with("  pricing: {plans: {g5.xlarge: {type: edp, discount: 100%}}}\n"),
                 Code::ValueRange, "less than 100 %");
  expect_problem(planning_with("  pricing: {plans: {g5.xlarge: {type: spot, discount: 60%}}}\n"),
                 Code::SettingConflict, "a way to buy");
  expect_problem(planning_with("  pricing: {plans: {g5.xlarge: {type: edp}}}\n"),
                 Code::FieldMissing, "\"discount\" is missing in pricing.plans.g5.xlarge");
}

TEST(Planning, SettingsCanBeSetSweptAndPatched) {
  const std::string text =
      planning_with("  pricing: {plans: {g5.xlarge: {type: edp, discount: 10%}}}\n") +
      "  variants: [{name: v, patch: {objective: {minimize: costPerJob}}}]\n"
      "  sweep: {pricing.plans.g5.xlarge.discount: [10%, 20%]}\n";
  const auto loaded = load_scenario(
      {"f.yaml", text},
      {{"planning.maxNodes=3", "pricing.plans.p4d.24xlarge={type: edp, discount: 5%}"}});
  ASSERT_TRUE(loaded) << loaded.error().front().message;
  ASSERT_EQ(loaded->variants.size(), 2U);
  const Scenario& second = loaded->variants[1];
  EXPECT_EQ(second.name, "v/discount=20%");
  EXPECT_EQ(second.goal, PlanGoal::CostPerJob);
  EXPECT_EQ(second.planning.max_nodes, 3);
  ASSERT_EQ(second.price_plans.size(), 2U);
  EXPECT_DOUBLE_EQ(second.price_plans[0].discount, 0.2);
  EXPECT_EQ(second.price_plans[1].instance_type.value, "p4d.24xlarge");
}

TEST(Policies, BindAsInMathematics) {
  EXPECT_EQ(policy_meaning("cost.monthly <= 1500"), "(cost.monthly <= 1500000e-3)");
  EXPECT_EQ(policy_meaning("nodes < 3 or nodes > 5 and not slo.pass"),
            "((nodes < 3000e-3) or ((nodes > 5000e-3) and not slo.pass))");
  EXPECT_EQ(policy_meaning("(nodes < 3 or nodes > 5) and gpu.busy >= 20%"),
            "(((nodes < 3000e-3) or (nodes > 5000e-3)) and (gpu.busy >= 200e-3))");
  EXPECT_EQ(policy_meaning("nodes<3 and nodes<4 and nodes<5"),
            "(((nodes < 3000e-3) and (nodes < 4000e-3)) and (nodes < 5000e-3))");
}

TEST(Policies, ValuesCarryTheUnitOfTheirFigure) {
  EXPECT_EQ(policy_meaning("workloads.a.latencyP99 < 500ms"), "(workloads.a.latencyP99 < 500e-3)");
  EXPECT_EQ(policy_meaning("workloads.a.goodput >= 90/m"), "(workloads.a.goodput >= 1500e-3)");
  EXPECT_EQ(policy_meaning("strategy == mig+mps"), "(strategy == mig+mps)");
  EXPECT_EQ(policy_meaning("instanceType != g5.xlarge"), "(instanceType != g5.xlarge)");
  expect_policy_mistake("workloads.a.latencyP99 < 500", 26, "");
  expect_policy_mistake("gpu.busy > 0.2", 12, "");
  expect_policy_mistake("cost.monthly <= inf", 17, "\"inf\" is not a number");
}

TEST(Policies, AskForSeveralWorkloads) {
  EXPECT_EQ(policy_meaning("all(slo.pass, workload in [a])"), "workloads.a.slo.pass");
  EXPECT_EQ(policy_meaning("all(slo.pass and waitP95 < 1s, workload in [a, a])"),
            "((workloads.a.slo.pass and (workloads.a.waitP95 < 1000e-3)) and "
            "(workloads.a.slo.pass and (workloads.a.waitP95 < 1000e-3)))");
  EXPECT_EQ(policy_meaning("all(slo.pass)"), "workloads.a.slo.pass");
  EXPECT_EQ(policy_meaning("not sharedGpu(namespaceA != namespaceB) or strategy == mig"),
            "(not sharedGpu(namespaceA != namespaceB) or (strategy == mig))");
  expect_policy_mistake("all(slo.pass, workload in [a, b])", 31, "no workload \"b\"");
  expect_policy_mistake("all(cost.monthly < 3, workload in [a])", 5, "no figure \"cost.monthly\"");
  expect_policy_mistake("workloads.asr.slo.pass", 1, "no workload \"asr\"");
}

TEST(Policies, MistakesAreShownWhereTheyAre) {
  expect_policy_mistake("cost.montly <= 1500", 1, "did you mean \"cost.monthly\"?");
  expect_policy_mistake("nodes < 3 && slo.pass", 11, "an assertion has no &&");
  expect_policy_mistake("nodes = 3", 7, "an assertion has no =");
  expect_policy_mistake("nodes", 6, "compared with nothing");
  expect_policy_mistake("slo.pass == true", 10, "true or false by itself");
  expect_policy_mistake("strategy < mig", 10, "has no order");
  expect_policy_mistake("strategy == mgi", 13, "strategy is never \"mgi\"");
  expect_policy_mistake("(nodes < 3", 11, "\")\" expected, not nothing");
  expect_policy_mistake("nodes < 3 nodes > 1", 11, "after the end");
  expect_policy_mistake("1500 >= cost.monthly", 1, "a figure expected, not \"1500\"");
  expect_policy_mistake("not", 4, "a figure expected, not nothing");
  expect_policy_mistake("nodes < 1500, or so", 13, "after the end");
}

TEST(Policies, NestingHasALimit) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '(') + "slo.pass" + std::string(levels, ')');
  };
  EXPECT_EQ(policy_meaning(nested(31)), "slo.pass");
  expect_policy_mistake(nested(32), 33, "nested deeper than 32 levels");
  std::string many = "slo.pass";
  for (int i = 0; i < 5'000; ++i) many += " and slo.pass";
  expect_policy_mistake(many, 1, "too long");
}

TEST(Policies, SeverityIsDenyUnlessTheySay) {
  const Scenario scenario = scenario_of(
      planning_with("  policies: [{name: p, assert: nodes < 3}, {name: q, assert: nodes < 2, "
                    "severity: Warn}]\n"));
  ASSERT_EQ(scenario.policies.size(), 2U);
  EXPECT_EQ(scenario.policies[0].severity, PolicySeverity::Deny);
  EXPECT_EQ(scenario.policies[1].severity, PolicySeverity::Warn);
}

}  // namespace
}  // namespace slicewise::scenarios
