#include <string>

#include <fmt/format.h>

#include "slicewise/reports/comparison_report.hpp"

#include "comparison_columns.hpp"
#include "comparison_notes.hpp"
#include "comparison_words.hpp"

namespace slicewise::reports {
namespace {

constexpr TextStyle kPlain{false, true, 0};

// Cells are user's names: a bar would end the cell, a "<" start HTML.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') {
      out += "\\|";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& text : cells) out += " " + cell(text) + " |";
  return out + "\n";
}

std::string markdown_table(const Cells& table) {
  std::vector<std::string> headers;
  std::string rule = "|";
  for (const Column& column : table.columns) {
    headers.push_back(column.header);
    rule += column.right_align ? "---:|" : "---|";
  }
  std::string out = markdown_row(headers) + rule + "\n";
  for (const auto& row : table.rows) out += markdown_row(row);
  return out;
}

std::string folded(const std::string& title, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n", title, body);
}

}  // namespace

std::string comparison_markdown(const sim::StrategyComparison& comparison) {
  std::string out = fmt::format("### {}\n\n", cell(comparison_heading(comparison)));
  if (comparison.interrupted) {
    out += "**INTERRUPTED: options without a finished run are left out**\n\n";
  }
  for (const std::string& line : recommendation_lines(comparison)) out += cell(line) + "\n\n";
  if (!comparison.options.empty()) {
    out += markdown_table(option_cells(comparison, kPlain, false)) + "\n";
  }
  out += folded("Isolation between pods on one GPU", markdown_table(isolation_cells()));
  std::string refused;
  for (const RefusalGroup& group : refusal_groups(comparison)) {
    refused +=
        fmt::format("- **{}** on {}: {}\n", group.strategies, group.instances, cell(group.reason));
  }
  if (!refused.empty()) out += folded("Refused", refused);
  std::string notes;
  for (const std::string& line : comparison_notes(comparison, true)) {
    notes += "- " + cell(line) + "\n";
  }
  out += folded("Notes", notes);
  return out + comparison_origin(comparison, kPlain) + "\n\n<!-- slicewise -->\n";
}

}  // namespace slicewise::reports
