#include "tornado_chart.hpp"

#include <algorithm>
#include <cmath>

namespace slicewise::reports::charts {
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
  for (const double value : axis.ticks()) {
    const double x = axis.pixel_of(value);
    body += line_between(x, kTop, x, bottom, "grid");
    body += text_at(x, bottom + 15, chart.x.tick(value), "tick", Anchor::Middle);
  }
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

}  // namespace slicewise::reports::charts
