#include <algorithm>
#include <cmath>

#include "charts.hpp"

namespace slicewise::reports::charts {
namespace {

constexpr double kBarHeight = 24;
constexpr double kBarPitch = 36;
constexpr std::size_t kLongestBarLabel = 34;

double sum_of(const StackedBar& bar) {
  double sum = 0;
  for (const BarPart& part : bar.parts) sum += part.amount;
  return sum;
}

// A line up from each tick, and what it is called below.
std::string x_grid(const LinearAxis& axis, const AxisStyle& style, double top, double bottom) {
  std::string out;
  for (const double value : axis.ticks()) {
    const double x = axis.pixel_of(value);
    out += line_between(x, top, x, bottom, "grid");
    out += text_at(x, bottom + 15, style.tick(value), "tick", Anchor::Middle);
  }
  return out;
}

struct BarRoom {
  double labels = 0;
  double totals = 0;
  double most = 0;
};

BarRoom room_of(const StackedBars& chart) {
  BarRoom room;
  for (const StackedBar& bar : chart.bars) {
    room.labels = std::max(room.labels, width_of(shortened(bar.label, kLongestBarLabel)));
    room.totals = std::max(room.totals, width_of(bar.total));
    room.most = std::max({room.most, sum_of(bar), bar.capacity.value_or(0)});
  }
  return room;
}

// Rows of swatches that fit the width; leaves `y` below them.
std::string legend_of(const StackedBars& chart, double& y) {
  std::string out;
  double x = 4;
  for (std::size_t p = 0; p < chart.parts.size(); ++p) {
    const double width = 22 + width_of(chart.parts[p]) + 16;
    if (x + width > chart.width && x > 4) {
      x = 4;
      y += 20;
    }
    out += patterned_rect(chart.text, x, y - 10, 14, 12, static_cast<int>(p), "");
    out += text_at(x + 20, y, chart.parts[p]);
    x += width;
  }
  y += 12;
  return out;
}

std::string bar_of(const StackedBars& chart, const StackedBar& bar, const LinearAxis& axis,
                   double y) {
  std::string out = text_at(axis.pixel_of(0) - 8, y + kBarHeight / 2 + 4,
                            shortened(bar.label, kLongestBarLabel), "", Anchor::End);
  double from = 0;
  for (std::size_t p = 0; p < bar.parts.size(); ++p) {
    const BarPart& part = bar.parts[p];
    if (part.amount <= 0) continue;
    const double left = axis.pixel_of(from);
    from += part.amount;
    out += patterned_rect(chart.text, left, y, axis.pixel_of(from) - left, kBarHeight,
                          static_cast<int>(p), part.text);
  }
  if (bar.capacity) {
    const double x = axis.pixel_of(*bar.capacity);
    out += line_between(x, y - 4, x, y + kBarHeight + 4, "limit");
  }
  const double end = std::max(from, bar.capacity.value_or(0));
  return out + text_at(axis.pixel_of(end) + 8, y + kBarHeight / 2 + 4, bar.total);
}

}  // namespace

Drawing draw(const StackedBars& chart) {
  const BarRoom room = room_of(chart);
  double top = 16;
  std::string body = legend_of(chart, top);
  const double bottom = top + kBarPitch * static_cast<double>(chart.bars.size());
  const double left = 16 + room.labels;
  const double right = std::max(left + 120, chart.width - room.totals - 16);
  const LinearAxis axis(0, room.most > 0 ? room.most : 1, left, right);
  body += x_grid(axis, chart.x, top, bottom);
  double y = top + (kBarPitch - kBarHeight) / 2;
  for (const StackedBar& bar : chart.bars) {
    body += bar_of(chart, bar, axis, y);
    y += kBarPitch;
  }
  body += line_between(left, top, left, bottom, "frame");
  body += text_at((left + right) / 2, bottom + 32, chart.x.label, "axis", Anchor::Middle);
  Drawing drawing{chart.text, chart.width, bottom + 40,
                  series_patterns(chart.text, chart.parts.size()) + body};
  drawing.series = chart.parts;
  return drawing;
}

namespace {

constexpr double kTornadoRow = 30;
constexpr double kTornadoBar = 20;
// One above the other: both ends may lie on the same side.
constexpr double kTornadoHalf = kTornadoBar / 2;
constexpr std::size_t kLongestInput = 34;

std::string half_bar(const TornadoChart& chart, const LinearAxis& axis, double value, double y,
                     int series, const std::string& text) {
  const double base = axis.pixel_of(chart.base);
  const double end = axis.pixel_of(value);
  return patterned_rect(chart.text, std::min(base, end), y, std::abs(end - base), kTornadoHalf,
                        series, text);
}

std::string end_interval(const LinearAxis& axis, double value, const std::optional<double>& half,
                         double y) {
  if (!half || *half <= 0) return "";
  const double low = axis.pixel_of(value - *half);
  const double high = axis.pixel_of(value + *half);
  constexpr double kCap = 3;
  return line_between(low, y, high, y, "whisker") +
         line_between(low, y - kCap, low, y + kCap, "whisker") +
         line_between(high, y - kCap, high, y + kCap, "whisker");
}

}  // namespace

Drawing draw(const TornadoChart& chart) {
  double labels = 0;
  double least = chart.base;
  double most = chart.base;
  for (const TornadoBar& bar : chart.bars) {
    labels = std::max(labels, width_of(shortened(bar.label, kLongestInput)));
    const double low_half = bar.low_half_width.value_or(0);
    const double high_half = bar.high_half_width.value_or(0);
    least = std::min({least, bar.low - low_half, bar.high - high_half});
    most = std::max({most, bar.low + low_half, bar.high + high_half});
  }
  const double left = labels + 16;
  constexpr double kTop = 34;
  const LinearAxis axis(least, most, left, chart.width - 24, chart.x.unit);
  const double bottom = kTop + kTornadoRow * static_cast<double>(chart.bars.size());
  std::string body =
      patterned_rect(chart.text, left, 6, 14, 12, 0, "") + text_at(left + 20, 16, chart.low_name) +
      patterned_rect(chart.text, left + 50 + width_of(chart.low_name), 6, 14, 12, 1, "") +
      text_at(left + 70 + width_of(chart.low_name), 16, chart.high_name);
  body += x_grid(axis, chart.x, kTop, bottom);
  double y = kTop + (kTornadoRow - kTornadoBar) / 2;
  for (const TornadoBar& bar : chart.bars) {
    body += text_at(left - 8, y + kTornadoBar / 2 + 4, shortened(bar.label, kLongestInput), "",
                    Anchor::End);
    body += half_bar(chart, axis, bar.low, y, 0,
                     bar.label + ", " + chart.low_name + ": " + bar.low_text);
    body += half_bar(chart, axis, bar.high, y + kTornadoHalf, 1,
                     bar.label + ", " + chart.high_name + ": " + bar.high_text);
    body += end_interval(axis, bar.low, bar.low_half_width, y + kTornadoHalf / 2);
    body += end_interval(axis, bar.high, bar.high_half_width, y + 1.5 * kTornadoHalf);
    y += kTornadoRow;
  }
  const double base = axis.pixel_of(chart.base);
  body += line_between(base, kTop - 4, base, bottom, "limit");
  body += text_at((left + chart.width) / 2, bottom + 32, chart.x.label, "axis", Anchor::Middle);
  return {chart.text, chart.width, bottom + 40, series_patterns(chart.text, 2) + body};
}

Drawing draw(const WaterfallChart& chart) {
  constexpr double kRow = 28;
  constexpr double kBar = 18;
  constexpr double kTop = 8;
  double total = 0;
  double labels = 0;
  double amounts = width_of(chart.total);
  for (const WaterfallStage& stage : chart.stages) {
    total += stage.amount;
    labels = std::max(labels, width_of(stage.label));
    amounts = std::max(amounts, width_of(stage.amount_text));
  }
  const double left = labels + 16;
  const double bottom = kTop + kRow * static_cast<double>(chart.stages.size() + 1);
  const LinearAxis axis(0, total > 0 ? total : 1, left, chart.width - amounts - 16);
  std::string body;
  body += x_grid(axis, chart.x, kTop, bottom);
  double from = 0;
  double y = kTop;
  for (const WaterfallStage& stage : chart.stages) {
    const double start = axis.pixel_of(from);
    from += stage.amount;
    const double end = axis.pixel_of(from);
    body += text_at(left - 8, y + kRow / 2 + 4, stage.label, "", Anchor::End);
    body += rect_at(start, y + (kRow - kBar) / 2, std::max(1.0, end - start), kBar, "area k0",
                    stage.label + ": " + stage.amount_text);
    body += text_at(end + 6, y + kRow / 2 + 4, stage.amount_text);
    body += line_between(end, y + (kRow + kBar) / 2, end, y + kRow + (kRow - kBar) / 2, "frame");
    y += kRow;
  }
  body += text_at(left - 8, y + kRow / 2 + 4, "together", "strong", Anchor::End);
  body += rect_at(left, y + (kRow - kBar) / 2, axis.pixel_of(total) - left, kBar, "area k2",
                  "together: " + chart.total);
  body += text_at(axis.pixel_of(total) + 6, y + kRow / 2 + 4, chart.total, "strong");
  body += text_at((left + chart.width - amounts) / 2, bottom + 32, chart.x.label, "axis",
                  Anchor::Middle);
  return {chart.text, chart.width, bottom + 40, body};
}

}  // namespace slicewise::reports::charts
