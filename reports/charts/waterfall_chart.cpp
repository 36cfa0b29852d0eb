#include "waterfall_chart.hpp"

#include <algorithm>

namespace slicewise::reports::charts {

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
  for (const double value : axis.ticks()) {
    const double x = axis.pixel_of(value);
    body += line_between(x, kTop, x, bottom, "grid");
    body += text_at(x, bottom + 15, chart.x.tick(value), "tick", Anchor::Middle);
  }
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
