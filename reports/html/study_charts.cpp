#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/pool_choice.hpp"

#include "../charts/choice_chart.hpp"
#include "../screens/screens.hpp"
#include "page_parts.hpp"

namespace slicewise::reports {

using html::ShownOption;

std::vector<charts::Drawing> html::options_alone(const HtmlReport& report,
                                                 const std::vector<ShownOption>& options) {
  charts::ScatterChart choice = options_chart(report, options);
  for (charts::ScatterPoint& point : choice.points) point.link.clear();  // there is no table
  std::vector<charts::Drawing> drawn;
  if (!choice.points.empty()) drawn.push_back(draw(choice));
  return drawn;
}

std::vector<ReportChart> study_charts(const sim::Plan& plan) {
  HtmlReport report;
  report.plan = plan;
  return html::svg_files(html::options_alone(report, html::shown_options(report)));
}

namespace {

std::vector<charts::Drawing> drawn_options(const sim::StrategyComparison& comparison) {
  HtmlReport report;
  for (const sim::ComparedOption& option : comparison.options) {
    report.result.variants.push_back(option.result);
    report.result.variants.back().name =
        option.yours ? "yours" : sim::describe(option.configuration);
  }
  std::vector<ShownOption> options = html::shown_options(report);
  for (std::size_t o = 0; o < options.size(); ++o) options[o].best = comparison.options[o].best;
  return html::options_alone(report, options);
}

std::vector<charts::Drawing> drawn_loads(const sim::MaxLoad& found) {
  charts::ScatterChart chart;
  chart.text = {"chart-loads", range_sentence(found),
                "One point for each load that was tried. Up: closer to the tightest limit. Hollow "
                "points are not clearly within all of them."};
  chart.x = {"times the scenario's load (log)", tick_text, true};
  chart.y = {"tightest objective, share of its limit (log)", charts::limit_share_text, true};
  chart.limit = 1;
  chart.limit_label = "limit";
  for (std::size_t p = 0; p < found.probes.size(); ++p) {
    const sim::LoadProbe& probe = found.probes[p];
    double share = 0;
    for (const sim::ProbedObjective& objective : probe.objectives) {
      share = std::max(share, objective.result.ratio());
    }
    if (share <= 0 || share > charts::kNothingDone) continue;
    charts::ScatterPoint point;
    point.x = probe.factor;
    point.y = share;
    point.tooltip =
        fmt::format("{:.3g} times the load: {}", probe.factor, verdict_word(probe.verdict));
    point.hollow = probe.verdict != sim::LoadVerdict::Passes;
    point.emphasised = p == found.passed;
    chart.points.push_back(std::move(point));
  }
  if (chart.points.empty()) return {};
  return {draw(chart)};
}

// What a terminal shows of a study, below its chart.
template <class Found>
std::string page_of(const Found& found, const std::vector<charts::Drawing>& drawn) {
  Screen screen = screen_of(found, html::kPageStyle, Detail::Comment);
  const std::string origin = std::exchange(screen.origin, {});
  html::Markup shown;
  for (const charts::Drawing& chart : drawn) shown += html::figure(chart, chart.text.title, {});
  html::PageText page{.title = screen.scenario,
                      .header = html::header_markup(screen.scenario, origin),
                      .first = html::section("verdict", std::exchange(screen.heading, {}),
                                             shown + html::screen_markup(screen))
                                   .text,
                      .parts = {},
                      .json = html::embedded_json(Report(found).json())};
  return html::page_markup(page);
}

}  // namespace

std::vector<ReportChart> study_charts(const sim::StrategyComparison& comparison) {
  return html::svg_files(drawn_options(comparison));
}

std::vector<ReportChart> study_charts(const sim::MaxLoad& found) {
  return html::svg_files(drawn_loads(found));
}

std::string study_page(const sim::StrategyComparison& comparison) {
  return page_of(comparison, drawn_options(comparison));
}

std::string study_page(const sim::MaxLoad& found) { return page_of(found, drawn_loads(found)); }

std::string study_page(const sim::NeighbourMatrix& matrix) { return page_of(matrix, {}); }

std::string study_page(const sim::SensitivityStudy& study) { return page_of(study, {}); }

}  // namespace slicewise::reports
