#include "chart_axis.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "slicewise/portable_math.hpp"

#include "../screens/result_figures.hpp"
#include "svg.hpp"

namespace slicewise::reports {
namespace {

constexpr std::size_t kMostTicks = 6;
constexpr std::array<double, 9> kFine = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8};
constexpr std::array<double, 3> kUsual = {1, 2, 5};
constexpr std::array<double, 2> kCoarse = {1, 3};
constexpr std::array<double, 1> kDecades = {1};

std::vector<double> steps_within(std::span<const double> steps, double first, double last) {
  std::vector<double> values;
  constexpr double kSmallestDecade = 1e-6;
  constexpr double kLargestDecade = 1e9;
  for (double decade = kSmallestDecade; decade < kLargestDecade; decade *= 10) {
    for (const double step : steps) {
      const double value = step * decade;
      if (value >= first && value <= last) values.push_back(value);
    }
  }
  return values;
}

}  // namespace

LogAxis::LogAxis(double least, double most, double first_pixel, double last_pixel)
    : first_pixel_(first_pixel), last_pixel_(last_pixel) {
  assert(least > 0 && least <= most);
  const double low = portable_log(least);
  const double high = portable_log(most);
  constexpr double kMargin = 0.05;
  constexpr double kLeastSpan = 0.8;  // a factor of 2.2: points close together are not torn apart
  const double margin = std::max(kMargin * (high - low), (kLeastSpan - (high - low)) / 2);
  first_log_ = low - margin;
  last_log_ = high + margin;
  first_value_ = portable_exp(first_log_);
  last_value_ = portable_exp(last_log_);
}

double LogAxis::pixel_of(double value) const {
  return first_pixel_ + (portable_log(value) - first_log_) / (last_log_ - first_log_) *
                            (last_pixel_ - first_pixel_);
}

std::vector<double> LogAxis::ticks() const {
  const std::array<std::span<const double>, 4> choices = {kFine, kUsual, kCoarse, kDecades};
  for (const std::span<const double> steps : choices) {
    std::vector<double> values = steps_within(steps, first_value_, last_value_);
    if (values.size() <= kMostTicks) return values;
  }
  return steps_within(kDecades, first_value_, last_value_);
}

