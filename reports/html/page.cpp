#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "slicewise/version.hpp"

#include "embedded/page_files.hpp"
#include "page_parts.hpp"

namespace slicewise::reports {
namespace {

using html::PagePart;

std::vector<PagePart> page_parts(const HtmlReport& report,
                                 const std::vector<html::ShownOption>& options) {
  return {{"trial", "What if", html::trial_section(report)},
          {"options", "Options", html::options_section(report, options)},
          {"replicas", "Replicas", html::replicas_section(report)},
          {"memory", "Memory", html::memory_section(report)},
          {"latency", "Latency", html::latency_section(report)},
          {"neighbours", "Neighbours", html::neighbours_section(report)},
          {"time", "Time", html::time_section(report)},
          {"gpus", "GPUs", html::gpus_section(report)},
          {"cost", "Cost", html::cost_section(report)},
          {"waits", "Waits", html::waits_section(report)},
          {"scaling", "Scaling", html::scaling_section(report)},
          {"sensitivity", "Sensitivity", html::sensitivity_section(report)},
          {"evidence", "Evidence", html::evidence_section(report)},
          {"apply", "Apply", html::apply_section(report)}};
}

// `may_simulate`: by WebAssembly, in a worker.
std::string page_head(std::string_view title, bool may_simulate) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'{}; base-uri 'none'; form-action "
      "'none'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
      "name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" "
      "content=\"slicewise {}\">\n<title>{}: slicewise "
      "report</title>\n<style>\n{}\n{}{}</style>\n</head>"
      "\n",
      may_simulate ? " 'wasm-unsafe-eval'; worker-src blob:" : "", kVersion, html::escaped(title),
      charts::chart_style(), page_files::page_css(),
      may_simulate ? page_files::trial_css() : std::string_view());
}

bool follows_time(const std::vector<PagePart>& parts) {
  return std::ranges::any_of(parts, [](const PagePart& part) {
    return std::ranges::any_of(part.markup.charts, &charts::Drawing::follows_time);
  });
}

std::string page_script(const std::vector<PagePart>& parts) {
  std::string script = fmt::format("\n{}\n{}", page_files::clipboard_js(), page_files::page_js());
  if (follows_time(parts)) script += fmt::format("\n{}", page_files::time_js());
  return script;
}

void add_charts(std::vector<PagePart>& parts, std::vector<charts::Drawing>& drawn) {
  for (PagePart& part : parts) std::ranges::move(part.markup.charts, std::back_inserter(drawn));
}

}  // namespace

std::vector<ReportChart> html::svg_files(const std::vector<charts::Drawing>& drawn) {
  std::vector<ReportChart> charts;
  charts.reserve(drawn.size());
  for (const charts::Drawing& chart : drawn) {
    charts.push_back({chart.text.id.substr(html::kChartId.size()), charts::svg_file(chart)});
  }
  return charts;
}

std::string html::header_markup(std::string_view title, std::string_view origin) {
  return fmt::format(
      "<header>\n<h1>{}</h1>\n<p class=\"origin\">{}</p>\n<p class=\"js\"><button "
      "type=\"button\" id=\"theme\">Theme: as the system</button></p>\n</header>\n",
      escaped(title), escaped(origin));
}

std::string html::page_markup(const PageText& page) {
  std::string links;
  std::string sections;
  for (const PagePart& part : page.parts) {
    if (part.markup.empty()) continue;
    links += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", part.id, part.name);
    sections += part.markup.text;
  }
  return page_head(page.title, !page.engine.empty()) +
         "<body>\n<a class=\"skip\" href=\"#main\">Skip to the verdict</a>\n" + page.header +
         "<main id=\"main\">\n" + page.first + "<nav aria-label=\"Sections\"><ul>\n" + links +
         "</ul></nav>\n" + sections + "</main>\n<footer><p>Written by slicewise " +
         std::string(kVersion) +
         ". Everything above is in this file: nothing was fetched.</p></footer>\n<p id=\"said\" "
         "role=\"status\" class=\"unseen\"></p>\n<script type=\"application/json\" "
         "id=\"document\">" +
         page.json + "</script>\n<script>" + page_script(page.parts) + "</script>\n" + page.engine +
         "</body>\n</html>\n";
}

std::vector<ReportChart> html::page_charts(std::vector<PagePart> parts) {
  std::vector<charts::Drawing> drawn;
  add_charts(parts, drawn);
  return svg_files(drawn);
}

std::vector<ReportChart> report_charts(const HtmlReport& report) {
  const std::vector<html::ShownOption> options = html::shown_options(report);
  std::vector<charts::Drawing> drawn = html::options_alone(report, options);
  std::vector<PagePart> parts = page_parts(report, options);
  add_charts(parts, drawn);
  return html::svg_files(drawn);
}

std::vector<ReportChart> latency_charts(const HtmlReport& report) {
  return html::page_charts({{"latency", "", html::latency_section(report)}});
}

std::string html_report(const HtmlReport& report) {
  const std::vector<html::ShownOption> options = html::shown_options(report);
  html::PageText page{.title = report.result.stamp.scenario,
                      .header = html::page_header(report),
                      .first = html::first_screen(report, options),
                      .parts = page_parts(report, options),
                      .json = {}};
  // What else the page has is short; its appendix holds the scenario.
  constexpr std::size_t kRest = std::size_t{4} * 1024;
  const std::size_t used = html::page_markup(page).size() + report.scenario_text.size();
  const html::EmbeddedDocument document = html::embedded_document(
      report, kLargestPage > used + kRest ? kLargestPage - used - kRest : 0);
  page.json = document.json;
  page.parts.push_back({"appendix", "Appendix", html::appendix_section(report, document)});
  page.engine = html::trial_scripts(report);
  return html::page_markup(page);
}

}  // namespace slicewise::reports
