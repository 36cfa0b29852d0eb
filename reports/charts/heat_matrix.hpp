#pragma once

#include <optional>
#include <string>
#include <vector>

#include "svg.hpp"

namespace slicewise::reports::charts {

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

}  // namespace slicewise::reports::charts
