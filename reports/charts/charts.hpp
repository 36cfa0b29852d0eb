#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chart_axis.hpp"
#include "svg.hpp"

// The charts of pages and files, each an SVG of its own.
namespace slicewise::reports::charts {

struct GanttSpan {
  double from = 0;
  double to = 0;
  int series = 0;      // colour and pattern
  std::string label;   // the tooltip, where the bar is wide enough to be pointed at
  int row = 0;         // within the lane: spans at the same time lie above each other
  bool waits = false;  // paler: it is there, and does not work
};

struct GanttLane {
  std::string label;
  int rows = 1;
  std::vector<GanttSpan> spans;
};

struct GanttChart {
  ChartText text;
  std::string x_label;
  std::vector<std::pair<double, std::string>> x_ticks;
  double from = 0;
  double to = 1;
  std::vector<GanttLane> lanes;
  std::vector<std::string> series;  // the legend
  std::string waits_name;           // what paler bars are, in the legend; "": none are
  double width = 960;
};

// REQUIRES: a lane; from < to; spans lie between them.
Drawing draw(const GanttChart& chart);

struct HeatCell {
  std::optional<double> value;  // absent: hatched, which is not zero
  std::string text;             // in the cell, where it fits
  std::string tooltip;
};

// Numbers in cells, coloured from dark blue (least) to yellow (most): the cividis scale, which
// colour-blind people read as others do.
struct HeatMatrix {
  ChartText text;
  std::vector<std::string> rows;
  std::vector<std::string> columns;  // "" for a column without a name of its own
  std::vector<std::vector<HeatCell>> cells;
  double least = 0;  // of the scale
  double most = 1;
  std::string scale_least;  // beside the legend
  std::string scale_most;
  double width = 560;
  double cell_height = 30;
};

// REQUIRES: a cell; every row has as many cells as there are columns.
Drawing draw(const HeatMatrix& chart);

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

struct WaterfallStage {
  std::string label;
  double amount = 0;
  std::string amount_text;
};

// Stages that follow each other, each beginning where the last one ended.
struct WaterfallChart {
  ChartText text;
  AxisStyle x;
  std::vector<WaterfallStage> stages;
  std::string total;
  double width = 560;
};

// REQUIRES: a stage; no amount below zero.
Drawing draw(const WaterfallChart& chart);

}  // namespace slicewise::reports::charts
