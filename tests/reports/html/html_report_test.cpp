#include "slicewise/reports/html_report.hpp"

#include <algorithm>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"

#include "../golden_file.hpp"
#include "../plan_samples.hpp"
#include "../result_samples.hpp"
#include "reports/charts/charts.hpp"
#include "reports/html/html_text.hpp"

namespace slicewise::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

HtmlReport aws_report() {
  HtmlReport report;
  report.result = samples::aws_demo();
  report.scenario_text = "kind: Scenario\n";
  report.command = "slicewise run -f scenarios/examples/aws-cifar10.yaml";
  report.document = Report(report.result).json();
  return report;
}

TEST(HtmlReport, IsOneSmallDocumentThatMayFetchNothing) {
  const std::string page = html_report(aws_report());
  EXPECT_THAT(page, StartsWith("<!doctype html>\n<html lang=\"en\">"));
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none';"));
  EXPECT_LT(page.size(), 300U * 1024U);
  for (const char* reference : {"src=", "href=\"http", "@import", "url(http", "<link", "<iframe"}) {
    EXPECT_THAT(page, Not(HasSubstr(reference))) << reference;
  }
  EXPECT_EQ(page, html_report(aws_report()));
}

TEST(HtmlReport, LeadsWithTheVerdictAndKeepsEverySection) {
  const std::string page = html_report(aws_report());
  EXPECT_THAT(page, HasSubstr("finishes the most jobs per dollar"));
  std::size_t last = 0;
  for (const char* id : {"verdict", "gpus", "cost", "evidence", "appendix"}) {
    const std::size_t at = page.find("<section id=\"" + std::string(id) + "\"");
    ASSERT_NE(at, std::string::npos) << id;
    EXPECT_GT(at, last) << id;
    last = at;
  }
  // Nobody asked for these: they have no figures here.
  for (const char* id : {"replicas", "neighbours", "latency", "scaling", "apply"}) {
    EXPECT_THAT(page, Not(HasSubstr("<section id=\"" + std::string(id) + "\""))) << id;
  }
}

TEST(HtmlReport, SaysWhichJobsTheRunWasOverBefore) {
  HtmlReport report = aws_report();
  EXPECT_THAT(html_report(report), Not(HasSubstr("unfinished")));
  sim::LeftBehind& left = report.result.variants.front().workloads.front().left_behind;
  left.jobs = left.pods = 20;  // 5 were done
  EXPECT_THAT(html_report(report), HasSubstr("ok, 15 of 20 jobs unfinished"));
}

// Names come from files that anybody may have written.
TEST(HtmlReport, EscapesWhatOthersWrote) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>\"'&";
  HtmlReport report = aws_report();
  report.result.stamp.scenario = hostile;
  report.result.variants.front().name = hostile;
  report.result.variants.front().description = hostile;
  report.result.variants.front().findings.push_back(samples::finding(Code::PodPending, hostile, 1));
  report.scenario_text = hostile + "<!-- <script>";
  report.command = hostile;
  report.document = Report(report.result).json();
  report.apply = ApplySection{hostile, {{hostile, hostile, false}}, {}};
  const std::string page = html_report(report);
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  const auto count = [&page](std::string_view text) {
    std::size_t n = 0;
    for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) {
      ++n;
    }
    return n;
  };
  EXPECT_EQ(count("</script>"), 2U);  // of the document and of the page's own
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"));
}

// The parts that a terminal and a comment show.
TEST(HtmlReport, ShowsAScreenWhole) {
  const Screen screen{
      "voice",
      "INTERRUPTED",
      "voice: 2 options",
      {{.table = {{{"NAME"}, {"COST", true}}, {{"<a>", {"$1", Emphasis::Bad}}}}},
       {.sentences = {{"Take a."}}, .is_answer = true},
       {.heading = "BELOW", .parts = {{.heading = "deeper", .sentences = {{"so", {"Why: "}}}}}},
       {.heading = "EMPTY"},
       notes_part({"one", "two"})},
      "seed 42"};
  EXPECT_EQ(
      html::screen_markup(screen),
      "<p class=\"bad\">INTERRUPTED</p>\n<p>Take a.</p>\n"
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"voice: 2 "
      "options\"><table>\n<caption>voice: 2 options</caption>\n<thead><tr><th "
      "scope=\"col\">Name</th><th scope=\"col\" class=\"n\">Cost</th></tr></thead>\n<tbody>\n"
      "<tr><th scope=row>&lt;a&gt;\n<td class=\"bad n\">$1\n</tbody></table></div>\n"
      "<h3>BELOW</h3>\n<h3>deeper</h3>\n<p><strong>Why: </strong>so</p>\n"
      "<details><summary>Notes</summary>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n</details>\n"
      "<p class=\"origin\">seed 42</p>\n");
}

