#include <algorithm>

#include <fmt/format.h>

#include "../plan_words.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {

std::string sensitivity_section(const HtmlReport& report) {
  if (!report.plan || report.plan->flips.empty()) return "";
  HtmlTable table{
      "Changes that make another option the best",
      {{"Input"}, {"Holds up to", true}, {"Changes at", true}, {"Because"}, {"Then best"}},
      {},
      {},
      true};
  for (const sim::Flip& flip : report.plan->flips) {
    std::string winner = "none of these options";
    if (flip.winner && !flip.winner->pools.empty()) {
      winner.clear();
      for (const sim::PoolChoice& pool : flip.winner->pools) {
        winner += (winner.empty() ? "" : " + ") + sim::describe(pool);
      }
    }
    const auto times = [](double factor) {
      return HtmlCell{fmt::format("{:.3g}×", factor), factor, ""};
    };
    table.rows.push_back({{flip.input, std::nullopt, ""},
                          times(flip.holds_at),
                          times(flip.factor),
                          {flip.misses ? "an objective is missed" : "it is no longer the cheapest",
                           std::nullopt, ""},
                          {winner, std::nullopt, ""}});
  }
  const auto nearest = std::ranges::min_element(report.plan->flips, {}, &sim::Flip::factor);
  return section("sensitivity", "What would change the answer?",
                 paragraph(fmt::format("The answer is most sensitive to {}: it changes at {:.3g} "
                                       "times its value.",
                                       nearest->input, nearest->factor)) +
                     table_markup(table) +
                     paragraph("Each input was raised on its own until another option won; factors "
                               "between the two columns were not tried. `slicewise plan` finds "
                               "these."));
}

}  // namespace slicewise::reports::html
