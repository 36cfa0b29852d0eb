#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay_state.hpp"

namespace slicewise::sim {

// EASY backfilling: the oldest job has a reservation at the time when enough GPUs will be free by
// the estimates of those that run; a later job starts now if it ends before that, or takes only
// GPUs that the oldest will not need. Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP'95.
// On nodes the reservation counts GPUs of the whole cluster, not their places.
template <class Resources>
class Easy {
 public:
  explicit Easy(ReplayState<Resources>& state) : state_(state) {}

  void add(JobNumber job) { queue_.push_back(job); }
  void freed(const RunningJob& ended) {
    ends_.erase(std::ranges::lower_bound(ends_, estimated_end(ended)));
    looked_at_ = 0;
  }

  void schedule(TimePoint now) {
    if (looked_at_ == 0) start_oldest(now);
    if (looked_at_ < queue_.size()) backfill(now);
  }
  std::int64_t waiting() const { return static_cast<std::int64_t>(queue_.size()); }

 private:
  using EstimatedEnd = std::pair<TimePoint, JobNumber>;

  void start_oldest(TimePoint now) {
    std::size_t started = 0;
    while (started < queue_.size() && start(queue_[started], now)) ++started;
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(started));
    if (queue_.empty()) return;
    looked_at_ = 1;
    reserve(now);
  }

  EstimatedEnd estimated_end(const RunningJob& job) const {
    return {job.since + state_.jobs.estimate(job.job), job.job};
  }

  bool start(JobNumber job, TimePoint now) {
    if (!state_.start(job, now)) return false;
    const EstimatedEnd end = estimated_end({job, 0, now});
    ends_.insert(std::ranges::upper_bound(ends_, end), end);
    return true;
  }

  // When the oldest can start, and how much is then left over.
  void reserve(TimePoint now) {
    const std::int64_t wanted = state_.jobs.gpu_milli(queue_.front());
    std::int64_t free = state_.resources.free_milli();
    reserved_at_ = now;
    // At least one end: on nodes enough GPUs may be free, but in the wrong places.
    bool any = false;
    for (const auto& [end, job] : ends_) {
      if (any && free >= wanted && end > reserved_at_) break;
      free += state_.jobs.gpu_milli(job);
      reserved_at_ = std::max(now, end);  // a job may outlast its estimate
      any = true;
    }
    spare_milli_ = free - wanted;
  }

  void backfill(TimePoint now) {
    std::size_t kept = looked_at_;
    for (std::size_t at = looked_at_; at < queue_.size(); ++at) {
      const JobNumber job = queue_[at];
      const std::int64_t wanted = state_.jobs.gpu_milli(job);
      const bool ends_before = now + state_.jobs.estimate(job) <= reserved_at_;
      if ((ends_before || wanted <= spare_milli_) && wanted <= state_.resources.free_milli() &&
          start(job, now)) {
        if (!ends_before) spare_milli_ -= wanted;
      } else {
        queue_[kept++] = job;
      }
    }
    queue_.resize(kept);
    looked_at_ = kept;
  }

  ReplayState<Resources>& state_;
  std::vector<JobNumber> queue_;
  std::size_t looked_at_ = 0;  // jobs at the front that cannot start until something is given back
  TimePoint reserved_at_;
  std::int64_t spare_milli_ = 0;
  std::vector<EstimatedEnd> ends_;  // of the jobs that run, in order
};

}  // namespace slicewise::sim
