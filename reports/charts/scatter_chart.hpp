#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chart_axis.hpp"
#include "svg.hpp"

namespace slicewise::reports::charts {

struct ScatterPoint {
  double x = 0;
  double y = 0;
  std::optional<double> y_half_width;  // of an interval
  std::string label;                   // beside the point, where there is room; "": none
  std::string tooltip;
  std::string link;  // what says more about it, "#option-2"; "": nothing on this page
  Shape shape = Shape::Circle;
  int series = 0;
  bool hollow = false;      // it does not do
  bool emphasised = false;  // ringed, its label bold
};

struct ScatterChart {
  ChartText text;
  AxisStyle x;
  AxisStyle y;
  std::optional<double> limit;  // a horizontal line
  std::string limit_label;
  std::vector<ScatterPoint> points;  // those that matter most first: they get their labels
  double width = 480;
  double height = 300;
};

// REQUIRES: a point.
Drawing draw(const ScatterChart& chart);

}  // namespace slicewise::reports::charts
