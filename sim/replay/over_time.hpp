#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "slicewise/sim/replay/replay.hpp"

namespace slicewise::sim {

// Counts over the time of a replay, however long it gets: whenever the buckets are full, each two
// become one of twice the width. Sums are whole numbers, so the order of adding does not matter.
class OverTime {
 public:
  struct Counts {
    std::int64_t waiting = 0;
    std::int64_t running = 0;
    std::int64_t gpu_milli = 0;
  };

  explicit OverTime(TimePoint start) : since_(start), bucket_end_(start + width_) {}

  // They hold from now on.
  void set(TimePoint now, const Counts& counts) {
    if (now >= bucket_end_) fill_until(now);
    add(now);
    counts_ = counts;
  }

  // Means of each bucket up to `end`; the last one may be shorter.
  ReplaySeries series(TimePoint end) {
    end = std::max(end, since_);
    set(end, {});
    ReplaySeries series{.step = width_, .waiting = {}, .running = {}, .gpus = {}};
    const auto put = [&series](const Sums& sums, Duration length) {
      if (length.ns <= 0) return;
      // To the hundredth: more would not be seen.
      const auto mean = [&length](Int128 sum, std::int64_t units) {
        const Int128 hundredths = (sum * 100 / units + length.ns / 2) / length.ns;
        return static_cast<double>(static_cast<std::int64_t>(hundredths)) / 100;
      };
      series.waiting.push_back(mean(sums.waiting, 1));
      series.running.push_back(mean(sums.running, 1));
      series.gpus.push_back(mean(sums.gpu_milli, 1000));
    };
    for (const Sums& sums : full_) put(sums, width_);
    put(current_, width_ - (bucket_end_ - end));
    return series;
  }

 private:
  static constexpr std::size_t kMostBuckets = 120;

  // Of counts times nanoseconds.
  struct Sums {
    Int128 waiting = 0;
    Int128 running = 0;
    Int128 gpu_milli = 0;

    Sums& operator+=(const Sums& other) {
      waiting += other.waiting;
      running += other.running;
      gpu_milli += other.gpu_milli;
      return *this;
    }
  };

  void add(TimePoint until) {
    const std::int64_t ns = (until - since_).ns;
    since_ = until;
    current_ +=
        {static_cast<Int128>(counts_.waiting) * ns, static_cast<Int128>(counts_.running) * ns,
         static_cast<Int128>(counts_.gpu_milli) * ns};
  }

  void fill_until(TimePoint now) {
    while (now >= bucket_end_) {
      add(bucket_end_);
      full_.push_back(std::exchange(current_, {}));
      if (full_.size() == kMostBuckets) {
        for (std::size_t b = 0; b < kMostBuckets / 2; ++b) {
          full_[b] = full_[2 * b];
          full_[b] += full_[2 * b + 1];
        }
        full_.resize(kMostBuckets / 2);
        width_ = width_ * 2;
      }
      bucket_end_ = bucket_end_ + width_;
    }
  }

  Duration width_ = seconds(1);
  TimePoint since_;  // counted up to here
  TimePoint bucket_end_;
  Counts counts_;
  Sums current_;
  std::vector<Sums> full_;
};

}  // namespace slicewise::sim
