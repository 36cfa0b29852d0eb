#include "tornado_chart.hpp"

#include <algorithm>
#include <cmath>

namespace slicewise::reports::charts {
namespace {

constexpr double kTornadoRow = 30;
constexpr double kTornadoBar = 20;
constexpr std::size_t kLongestInput = 34;

std::string half_bar(const TornadoChart& chart, const LinearAxis& axis, double value, double y,
                     int series, const std::string& text) {
  const double base = axis.pixel_of(chart.base);
  const double end = axis.pixel_of(value);
  return patterned_rect(chart.text, std::min(base, end), y, std::abs(end - base), kTornadoBar,
                        series, text);
}

}  // namespace

std::string draw(const TornadoChart& chart) {
  double labels = 0;
  double least = chart.base;
  double most = chart.base;
  for (const TornadoBar& bar : chart.bars) {
    labels = std::max(labels, width_of(shortened(bar.label, kLongestInput)));
    least = std::min({least, bar.low, bar.high});
    most = std::max({most, bar.low, bar.high});
  }
  const double left = labels + 16;
  constexpr double kTop = 34;
  const LinearAxis axis(least, most, left, chart.width - 24);
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
    body += half_bar(chart, axis, bar.high, y, 1,
                     bar.label + ", " + chart.high_name + ": " + bar.high_text);
    y += kTornadoRow;
  }
  const double base = axis.pixel_of(chart.base);
  body += line_between(base, kTop - 4, base, bottom, "limit");
  body += text_at((left + chart.width) / 2, bottom + 32, chart.x.label, "axis", Anchor::Middle);
  return chart_with_patterns(chart.text, chart.width, bottom + 40, body);
}

}  // namespace slicewise::reports::charts
