#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../charts/chart_axis.hpp"
#include "../text/text_table.hpp"
#include "plan_screen.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

constexpr std::size_t kChartRows = 8;
constexpr int kWidestChart = 78;
constexpr int kNarrowestChart = 40;
constexpr std::size_t kFewestPoints = 3;
// A share of the limit beyond which a miss is just a miss: the options keep room in the picture.
constexpr double kLargestShare = 4;
constexpr double kSmallestShare = 0.001;

struct ChartPoint {
  double dollars;
  double share;
  std::string_view mark;
  bool front = false;
  bool rejected = false;
};

struct ChartMarks {
  std::string_view rejected, today, front, column, row, corner, limit;
};

ChartMarks marks_for(const TextStyle& style) {
  if (style.unicode) return {"×", "○", "★", "│", "─", "└", "╌"};
  return {"x", "o", "*", "|", "-", "+", "."};
}

constexpr std::string_view kRanks = "123456789";

ChartPoint plan_point(const sim::OptionFigures& figures, std::string_view mark) {
  return {to_dollars(figures.monthly),
          std::clamp(figures.worst_ratio, kSmallestShare, kLargestShare), mark};
}

// What is drawn first is seen: the options by rank, the scenario's own pools, the rejected ones.
std::vector<ChartPoint> plan_points(const sim::Plan& plan, const ChartMarks& marks) {
  std::vector<ChartPoint> points;
  const auto judged = [](const sim::OptionFigures& figures) {
    return !figures.objectives.empty() && figures.monthly.nano > 0 && figures.running_max > 0;
  };
  for (std::size_t o = 0; o < std::min(plan.options.size(), kRanks.size()); ++o) {
    if (!judged(plan.options[o].figures)) continue;
    points.push_back(plan_point(plan.options[o].figures, kRanks.substr(o, 1)));
    points.back().front = plan.options[o].pareto;
  }
  if (plan.today && judged(plan.today->figures)) {
    points.push_back(plan_point(plan.today->figures, marks.today));
  }
  for (const sim::RejectedChoice& rejected : plan.rejected) {
    if (!rejected.figures || !judged(*rejected.figures)) continue;
    points.push_back(plan_point(*rejected.figures, marks.rejected));
    points.back().rejected = true;
  }
  return points;
}

// Cells of text, each one column wide, and how each is emphasised.
class PlanCanvas {
 public:
  explicit PlanCanvas(std::size_t columns)
      : cells_(kChartRows, std::vector<std::string>(columns, " ")) {}

  bool is_free(std::size_t row, std::size_t column) const {
    return column < cells_[row].size() && cells_[row][column] == " ";
  }
  void set(std::size_t row, std::size_t column, std::string text) {
    cells_[row][column] = std::move(text);
  }
  std::string line(std::size_t row, std::string_view background) const {
    std::string out;
    for (const std::string& cell : cells_[row]) out += cell == " " ? background : cell;
    return out.substr(0, out.find_last_not_of(' ') + 1);
  }

 private:
  std::vector<std::vector<std::string>> cells_;
};

std::size_t chart_cell(const LogAxis& axis, double value, std::size_t cells) {
  const double at = std::floor(axis.pixel_of(value) + 0.5);
  return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(cells - 1)));
}

// A point that keeps its limit is drawn below the line of the limit, one that misses it above.
std::size_t chart_row(const LogAxis& up, double share, bool has_limit) {
  const std::size_t row = chart_cell(up, share, kChartRows);
  if (!has_limit || row != chart_cell(up, 1, kChartRows)) return row;
  return share > 1 ? row - std::min<std::size_t>(row, 1) : std::min(row + 1, kChartRows - 1);
}

// Returns the points that are seen: what lies below another one is not.
std::vector<ChartPoint> draw_points(const std::vector<ChartPoint>& points, const LogAxis& across,
                                    const LogAxis& up, std::size_t columns, bool has_limit,
                                    const TextStyle& style, PlanCanvas& canvas) {
  std::vector<ChartPoint> seen;
  for (const ChartPoint& point : points) {
    const std::size_t row = chart_row(up, point.share, has_limit);
    const std::size_t column = chart_cell(across, point.dollars, columns);
    if (!canvas.is_free(row, column)) continue;
    seen.push_back(point);
    const Emphasis emphasis = point.front      ? Emphasis::Good
                              : point.rejected ? Emphasis::Bad
                                               : Emphasis::Heading;
    canvas.set(row, column, emphasised(point.mark, emphasis, style));
    if (point.front && canvas.is_free(row, column + 1)) {
      canvas.set(row, column + 1, emphasised(marks_for(style).front, Emphasis::Good, style));
    }
  }
  return seen;
}

