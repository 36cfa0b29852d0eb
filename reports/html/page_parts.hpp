#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/reports/html_report.hpp"

#include "../charts/charts.hpp"
#include "html_text.hpp"
#include "shown_options.hpp"

// The parts of the page, in their order. A section whose figures the report does not have is "".
namespace slicewise::reports::html {

// The JSON in the page, and the paragraph that says where it is and what it leaves out.
struct EmbeddedDocument {
  std::string json;
  std::string markup;
};
// As much as fits into so many bytes: all, the option that leads, or nothing.
EmbeddedDocument embedded_document(const HtmlReport& report, std::size_t room);

std::string page_header(const HtmlReport& report);
std::string first_screen(const HtmlReport& report, const std::vector<ShownOption>& options);

Markup options_section(const HtmlReport& report, const std::vector<ShownOption>& options);
Markup replicas_section(const HtmlReport& report);
Markup memory_section(const HtmlReport& report);
Markup latency_section(const HtmlReport& report);
Markup neighbours_section(const HtmlReport& report);
Markup time_section(const HtmlReport& report);
Markup gpus_section(const HtmlReport& report);
Markup cost_section(const HtmlReport& report);
Markup scaling_section(const HtmlReport& report);
Markup sensitivity_section(const HtmlReport& report);
Markup evidence_section(const HtmlReport& report);
Markup apply_section(const HtmlReport& report);
Markup appendix_section(const HtmlReport& report, const EmbeddedDocument& document);

// The chart of options alone, also as a picture.
charts::ScatterChart options_chart(const HtmlReport& report,
                                   const std::vector<ShownOption>& options);

// The table of options with so many rows of those that do not stand; but for kAllRefused it is the
// brief one of the first screen.
inline constexpr std::size_t kAllRefused = static_cast<std::size_t>(-1);
HtmlTable options_table(const HtmlReport& report, const std::vector<ShownOption>& options,
                        std::size_t most_refused);

// What each variant is, in its own words; of at most so many variants on the first screen.
inline constexpr std::size_t kDescribedVariants = 5;
std::string variant_descriptions(const sim::Result& result);

}  // namespace slicewise::reports::html
