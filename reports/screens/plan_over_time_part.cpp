#include "plan_over_time_part.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan_words.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

std::string months_text(const sim::PlannedSpan& span) {
  return span.from == span.to ? std::to_string(span.from)
                              : fmt::format("{}-{}", span.from, span.to);
}

std::string growth_sentence(const sim::PlanOverTime& plan) {
  if (plan.fails_from) {
    return fmt::format("From month {} on nothing that was tried stands.", *plan.fails_from);
  }
  if (plan.next_node) return fmt::format("The next node is needed in month {}.", *plan.next_node);
  return "No more nodes are needed.";
}

std::string cost_sentence(const sim::PlanOverTime& plan) {
  const int until = plan.spans.back().to;
  std::string text = fmt::format("{} month{} cost{} {} by the hour", until, until == 1 ? "" : "s",
                                 until == 1 ? "s" : "", money_text(plan.by_the_hour));
  if (plan.commitments.empty()) return text + ".";
  return text + fmt::format(", {} with the commitments below.", money_text(plan.total));
}

std::string commitment_sentence(const sim::PlannedCommitment& each) {
  return fmt::format(
      "Commit {} x {} from month {} on: {}, {:.3g}% less ({}). {} at once, paid off in month {}; "
      "saves {}.",
      each.nodes, each.instance_type, each.from, each.kind, 100 * each.discount, each.source,
      money_text(each.upfront), each.pays_off, money_text(each.saves));
}

}  // namespace

ScreenPart plan_over_time_part(const sim::PlanOverTime& plan) {
  ScreenPart part{.heading = "OVER TIME"};
  part.table.columns = {
      {"MONTH"}, {"TRAFFIC", true}, {"CONFIGURATION", false, kNeverDropped}, {"$/MONTH", true}};
  for (const sim::PlannedSpan& span : plan.spans) {
    part.table.rows.push_back({months_text(span), fmt::format("{:.2f}x", span.traffic),
                               pools_text(span.option.pools),
                               money_text(span.option.figures.monthly)});
  }
  std::vector<std::string> lines{growth_sentence(plan), cost_sentence(plan)};
  for (const auto& each : plan.commitments) lines.push_back(commitment_sentence(each));
  if (!plan.without_rate.empty()) {
    lines.push_back(fmt::format(
        "No rate of a commitment is known for {} here: pricing.plans takes what AWS offers you.",
        fmt::join(plan.without_rate, ", ")));
  }
  for (std::string& line : lines) part.sentences.push_back({std::move(line)});
  return part;
}

}  // namespace slicewise::reports
