#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "charts.hpp"

namespace slicewise::reports::charts {
namespace {

constexpr std::array kShapes = {Shape::Circle, Shape::Triangle, Shape::Square, Shape::Diamond,
                                Shape::Plus};
constexpr double kMarkRadius = 4;
constexpr std::size_t kLongestName = 32;

DataRange extent_of_lines(const LineChart& chart) {
  std::optional<DataRange> range;
  for (const LineSeries& series : chart.series) {
    for (const LinePoint& point : series.points) {
      const double half = point.half_width.value_or(0);
      if (!range) range = DataRange{point.x, point.x, point.y, point.y};
      range->least_x = std::min(range->least_x, point.x);
      range->most_x = std::max(range->most_x, point.x);
      range->least_y = std::min(range->least_y, half < point.y ? point.y - half : point.y);
      range->most_y = std::max(range->most_y, point.y + half);
    }
  }
  DataRange all = range.value_or(DataRange{0, 1, 0, 1});
  for (const RuleLine& limit : chart.limits) {
    all.least_y = std::min(all.least_y, limit.at);
    all.most_y = std::max(all.most_y, limit.at);
  }
  return all;
}

std::string band_of(const LineSeries& series, const Plot& plot, std::string_view color,
                    double least_y) {
  std::string upper;
  std::string lower;
  for (const LinePoint& point : series.points) {
    const double half = point.half_width.value_or(0);
    const double x = plot.x_of(point.x);
    upper += fmt::format("{}{} {}", upper.empty() ? "M" : "L", pixel(x),
                         pixel(plot.y_of(point.y + half)));
    lower.insert(
        0, fmt::format("L{} {}", pixel(x), pixel(plot.y_of(std::max(least_y, point.y - half)))));
  }
  return fmt::format("<path d=\"{}{}z\" class=\"band {}\"/>\n", upper, lower, color);
}

// In tenths of pixels, as paths are written.
struct DrawnPoint {
  long x;
  long y;

  bool between(const DrawnPoint& before, const DrawnPoint& after) const {
    return (x - before.x) * (after.y - before.y) == (y - before.y) * (after.x - before.x);
  }
};

// Without the points that lie on the line between their neighbours.
std::string path_of(const LineSeries& series, const Plot& plot, const std::string& classes,
                    bool named) {
  std::vector<DrawnPoint> kept;
  for (const LinePoint& point : series.points) {
    const DrawnPoint drawn{std::lround(10 * plot.x_of(point.x)),
                           std::lround(10 * plot.y_of(point.y))};
    if (kept.size() > 1 && kept.back().between(kept[kept.size() - 2], drawn)) kept.pop_back();
    kept.push_back(drawn);
  }
  std::string path;
  for (const DrawnPoint& point : kept) {
    path +=
        fmt::format("{}{} {}", path.empty() ? "M" : "L", pixel(static_cast<double>(point.x) / 10),
                    pixel(static_cast<double>(point.y) / 10));
  }
  const std::string name = named ? fmt::format(" data-name=\"{}\"", escaped(series.name)) : "";
  return fmt::format("<path d=\"{}\" class=\"series {}\"{}/>\n", path, classes, name);
}

std::string marks_of(const LineSeries& series, const Plot& plot, Shape shape,
                     const std::string& classes) {
  std::string out;
  for (const LinePoint& point : series.points) {
    out += mark_at(plot.x_of(point.x), plot.y_of(point.y), shape, kMarkRadius,
                   (point.hollow ? "hollow " : "mark ") + classes);
  }
  return out;
}

// Right of the last points, moved apart where they are close, with a sign of the series before
// each.
std::string names_of_series(const LineChart& chart, const Plot& plot) {
  struct Name {
    double y;
    std::size_t series;
  };
  std::vector<Name> names;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    if (chart.series[s].points.empty() || chart.series[s].name.empty()) continue;
    names.push_back({plot.y_of(chart.series[s].points.back().y), s});
  }
  std::ranges::stable_sort(names, {}, &Name::y);
  constexpr double kLine = 15;
  for (std::size_t i = 1; i < names.size(); ++i) {
    names[i].y = std::max(names[i].y, names[i - 1].y + kLine);
  }
  double bottom = plot.area().bottom - 4;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    name->y = std::min(name->y, bottom);
    bottom = name->y - kLine;
  }
  std::string out;
  const double x = plot.area().right + 10;
  for (const Name& name : names) {
    const int s = static_cast<int>(name.series);
    out += line_between(x, name.y, x + 20, name.y, "series " + series_classes(s));
    out += mark_at(x + 10, name.y, kShapes[name.series % kShapes.size()], kMarkRadius,
                   "mark " + series_classes(s));
    out += text_at(x + 26, name.y + 4, shortened(chart.series[name.series].name, kLongestName));
  }
  return out;
}

