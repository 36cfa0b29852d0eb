#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// Progress of several replays or replications as one: jobs that are over, of all of them. Those
// that are under way tell their time, from any thread.
class SharedProgress {
 public:
  using Tell = std::function<void(std::int64_t done, std::int64_t total, TimePoint now)>;

  // `jobs`: of each part.
  SharedProgress(Tell tell, const std::vector<std::int64_t>& jobs)
      : tell_(std::move(tell)),
        done_(jobs.size()),
        total_(std::accumulate(jobs.begin(), jobs.end(), std::int64_t{0})) {}

  void update(std::size_t part, std::int64_t done, TimePoint now) {
    if (!tell_) return;
    const std::scoped_lock lock(mutex_);
    done_[part] = done;
    tell_(std::accumulate(done_.begin(), done_.end(), std::int64_t{0}), total_, now);
  }

 private:
  Tell tell_;
  std::mutex mutex_;
  std::vector<std::int64_t> done_;
  std::int64_t total_ = 0;
};

}  // namespace slicewise::sim
