#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/counted.hpp"

#include "plan_screen.hpp"
#include "plan_words.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

std::string months_text(const sim::PlannedSpan& span) {
  return span.from == span.to ? std::to_string(span.from)
                              : fmt::format("{}-{}", span.from, span.to);
}

std::string growth_sentence(const sim::PlanOverTime& plan) {
  const std::string of =
      plan.rank == 1
          ? ""
          : fmt::format(" Of #{}, which does better over all months than #1.", plan.rank);
  if (plan.fails_from) {
    return fmt::format("From month {} on nothing that was tried stands.", *plan.fails_from) + of;
  }
  if (!plan.next_node) return "No more nodes are needed." + of;
  return fmt::format("The next node is needed in month {}.", *plan.next_node) + of;
}

std::string cost_sentence(const sim::PlanOverTime& plan) {
  const int until = plan.spans.back().to;
  std::string text = fmt::format("{} cost{} {} by the hour", counted(until, "month"),
                                 until == 1 ? "s" : "", money_text(plan.by_the_hour));
  if (plan.commitments.empty()) return text + ".";
  return text + fmt::format(", {} with the commitments below.", money_text(plan.total));
}

std::string commitment_sentence(const sim::PlannedCommitment& each) {
  const std::string paid =
      each.upfront.nano > 0
          ? fmt::format("{} at once", money_text(each.upfront))
          : fmt::format("{} over {} months, used or not", money_text(each.price), each.months);
  return fmt::format(
      "Commit {} x {} from month {} on: {}, {:.3g}% less ({}). {}, paid off in month {}; saves {}.",
      each.nodes, each.instance_type, each.from, each.kind, 100 * each.discount, each.source, paid,
      each.pays_off, money_text(each.saves));
}

// Pools stand below each other, as in the table of options.
void add_span(const sim::PlannedSpan& span, Detail detail, Rows& rows) {
  const std::vector<std::string> lines = detail == Detail::Comment
                                             ? std::vector{pools_text(span.option.pools)}
                                             : pool_texts(span.option.pools);
  rows.push_back({months_text(span), fmt::format("{:.2f}x", span.traffic),
                  money_text(span.option.figures.monthly), lines.front()});
  for (std::size_t line = 1; line < lines.size(); ++line) {
    rows.push_back({"", "", "", "+ " + lines[line]});
  }
}

}  // namespace

ScreenPart plan_over_time_part(const sim::PlanOverTime& plan, Detail detail) {
  ScreenPart part{.heading = "OVER TIME"};
  part.table.columns = {{"MONTH"},
                        {"TRAFFIC", true},
                        price_column("monthlyUsd"),
                        {"CONFIGURATION", false, kNeverDropped}};
  for (const sim::PlannedSpan& span : plan.spans) add_span(span, detail, part.table.rows);
  std::vector<std::string> lines{growth_sentence(plan), cost_sentence(plan)};
  for (const auto& each : plan.commitments) lines.push_back(commitment_sentence(each));
  if (!plan.without_rate.empty()) {
    lines.push_back(fmt::format(
        "No rate of a commitment is known for {} here: pricing.plans takes what AWS offers you.",
        fmt::join(plan.without_rate, ", ")));
  }
  const bool come_and_go = std::ranges::any_of(plan.spans, [](const sim::PlannedSpan& span) {
    return std::ranges::any_of(span.option.pools, &sim::PoolChoice::elastic);
  });
  if (come_and_go) {
    lines.emplace_back(
        "Nodes that come and go are paid by the hour: nothing is committed for them.");
  }
  for (std::string& line : lines) part.sentences.push_back({std::move(line)});
  return part;
}

}  // namespace slicewise::reports
