#include "over_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace slicewise::sim {
namespace {

OverTime::Counts mean_of(const OverTime::Counts& a, const OverTime::Counts& b) {
  return {(a.waiting + b.waiting) / 2, (a.running + b.running) / 2, (a.gpus + b.gpus) / 2};
}

// To the hundredth: more would not be seen.
double rounded_mean(double sum, std::size_t samples) {
  return std::round(100 * sum / static_cast<double>(samples)) / 100;
}

}  // namespace

void OverTime::look(TimePoint now, const Counts& counts) {
  constexpr std::size_t kMostSamples = 7'680;
  while (is_due(now)) {
    samples_.push_back(counts);
    if (samples_.size() == kMostSamples) {
      for (std::size_t s = 0; s < kMostSamples / 2; ++s) {
        samples_[s] = mean_of(samples_[2 * s], samples_[2 * s + 1]);
      }
      samples_.resize(kMostSamples / 2);
      step_ = step_ * 2;
    }
    next_ = next_ + step_;
  }
}

ReplaySeries OverTime::series() const {
  constexpr std::size_t kMostSteps = 120;
  std::size_t together = 1;
  while (samples_.size() > kMostSteps * together) together *= 2;
  ReplaySeries series{.step = step_ * static_cast<std::int64_t>(together),
                      .waiting = {},
                      .running = {},
                      .gpus = {}};
  for (std::size_t first = 0; first < samples_.size(); first += together) {
    const std::size_t last = std::min(samples_.size(), first + together);
    Counts sum;
    for (std::size_t s = first; s < last; ++s) {
      sum.waiting += samples_[s].waiting;
      sum.running += samples_[s].running;
      sum.gpus += samples_[s].gpus;
    }
    series.waiting.push_back(rounded_mean(sum.waiting, last - first));
    series.running.push_back(rounded_mean(sum.running, last - first));
    series.gpus.push_back(rounded_mean(sum.gpus, last - first));
  }
  return series;
}

}  // namespace slicewise::sim