std::string tick_text(double value) {
  std::string text = fmt::format("{:.6g}", value);
  if (value < 1'000) return text;
  text = fmt::format("{:.0f}", value);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

std::string dollars_tick(double value) { return "$" + tick_text(value); }

}  // namespace slicewise::reports

namespace slicewise::reports::charts {
namespace {

constexpr int kMostSteps = 6;

// The smallest of 1, 2, 2.5, 5, 10, ... with at most kMostSteps over the span.
double round_step(double span) {
  constexpr std::array<double, 4> kSteps = {1, 2, 2.5, 5};
  double decade = 1;
  while (decade * kMostSteps >= span && decade > 1e-12) decade /= 10;
  for (; decade < 1e15; decade *= 10) {
    for (const double step : kSteps) {
      if (step * decade * kMostSteps >= span) return step * decade;
    }
  }
  return span;
}

std::variant<LinearAxis, LogAxis> axis_for(const AxisStyle& style, double least, double most,
                                           double first_pixel, double last_pixel) {
  if (style.logarithmic && least > 0) return LogAxis(least, most, first_pixel, last_pixel);
  const double from = style.from_zero ? std::min(0.0, least) : least;
  return LinearAxis(from, most, first_pixel, last_pixel, style.unit, style.whole);
}

}  // namespace

double time_unit(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3'600;
  constexpr double kDay = 86'400;
  if (seconds > 3 * kDay) return kDay;
  if (seconds > 3 * kHour) return kHour;
  return seconds > 3 * kMinute ? kMinute : 1;
}

LinearAxis::LinearAxis(double least, double most, double first_pixel, double last_pixel,
                       double unit, bool whole)
    : first_pixel_(first_pixel), last_pixel_(last_pixel) {
  assert(least <= most && unit > 0);
  const double span = most > least ? most - least : std::max(1.0, std::abs(most));
  step_ = unit * round_step(span / unit);
  if (whole) step_ = std::max(unit, std::ceil(step_));
  first_ = std::floor(least / step_) * step_;
  last_ = std::ceil(most / step_) * step_;
  if (last_ <= first_) last_ = first_ + step_;
}

double LinearAxis::pixel_of(double value) const {
  return first_pixel_ + (value - first_) / (last_ - first_) * (last_pixel_ - first_pixel_);
}

std::vector<double> LinearAxis::ticks() const {
  std::vector<double> values;
  const int steps = static_cast<int>(std::round((last_ - first_) / step_));
  for (int i = 0; i <= steps; ++i) values.push_back(first_ + i * step_);
  return values;
}

ChartAxis::ChartAxis(const AxisStyle& style, double least, double most, double first_pixel,
                     double last_pixel)
    : axis_(axis_for(style, least, most, first_pixel, last_pixel)) {}

double ChartAxis::pixel_of(double value) const {
  return std::visit([value](const auto& axis) { return axis.pixel_of(value); }, axis_);
}

std::vector<double> ChartAxis::ticks() const {
  return std::visit([](const auto& axis) { return axis.ticks(); }, axis_);
}

Plot::Plot(const PlotArea& area, AxisStyle x, AxisStyle y, const DataRange& range)
    : area_(area),
      x_style_(std::move(x)),
      y_style_(std::move(y)),
      x_(x_style_, range.least_x, range.most_x, area.left, area.right),
      y_(y_style_, range.least_y, range.most_y, area.bottom, area.top) {}

std::string Plot::drawn() const {
  std::vector<std::pair<double, std::string>> ticks;
  for (const double value : x_.ticks()) ticks.emplace_back(value, x_style_.tick(value));
  return drawn(ticks);
}

std::string Plot::drawn(const std::vector<std::pair<double, std::string>>& x_ticks) const {
  std::string grid;  // upright, apart from the other: a script that zooms draws its own
  std::string names;
  for (const auto& [value, text] : x_ticks) {
    const double x = x_of(value);
    grid += fmt::format("M{} {}V{}", pixel(x), pixel(area_.top), pixel(area_.bottom));
    names += text_at(x, area_.bottom + 16, text, "tick", Anchor::Middle);
  }
  std::string level;
  for (const double value : y_.ticks()) {
    const double y = y_of(value);
    level += fmt::format("M{} {}H{}", pixel(area_.left), pixel(y), pixel(area_.right));
    names += text_at(area_.left - 6, y + 4, y_style_.tick(value), "tick", Anchor::End);
  }
  std::string out = fmt::format(
      "<path d=\"{}\" class=\"grid upright\"/>\n<path d=\"{}\" class=\"grid\"/>\n", grid, level);
  out += names;
  out += line_between(area_.left, area_.bottom, area_.right, area_.bottom, "frame");
  out += line_between(area_.left, area_.top, area_.left, area_.bottom, "frame");
  out += text_at((area_.left + area_.right) / 2, area_.bottom + 34, x_style_.label, "axis",
                 Anchor::Middle);
  out += text_at(area_.left - 44, area_.top - 10, y_style_.label, "axis");
  return out;
}

std::vector<std::pair<double, std::string>> time_ticks(Duration length) {
  constexpr std::int64_t kMostTimes = 8;
  constexpr std::array<Duration, 28> kSteps = {
      milliseconds(1), milliseconds(5), milliseconds(20), milliseconds(100), milliseconds(500),
      seconds(1),      seconds(2),      seconds(5),       seconds(10),       seconds(15),
      seconds(30),     minutes(1),      minutes(2),       minutes(5),        minutes(10),
      minutes(15),     minutes(30),     hours(1),         hours(2),          hours(3),
      hours(6),        hours(12),       hours(24),        hours(48),         hours(168),
      hours(336),      hours(720),      hours(2160)};
  Duration step = kSteps.back();
  for (const Duration candidate : kSteps) {
    if (length.ns / candidate.ns > kMostTimes) continue;
    step = candidate;
    break;
  }
  while (length.ns / step.ns > kMostTimes) step.ns *= 2;
  std::vector<std::pair<double, std::string>> ticks;
  for (Duration at; at <= length; at.ns += step.ns) {
    ticks.emplace_back(to_seconds(at), at.ns == 0 ? std::string("0") : duration_text(at));
  }
  return ticks;
}

}  // namespace slicewise::reports::charts
