#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chart_axis.hpp"
#include "svg.hpp"

namespace slicewise::reports::charts {

struct LinePoint {
  double x = 0;
  double y = 0;
  std::optional<double> half_width;  // of an interval: drawn as a band
  bool hollow = false;               // it does not do
};

struct LineSeries {
  std::string name;  // beside its last point
  std::vector<LinePoint> points;
  bool marks = true;
};

// A limit (horizontal) or an event (vertical).
struct RuleLine {
  double at = 0;
  std::string label;
};

// What a script needs to read values off the lines at a place in time.
struct TimeCursor {
  double step = 1;   // seconds between points
  double last = 1;   // seconds
  const char* unit;  // of y: "s", or "" for what is counted
};

struct LineChart {
  ChartText text;
  AxisStyle x;
  AxisStyle y;
  std::vector<std::pair<double, std::string>> x_ticks;  // empty: round values
  std::vector<LineSeries> series;                       // told apart by colour, dash and shape
  std::vector<RuleLine> limits;
  std::vector<RuleLine> events;
  std::optional<TimeCursor> cursor;  // x is seconds; both axes are linear
  double width = 640;
  double height = 300;
};

// REQUIRES: a point.
Drawing draw(const LineChart& chart);

// Quantiles as a line chart has them: p50 at 2, p99 at 100, so that each nine takes as much room.
double quantile_place(double quantile);
std::vector<std::pair<double, std::string>> quantile_ticks(double last_quantile);

}  // namespace slicewise::reports::charts
