#pragma once

#include <string>
#include <utility>
#include <vector>

#include "svg.hpp"

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

}  // namespace slicewise::reports::charts
