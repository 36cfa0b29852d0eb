#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/printable.hpp"
#include "slicewise/reports/difference.hpp"

#include "../ci/markdown_comment.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/screen.hpp"
#include "../text/text_table.hpp"
#include "difference_rows.hpp"

namespace slicewise::reports {
namespace {

std::string cells_block(const Cells& cells, const TextStyle& style, bool wide) {
  return part_text({.table = cells}, style, wide);
}

// Configurations of plans are too long to stand side by side.
std::string setting_lines(const ItemDifference& item, const TextStyle& style) {
  std::string out;
  for (const SettingDifference& setting : item.settings) {
    out += wrapped_text(fmt::format("{}: {} -> {}", setting.name, or_none(setting.before, style),
                                    or_none(setting.after, style)),
                        style.width, "", 2);
  }
  return out;
}

}  // namespace

std::string difference_table(const DocumentDifference& difference, const TextStyle& style,
                             bool wide) {
  std::string out =
      wrapped_text(fmt::format("{}, {} to {}: {}", difference.scenario, difference.old_name,
                               difference.new_name, difference_summary(difference)),
                   style.width, "", 2);
  std::size_t same = 0;
  for (const ItemDifference& item : difference.items) {
    if (!wide && !item.differs()) {
      ++same;
      continue;
    }
    out +=
        "\n" + emphasised(printable(item_title(item, difference)), Emphasis::Heading, style) + "\n";
    out += cells_block(figure_cells(item, style, wide), style, wide);
    out += difference.kind == "Plan"
               ? setting_lines(item, style)
               : cells_block(setting_cells(item.settings, style), style, wide);
  }
  if (same > 0 && difference.differs()) {
    out += "\n" + wrapped_text(fmt::format("{} {} the same on both sides (-o wide)", same,
                                           same == 1 ? "item is" : "items are"),
                               style.width, "", 2);
  }
  if (!difference.metadata.empty()) {
    out += "\n" + cells_block(setting_cells(difference.metadata, style), style, wide);
  }
  return out;
}

namespace {

constexpr TextStyle kCommentStyle{false, true, 0};

std::string markdown_cells(const Cells& cells) {
  return cells.rows.empty() ? "" : markdown_table(cells) + "\n";
}

std::string comment_heading(const DocumentDifference& difference) {
  constexpr std::size_t kLongest = 200;
  const std::string_view sign =
      difference.is_good() ? signs(kCommentStyle).pass : signs(kCommentStyle).fail;
  std::string failed;
  for (const std::string& sentence : difference.failed) {
    failed +=
        fmt::format("- {} {}\n", signs(kCommentStyle).fail, markdown_cell("--fail-on " + sentence));
  }
  return fmt::format("### GPU {}: {}  {} {}\n\n{}",
                     difference.kind == "MaxLoad"      ? "load"
                     : difference.kind == "Comparison" ? "options"
                     : difference.kind == "Plan"       ? "plan"
                     : difference.kind == "Replay"     ? "replay"
                                                       : "run",
                     markdown_cell(cut_text(difference.scenario, kLongest)), sign,
                     markdown_cell(difference_summary(difference)),
                     failed.empty() ? "" : failed + "\n");
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
  std::vector<std::string> sections;
  for (const ItemDifference& item : difference.items) {
    sections.push_back(item_section(item, difference, difference.items.size() == 1));
  }
  if (!difference.metadata.empty()) {
    sections.push_back(markdown_folded(
        "Inputs", markdown_cells(setting_cells(difference.metadata, kCommentStyle))));
  }
  return markdown_comment(heading, std::move(sections), "", difference.scenario);
}

}  // namespace slicewise::reports
