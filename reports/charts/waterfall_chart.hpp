#pragma once

#include <string>
#include <vector>

#include "chart_axis.hpp"
#include "svg.hpp"

namespace slicewise::reports::charts {

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
