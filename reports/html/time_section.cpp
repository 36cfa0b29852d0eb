#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "../charts/chart_axis.hpp"
#include "../charts/charts.hpp"
#include "../screens/result_figures.hpp"
#include "../text/text_table.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {

std::vector<TimeColumn> time_columns(const sim::Recording& recording, std::size_t most) {
  const std::size_t buckets = recording.buckets();
  const std::size_t together = std::max<std::size_t>(1, (buckets + most - 1) / most);
  std::vector<TimeColumn> columns;
  TimePoint from;
  for (std::size_t first = 0; first < buckets; first += together) {
    const std::size_t last = std::min(buckets, first + together);
    const TimePoint end = recording.bucket_end(last - 1);
    columns.push_back({first, last, to_seconds(end - TimePoint{}), end - from});
    from = end;
  }
  return columns;
}

std::string gpu_label(const sim::RecordedGpu& gpu) {
  std::string label = fmt::format("{} #{}", gpu.node, gpu.index);
  if (!gpu.partition.empty()) label += fmt::format(" {}.{}", gpu.partition, gpu.instance);
  return label;
}

std::string recording_note(const sim::Recording& recording) {
  std::string note = fmt::format(
      "One replication of {}, the first one of seed {}: {} in buckets of {}.", recording.variant,
      recording.seed, duration_text(recording.length), duration_text(recording.bucket));
  const sim::LeftOut& out = recording.left_out;
  std::string counts;
  const auto add = [&counts](auto count, std::string_view what) {
    if (count > 0) add_name(counts, fmt::format("{} {}", count, what));
  };
  add(out.nodes, "nodes");
  add(out.gpus, "GPUs");
  add(out.pods, "pods");
  add(out.intervals, "intervals");
  if (!counts.empty()) note += fmt::format(" Too much to draw; left out: {}.", counts);
  return note;
}

