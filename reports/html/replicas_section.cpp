#include <algorithm>

#include <fmt/format.h>

#include "../charts/charts.hpp"
#include "../screens/plan_screen.hpp"
#include "../screens/plan_words.hpp"
#include "../screens/result_figures.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

std::string percent_of_limit(double value) { return fmt::format("{:.0f}%", 100 * value); }

// Never met: not a place on an axis.
constexpr double kMostShare = 999;

std::string replicas_finding(const sim::Plan& plan) {
  if (!plan.knee) return "No number of pods per GPU does what it should.";
  const sim::ReplicasPoint& knee = plan.replicas[*plan.knee];
  const bool chosen =
      !plan.options.empty() && plan.options.front().pools.front().replicas == knee.replicas;
  if (!chosen) return replicas_sentence(plan);
  std::string out = fmt::format("{} {} per GPU is where the cost stops falling", knee.replicas,
                                knee.replicas == 1 ? "pod" : "pods");
  if (knee.figures) out += fmt::format(": {} a month", money_text(knee.figures->monthly));
  return out + (plan.binding.empty() ? "." : fmt::format("; beyond it: {}.", plan.binding));
}

charts::LineChart replicas_chart(const sim::Plan& plan, const std::string& id,
                                 const std::string& title) {
  charts::LineChart chart;
  chart.text = {id, title,
                "One point for each number of pods that share a GPU, each with as few "
                "nodes as it takes. Hollow points do not do what they should."};
  chart.x = {"pods per GPU", tick_text, false, false};
  chart.width = 480;
  chart.height = 280;
  for (const sim::ReplicasPoint& point : plan.replicas) {
    chart.x_ticks.emplace_back(point.replicas, std::to_string(point.replicas));
  }
  if (plan.knee) {
    chart.events.push_back({static_cast<double>(plan.replicas[*plan.knee].replicas), "knee"});
  }
  for (const sim::ReplicasPoint& point : plan.replicas) {
    if (point.figures) continue;
    chart.events.push_back({static_cast<double>(point.replicas), "cannot run from here"});
    break;
  }
  return chart;
}

}  // namespace

Markup replicas_section(const HtmlReport& report) {
  if (!report.plan || report.plan->replicas.empty()) return "";
  const sim::Plan& plan = *report.plan;
  const std::string finding = replicas_finding(plan);
  charts::LineChart cost = replicas_chart(plan, "chart-replicas-cost", finding);
  charts::LineSeries dollars{"", {}, true};
  charts::LineSeries shares{"", {}, true};
  for (const sim::ReplicasPoint& point : plan.replicas) {
    if (!point.figures || point.figures->running_max == 0) continue;
    const bool hollow = !point.figures->stands();
    const auto x = static_cast<double>(point.replicas);
    dollars.points.push_back({x, to_dollars(point.figures->monthly), std::nullopt, hollow});
    if (point.figures->objectives.empty() || point.figures->worst_ratio > kMostShare) continue;
    shares.points.push_back({x, point.figures->worst_ratio, std::nullopt, hollow});
  }
  const HtmlTable data = table_of("pods per GPU", replicas_cells(plan, kPageStyle));
  if (dollars.points.empty()) {
    return section("replicas", "How many pods per GPU?", paragraph(finding) + table_markup(data));
  }
  cost.y = {"dollars per month", dollars_tick, false, true};
  cost.series = {std::move(dollars)};
  Markup out = figure(draw(cost), finding, {data});
  if (!shares.points.empty()) {
    const auto fine = std::ranges::count_if(plan.replicas, [](const sim::ReplicasPoint& point) {
      return point.figures && point.figures->stands();
    });
    const std::string limits = fmt::format(
        "{} of {} keep every limit with all of their pods running.", fine, plan.replicas.size());
    charts::LineChart limit = replicas_chart(plan, "chart-replicas-limit", limits);
    limit.y = {"tightest objective, share of its limit", percent_of_limit, false, true};
    limit.series = {std::move(shares)};
    limit.limits = {{1, "limit"}};
    out += figure(draw(limit), limits, {});
  }
  return section("replicas", "How many pods per GPU?", "<div class=\"pair\">\n" + out + "</div>\n");
}

}  // namespace slicewise::reports::html
