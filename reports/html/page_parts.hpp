#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/reports/html_report.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/recording.hpp"

#include "../charts/charts.hpp"
#include "../charts/choice_chart.hpp"
#include "../charts/svg.hpp"
#include "html_text.hpp"

// What the sections about time share: a recording in fewer columns.
namespace slicewise::reports::html {

// Buckets of a recording drawn together: `first` to `last`, without the last.
struct TimeColumn {
  std::size_t first = 0;
  std::size_t last = 0;
  double at_seconds = 0;  // its end
  Duration length;
};

// At most `most` columns over the run.
std::vector<TimeColumn> time_columns(const sim::Recording& recording, std::size_t most);

// "gpu-1 #0", "gpu-1 #0 1g.5gb.3"
std::string gpu_label(const sim::RecordedGpu& gpu);

// "These are the first of 12 ..., seed 42": what a recording is of, and what it leaves out.
std::string recording_note(const sim::Recording& recording);

// One row of the table of options and one point of the chart beside it, whether it comes from a
// variant of a scenario or from a plan.
struct ShownOption {
  std::string rank;   // "1"; "" for what is not ranked
  std::string name;   // "3 x g4dn.xlarge, MPS x4"
  std::string label;  // shorter, beside a point
  charts::Shape shape = charts::Shape::Circle;
  int series = 0;                             // of its strategy
  std::optional<sim::OptionFigures> figures;  // absent: it did not run
  int nodes = 0;
  std::string reason;  // why it is refused or does not stand; "" for what does
  bool stands = false;
  bool misses = false;     // the reason is an objective
  bool ruled_out = false;  // by a closed form: it may run
  bool best = false;
  bool today = false;

  // The objective that uses up most of its limit; nullptr without any.
  const sim::PlannedObjective* tightest() const;
};

// The best variant, else the first, as that of a plan's best option is; nullptr: there is none.
const sim::VariantResult* leading_variant(const HtmlReport& report);

// What there is to choose from, the ranked ones first.
std::vector<ShownOption> shown_options(const HtmlReport& report);

// Share of its limit that the tightest objective uses up.
charts::UpwardsFigure limit_share_of(const ShownOption& option);

// The row of option `index` in the table of the first screen.
std::string option_id(std::size_t index);

// A section, and what the links above call it; what is empty is left out.
struct PagePart {
  std::string_view id;
  std::string_view name;
  Markup markup;
};

// What any page is made of; each is markup but for the title.
struct PageText {
  std::string title;
  std::string header;
  std::string first;  // above the links
  std::vector<PagePart> parts;
  std::string json;
  std::string engine{};  // scripts of a page that simulates by itself; each an element
};
std::string header_markup(std::string_view title, std::string_view origin);
std::string page_markup(const PageText& page);
std::vector<ReportChart> svg_files(const std::vector<charts::Drawing>& drawn);
std::vector<ReportChart> page_charts(std::vector<PagePart> parts);

// A document as it may stand in a script element.
std::string embedded_json(std::string_view document);
// A row of a list of terms; "" without a text.
std::string definition(std::string_view term, std::string_view text);

// The parts of the page, in their order. A section whose figures the report does not have is "".

// The JSON in the page, and the paragraph that says where it is and what it leaves out.
struct EmbeddedDocument {
  std::string json;
  std::string markup;
};
// As much as fits into so many bytes: all, the option that leads, or nothing.
EmbeddedDocument embedded_document(const HtmlReport& report, std::size_t room);

std::string page_header(const HtmlReport& report);
std::string first_screen(const HtmlReport& report, const std::vector<ShownOption>& options);

// What a page with an engine lets be changed, and its scripts.
Markup trial_section(const HtmlReport& report);
// The same of what a page is about: `options` of the choice of one, as markup.
Markup trial_markup(std::string_view choice, const std::string& options, std::string_view copy);
std::string trial_elements(const nlohmann::json& input, std::string_view engine,
                           std::string_view script);
std::string trial_scripts(const HtmlReport& report);

Markup options_section(const HtmlReport& report, const std::vector<ShownOption>& options);
Markup replicas_section(const HtmlReport& report);
Markup memory_section(const HtmlReport& report);
Markup latency_section(const HtmlReport& report);
Markup neighbours_section(const HtmlReport& report);
Markup time_section(const HtmlReport& report);
Markup gpus_section(const HtmlReport& report);
Markup cost_section(const HtmlReport& report);
Markup waits_section(const HtmlReport& report);
Markup scaling_section(const HtmlReport& report);
Markup sensitivity_section(const HtmlReport& report);
Markup evidence_section(const HtmlReport& report);
Markup apply_section(const HtmlReport& report);
Markup appendix_section(const HtmlReport& report, const EmbeddedDocument& document);

// The chart of options alone, also as a picture.
charts::ScatterChart options_chart(const HtmlReport& report,
                                   const std::vector<ShownOption>& options);
// The same on no page; empty without a point.
std::vector<charts::Drawing> options_alone(const HtmlReport& report,
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
