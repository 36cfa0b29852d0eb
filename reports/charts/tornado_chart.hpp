#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chart_axis.hpp"
#include "svg.hpp"

namespace slicewise::reports::charts {

// What becomes of a figure when an input is smaller or larger.
struct TornadoBar {
  std::string label;
  double low = 0;  // the figure with the smaller input, and with the larger one
  double high = 0;
  std::optional<double> low_half_width;  // of an interval
  std::optional<double> high_half_width;
  std::string low_text;
  std::string high_text;
};

struct TornadoChart {
  ChartText text;
  AxisStyle x;
  double base = 0;               // the figure as it is
  std::string low_name;          // "input -20 %"
  std::string high_name;         // "input +20 %"
  std::vector<TornadoBar> bars;  // the longest first
  double width = 640;
};

// REQUIRES: a bar.
Drawing draw(const TornadoChart& chart);

}  // namespace slicewise::reports::charts
