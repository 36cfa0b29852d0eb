#include "range_part.hpp"

#include "../text/amount_text.hpp"
#include "sensitivity_screen.hpp"

namespace slicewise::reports {

ScreenPart range_part(const sim::VariantResult& variant) {
  ScreenPart part{.indent = 2};
  if (variant.ranges.empty()) return part;
  part.table.columns = {
      {"INPUTS DRAWN", false, 0}, {"VALUE", true, 0}, {"FROM", true, 0}, {"TO", true, 0}};
  for (const sim::FigureRange& range : variant.ranges) {
    const auto text = [&](double value) { return amount_text({value, range.unit}); };
    part.table.rows.push_back({outcome_title(range.workload, range.name), text(range.value),
                               text(range.least), text(range.most)});
  }
  part.sentences = {
      {.text = "95 % of what measurements leave open, or all where only bounds are known: more "
               "replications do not narrow it, better measurements do.",
       .indent = 2}};
  return part;
}

}  // namespace slicewise::reports
