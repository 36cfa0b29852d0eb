#pragma once

#include <tl/expected.hpp>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/html_report.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/result.hpp"

#include "commands.hpp"
#include "scenario_file.hpp"

namespace slicewise::tools {

// What a report is about: a scenario, or a stored result or plan with the scenario that it was made
// from.
struct ReportInput {
  models::Catalogue catalogue;  // html.worlds point into it: not to be moved once they are there
  reports::HtmlReport html;
  PriceFile prices;
  Diagnostics notes;
  std::vector<SourceText> texts;
  // As a page or charts: with studies of what leads, which texts do not show.
  bool is_drawn = false;
  // Of --interactive: what goes inside the page, "" for nothing; the scenario, the --set that it
  // was read with and its traces.
  std::string engine{};
  SourceText source{};
  std::vector<std::string> settings{};
  std::vector<SourceText> traces{};
};

// Reads the file and simulates; mistakes are printed. PLAN_STALE and RESULT_STALE when the
// scenario, the prices or the figures are no longer those of the document.
ExitCode make_report_input(const ReportCommand& command, const CommonFlags& flags,
                           ReportInput& input);

}  // namespace slicewise::tools
