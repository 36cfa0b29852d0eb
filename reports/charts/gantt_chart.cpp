#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "charts.hpp"

namespace slicewise::reports::charts {
namespace {

constexpr double kSpanHeight = 14;
constexpr double kLaneGap = 8;
constexpr std::size_t kLongestLane = 22;

// Those too narrow to be pointed at need no element of their own.
constexpr double kPointable = 3;

std::string lane_spans(const GanttChart& chart, const GanttLane& lane, bool waits, double y,
                       double left, double scale) {
  std::string out;
  std::map<int, std::string> narrow;
  for (const GanttSpan& span : lane.spans) {
    if (span.waits != waits) continue;
    const double x = left + (span.from - chart.from) * scale;
    const double width = std::max(0.8, (span.to - span.from) * scale);
    const double top = y + span.row * (kSpanHeight + 1);
    if (width >= kPointable) {
      out += patterned_rect(chart.text, x, top, width, kSpanHeight, span.series, span.label);
    } else {
      narrow[span.series] += fmt::format("M{} {}h{}v{}H{}z", pixel(x), pixel(top), pixel(width),
                                         pixel(kSpanHeight), pixel(x));
    }
  }
  for (const auto& [series, path] : narrow) {
    out += fmt::format("<path d=\"{}\" class=\"thin k{}\"/>\n", path, series % kColors);
  }
  return waits && !out.empty() ? "<g class=\"waits\">\n" + out + "</g>\n" : out;
}

std::string gantt_legend(const GanttChart& chart, double& y) {
  std::string out;
  double x = 4;
  const auto place = [&](double width) {
    if (x + width > chart.width && x > 4) {
      x = 4;
      y += 20;
    }
  };
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const double width = 38 + width_of(chart.series[s]);
    place(width);
    out += patterned_rect(chart.text, x, y - 10, 14, 12, static_cast<int>(s), "") +
           text_at(x + 20, y, chart.series[s]);
    x += width;
  }
  if (!chart.waits_name.empty()) {
    place(38 + width_of(chart.waits_name));
    out += "<g class=\"waits\">\n" + patterned_rect(chart.text, x, y - 10, 14, 12, 0, "") +
           "</g>\n" + text_at(x + 20, y, chart.waits_name);
  }
  y += 12;
  return out;
}

}  // namespace

Drawing draw(const GanttChart& chart) {
  double labels = 0;
  for (const GanttLane& lane : chart.lanes) {
    labels = std::max(labels, width_of(shortened(lane.label, kLongestLane)));
  }
  double top = 16;
  std::string body = gantt_legend(chart, top);
  const double left = labels + 16;
  constexpr double kRight = 26;  // half of the last tick's name
  const double scale = (chart.width - kRight - left) / (chart.to - chart.from);
  const auto place = [&](double value) { return left + (value - chart.from) * scale; };
  std::string lanes;
  double y = top + kLaneGap;
  for (const GanttLane& lane : chart.lanes) {
    const double height = std::max(1, lane.rows) * (kSpanHeight + 1);
    lanes += rect_at(left, y, chart.width - kRight - left, height, "empty");
    lanes +=
        text_at(left - 8, y + height / 2 + 4, shortened(lane.label, kLongestLane), "", Anchor::End);
    lanes += lane_spans(chart, lane, false, y, left, scale);
    lanes += lane_spans(chart, lane, true, y, left, scale);
    y += height + kLaneGap;
  }
  for (const auto& [value, text] : chart.x_ticks) {
    const double x = place(value);
    body += line_between(x, top, x, y, "grid");
    body += text_at(x, y + 15, text, "tick", Anchor::Middle);
  }
  body += lanes + text_at((left + chart.width) / 2, y + 32, chart.x_label, "axis", Anchor::Middle);
  return {chart.text, chart.width, y + 40, series_patterns(chart.text, chart.series.size()) + body};
}

}  // namespace slicewise::reports::charts
