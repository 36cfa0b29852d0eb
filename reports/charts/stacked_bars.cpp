#include "stacked_bars.hpp"

#include <algorithm>

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
  for (const double value : axis.ticks()) {
    const double x = axis.pixel_of(value);
    body += line_between(x, top, x, bottom, "grid");
    body += text_at(x, bottom + 15, chart.x.tick(value), "tick", Anchor::Middle);
  }
  double y = top + (kBarPitch - kBarHeight) / 2;
  for (const StackedBar& bar : chart.bars) {
    body += bar_of(chart, bar, axis, y);
    y += kBarPitch;
  }
  body += line_between(left, top, left, bottom, "frame");
  body += text_at((left + right) / 2, bottom + 32, chart.x.label, "axis", Anchor::Middle);
  return {chart.text, chart.width, bottom + 40,
          series_patterns(chart.text, chart.parts.size()) + body};
}

}  // namespace slicewise::reports::charts
