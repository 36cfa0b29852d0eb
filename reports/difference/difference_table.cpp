#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "slicewise/printable.hpp"
#include "slicewise/reports/difference.hpp"

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

bool is_worth_showing(const ItemDifference& item) {
  return item.side != ItemDifference::Side::Both || !item.settings.empty() ||
         std::ranges::any_of(item.figures, &FigureDifference::differs);
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
    if (!wide && !is_worth_showing(item)) {
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

}  // namespace slicewise::reports
