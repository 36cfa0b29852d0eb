#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "../fields/check_scalar.hpp"
#include "node_values.hpp"
#include "read_scenario.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::pair<std::string_view, PlanGoal> kGoals[] = {
    {goal_name(PlanGoal::MonthlyCost), PlanGoal::MonthlyCost},
    {goal_name(PlanGoal::CostPer1kInSlo), PlanGoal::CostPer1kInSlo},
    {goal_name(PlanGoal::CostPerJob), PlanGoal::CostPerJob},
    {goal_name(PlanGoal::LatencyP99), PlanGoal::LatencyP99},
};
constexpr std::pair<std::string_view, IsolationRule::Between> kBetween[] = {
    {"namespaces", IsolationRule::Between::Namespaces},
    {"pods", IsolationRule::Between::Pods},
};
constexpr std::string_view kCapacityTypeNames[] = {"on-demand", "spot", "reserved"};

// One scalar, or a list of them, each once.
std::vector<NodePtr> values_at(const Node* parent, std::string_view key, Findings& findings) {
  std::vector<NodePtr> values;
  const Entry* entry = parent == nullptr ? nullptr : parent->entry(key);
  if (entry == nullptr) return values;
  if (entry->value->is_scalar()) return {entry->value};
  std::set<std::string> seen;
  for (const NodePtr& item : entry->value->items) {
    if (!item->is_scalar()) continue;
    if (seen.insert(item->text).second) {
      values.push_back(item);
    } else {
      findings.add(Code::NameDuplicate, item->where,
                   fmt::format("{} has {} twice", key, shown(*item)));
    }
  }
  return values;
}

std::vector<Located<std::string>> texts_at(const Node* parent, std::string_view key,
                                           Findings& findings) {
  std::vector<Located<std::string>> texts;
  for (const NodePtr& value : values_at(parent, key, findings)) {
    if (value->kind == Node::Kind::Text) texts.push_back({value->text, value->where});
  }
  return texts;
}

std::vector<PricePlan> read_price_plans(const Node& spec, Findings& findings) {
  std::vector<PricePlan> plans;
  const Node* list = block(block(&spec, "pricing"), "plans");
  if (list == nullptr) return plans;
  for (const Entry& entry : list->entries) {
    PricePlan plan;
    plan.instance_type = {entry.key, entry.key_where};
    plan.name = text_at(entry.value.get(), "type").value_or("");
    plan.discount = percent_at(entry.value.get(), "discount").value_or(0);
    if (plan.discount >= 1) {
      findings.add(Code::ValueRange, value_place(*entry.value, "discount"),
                   "discount must be less than 100 %");
    }
    if (std::ranges::find(kCapacityTypeNames, plan.name) != std::end(kCapacityTypeNames)) {
      findings.add(
          Code::SettingConflict, value_place(*entry.value, "type"),
          fmt::format("\"{}\" is what EC2 calls a way to buy, not an agreement", plan.name),
          "call the plan something else, such as savingsPlan3y");
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

// What can be bought is known from the file alone: EC2's ways, and the scenario's own plans.
void check_purchase_options(const Scenario& scenario, Findings& findings) {
  std::vector<std::string> known(std::begin(kCapacityTypeNames), std::end(kCapacityTypeNames));
  for (const PricePlan& plan : scenario.price_plans) {
    if (std::ranges::find(known, plan.name) == known.end()) known.push_back(plan.name);
  }
  for (const Located<std::string>& option : scenario.planning.purchase_options) {
    if (std::ranges::find(known, option.value) != known.end()) continue;
    const auto near = nearest_name(option.value, known);
    findings.add(Code::EnumUnknown, option.where,
                 fmt::format("\"{}\" is neither a purchase option nor the type of a plan in "
                             "pricing.plans",
                             option.value),
                 near ? fmt::format("did you mean \"{}\"?", *near)
                      : fmt::format("known here: {}; add a plan such as `pricing: {{plans: "
                                    "{{p4d.24xlarge: {{type: {}, discount: 43%}}}}}}`",
                                    list_of(known), option.value));
  }
}

Planning read_search_space(const Node& spec, Findings& findings) {
  Planning planning;
  const Node* node = block(&spec, "planning");
  if (node == nullptr) return planning;
  planning.where = key_place(spec, "planning");
  planning.instance_types = texts_at(node, "instanceTypes", findings);
  planning.strategies = texts_at(node, "strategies", findings);
  planning.purchase_options = texts_at(node, "purchaseOptions", findings);
  for (const NodePtr& value : values_at(node, "replicas", findings)) {
    const auto replicas =
        value->kind == Node::Kind::Integer ? to_integer(value->text) : std::nullopt;
    const bool fits = replicas && *replicas > 0 && *replicas <= 1'000;
    if (fits) planning.replicas.push_back(static_cast<int>(*replicas));
  }
  planning.max_nodes = int_at(node, "maxNodes");
  planning.split = boolean_at(node, "split");
  if (const auto most = number_at(node, "maxMonthlyCost")) {
    constexpr double kMostDollars = 1e9;
    if (*most >= 1 && *most <= kMostDollars) planning.max_monthly_cost = from_dollars(*most);
  }
  return planning;
}

std::optional<IsolationRule> read_isolation(const Node& spec, Findings& findings) {
  const Node* node = block(&spec, "isolation");
  if (node == nullptr) return std::nullopt;
  IsolationRule rule;
  rule.where = key_place(spec, "isolation");
  for (const Located<std::string>& kind : texts_at(node, "require", findings)) {
    rule.memory = rule.memory || kind.value == "memory";
    rule.compute = rule.compute || kind.value == "compute";
    rule.fault = rule.fault || kind.value == "fault";
  }
  rule.between = word_at(node, "between", kBetween).value_or(rule.between);
  return rule;
}

}  // namespace

void read_planning(const Node& spec, Scenario& scenario, Findings& findings) {
  scenario.planning = read_search_space(spec, findings);
  const Node* goal = block(&spec, "objective");
  scenario.goal = word_at(goal, "minimize", kGoals).value_or(scenario.goal);
  if (goal != nullptr) scenario.goal_where = value_place(*goal, "minimize");
  scenario.isolation = read_isolation(spec, findings);
  scenario.price_plans = read_price_plans(spec, findings);
  check_purchase_options(scenario, findings);
}

}  // namespace slicewise::scenarios
