#include "slicewise/sim/policies.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/result_record.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

// What an assertion finds where it names a figure: nothing, a truth, a number in the unit of
// scenarios::PolicyNode::value, or words of which all must agree.
struct SeenFigure {
  std::variant<std::monostate, bool, double, std::vector<std::string>> value;
  std::string text;  // for people; "" for nothing
};

SeenFigure seen_truth(bool truth) { return {truth, truth ? "true" : "false"}; }

SeenFigure seen_money(Usd money) {
  // Divided, so that it is the very number that an assertion of as many decimals reads as.
  const double dollars = static_cast<double>(money.nano) / 1e9;
  return {dollars,
          dollars < 1 ? fmt::format("{:.4g} USD", dollars) : fmt::format("{:.2f} USD", dollars)};
}

SeenFigure seen_number(double number, Unit unit) {
  if (unit == Unit::Ratio) return {number, figure_text(scenarios::Share{number})};
  if (unit == Unit::PerSecond) return {number, figure_text(Rate{number})};
  if (unit == Unit::Seconds) return {number, figure_text(from_seconds(number))};
  return {number, fmt::format("{:.6g}", number)};
}

SeenFigure seen_words(std::vector<std::string> words) {
  if (words.empty()) return {};
  std::string text = fmt::format("{}", fmt::join(words, ", "));
  return {std::move(words), std::move(text)};
}

SeenFigure seen_value(const Field& field, const void* value) {
  const Shape& shape = *field.shape;
  switch (shape.kind) {
    case Shape::Kind::Truth:
      return seen_truth(shapes::in<bool>(value));
    case Shape::Kind::Number:
      return seen_number(shapes::in<double>(value), field.unit);
    case Shape::Kind::Whole:
    case Shape::Kind::Size:
      return seen_number(static_cast<double>(shape.whole(value)), Unit::Number);
    case Shape::Kind::Time: {
      const auto& time = shapes::in<Duration>(value);
      return {to_seconds(time), figure_text(time)};
    }
    case Shape::Kind::Money:
      return seen_money(shapes::in<Usd>(value));
    case Shape::Kind::Text:
      return seen_words({std::string(shape.text(value))});
    case Shape::Kind::List:
      return seen_words(shapes::in<std::vector<std::string>>(value));
    default:
      return {};
  }
}

// A named figure: where it stands in its record.
struct NamedFigure {
  std::vector<const Field*> way;
  const Field* field;
};

NamedFigure named_figure(const Field::PolicyName& name, std::span<const Field* const> way,
                         const Field& field) {
  NamedFigure figure{{way.begin(), way.end()}, &field};
  if (!name.part.empty()) {
    figure.way.push_back(&field);
    figure.field = field.inner().find(name.part);
  }
  return figure;
}

using FigureMap = std::map<std::string_view, NamedFigure>;

FigureMap named_figures(const Record& record) {
  FigureMap figures;
  visit_fields(record, [&](std::span<const Field* const> way, const Field& field) {
    for (const Field::PolicyName& name : field.policy_names) {
      figures.emplace(name.name, named_figure(name, way, field));
    }
  });
  return figures;
}

SeenFigure see(const FigureMap& figures, std::string_view name, const void* record) {
  const auto found = figures.find(name);
  if (found == figures.end()) return {};
  std::any made;
  const void* const value = value_at(found->second.way, *found->second.field, record, made);
  return value == nullptr ? SeenFigure{} : seen_value(*found->second.field, value);
}

// REQUIRES: scenarios::policy_figure(name). `headroom` as in judge_policies().
SeenFigure see_figure(std::string_view name, const VariantResult& result,
                      std::optional<double> headroom) {
  static const FigureMap of_results = named_figures(record_of<VariantResult>());
  static const FigureMap of_workloads = named_figures(record_of<WorkloadResult>());
  // Not of a result: the plan that asks knows it.
  if (name == "headroom") return headroom ? seen_number(*headroom, Unit::Number) : SeenFigure{};
  const scenarios::WorkloadFigure of = scenarios::workload_figure(name);
  if (of.workload.empty()) return see(of_results, name, &result);
  const auto workload = std::ranges::find(result.workloads, of.workload, &WorkloadResult::name);
  return workload == result.workloads.end() ? SeenFigure{}
                                            : see(of_workloads, of.figure, &*workload);
}

using scenarios::PolicyNode;
using PolicyOp = PolicyNode::Op;
using PolicyVerdict = PolicyResult::Verdict;

// True, false or unknown.
using Truth = std::optional<bool>;

Truth both(Truth a, Truth b) {
  if (a == false || b == false) return false;
  return a && b ? Truth(true) : std::nullopt;
}

Truth either(Truth a, Truth b) {
  if (a == true || b == true) return true;
  return a && b ? Truth(false) : std::nullopt;
}

Truth opposite(Truth a) { return a ? Truth(!*a) : a; }

