#include <fmt/format.h>

#include "../screens/plan_words.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {

std::string variant_descriptions(const sim::Result& result) {
  std::string out;
  for (const sim::VariantResult& variant : result.variants) {
    if (variant.description.empty()) continue;
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(variant.name),
                       escaped(variant.description));
  }
  return out.empty() ? "" : "<dl>\n" + out + "</dl>\n";
}

Markup options_section(const HtmlReport& report, const std::vector<ShownOption>& options) {
  std::string out;
  if (report.plan) {
    out += list_of_lines(plan_answer(*report.plan, kPageStyle));
    std::size_t refused = 0;
    for (const ShownOption& option : options) refused += option.stands || option.today ? 0 : 1;
    HtmlTable all = options_table(report, options, kAllRefused);
    all.caption = fmt::format("All {} options that were looked at", options.size());
    out += folded(fmt::format("All options, with the {} that were refused and why", refused),
                  table_markup(all));
    return section("options", "Which one?", out);
  }
  // A few have theirs on the first screen.
  if (report.result.variants.size() <= kDescribedVariants) return "";
  out = variant_descriptions(report.result);
  return out.empty() ? "" : section("options", "Which one?", out);
}

}  // namespace slicewise::reports::html