std::string rules_of(const LineChart& chart, const Plot& plot) {
  std::string out;
  const PlotArea& area = plot.area();
  for (const RuleLine& limit : chart.limits) {
    const double y = plot.y_of(limit.at);
    out += line_between(area.left, y, area.right, y, "limit");
  }
  for (const RuleLine& event : chart.events) {
    const double x = plot.x_of(event.at);
    out += line_between(x, area.top, x, area.bottom, "limit");
  }
  return out;
}

std::string names_of_rules(const LineChart& chart, const Plot& plot) {
  std::string out;
  const PlotArea& area = plot.area();
  for (const RuleLine& limit : chart.limits) {
    constexpr double kLineOfText = 16;
    const double y = plot.y_of(limit.at);
    const bool above = y - area.top > kLineOfText;  // else it would stand in the axis' title
    out += text_at(area.left + 6, above ? y - 5 : y + 13, limit.label, "tick halo");
  }
  double drop = 12;
  for (const RuleLine& event : chart.events) {
    const double x = plot.x_of(event.at);
    const bool right = x < (area.left + area.right) / 2;
    out += text_at(right ? x + 5 : x - 5, area.top + drop, event.label, "tick halo",
                   right ? Anchor::Start : Anchor::End);
    drop += 14;
  }
  return out;
}

// "L R T" of time and "B T V U" of values: see html/time.js.
std::string cursor_attributes(const LineChart& chart, const Plot& plot) {
  const PlotArea& area = plot.area();
  const double high = plot.y_of(1);
  const double low = plot.y_of(0);
  return fmt::format(
      "role=\"img\" data-time=\"{} {} {:.9g} {:.9g}\" data-value=\"{:.6g} {:.9g} {} {}\" "
      "data-unit=\"{}\"",
      pixel(plot.x_of(0)), pixel(plot.x_of(chart.cursor->last)), chart.cursor->last,
      chart.cursor->step, low, low - high, pixel(area.top), pixel(area.bottom), chart.cursor->unit);
}

double room_for_names(const LineChart& chart) {
  double widest = 0;
  for (const LineSeries& series : chart.series) {
    if (series.name.empty()) continue;
    widest = std::max(widest, 40 + width_of(shortened(series.name, kLongestName)));
  }
  return std::max(26.0, widest);
}

}  // namespace

Drawing draw(const LineChart& chart) {
  const DataRange range = extent_of_lines(chart);
  const Plot plot({56, 26, chart.width - room_for_names(chart), chart.height - 42}, chart.x,
                  chart.y, range);
  std::string body = chart.x_ticks.empty() ? plot.drawn() : plot.drawn(chart.x_ticks);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const LineSeries& series = chart.series[s];
    const bool has_band = std::ranges::any_of(
        series.points, [](const LinePoint& p) { return p.half_width.value_or(0) > 0; });
    const std::string classes = series_classes(static_cast<int>(s));
    if (has_band) body += band_of(series, plot, classes.substr(0, 2), range.least_y);
  }
  body += rules_of(chart, plot);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const LineSeries& series = chart.series[s];
    const std::string classes = series_classes(static_cast<int>(s));
    if (series.points.size() > 1) {
      body += path_of(series, plot, classes, chart.cursor.has_value());
    }
    if (series.marks) body += marks_of(series, plot, kShapes[s % kShapes.size()], classes);
  }
  body += names_of_rules(chart, plot) + names_of_series(chart, plot);
  Drawing drawing{chart.text, chart.width, chart.height, std::move(body)};
  for (const LineSeries& series : chart.series) drawing.series.push_back(series.name);
  if (chart.cursor) {
    drawing.attributes = cursor_attributes(chart, plot);
    drawing.follows_time = true;
  }
  return drawing;
}

double quantile_place(double quantile) { return 1 / (1 - quantile); }

std::vector<std::pair<double, std::string>> quantile_ticks(double last_quantile) {
  std::vector<std::pair<double, std::string>> ticks;
  for (const auto& [quantile, name] : {std::pair{0.5, "p50"},
                                       {0.75, "p75"},
                                       {0.9, "p90"},
                                       {0.95, "p95"},
                                       {0.99, "p99"},
                                       {0.999, "p99.9"}}) {
    if (quantile <= last_quantile + 1e-9) ticks.emplace_back(quantile_place(quantile), name);
  }
  return ticks;
}

}  // namespace slicewise::reports::charts
