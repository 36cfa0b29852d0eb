#pragma once

#include <string>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/units.hpp"

// Figures in the sentences of findings and verdicts.
namespace slicewise::sim {

// "2m30s", "10h05m", "3d04h".
std::string clock_text(Duration duration);

// "107958" -> "107,958", "-1234.5" -> "-1,234.5".
std::string with_thousands(std::string digits);

// "$1,640".
std::string whole_dollars(double dollars);

// "0.394", "6", "14.8", "1020": so many digits at most where there is a point, no zeros behind it.
std::string short_text(double value, int digits = 3);

// "312.4 ms", "99.9 %", "12/s".
inline constexpr int kUsualDigits = 4;
std::string figure_text(const scenarios::FigureValue& value, int digits = kUsualDigits);

}  // namespace slicewise::sim
