#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "slicewise/version.hpp"

#include "embedded/page_files.hpp"
#include "page_parts.hpp"

namespace slicewise::reports {
namespace {

struct PagePart {
  std::string_view id;
  std::string_view name;
  html::Markup markup;
};

std::vector<PagePart> page_parts(const HtmlReport& report,
                                 const std::vector<html::ShownOption>& options) {
  return {{"options", "Options", html::options_section(report, options)},
          {"replicas", "Replicas", html::replicas_section(report)},
          {"memory", "Memory", html::memory_section(report)},
          {"latency", "Latency", html::latency_section(report)},
          {"neighbours", "Neighbours", html::neighbours_section(report)},
          {"time", "Time", html::time_section(report)},
          {"gpus", "GPUs", html::gpus_section(report)},
          {"cost", "Cost", html::cost_section(report)},
          {"scaling", "Scaling", html::scaling_section(report)},
          {"sensitivity", "Sensitivity", html::sensitivity_section(report)},
          {"evidence", "Evidence", html::evidence_section(report)},
          {"apply", "Apply", html::apply_section(report)}};
}

std::string page_head(const HtmlReport& report) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action "
      "'none'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
      "name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" "
      "content=\"slicewise {}\">\n<title>{}: slicewise "
      "report</title>\n<style>\n{}\n{}</style>\n</head>"
      "\n",
      kVersion, html::escaped(report.result.stamp.scenario), charts::chart_style(),
      page_files::page_css());
}

}  // namespace

std::vector<ReportChart> report_charts(const HtmlReport& report) {
  const std::vector<html::ShownOption> options = html::shown_options(report);
  std::vector<charts::Drawing> drawn;
  charts::ScatterChart choice = html::options_chart(report, options);
  for (charts::ScatterPoint& point : choice.points) point.link.clear();  // there is no table
  if (!choice.points.empty()) drawn.push_back(draw(choice));
  for (PagePart& part : page_parts(report, options)) {
    std::ranges::move(part.markup.charts, std::back_inserter(drawn));
  }
  std::vector<ReportChart> charts;
  charts.reserve(drawn.size());
  for (const charts::Drawing& chart : drawn) {
    charts.push_back({chart.text.id.substr(html::kChartId.size()), charts::svg_file(chart)});
  }
  return charts;
}

std::string html_report(const HtmlReport& report) {
  const std::vector<html::ShownOption> options = html::shown_options(report);
  std::string links;
  std::string sections;
  bool follow_time = false;
  const auto add = [&](const PagePart& part) {
    if (part.markup.empty()) return;
    links += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", part.id, part.name);
    sections += part.markup.text;
    follow_time |= std::ranges::any_of(part.markup.charts, &charts::Drawing::follows_time);
  };
  for (const PagePart& part : page_parts(report, options)) add(part);
  const std::string start =
      page_head(report) + "<body>\n<a class=\"skip\" href=\"#main\">Skip to the verdict</a>\n" +
      html::page_header(report) + "<main id=\"main\">\n" + html::first_screen(report, options);
  std::string script = fmt::format("\n{}", page_files::page_js());
  if (follow_time) script += fmt::format("\n{}", page_files::time_js());
  // What else the page has is short; its appendix holds the scenario.
  constexpr std::size_t kRest = std::size_t{4} * 1024;
  const std::size_t used =
      start.size() + links.size() + sections.size() + script.size() + report.scenario_text.size();
  const html::EmbeddedDocument document = html::embedded_document(
      report, kLargestPage > used + kRest ? kLargestPage - used - kRest : 0);
  add({"appendix", "Appendix", html::appendix_section(report, document)});
  return start + "<nav aria-label=\"Sections\"><ul>\n" + links + "</ul></nav>\n" + sections +
         "</main>\n<footer><p>Written by slicewise " + std::string(kVersion) +
         ". Everything above is in this file: nothing was fetched.</p></footer>\n<p id=\"said\" "
         "role=\"status\" class=\"unseen\"></p>\n<script type=\"application/json\" "
         "id=\"document\">" +
         document.json + "</script>\n<script>" + script + "</script>\n</body>\n</html>\n";
}

}  // namespace slicewise::reports