// The labels below the axis, none over another.
std::string dollar_labels(const LogAxis& axis, std::size_t columns) {
  std::string out(columns, ' ');
  std::size_t free_from = 0;
  for (const double tick : axis.ticks()) {
    const std::string label = "$" + tick_text(tick);
    const std::size_t column = chart_cell(axis, tick, columns);
    if (column < free_from || column + label.size() > columns) continue;
    out.replace(column, label.size(), label);
    free_from = column + label.size() + 2;
  }
  return out.substr(0, out.find_last_not_of(' ') + 1);
}

std::string share_label(const LogAxis& up, std::size_t row) {
  for (const double tick : up.ticks()) {
    if (chart_cell(up, tick, kChartRows) == row) return percent_text(tick);
  }
  return "";
}

std::string plan_chart_legend(const std::vector<ChartPoint>& points, const ChartMarks& marks,
                              bool does_free_work) {
  const auto any = [&](auto holds) { return std::ranges::any_of(points, holds); };
  std::string out = "1, 2, ...: options by rank";
  if (any([](const ChartPoint& p) { return p.front; })) {
    out += fmt::format("; {}: none{} is both cheaper and further from its limits", marks.front,
                       does_free_work ? " that gets as much done" : "");
  }
  if (any([&](const ChartPoint& p) { return p.mark == marks.today; })) {
    out += fmt::format("; {}: the scenario's own pools", marks.today);
  }
  if (any([](const ChartPoint& p) { return p.rejected; })) {
    out += fmt::format("; {}: rejected", marks.rejected);
  }
  return out;
}

}  // namespace

std::string plan_chart(const sim::Plan& plan, const TextStyle& style) {
  const ChartMarks marks = marks_for(style);
  const std::vector<ChartPoint> points = plan_points(plan, marks);
  const int width = style.width <= 0 ? kWidestChart : std::min(style.width, kWidestChart);
  if (plan.options.empty() || points.size() < kFewestPoints || width < kNarrowestChart) return "";
  constexpr int kLabel = 6;  // "100% |"
  const auto columns = static_cast<std::size_t>(width - kLabel - 1);
  const auto [cheap, dear] = std::ranges::minmax(points, {}, &ChartPoint::dollars);
  const auto [low, high] = std::ranges::minmax(points, {}, &ChartPoint::share);
  const LogAxis across(cheap.dollars, dear.dollars, 0, static_cast<double>(columns - 1));
  const LogAxis up(low.share, high.share, kChartRows - 1, 0);
  if (cheap.dollars == dear.dollars) return "";  // the table says as much
  const bool has_limit = up.first_value() <= 1 && up.last_value() >= 1;
  PlanCanvas canvas(columns);
  const std::vector<ChartPoint> seen =
      draw_points(points, across, up, columns, has_limit, style, canvas);
  std::string out =
      emphasised("SHARE OF THE TIGHTEST LIMIT, BY $/MONTH", Emphasis::Heading, style) + "\n";
  for (std::size_t row = 0; row < kChartRows; ++row) {
    const bool is_limit = has_limit && row == chart_cell(up, 1, kChartRows);
    const std::string label = is_limit ? "100%" : share_label(up, row);
    const std::string cells = canvas.line(row, is_limit ? marks.limit : " ");
    out += fmt::format("{:>5} {}{}\n", label, marks.column, cells);
  }
  std::string axis;
  for (std::size_t column = 0; column < columns; ++column) axis += marks.row;
  out += fmt::format("{:>6}{}{}\n{:>7}{}\n", "", marks.corner, axis, "",
                     dollar_labels(across, columns));
  return out +
         wrapped_text(plan_chart_legend(seen, marks, !plan.options.front().figures.work.empty()),
                      style.width, "  ", 4);
}

}  // namespace slicewise::reports
