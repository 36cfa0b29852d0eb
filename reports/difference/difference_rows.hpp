#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/difference.hpp"

#include "../text/text_table.hpp"

// The cells and sentences that the table and the Markdown of a difference share.
namespace slicewise::reports {

// "after no longer stands: 2 Pending". REQUIRES: new reasons.
std::string verdict_sentence(const ItemDifference& item);

// "after: asr latencyP99 412 ms -> 631 ms (+53%)".
std::string figure_sentence(const ItemDifference& item, const FigureDifference& figure,
                            const TextStyle& style);

// "voice: 1 objective newly fails, cost +7.3%"; what matters most of all items.
std::string difference_summary(const DocumentDifference& difference);

// The figures of an item: those that changed, all costs and objectives with `all`.
Cells figure_cells(const ItemDifference& item, const TextStyle& style, bool all);
Cells setting_cells(const std::vector<SettingDifference>& settings, const TextStyle& style);

// "variant after" or the name of an option, with the side that it is on.
std::string item_title(const ItemDifference& item, const DocumentDifference& difference);

}  // namespace slicewise::reports