namespace {

constexpr std::size_t kMostColumns = 80;
constexpr std::size_t kMostSeries = 5;

std::string seconds_of_latency(double value) { return duration_text(from_seconds(value)); }

using WorkloadFigure =
    std::function<std::optional<double>(const sim::RecordedWorkload&, const TimeColumn&)>;

std::optional<double> arrival_rate(const sim::RecordedWorkload& w, const TimeColumn& column) {
  std::int64_t sum = 0;
  for (std::size_t b = column.first; b < column.last; ++b) sum += w.arrived[b];
  return column.length.ns > 0 ? std::optional(static_cast<double>(sum) / to_seconds(column.length))
                              : std::nullopt;
}

// The most at the end of a bucket, of the buckets drawn together: peaks are what matters.
std::optional<double> most_of(const std::vector<std::int64_t>& values, const TimeColumn& column) {
  std::int64_t most = 0;
  for (std::size_t b = column.first; b < column.last; ++b) most = std::max(most, values[b]);
  return static_cast<double>(most);
}

std::optional<double> worst_p99(const sim::RecordedWorkload& w, const TimeColumn& column) {
  std::optional<double> worst;
  for (std::size_t b = column.first; b < column.last; ++b) {
    if (w.p99[b]) worst = std::max(worst.value_or(0), to_seconds(*w.p99[b]));
  }
  return worst;
}

struct TimeChart {
  std::string id;
  std::string axis;
  charts::TickText tick = tick_text;
  std::string finding;
  std::vector<charts::LineSeries> series;
  bool counts = true;  // whole things
  const char* unit = "";
};

double peak_value(const charts::LineSeries& series) {
  double peak = 0;
  for (const charts::LinePoint& point : series.points) peak = std::max(peak, point.y);
  return peak;
}

// Of many the ones with the highest peaks, in their order; what is left out is said.
void keep_highest(TimeChart& chart) {
  std::erase_if(chart.series, [](const charts::LineSeries& s) { return s.points.empty(); });
  const std::size_t all = chart.series.size();
  if (all <= kMostSeries) return;
  std::vector<double> peaks;
  peaks.reserve(all);
  for (const charts::LineSeries& series : chart.series) peaks.push_back(peak_value(series));
  std::ranges::stable_sort(peaks, std::ranges::greater{});
  const double least = peaks[kMostSeries - 1];
  auto room = kMostSeries - static_cast<std::size_t>(std::ranges::count_if(
                                peaks, [&](double peak) { return peak > least; }));
  std::erase_if(chart.series, [&](const charts::LineSeries& series) {
    const double peak = peak_value(series);
    if (peak != least) return peak < least;
    if (room == 0) return true;
    --room;
    return false;
  });
  chart.finding += fmt::format(" Drawn: the {} of {} with the highest peaks.", kMostSeries, all);
}

Markup time_figure(const sim::Recording& recording, TimeChart chart, Duration column) {
  keep_highest(chart);
  if (chart.series.empty()) return "";
  charts::LineChart drawn;
  drawn.text = {"chart-time-" + chart.id, chart.finding, "One line for each, over the run."};
  drawn.x = {"time since the start of the run", tick_text, false, true};
  drawn.x_ticks = charts::time_ticks(recording.length);
  drawn.y = {chart.axis, chart.tick, false, true, 1, chart.counts};
  drawn.cursor = charts::TimeCursor{to_seconds(column), to_seconds(recording.length), chart.unit};
  drawn.width = 620;
  drawn.height = 220;
  HtmlTable table{chart.axis + ", over time", {{"Time", true}}};
  for (const charts::LineSeries& series : chart.series)
    table.columns.push_back({series.name, true});
  constexpr std::size_t kMostRows = 24;
  const std::size_t points = chart.series.front().points.size();
  const std::size_t step = std::max<std::size_t>(1, (points + kMostRows - 1) / kMostRows);
  for (std::size_t p = 0; p < points; p += step) {
    const double at = chart.series.front().points[p].x;
    std::vector<HtmlCell> row{{duration_text(from_seconds(at)), at, ""}};
    for (const charts::LineSeries& series : chart.series) {
      const auto found = std::ranges::find(series.points, at, &charts::LinePoint::x);
      row.push_back(found == series.points.end() ? HtmlCell{}
                                                 : HtmlCell{chart.tick(found->y), found->y, ""});
    }
    table.rows.push_back(std::move(row));
  }
  drawn.series = std::move(chart.series);
  return figure(draw(drawn), chart.finding, {table});
}

charts::LineSeries series_over(const std::vector<TimeColumn>& columns, const std::string& name,
                               const std::function<std::optional<double>(const TimeColumn&)>& of) {
  charts::LineSeries series{name, {}, false};
  for (const TimeColumn& column : columns) {
    if (const auto value = of(column))
      series.points.push_back({column.at_seconds, *value, {}, false});
  }
  return series;
}

struct Peak {
  double value = 0;
  double at = 0;
  std::string name;
};

Peak peak_of(const std::vector<charts::LineSeries>& series) {
  Peak peak;
  for (const charts::LineSeries& s : series) {
    for (const charts::LinePoint& point : s.points) {
      if (point.y > peak.value) peak = {point.y, point.x, s.name};
    }
  }
  return peak;
}

std::vector<charts::LineSeries> series_of_workloads(const sim::Recording& recording,
                                                    const std::vector<TimeColumn>& columns,
                                                    const WorkloadFigure& of) {
  std::vector<charts::LineSeries> all;
  for (const sim::RecordedWorkload& workload : recording.workloads) {
    if (workload.arrived.empty()) continue;
    all.push_back(series_over(columns, workload.name,
                              [&](const TimeColumn& column) { return of(workload, column); }));
  }
  return all;
}

Markup request_figures(const sim::Recording& recording, const std::vector<TimeColumn>& columns) {
  Markup out;
  TimeChart arrivals{"arrivals",
                     "requests per second",
                     tick_text,
                     "",
                     series_of_workloads(recording, columns, arrival_rate),
                     false,
                     "/s"};
  Peak peak = peak_of(arrivals.series);
  arrivals.finding =
      fmt::format("Requests come at up to {} a second ({}, {} into the run).",
                  short_text(peak.value), peak.name, duration_text(from_seconds(peak.at)));
  if (peak.value > 0) out += time_figure(recording, arrivals, columns.front().length);
  TimeChart queue{"queue", "requests in the system at the end of a bucket", tick_text, "",
                  series_of_workloads(recording, columns, [](const auto& w, const auto& column) {
                    return most_of(w.in_system, column);
                  })};
  peak = peak_of(queue.series);
  queue.finding =
      fmt::format("Up to {:.0f} {} in the system when a bucket ends ({}, {} into the run).",
                  peak.value, peak.value == 1 ? "request is" : "requests are", peak.name,
                  duration_text(from_seconds(peak.at)));
  if (peak.value > 0) out += time_figure(recording, queue, columns.front().length);
  TimeChart tail{"p99", "p99 latency of the requests answered in the bucket", seconds_of_latency,
                 "",    series_of_workloads(recording, columns, worst_p99),   false,
                 "s"};
  peak = peak_of(tail.series);
  tail.finding = fmt::format("The tail is longest {} into the run: p99 {} ({}).",
                             duration_text(from_seconds(peak.at)),
                             duration_text(from_seconds(peak.value)), peak.name);
  if (peak.value > 0) out += time_figure(recording, tail, columns.front().length);
  return out;
}

Markup pod_figure(const sim::Recording& recording, const std::vector<TimeColumn>& columns) {
  TimeChart pods{"pods", "pods at work", tick_text, "", {}};
  for (const sim::RecordedWorkload& workload : recording.workloads) {
    if (workload.running.empty()) continue;
    pods.series.push_back(series_over(columns, workload.name, [&](const TimeColumn& column) {
      return most_of(workload.running, column);
    }));
  }
  const Peak peak = peak_of(pods.series);
  pods.finding = fmt::format("{} has at most {:.0f} {} at work at once.", peak.name, peak.value,
                             peak.value == 1 ? "pod" : "pods");
  return peak.value > 0 ? time_figure(recording, pods, columns.front().length) : "";
}

Markup node_figure(const sim::Recording& recording, const std::vector<TimeColumn>& columns) {
  TimeChart nodes{"nodes", "nodes that EC2 bills", tick_text, "", {}};
  for (const sim::RecordedPool& pool : recording.pools) {
    nodes.series.push_back(series_over(columns, pool.name, [&](const TimeColumn& column) {
      return most_of(pool.billed, column);
    }));
  }
  const Peak peak = peak_of(nodes.series);
  nodes.finding = fmt::format("Up to {:.0f} {} of {} billed at once.", peak.value,
                              peak.value == 1 ? "node" : "nodes",
                              peak.name + (peak.value == 1 ? " is" : " are"));
  return peak.value > 0 ? time_figure(recording, nodes, columns.front().length) : "";
}

std::string cursor_hint() {
  return "<p class=\"js hint\">Point at a chart, or focus one and press ← →: all of them show the "
         "same "
         "moment. Drag, or press + and −, to zoom into a part of the run; Escape shows all of "
         "it.</p>\n";
}

}  // namespace

Markup time_section(const HtmlReport& report) {
  if (!report.recording || report.recording->buckets() < 2) return "";
  const sim::Recording& recording = *report.recording;
  const std::vector<TimeColumn> columns = time_columns(recording, kMostColumns);
  Markup figures = request_figures(recording, columns) + pod_figure(recording, columns);
  const bool dynamic = std::ranges::any_of(
      recording.result.node_pools, [](const auto& pool) { return pool.dynamics.has_value(); });
  if (dynamic) figures += node_figure(recording, columns);
  if (figures.empty()) return "";
  std::string note = recording_note(recording);
  if (columns.front().last > 1) {
    note +=
        fmt::format(" Drawn in steps of {}, each with the highest value in it; rates are its mean.",
                    duration_text(columns.front().length));
  }
  return section("time", "When is it tight?",
                 "<div class=\"pair\">\n" + figures + "</div>\n" + cursor_hint() + paragraph(note));
}

}  // namespace slicewise::reports::html