// They stood as they are typed, between backticks.
TEST(HtmlReport, CommandsOfSentencesAndCellsAreCode) {
  ScreenPart part;
  part.table = {{{"WHAT"}}, {{{"see `slicewise help`"}}, {{"30.8 ±0.2 ms"}}}};
  part.sentences = {{.text = "risk: `slicewise explain mig`"}, {.text = "and more"}};
  const std::string markup = html::part_markup(part);
  EXPECT_THAT(markup, HasSubstr("see <code>slicewise help</code>"));
  EXPECT_THAT(markup, HasSubstr("risk: <code>slicewise explain mig</code>"));
  EXPECT_THAT(markup, HasSubstr("30.8 ±0.2\u00a0ms"));
}

// Below a table of all variants the amounts of one would be wrong for the others.
TEST(HtmlReport, SaysByWhichRuleABillIsSplit) {
  HtmlReport report;
  report.result = samples::voice();
  sim::VariantResult& first = report.result.variants.front();
  first.cost.split.rule = "requests";
  first.cost.split.idle = from_dollars(0.236);
  for (sim::WorkloadResult& workload : first.workloads) {
    workload.bill.emplace().total = from_dollars(0.789);
  }
  const std::string page = html_report(report);
  EXPECT_THAT(page, HasSubstr("Who pays it: each pays by what its pods request, as OpenCost weighs "
                              "it; what nobody held and switching of a node are shared by what "
                              "each held of that node"));
}

TEST(HtmlReport, EmbedsTheWholeResult) {
  const std::string page = html_report(aws_report());
  const std::string start = "id=\"document\">";
  const std::size_t from = page.find(start) + start.size();
  const auto embedded =
      nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
  EXPECT_EQ(embedded, nlohmann::json::parse(Report(samples::aws_demo()).json()));
}

TEST(HtmlReport, LeavesOutFiguresThatWouldMakeItTooLarge) {
  HtmlReport report = aws_report();
  report.document = "[" + std::string(kLargestPage, '1') + "]";
  const std::string page = html_report(report);
  EXPECT_LT(page.size(), kLargestPage);
  EXPECT_THAT(page, HasSubstr("with those of the other variants"));
  EXPECT_THAT(page, HasSubstr("-o json</code> writes all of them"));
  report.result.variants.resize(1);
  EXPECT_THAT(html_report(report), HasSubstr("The figures are too many"));
}

TEST(HtmlReport, DrawsWhatInputsDoToTheFigures) {
  HtmlReport report = aws_report();
  sim::SensitivityStudy study;
  study.stamp.variant = "busy";
  study.by = 0.2;
  study.figures = {{"asr", "latencyP99", {0.4, sim::AmountUnit::Seconds}, 0.009, 0.5}};
  sim::InputEffect work;
  work.input.path = "workloads.asr.measured.requestGpuTime";
  work.low = sim::InputVariation{0.8, 0.02, "", {sim::OutcomeChange{0.3, -0.25, 0.01}}, {}, {}, {}};
  work.high = sim::InputVariation{1.2, 0.03, "", {sim::OutcomeChange{0.6, 0.5, 0.02}}, {}, {}, {}};
  study.effects = {work};
  report.sensitivity = study;
  const std::string page = html_report(report);
  EXPECT_THAT(page, HasSubstr("asr.requestGpuTime moves asr latencyP99 most: 300 ms (-25% ±1.0) at "
                              "-20%, 600 ms (+50% ±2.0) at +20%."));
  EXPECT_THAT(page, HasSubstr("class=\"whisker\""));
  EXPECT_THAT(page, HasSubstr("No objective starts or stops failing"));
  report.sensitivity.reset();
  report.no_sensitivity = "Not simulated";
  EXPECT_THAT(html_report(report), HasSubstr("Not simulated"));
}

