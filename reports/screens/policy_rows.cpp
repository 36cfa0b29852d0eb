#include "policy_rows.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../document/document_values.hpp"
#include "../document/json_schema.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using sim::PolicyResult;
using PolicyVerdict = PolicyResult::Verdict;

std::string_view verdict_word(PolicyVerdict verdict) {
  if (verdict == PolicyVerdict::Unknown) return "unknown";
  return verdict == PolicyVerdict::Pass ? "pass" : "fail";
}

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

json seen_figure(const PolicyResult::Figure& figure) {
  return document::present({{"name", figure.name}, {"value", document::text(figure.value)}});
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

json policy_document(const PolicyResult& policy) {
  return {{"name", policy.name},
          {"assertion", policy.assertion},
          {"verdict", verdict_word(policy.verdict)},
          {"severity", policy.deny ? "Deny" : "Warn"},
          {"figures", document::list(policy.figures, seen_figure)}};
}

json policy_schema() {
  using json_schema::one_of;
  using json_schema::text;
  return json_schema::object(
      {{"name", text("name in the scenario")},
       {"assertion", text("as written in the scenario")},
       {"verdict",
        one_of({"pass", "fail", "unknown"}, "unknown when a figure that decides it is absent")},
       {"severity", one_of({"Deny", "Warn"}, "whether a failure refuses the configuration")},
       {"figures",
        json_schema::list_of(
            json_schema::object({{"name", text("as assertions spell it")},
                                 {"value", text("for people; absent when it is not known"),
                                  json_schema::kOptional}},
                                "a figure that the assertion asks for"),
            "in the order of the assertion, each once")}},
      "a policy of the scenario, held against the result");
}

}  // namespace slicewise::reports
