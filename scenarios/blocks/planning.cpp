#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/sharing_strategy.hpp"

#include "../fields/check_scalar.hpp"
#include "../fields/node_values.hpp"
#include "../policies/policy_names.inc"
#include "../policies/policy_parser.hpp"
#include "blocks.hpp"

// The fields of spec about the choice of a configuration: planning, objective, isolation, policies
// and pricing.
namespace slicewise::scenarios {
namespace {

using T = FieldType;

// Those that plan and compare try.
constexpr std::size_t kTriedStrategies = static_cast<std::size_t>(std::ranges::count_if(
    kSharingStrategies,
    [](const SharingStrategy& way) { return way.tried != SharingStrategy::Tried::Never; }));
constexpr auto kStrategyNames = [] {
  std::array<Word, kTriedStrategies> words;
  for (std::size_t w = 0; w < words.size(); ++w) words[w].text = kSharingStrategies[w].key;
  return words;
}();
constexpr auto kGoalWords = words_of(kGoals);
constexpr Word kIsolationKinds[] = {"memory", "compute", "fault"};
constexpr Word kIsolatedFrom[] = {{"namespaces", IsolationRule::Between::Namespaces},
                                  {"pods", IsolationRule::Between::Pods}};
constexpr Word kPolicySeverities[] = {{"Deny", PolicySeverity::Deny},
                                      {"Require", PolicySeverity::Require},
                                      {"Warn", PolicySeverity::Warn}};
constexpr std::string_view kCapacityTypeNames[] = {"on-demand", "spot", "spot-fallback", "reserved",
                                                   "capacity-block"};

// What can be bought is known from the file alone: EC2's ways, and the scenario's own plans.
void check_purchase_options(const Scenario& scenario, Findings& findings) {
  std::vector<std::string> known(std::begin(kCapacityTypeNames), std::end(kCapacityTypeNames));
  for (const PricePlan& plan : scenario.price_plans) {
    if (std::ranges::find(known, plan.name) == known.end()) known.push_back(plan.name);
  }
  for (const Located<std::string>& option : scenario.planning.purchase_options) {
    if (std::ranges::find(known, option.value) != known.end()) continue;
    const auto near = nearest_name(option.value, known);
    findings.add(
        Code::EnumUnknown, option.where,
        fmt::format("\"{}\" is neither a purchase option nor the type of a plan in pricing.plans",
                    option.value),
        near ? fmt::format("did you mean \"{}\"?", *near)
             : fmt::format("known here: {}; add a plan such as `pricing: {{plans: {{p4d.24xlarge: "
                           "{{type: {}, discount: 43%}}}}}}`",
                           list_of(known), option.value));
  }
}

void read_required(IsolationRule& rule, const Field& field, const Entry& entry, Reading& reading) {
  for (const NodePtr& kind : values_of(field, *entry.value, reading)) {
    rule.memory = rule.memory || kind->text == "memory";
    rule.compute = rule.compute || kind->text == "compute";
    rule.fault = rule.fault || kind->text == "fault";
  }
}

void check_price_plan(PricePlan& plan, const Node& map, Reading& reading) {
  if (plan.discount >= 1) {
    reading.findings.add(Code::ValueRange, value_place(map, "discount"),
                         "discount must be less than 100 %");
  }
  if (std::ranges::find(kCapacityTypeNames, plan.name) != std::end(kCapacityTypeNames)) {
    reading.findings.add(
        Code::SettingConflict, value_place(map, "type"),
        fmt::format("\"{}\" is what EC2 calls a way to buy, not an agreement", plan.name),
        "call the plan something else, such as savingsPlan3y");
  }
}

void read_price_plans(Scenario& scenario, const Field& field, const Entry& entry,
                      Reading& reading) {
  for (const Entry& named : entry.value->entries) {
    PricePlan plan;
    plan.instance_type = {named.key, named.key_where};
    read_fields(*field.block, *named.value, &plan, reading);
    scenario.price_plans.push_back(std::move(plan));
  }
}

int characters_in(std::string_view text) {
  int count = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++count;
  }
  return count;
}

// The place in the file of some bytes of a scalar; of the whole scalar where escapes or line breaks
// leave open which characters they were.
SourceLocation place_within(const Node& scalar, std::size_t offset, std::size_t length) {
  const std::string_view text = scalar.text;
  const int quote = scalar.quoted ? 1 : 0;
  SourceLocation where = scalar.where;
  if (where.length != characters_in(text) + 2 * quote) return where;
  where.column += quote + characters_in(text.substr(0, offset));
  where.length = std::max(1, characters_in(text.substr(offset, length)));
  return where;
}

constexpr Field kPlanningFields[] = {
    field<&Planning::instance_types>("instanceTypes", "[g4dn.xlarge, g5]",
                                     "EC2 instance types, or whole families of them.")
        .otherwise(
            "those of nodePools, g4dn, g5 and g6 in .xlarge, .2xlarge and .12xlarge, g6e.xlarge, "
            "g6f.xlarge, p4d.24xlarge; with pods of several GPUs or tensorParallelSizes g5, g6 and "
            "g6e in .48xlarge, g6e.12xlarge, p4de.24xlarge and p5.48xlarge, too")
        .each_value_once(),
    field<&Planning::strategies>("strategies", "[timeSlicing, mps]", "Ways to share a GPU.")
        .as(T::Words)
        .one_of(kStrategyNames)
        .otherwise("all but mpsUncapped, mig+mps and hami, which need more than NVIDIA's charts")
        .each_value_once(),
    field<&Planning::purchase_options>(
        "purchaseOptions", "[on-demand, spot, savingsPlan3y]",
        "on-demand, spot (which tries spot-fallback, too: on-demand while there is no spot), "
        "reserved, capacity-block, or the type of a plan in pricing.plans.")
        .otherwise("on-demand, and the plans of pricing.plans")
        .each_value_once(),
    field<&Planning::replicas>("replicas", "[2, 4, 8]", "Pods that share a GPU.")
        .between(1, 1'000)
        .otherwise(
            "2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48 and the most that fit; 2, 4, 8 of a trace's")
        .each_value_once(),
    field<&Planning::tensor_parallel_sizes>(
        "tensorParallelSizes", "[1, 2, 4, 8]",
        "GPUs of each pod that share its language model, whatever the pods ask for.")
        .between(1, 64)
        .otherwise("as many as the pods ask for")
        .each_value_once(),
    field<&Planning::max_batches>(
        "maxBatches", "[1, 4, 8]",
        "serving.batching.maxBatch of each Service that does not serve a language model. GPU time "
        "of a batch is that of measured.extraPerItem, else of the law; GPU memory stays as it is.")
        .between(1, 10'000)
        .otherwise("the scenario's")
        .each_value_once(),
    field<&Planning::max_delays>("maxDelays", "[0ms, 5ms]",
                                 "serving.batching.maxDelay, where maxBatch is above 1.")
        .otherwise("the scenario's")
        .each_value_once(),
    field<&Planning::concurrencies>("concurrencies", "[1, 4]",
                                    "serving.concurrency, where it is maxBatch or more.")
        .between(1, 1'000'000)
        .otherwise("the scenario's")
        .each_value_once(),
    field<&Planning::max_nodes>("maxNodes", "16", "Largest number of nodes of a pool.")
        .between(1, 100'000),
    field<&Planning::split>("split", "false", "Workloads may get node pools of their own."),
    field<&Planning::max_monthly_cost>("maxMonthlyCost", "1500",
                                       "No plan costs more, in US dollars for 730 h.")
        .between(1, 1'000'000'000),
};

constexpr Field kGoalFields[] = {
    field<&Scenario::goal>("minimize", "costPer1kInSlo",
                           "What the best of several configurations has least of.")
        .needed()
        .one_of(kGoalWords),
};

constexpr Field kIsolationFields[] = {
    read_by<IsolationRule, &read_required>(
        T::Words, "require", "[memory, fault]",
        "memory: a process cannot take what another was promised. compute: one cannot slow the "
        "other. fault: a fatal fault of one does not kill the other.")
        .needed()
        .one_of(kIsolationKinds),
    field<&IsolationRule::between>("between", "namespaces",
                                   "Pods of different namespaces, or any two pods.")
        .one_of(kIsolatedFrom),
};

constexpr Field kPolicyFields[] = {
    field<&Policy::name>("name", "budget", "Name of the policy.").as(T::Name).needed(),
    field<&Policy::assertion>(
        "assert", "cost.monthly <= 1500",
        "Comparisons of figures with values, joined by and, or, not and parentheses. Of the whole "
        "result: " SLICEWISE_FIGURES_OF_RESULTS "; headroom is that of a plan. Of one workload, as "
        "workloads.NAME.latencyP99: " SLICEWISE_FIGURES_OF_WORKLOADS
        "; of several: all(slo.pass, workload in [chat, embed]).")
        .needed()
        .positive(),
    field<&Policy::severity>(
        "severity", "Warn",
        "Deny: what fails it is refused, `run` ends with exit code 99. Require: so is what has no "
        "figure that decides it (studies: as Deny). Warn: it is only said.")
        .one_of(kPolicySeverities),
};

constexpr Field kPricePlanFields[] = {
    field<&PricePlan::name>(
        "type", "savingsPlan3y",
        "What you call the agreement with AWS; planning.purchaseOptions and results name it.")
        .needed()
        .positive(),
    field<&PricePlan::discount>("discount", "43%", "Off the on-demand price, less than 100 %.")
        .as(T::Percent)
        .needed()
        .positive(),
};
constexpr FieldList kPricePlan = block<PricePlan, &check_price_plan>(kPricePlanFields);

constexpr Field kPricingFields[] = {
    read_by<Scenario, &read_price_plans>(
        T::BlockByName, "plans", "{p4d.24xlarge: {type: savingsPlan3y, discount: 43%}}",
        "Agreed prices by instance type: on-demand node pools of the type pay less.")
        .of(kPricePlan),
};

}  // namespace

constinit const FieldList kPlanning = block<Planning>(kPlanningFields);
constinit const FieldList kGoal = block<Scenario>(kGoalFields);
constinit const FieldList kIsolation = block<IsolationRule>(kIsolationFields);
constinit const FieldList kPolicy = block<Policy>(kPolicyFields);
constinit const FieldList kPricing = block<Scenario>(kPricingFields);

void finish_planning(Scenario& scenario, const Node& spec, Findings& findings) {
  if (const Node* goal = block(&spec, "objective")) {
    scenario.goal_where = value_place(*goal, "minimize");
  }
  check_purchase_options(scenario, findings);
}

void parse_policies(Scenario& scenario, const Node& spec, Findings& findings) {
  std::vector<std::string> workloads;
  for (const Workload& workload : scenario.workloads) {
    workloads.push_back(workload.given_name());
  }
  for (const Pipeline& pipeline : scenario.pipelines) workloads.push_back(pipeline.name.value);
  const Node* list = blocks(&spec, "policies");
  std::size_t next = 0;
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    const Node& item = *list->items[i];
    if (item.kind != Node::Kind::Map) continue;
    Policy& policy = scenario.policies[next++];
    if (policy.assertion.empty()) continue;
    const Node& assertion = *item.find("assert");
    policy.where = assertion.where;
    auto nodes = parse_policy(policy.assertion, workloads);
    if (nodes) {
      policy.nodes = std::move(*nodes);
      continue;
    }
    const PolicyMistake& mistake = nodes.error();
    findings.add(Code::PolicySyntax, place_within(assertion, mistake.offset, mistake.length),
                 mistake.message, mistake.help);
  }
  std::erase_if(scenario.policies, [](const Policy& policy) { return policy.assertion.empty(); });
}

}  // namespace slicewise::scenarios