// What is ruled out may run: it is dearer, for example.
TEST(HtmlReport, CountsWhatAPlanLookedAt) {
  HtmlReport report = aws_report();
  report.plan = plan_samples::sample_plan();
  report.plan->counts.configurations = 107;
  report.plan->counts.refused = 32;
  report.plan->counts.bounded = 67;
  report.plan->rejected.push_back({sim::RejectedChoice::Stage::Bound,
                                   report.plan->options.front().pools.front(),
                                   std::nullopt,
                                   {"it costs more"},
                                   std::nullopt});
  const std::string page = html_report(report);
  EXPECT_THAT(page, HasSubstr("options that were simulated do what they should"));
  EXPECT_THAT(page, HasSubstr("Of 107 configurations that were looked at 32 cannot run, and 67 "));
  EXPECT_THAT(page, HasSubstr("ruled out: it costs more"));
  EXPECT_THAT(page, Not(HasSubstr("cannot: it costs more")));
}

// "The one option does not do what it should" stood over the own pools, which do.
TEST(HtmlReport, SaysThatWhatThereIsStandsAlone) {
  HtmlReport report = aws_report();
  report.plan = plan_samples::sample_plan();
  report.plan->options.clear();
  report.plan->rejected.clear();
  ASSERT_TRUE(report.plan->today && report.plan->today->figures.stands());
  const std::string page = html_report(report);
  EXPECT_THAT(page, HasSubstr("What there is does what it should; nothing new that was tried"));
  EXPECT_THAT(page, HasSubstr("Nothing new that was tried stands"));
  // Within its limit, but not with all of its interval, is no miss.
  report.plan->today->figures.verdict.reasons = {
      {sim::Verdict::Cause::ObjectiveUndecided, "asr", "asr latencyP99 undecided", "may miss"}};
  EXPECT_THAT(html_report(report), HasSubstr("asr latencyP99 undecided"));
}

TEST(HtmlReport, SaysWhenARunWasCutShort) {
  HtmlReport report = aws_report();
  report.result.interrupted = true;
  EXPECT_THAT(html_report(report), HasSubstr("INTERRUPTED"));
  report.result.variants.clear();
  EXPECT_THAT(html_report(report), HasSubstr("Nothing was simulated"));
}

TEST(HtmlReport, SaysWhyThereAreNoFilesToApply) {
  HtmlReport report = aws_report();
  report.apply = ApplySection{
      "variant after", {}, {make_diagnostic(Code::ExportUnfit, {}, "no chart can say this")}};
  EXPECT_THAT(html_report(report), HasSubstr("EXPORT_UNFIT: no chart can say this"));
}

TEST(HtmlReport, HasItsChartsAsFiles) {
  const std::vector<ReportChart> charts = report_charts(aws_report());
  ASSERT_GE(charts.size(), 2U);
  EXPECT_EQ(charts.front().name, "options");
  for (const ReportChart& chart : charts) {
    EXPECT_THAT(chart.svg, StartsWith("<svg ")) << chart.name;
    EXPECT_THAT(chart.svg, HasSubstr("<style>")) << chart.name;
    EXPECT_THAT(chart.svg, Not(HasSubstr("href="))) << chart.name;
  }
}

TEST(HtmlReport, NamesTheSeriesOfAChartBelowItForPhones) {
  EXPECT_THAT(html_report(aws_report()), HasSubstr("<i class=\"k0 d0\"></i> useful</span>"));
}

charts::ScatterChart two_points() {
  charts::ScatterChart chart;
  chart.text = {"c", "MPS is cheapest", "Two options."};
  chart.x.label = "dollars per month";
  chart.y.label = "share of the limit";
  chart.limit = 1;
  chart.limit_label = "limit";
  chart.points.push_back({1152, 0.82, 0.02, "1 MPS x4", "MPS x4: $1,152", "#option-1",
                          charts::Shape::Square, 0, false, true});
  chart.points.push_back({1152, 1.26, std::nullopt, "time-slicing x4", "misses asr p99", "",
                          charts::Shape::Triangle, 3, true, false});
  return chart;
}

