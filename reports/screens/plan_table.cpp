#include <string>

#include <fmt/format.h>

#include "slicewise/reports/plan_report.hpp"

#include "../ci/markdown_comment.hpp"
#include "../text/markdown_text.hpp"
#include "../text/table_block.hpp"
#include "../text/wrapped_text.hpp"
#include "plan_chart.hpp"
#include "plan_words.hpp"
#include "result_details.hpp"

namespace slicewise::reports {
namespace {

std::string plan_block(const Cells& table, const TextStyle& style, bool wide) {
  return table.rows.empty() ? "" : table_block(table.columns, table.rows, style, wide) + "\n";
}

// One line each, wrapped: reasons are sentences.
std::string rejected_block(const sim::Plan& plan, const TextStyle& style, bool wide) {
  const RejectedLines lines = rejected_lines(plan, wide);
  if (lines.cells.rows.empty()) return "";
  std::string out = emphasised("REJECTED", Emphasis::Heading, style) + "\n";
  for (const auto& row : lines.cells.rows) {
    out += wrapped_text(row[0] + ": " + row[1], style.width, "  ", 4);
  }
  if (lines.more > 0) {
    out += fmt::format("  and {} configuration{} more (-o wide)\n", lines.more,
                       lines.more == 1 ? "" : "s");
  }
  return out + "\n";
}

}  // namespace

std::string plan_table(const sim::Plan& plan, const TextStyle& style, bool wide) {
  std::string out;
  if (plan.interrupted) {
    out += emphasised("INTERRUPTED: the search was not finished", Emphasis::Bad, style) + "\n";
  }
  out += wrapped_text(plan_heading(plan), style.width, "", 2) + "\n";
  out += plan_block(plan_cells(plan, style), style, wide);
  if (const std::string chart = plan_chart(plan, style); !chart.empty()) out += chart + "\n";
  for (const std::string& line : plan_answer(plan, style)) {
    out += wrapped_text(line, style.width, "", 2);
  }
  out += "\n";
  if (wide) out += plan_block(replicas_cells(plan, style), style, wide);
  out += rejected_block(plan, style, wide);
  out += emphasised("NOTES", Emphasis::Heading, style) + "\n";
  for (const std::string& line : plan_notes(plan)) {
    out += wrapped_text(line, style.width, "  ", 4);
  }
  return out + wrapped_text(plan_origin(plan, style), style.width, "", 2);
}

std::string plan_markdown(const sim::Plan& plan) {
  constexpr TextStyle kNoTerminal{false, true, 0};
  const auto cells = [](const Cells& table) { return markdown_table(table.columns, table.rows); };
  std::string out = fmt::format("### {}\n\n", markdown_cell(plan_heading(plan)));
  if (plan.interrupted) out += "**INTERRUPTED: the search was not finished**\n\n";
  for (const std::string& line : plan_answer(plan, kNoTerminal)) {
    out += markdown_cell(line) + "\n\n";
  }
  std::vector<std::string> sections = {cells(plan_cells(plan, kNoTerminal)) + "\n"};
  if (!plan.replicas.empty()) {
    sections.push_back(markdown_folded("Pods per GPU", cells(replicas_cells(plan, kNoTerminal))));
  }
  if (!plan.rejected.empty()) {
    sections.push_back(markdown_folded("Rejected", cells(rejected_lines(plan, true).cells)));
  }
  std::string notes;
  for (const std::string& line : plan_notes(plan)) notes += "- " + markdown_cell(line) + "\n";
  sections.push_back(markdown_folded("Notes", notes));
  return markdown_comment(out, std::move(sections), plan_origin(plan, kNoTerminal) + "\n\n",
                          plan.stamp.scenario);
}

}  // namespace slicewise::reports
