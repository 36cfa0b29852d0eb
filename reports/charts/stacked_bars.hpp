#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chart_axis.hpp"
#include "svg.hpp"

namespace slicewise::reports::charts {

struct BarPart {
  double amount = 0;
  std::string text;  // "useful: $884 (77%)", the tooltip
};

struct StackedBar {
  std::string label;
  std::vector<BarPart> parts;      // by StackedBars::parts
  std::optional<double> capacity;  // a line across the bar
  std::string total;               // right of the bar
};

// Horizontal bars from zero, their parts told apart by colour and pattern.
struct StackedBars {
  ChartText text;
  AxisStyle x;
  std::vector<std::string> parts;  // the legend
  std::vector<StackedBar> bars;
  double width = 680;
};

// REQUIRES: a bar; every bar has StackedBars::parts.size() parts.
Drawing draw(const StackedBars& chart);

}  // namespace slicewise::reports::charts
