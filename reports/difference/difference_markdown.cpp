#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/difference.hpp"

#include "../markdown_text.hpp"
#include "../result_figures.hpp"
#include "difference_rows.hpp"

namespace slicewise::reports {
namespace {

constexpr TextStyle kCommentStyle{false, true, 0};

// GitHub says 65,536 characters; a margin for what a bot adds.
constexpr std::size_t kLargestComment = 60'000;

std::string markdown_cells(const Cells& cells) {
  return cells.rows.empty() ? "" : markdown_table(cells.columns, cells.rows) + "\n";
}

// A name inside of an HTML comment, where "-->" would end it.
std::string marker_name(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  std::string out = name.substr(0, kLongest);
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_';
    if (!plain) c = '-';
  }
  while (out.find("--") != std::string::npos) out.erase(out.find("--"), 1);
  return out;
}

std::string cut_text(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most) + "...";
}

std::string comment_heading(const DocumentDifference& difference) {
  constexpr std::size_t kLongest = 200;
  const int failing = difference.newly_failing();
  const std::string_view sign = failing > 0 ? signs(kCommentStyle).fail : signs(kCommentStyle).pass;
  return fmt::format("### GPU {}: {}  {} {}\n\n",
                     difference.kind == "MaxLoad"      ? "load"
                     : difference.kind == "Comparison" ? "options"
                                                       : "run",
                     markdown_cell(cut_text(difference.scenario, kLongest)), sign,
                     markdown_cell(difference_summary(difference)));
}

std::string item_section(const ItemDifference& item, const DocumentDifference& difference,
                         bool is_only) {
  std::string body = markdown_cells(figure_cells(item, kCommentStyle, false)) +
                     markdown_cells(setting_cells(item.settings, kCommentStyle));
  if (is_only) return body;
  return fmt::format("**{}**\n\n{}", markdown_cell(item_title(item, difference)), body);
}

}  // namespace

std::string difference_markdown(const DocumentDifference& difference) {
  const std::string heading = comment_heading(difference);
  const std::string marker =
      fmt::format("<!-- slicewise:{} -->\n", marker_name(difference.scenario));
  std::vector<std::string> sections;
  for (const ItemDifference& item : difference.items) {
    sections.push_back(item_section(item, difference, difference.items.size() == 1));
  }
  if (!difference.metadata.empty()) {
    sections.push_back(markdown_folded(
        "Inputs", markdown_cells(setting_cells(difference.metadata, kCommentStyle))));
  }
  std::size_t size = heading.size() + marker.size() + 100;
  for (const std::string& section : sections) size += section.size();
  int left_out = 0;
  while (size > kLargestComment) {
    const auto largest = std::ranges::max_element(sections, {}, &std::string::size);
    size -= largest->size();
    sections.erase(largest);
    ++left_out;
  }
  std::string out = heading;
  for (const std::string& section : sections) out += section;
  if (left_out > 0) {
    out += fmt::format("{} {} left out: a comment has no room for more.\n\n", left_out,
                       left_out == 1 ? "section is" : "sections are");
  }
  return out + marker;
}

}  // namespace slicewise::reports
