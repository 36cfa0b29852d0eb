#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "slicewise/units.hpp"

namespace slicewise::reports {

// One logarithmic axis of a chart: values to pixels, and round values to label.
class LogAxis {
 public:
  // REQUIRES: 0 < least <= most. The axis covers a little more than both, and at
  // least a factor of 2.
  LogAxis(double least, double most, double first_pixel, double last_pixel);

  double pixel_of(double value) const;
  double first_value() const { return first_value_; }
  double last_value() const { return last_value_; }

  // Values of 1, 2, 5 or coarser steps of each decade, six at most.
  std::vector<double> ticks() const;

 private:
  double first_log_;
  double last_log_;
  double first_value_;
  double last_value_;
  double first_pixel_;
  double last_pixel_;
};

// "0.05", "20", "10,000".
std::string tick_text(double value);
std::string dollars_tick(double value);

}  // namespace slicewise::reports

// Axes: from values to pixels, and where the ticks stand.
namespace slicewise::reports::charts {

// How a value is written beside its tick.
using TickText = std::string (*)(double value);

struct AxisStyle {
  std::string label;  // with its unit
  TickText tick = tick_text;
  bool logarithmic = false;
  bool from_zero = true;  // a linear axis; else it covers its values only
  double unit = 1;        // steps of a linear axis are round in it: 60 for seconds read as minutes
  bool whole = false;     // of things that are counted: no tick between two of them
};

// A linear axis with round ticks, four to seven of them.
class LinearAxis {
 public:
  // Ticks are round multiples of `unit`. REQUIRES: least <= most, both finite; unit > 0.
  LinearAxis(double least, double most, double first_pixel, double last_pixel, double unit = 1,
             bool whole = false);

  double pixel_of(double value) const;
  double last_value() const { return last_; }
  std::vector<double> ticks() const;

 private:
  double first_;
  double last_;
  double step_;
  double first_pixel_;
  double last_pixel_;
};

// Either kind, as the style says. A logarithmic axis over values of which one is not positive is
// linear.
class ChartAxis {
 public:
  ChartAxis(const AxisStyle& style, double least, double most, double first_pixel,
            double last_pixel);

  double pixel_of(double value) const;
  std::vector<double> ticks() const;

 private:
  std::variant<LinearAxis, LogAxis> axis_;
};

// The unit in which a span of seconds has round steps.
double time_unit(double seconds);

// A plot with its axes: where the data go on the canvas.
struct PlotArea {
  double left, top, right, bottom;
};
// The extent of the data.
struct DataRange {
  double least_x, most_x, least_y, most_y;
};

class Plot {
 public:
  Plot(const PlotArea& area, AxisStyle x, AxisStyle y, const DataRange& range);

  double x_of(double value) const { return x_.pixel_of(value); }
  double y_of(double value) const { return y_.pixel_of(value); }
  const PlotArea& area() const { return area_; }
  // Grid, ticks and what the axes count.
  std::string drawn() const;
  // The same with ticks at given places of the x axis.
  std::string drawn(const std::vector<std::pair<double, std::string>>& x_ticks) const;

 private:
  PlotArea area_;
  AxisStyle x_style_;
  AxisStyle y_style_;
  ChartAxis x_;
  ChartAxis y_;
};

// Round times from zero to `length`, at most nine, with their names: {1800, "30m00s"}. REQUIRES:
// length > 0.
std::vector<std::pair<double, std::string>> time_ticks(Duration length);

}  // namespace slicewise::reports::charts