TEST(Charts, MatchTheGoldenFiles) {
  expect_golden("chart_scatter.svg", charts::svg_file(draw(two_points())));
  charts::StackedBars bars;
  bars.text = {"b", "Most of it is idle", "Two bars."};
  bars.x.label = "dollars";
  bars.parts = {"useful", "idle"};
  bars.bars.push_back({"before", {{2.91, "useful: $2.91"}, {9.33, "idle: $9.33"}}, 12, "$12.24"});
  bars.bars.push_back({"<after>", {{11.63, "useful"}, {0, ""}}, std::nullopt, "$11.63"});
  expect_golden("chart_bars.svg", charts::svg_file(draw(bars)));
  charts::HeatMatrix heat;
  heat.text = {"h", "asr suffers", "Two by two."};
  heat.rows = {"asr", "tts"};
  heat.columns = {"asr", "tts"};
  heat.cells = {{{std::nullopt, "", "asr alone"}, {1.8, "1.80×", "asr beside tts"}},
                {{1.1, "1.10×", "tts beside asr"}, {std::nullopt, "", "tts alone"}}};
  heat.least = 1;
  heat.most = 1.8;
  expect_golden("chart_heat.svg", charts::svg_file(draw(heat)));
}

// One below the least point, one that would reach below zero of a logarithmic axis.
TEST(Charts, IntervalsStayInThePlot) {
  for (const bool logarithmic : {false, true}) {
    charts::ScatterChart chart = two_points();
    chart.y.logarithmic = logarithmic;
    chart.y.from_zero = false;
    for (const double half : {0.5, 5.0}) {
      for (charts::ScatterPoint& point : chart.points) point.y_half_width = half * point.y;
      const std::string drawn = svg_element(draw(chart));
      const std::regex line("M[-0-9.]+ ([-0-9.]+)L[-0-9.]+ ([-0-9.]+)\" class=\"interval");
      std::sregex_iterator at(drawn.begin(), drawn.end(), line);
      EXPECT_NE(at, std::sregex_iterator());
      for (; at != std::sregex_iterator(); ++at) {
        for (const std::size_t end : {1U, 2U}) {
          EXPECT_GE(std::stod((*at)[end]), 26);
          EXPECT_LE(std::stod((*at)[end]), chart.height - 42);
        }
      }
    }
  }
}

TEST(Charts, DropALabelThatWouldLieOverAnother) {
  charts::ScatterChart chart = two_points();
  for (int i = 0; i < 40; ++i) {
    chart.points.push_back(
        {1152, 0.82, std::nullopt, "hidden label", "", "", charts::Shape::Circle, 2, false, false});
  }
  const std::string drawn = svg_element(draw(chart));
  EXPECT_THAT(drawn, HasSubstr(">1 MPS x4<"));
  std::size_t shown = 0;
  for (std::size_t at = 0; (at = drawn.find(">hidden label<", at)) != std::string::npos; ++at) {
    ++shown;
  }
  EXPECT_LT(shown, 8U);
}

TEST(Charts, LeaveOutPointsThatALineDoesNotNeed) {
  charts::LineChart chart;
  chart.text = {"l", "Four pods all the time", "One line."};
  chart.y = {"pods", tick_text, false, true, 1, true};
  chart.series.push_back({"asr", {}, false});
  for (int i = 0; i <= 100; ++i)
    chart.series[0].points.push_back({i * 1.0, 1, std::nullopt, false});
  const std::string drawn = svg_element(draw(chart));
  const std::size_t path = drawn.find("class=\"series");
  const std::size_t from = drawn.rfind("d=\"", path);
  const std::string points = drawn.substr(from, path - from);
  EXPECT_EQ(std::count(points.begin(), points.end(), 'L'), 1);
  EXPECT_THAT(drawn, Not(HasSubstr(">0.5<")));  // no half pods
}

TEST(Charts, DrawAnAxisForOneValueAndForNone) {
  charts::ScatterChart chart = two_points();
  chart.points.resize(1);
  chart.points[0].x = 0;
  chart.points[0].y = 0;
  const std::string drawn = svg_element(draw(chart));
  EXPECT_THAT(drawn, Not(HasSubstr("nan")));
  EXPECT_THAT(drawn, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace slicewise::reports
