#pragma once

#include <string>
#include <vector>

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

}  // namespace slicewise::reports
