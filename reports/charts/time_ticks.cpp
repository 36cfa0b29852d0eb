#include "time_ticks.hpp"

#include <array>

#include "../screens/result_figures.hpp"

namespace slicewise::reports::charts {

std::vector<std::pair<double, std::string>> time_ticks(Duration length) {
  constexpr std::int64_t kMostSteps = 8;
  constexpr std::array<Duration, 28> kSteps = {
      milliseconds(1), milliseconds(5), milliseconds(20), milliseconds(100), milliseconds(500),
      seconds(1),      seconds(2),      seconds(5),       seconds(10),       seconds(15),
      seconds(30),     minutes(1),      minutes(2),       minutes(5),        minutes(10),
      minutes(15),     minutes(30),     hours(1),         hours(2),          hours(3),
      hours(6),        hours(12),       hours(24),        hours(48),         hours(168),
      hours(336),      hours(720),      hours(2160)};
  Duration step = kSteps.back();
  for (const Duration candidate : kSteps) {
    if (length.ns / candidate.ns > kMostSteps) continue;
    step = candidate;
    break;
  }
  while (length.ns / step.ns > kMostSteps) step.ns *= 2;
  std::vector<std::pair<double, std::string>> ticks;
  for (Duration at; at <= length; at.ns += step.ns) {
    ticks.emplace_back(to_seconds(at), at.ns == 0 ? std::string("0") : duration_text(at));
  }
  return ticks;
}

}  // namespace slicewise::reports::charts
