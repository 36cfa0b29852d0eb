#include "policy_rows.hpp"

#include <string>

#include <fmt/format.h>

#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

using sim::PolicyResult;
using PolicyVerdict = PolicyResult::Verdict;

Cell verdict_cell(const PolicyResult& policy, const TextStyle& style) {
  switch (policy.verdict) {
    case PolicyVerdict::Pass:
      return {fmt::format("{} holds", signs(style).pass), Emphasis::Good};
    case PolicyVerdict::Fail:
      return {policy.deny ? fmt::format("{} FAILED", signs(style).fail)
                          : fmt::format("{} fails", signs(style).warn),
              Emphasis::Bad};
    case PolicyVerdict::Unknown:
      break;
  }
  return fmt::format("{} unknown", signs(style).none);
}

std::string seen_cell(const PolicyResult& policy) {
  std::string text;
  for (const PolicyResult::Figure& figure : policy.figures) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", figure.name,
                        figure.value.empty() ? "unknown" : figure.value);
  }
  return text;
}

}  // namespace

std::vector<Column> policy_columns() {
  return {{"POLICY"}, {"NAME"}, {"ASSERTION", false, 1}, {"FOUND"}};
}

Rows policy_rows(const sim::VariantResult& variant, const TextStyle& style, bool /*every*/) {
  Rows rows;
  for (const PolicyResult& policy : variant.policies) {
    rows.push_back({verdict_cell(policy, style), policy.name, policy.assertion, seen_cell(policy)});
  }
  return rows;
}

}  // namespace slicewise::reports
