#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/comparison_report.hpp"

#include "../text/table_block.hpp"
#include "../text/text_table.hpp"
#include "../text/wrapped_text.hpp"
#include "comparison_columns.hpp"
#include "comparison_notes.hpp"
#include "comparison_words.hpp"
#include "result_details.hpp"

namespace slicewise::reports {
namespace {

using sim::StrategyComparison;

std::string emphasised_heading(const std::string& text, const TextStyle& style) {
  return emphasised(text, Emphasis::Heading, style);
}

std::string options_block(const StrategyComparison& comparison, const TextStyle& style, bool wide) {
  if (comparison.options.empty()) return "No option can run the workloads.\n";
  const Cells table = option_cells(comparison, style, wide);
  return table_block(table.columns, table.rows, style, wide);
}

std::string indented_lines(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    out += "  " + text.substr(at, end - at);
    at = end;
  }
  return out;
}

std::string isolation_block(const TextStyle& style, bool wide) {
  Cells table = isolation_cells();
  std::vector<std::string> dropped;
  const int width = wide || style.width == 0 ? 0 : style.width - 2;
  std::string text = text_table(table.columns, table.rows, width, &dropped);
  if (dropped.size() > 1) {
    // Without MEMORY, COMPUTE and FAULT the table says nothing: rather too wide than without.
    dropped = {table.columns.back().header};
    table.columns.pop_back();
    for (auto& row : table.rows) row.pop_back();
    text = text_table(table.columns, table.rows, 0, nullptr);
  }
  return emphasised_heading("ISOLATION between pods on one GPU", style) + "\n" +
         indented_lines(text) + dropped_line(dropped, style);
}

std::string refused_block(const StrategyComparison& comparison, const TextStyle& style) {
  if (comparison.refused.empty()) return "";
  std::string out = "\n" + emphasised_heading("REFUSED", style) + "\n";
  for (const RefusalGroup& group : refusal_groups(comparison)) {
    out += wrapped_text(group.strategies + " on " + group.instances, style.width, "  ", 4);
    out += wrapped_text(group.reason, style.width, "    ", 4);
  }
  const bool forcible = std::any_of(
      comparison.refused.begin(), comparison.refused.end(), [](const sim::RefusedOption& refused) {
        return refused.code == Code::MpsOnMig || refused.code == Code::VgpuNotOnEks;
      });
  if (forcible) {
    out += wrapped_text(fmt::format("--force simulates what is refused by {} and {}",
                                    info(Code::MpsOnMig).name, info(Code::VgpuNotOnEks).name),
                        style.width, "  ", 4);
  }
  return out;
}

std::string warnings_block(const StrategyComparison& comparison, const TextStyle& style) {
  std::string out;
  for (const sim::ComparedOption& option : comparison.options) {
    std::string lines;
    for (const Diagnostic& d : option.result.findings) {
      if (d.severity == Severity::Note) continue;
      lines +=
          wrapped_text(fmt::format("{}: {}", info(d.code).name, d.message), style.width, "    ", 6);
    }
    if (lines.empty()) continue;
    out += wrapped_text(fmt::format("{} x {}, {}", option.configuration.nodes,
                                    option.configuration.instance_type,
                                    configuration_title(option.configuration)),
                        style.width, "  ", 4) +
           lines;
  }
  return out.empty() ? out : "\n" + emphasised_heading("WARNINGS", style) + "\n" + out;
}

std::string comparison_notes_block(const StrategyComparison& comparison, const TextStyle& style,
                                   bool wide) {
  std::string out = "\n" + emphasised_heading("NOTES", style) + "\n";
  for (const std::string& line : comparison_notes(comparison, wide)) {
    out += wrapped_text(line, style.width, "  ", 4);
  }
  return out;
}

}  // namespace

std::string comparison_table(const StrategyComparison& comparison, const TextStyle& style,
                             bool wide) {
  std::string out;
  if (comparison.interrupted) {
    out += emphasised("INTERRUPTED: options without a finished run are left out", Emphasis::Bad,
                      style) +
           "\n";
  }
  out += wrapped_text(comparison_heading(comparison), style.width, "", 2) + "\n";
  out += options_block(comparison, style, wide) + "\n";
  for (const std::string& line : recommendation_lines(comparison)) {
    out += wrapped_text(line, style.width, "", 2);
  }
  out += "\n" + isolation_block(style, wide);
  out += refused_block(comparison, style);
  if (wide) out += warnings_block(comparison, style);
  out += comparison_notes_block(comparison, style, wide);
  return out + wrapped_text(comparison_origin(comparison, style), style.width, "", 2);
}

}  // namespace slicewise::reports
