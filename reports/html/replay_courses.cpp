#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../charts/charts.hpp"
#include "../screens/replay_figures.hpp"
#include "../screens/result_figures.hpp"
#include "replay_ways.hpp"

// Lines on the page of a replay: its figures over time, and over percentiles of its jobs.
namespace slicewise::reports::replayed {

using html::HtmlCell;
using html::Markup;

namespace {

constexpr std::size_t kMostLines = 5;  // in a chart

charts::LineChart line_chart(std::string id, std::string finding, std::string description) {
  charts::LineChart chart;
  chart.text = {std::string(html::kChartId) + std::move(id), std::move(finding),
                std::move(description)};
  chart.width = 620;
  chart.height = 240;
  return chart;
}

Markup drawn(const charts::LineChart& chart, std::string x_header,
             const std::vector<std::string>& x_texts, const charts::TickText text) {
  html::HtmlTable table{chart.y.label, {{std::move(x_header), true}}};
  for (const charts::LineSeries& series : chart.series)
    table.columns.push_back({series.name, true});
  constexpr std::size_t kMostRows = 24;
  const std::size_t step = (x_texts.size() + kMostRows - 1) / kMostRows;
  for (std::size_t p = 0; p < x_texts.size(); p += step) {
    std::vector<HtmlCell> row{x_texts[p]};
    for (const charts::LineSeries& series : chart.series) {
      row.push_back(p < series.points.size() ? HtmlCell{text(series.points[p].y)} : HtmlCell{});
    }
    table.rows.push_back(std::move(row));
  }
  return html::figure(draw(chart), chart.text.title, {table});
}

// Series over time with the steps of the coarsest: steps are powers of two of a second.
class Times {
 public:
  explicit Times(const std::vector<Way>& ways) : ways_(ways) {
    for (const Way& way : ways) {
      step_ = std::max(step_, number(*way.figures, "/series/stepSeconds"));
      length_ = std::max(length_, number(*way.figures, "/makespanSeconds"));
    }
  }

  bool has_course() const { return length_ > 2 * step_; }

  Markup chart(const char* key, const std::string& label, const std::string& what) const {
    charts::LineChart chart = line_chart(key, "", "One line for each way, over the replay.");
    double peak = 0;
    const Way* highest = &ways_.front();
    double at = 0;
    for (const Way& way : ways_) {
      if (chart.series.size() == kMostLines) break;
      chart.series.push_back(line_of(way, key));
      for (const charts::LinePoint& point : chart.series.back().points) {
        if (point.y <= peak) continue;
        peak = point.y;
        at = point.x;
        highest = &way;
      }
    }
    if (peak == 0) return "";
    chart.text.title =
        fmt::format("Up to {} {}, on average over {} ({}, {} into the replay).", count_text(peak),
                    what, step_text(), highest->name, seconds_words(at));
    if (ways_.size() > kMostLines) {
      chart.text.title += fmt::format(" Drawn: the first {} of {}.", kMostLines, ways_.size());
    }
    chart.x = {"time since the first arrival", tick_text, false, true};
    chart.x_ticks = charts::time_ticks(from_seconds(length_));
    chart.y = {label, tick_text, false, true};
    chart.cursor = charts::TimeCursor{step_, length_, ""};
    std::vector<std::string> times;
    for (double end = step_; end < length_ + step_; end += step_) {
      times.push_back(seconds_words(std::min(end, length_)));
    }
    return drawn(chart, "Until", times, tick_text);
  }

  std::string step_text() const { return seconds_words(step_); }

 private:
  charts::LineSeries line_of(const Way& way, const char* key) const {
    const json& series = (*way.figures)["series"];
    const auto together = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(step_ / number(series, "/stepSeconds", step_))));
    const double makespan = number(*way.figures, "/makespanSeconds");
    charts::LineSeries line{way.name, {}, false};
    const json& values = series[key];
    for (std::size_t first = 0; first < values.size(); first += together) {
      const std::size_t last = std::min(values.size(), first + together);
      double sum = 0;
      for (std::size_t v = first; v < last; ++v) sum += values[v].get<double>();
      const double end = step_ * static_cast<double>(line.points.size() + 1);
      line.points.push_back(
          {std::min(end, makespan), sum / static_cast<double>(last - first), {}, false});
    }
    return line;
  }

  const std::vector<Way>& ways_;
  double step_ = 0;
  double length_ = 0;
};

// The axis of waits begins with a second.
std::string wait_words(double value) { return value <= 1 ? "≤1 s" : seconds_words(value); }

Markup distribution(const std::vector<Way>& ways, const char* key, const std::string& label,
                    const charts::TickText text, double least) {
  charts::LineChart chart =
      line_chart(key, "", "One line for each way, over percentiles of the finished jobs.");
  double most = least;
  double last = 0;
  std::vector<std::string> quantiles;
  for (const Way& way : ways) {
    if (chart.series.size() == kMostLines) break;
    charts::LineSeries line{way.name, {}, true};
    for (const json& row : way.figures->value("distribution", json::array())) {
      if (!row.contains(key)) continue;
      const auto quantile = row["quantile"].get<double>();
      if (quantile > last) quantiles.push_back(fmt::format("p{:g}", quantile * 100));
      last = std::max(last, quantile);
      line.points.push_back(
          {charts::quantile_place(quantile), std::max(least, row[key].get<double>()), {}, false});
      most = std::max(most, line.points.back().y);
    }
    if (!line.points.empty()) chart.series.push_back(std::move(line));
  }
  if (chart.series.empty() || most <= least) return "";
  const charts::LineSeries* worst = &chart.series.front();
  for (const charts::LineSeries& line : chart.series) {
    if (line.points.back().y > worst->points.back().y) worst = &line;
  }
  chart.text.title = fmt::format("{} with {}: {} for half of the jobs, {} at {}.", label,
                                 worst->name, text(worst->points.front().y),
                                 text(worst->points.back().y), quantiles[worst->points.size() - 1]);
  constexpr double kLongTail = 10;
  chart.x = {"percentile (each nine as wide as the last)", tick_text, true, false};
  chart.x_ticks = charts::quantile_ticks(last);
  const bool logarithmic = most > kLongTail * least;
  chart.y = {logarithmic ? label + " (log)" : label, text, logarithmic, false};
  return drawn(chart, "Percentile", quantiles, text);
}

}  // namespace

Markup course_section(const std::vector<Way>& ways) {
  const Times times(ways);
  if (!times.has_course()) return "";
  const double all = number(*ways.front().figures, "/totalGpus");
  const Markup figures =
      times.chart("waiting", "jobs in the queue", "jobs wait") +
      times.chart("running", "jobs that run", "jobs run at once") +
      times.chart("gpus", "GPUs that jobs hold, of " + count_text(all), "GPUs hold jobs");
  return html::section(
      "time", "When is it tight?",
      "<div class=\"pair\">\n" + figures + "</div>\n" +
          html::paragraph(fmt::format("Means over steps of {}.", times.step_text())));
}

Markup jobs_section(const std::vector<Way>& ways) {
  const Markup figures = distribution(ways, "waitSeconds", "Wait", wait_words, 1) +
                         distribution(ways, "slowdown", "Slowdown", ratio_words, 1);
  if (figures.empty()) return "";
  return html::section(
      "jobs", "How do single jobs fare?",
      "<div class=\"pair\">\n" + figures + "</div>\n" +
          html::paragraph("Slowdown: time on the GPU by that alone on a whole one."));
}

}  // namespace slicewise::reports::replayed
