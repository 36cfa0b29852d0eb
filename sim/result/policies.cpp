#include "slicewise/sim/policies.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy_figures.hpp"

namespace slicewise::sim {
namespace {

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
  judged.deny = policy.deny;
  std::vector<SeenFigure> seen(policy.nodes.size());
  for (std::size_t n = 0; n < policy.nodes.size(); ++n) {
    const PolicyNode& node = policy.nodes[n];
    if (node.op != PolicyOp::Figure) continue;
    seen[n] = see_figure(node.text, result, headroom);
    if (std::ranges::find(judged.figures, node.text, &PolicyResult::Figure::name) ==
        judged.figures.end()) {
      judged.figures.push_back({node.text, seen[n].text});
    }
  }
  const Truth truth = truth_of(policy, seen);
  if (truth) judged.verdict = *truth ? PolicyVerdict::Pass : PolicyVerdict::Fail;
  return judged;
}

}  // namespace

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
    if (policy.verdict != PolicyVerdict::Fail) continue;
    std::vector<std::string> figures;
    for (const PolicyResult::Figure& figure : policy.figures) {
      figures.push_back(
          fmt::format("{} = {}", figure.name, figure.value.empty() ? "unknown" : figure.value));
    }
    Diagnostic failed = make_diagnostic(
        Code::PolicyFailed, policies[p].where,
        fmt::format("policy \"{}\" does not hold: {}", policy.name, policy.assertion), "",
        fmt::format("{}", fmt::join(figures, ", ")));
    failed.severity = policy.deny ? Severity::Error : Severity::Warning;
    found.push_back(std::move(failed));
  }
  return found;
}

}  // namespace slicewise::sim