bool holds_between(PolicyOp op, double figure, double value) {
  switch (op) {
    case PolicyOp::Less:
      return figure < value;
    case PolicyOp::LessEqual:
      return figure <= value;
    case PolicyOp::Greater:
      return figure > value;
    case PolicyOp::GreaterEqual:
      return figure >= value;
    case PolicyOp::Equal:
      return figure == value;
    default:
      return figure != value;
  }
}

Truth compare(PolicyOp op, const SeenFigure& figure, const PolicyNode& value) {
  if (const auto* number = std::get_if<double>(&figure.value)) {
    return holds_between(op, *number, value.value);
  }
  const auto* words = std::get_if<std::vector<std::string>>(&figure.value);
  if (words == nullptr) return std::nullopt;
  return std::ranges::all_of(*words, [&](const std::string& word) {
    return (word == value.text) == (op == PolicyOp::Equal);
  });
}

// Every node once, children first: they stand before their parents.
Truth truth_of(const scenarios::Policy& policy, const std::vector<SeenFigure>& seen) {
  std::vector<Truth> truths(policy.nodes.size());
  for (std::size_t n = 0; n < policy.nodes.size(); ++n) {
    const PolicyNode& node = policy.nodes[n];
    switch (node.op) {
      case PolicyOp::And:
        truths[n] = both(truths[node.left], truths[node.right]);
        break;
      case PolicyOp::Or:
        truths[n] = either(truths[node.left], truths[node.right]);
        break;
      case PolicyOp::Not:
        truths[n] = opposite(truths[node.left]);
        break;
      case PolicyOp::Figure:
        if (const auto* yes = std::get_if<bool>(&seen[n].value)) truths[n] = *yes;
        break;
      case PolicyOp::Number:
      case PolicyOp::Word:
        break;
      default:
        truths[n] = compare(node.op, seen[node.left], policy.nodes[node.right]);
    }
  }
  return truths.empty() ? std::nullopt : truths.back();
}

PolicyResult judged_policy(const scenarios::Policy& policy, const VariantResult& result,
                           std::optional<double> headroom) {
  PolicyResult judged;
  judged.name = policy.name;
  judged.assertion = policy.assertion;
  judged.severity = policy.severity;
  std::vector<SeenFigure> seen(policy.nodes.size());
  for (std::size_t n = 0; n < policy.nodes.size(); ++n) {
    const PolicyNode& node = policy.nodes[n];
    if (node.op != PolicyOp::Figure) continue;
    seen[n] = see_figure(node.text, result, headroom);
    if (!contains(judged.figures, node.text, &PolicyResult::Figure::name)) {
      judged.figures.push_back({node.text, seen[n].text});
    }
  }
  const Truth truth = truth_of(policy, seen);
  if (truth) judged.verdict = *truth ? PolicyVerdict::Pass : PolicyVerdict::Fail;
  return judged;
}

}  // namespace

bool PolicyResult::is_not_judged() const {
  return verdict == Verdict::Unknown && severity != scenarios::PolicySeverity::Warn;
}

bool PolicyResult::denies() const {
  using scenarios::PolicySeverity;
  if (verdict == Verdict::Unknown) return severity == PolicySeverity::Require;
  return verdict == Verdict::Fail && severity != PolicySeverity::Warn;
}

std::vector<PolicyResult> judge_policies(const std::vector<scenarios::Policy>& policies,
                                         const VariantResult& result,
                                         std::optional<double> headroom) {
  std::vector<PolicyResult> judged;
  judged.reserve(policies.size());
  for (const scenarios::Policy& policy : policies)
    judged.push_back(judged_policy(policy, result, headroom));
  return judged;
}

Diagnostics policy_findings(const std::vector<scenarios::Policy>& policies,
                            const std::vector<PolicyResult>& judged) {
  Diagnostics found;
  for (std::size_t p = 0; p < judged.size(); ++p) {
    const PolicyResult& policy = judged[p];
    const bool fails = policy.verdict == PolicyVerdict::Fail;
    if (!fails && !policy.is_not_judged()) continue;
    std::vector<std::string> figures;
    for (const PolicyResult::Figure& figure : policy.figures) {
      figures.push_back(
          fmt::format("{} = {}", figure.name, figure.value.empty() ? "unknown" : figure.value));
    }
    Diagnostic told = make_diagnostic(
        fails ? Code::PolicyFailed : Code::PolicyNotJudged, policies[p].where,
        fmt::format("policy \"{}\" {}: {}", policy.name, fails ? "does not hold" : "is not judged",
                    policy.assertion),
        fails || policy.denies() ? "" : "severity: Require refuses what no figure decides",
        fmt::format("{}", fmt::join(figures, ", ")));
    told.severity = policy.denies() ? Severity::Error : Severity::Warning;
    found.push_back(std::move(told));
  }
  return found;
}

}  // namespace slicewise::sim
