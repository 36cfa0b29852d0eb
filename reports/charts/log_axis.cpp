#include "log_axis.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>

#include <fmt/format.h>

#include "slicewise/portable_math.hpp"

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

}  // namespace slicewise::reports
