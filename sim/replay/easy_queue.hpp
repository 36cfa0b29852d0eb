#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "replay_state.hpp"

namespace slicewise::sim {

// EASY backfilling: the oldest job has a reservation at the time when enough GPUs will be free by
// the estimates of those that run; a later job starts now if it ends before that, or takes only
// GPUs that the oldest will not need. Nobody's estimate knows of sharing. Source: Lifka, "The
// ANL/IBM SP scheduling system", JSSPP'95. On nodes the reservation counts GPUs of the whole
// cluster, not their places.
template <class State>
class Easy {
 public:
  Easy(State& state, const TraceShapes& shapes)
      : state_(state), shapes_(shapes), fits_nowhere_(shapes.shapes.size()) {}

  void add(JobNumber job) { queue_.push_back(waiting_job(job)); }
  void add_again(JobNumber job) {
    queue_.insert(std::ranges::upper_bound(queue_, job, {}, &Waiting::job), waiting_job(job));
    looked_at_ = 0;
  }
  void freed(const RunningJob& ended) {
    ends_.erase(estimated_end(ended));
    looked_at_ = 0;
    std::ranges::fill(fits_nowhere_, char{0});
  }

  void schedule(TimePoint now) {
    if (looked_at_ == 0) start_oldest(now);
    if (looked_at_ < queue_.size()) backfill(now);
  }
  std::int64_t waiting() const { return static_cast<std::int64_t>(queue_.size()); }

 private:
  using EstimatedEnd = std::pair<TimePoint, JobNumber>;

  // What a look at the queue needs of each job.
  struct Waiting {
    JobNumber job = 0;
    std::uint32_t shape = kNoShape;
    std::int64_t gpu_milli = 0;
    Duration estimate;
  };
  // Jobs of one shape ask for the same: when one does not fit, none does until something is freed.
  // Gangs have none, and a pool asks for GPUs alone.
  static constexpr std::uint32_t kNoShape = UINT32_MAX;

  Waiting waiting_job(JobNumber job) const {
    const bool has_shape = !shapes_.of_row.empty() && state_.jobs.rows_of(job).size() == 1;
    return {job, has_shape ? shapes_.of_row[state_.jobs.row(job)] : kNoShape,
            state_.jobs.gpu_milli(job), state_.jobs.estimate(job)};
  }

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

  bool may_fit(const Waiting& waiting) const {
    return waiting.shape == kNoShape || fits_nowhere_[waiting.shape] == 0;
  }

  bool start(const Waiting& waiting, TimePoint now) {
    if (!may_fit(waiting)) return false;
    if (state_.start(waiting.job, now)) {
      ends_.insert({now + waiting.estimate, waiting.job});
      return true;
    }
    if (waiting.shape != kNoShape) fits_nowhere_[waiting.shape] = 1;
    return false;
  }

  // When the oldest can start, and how much is then left over.
  void reserve(TimePoint now) {
    const std::int64_t wanted = queue_.front().gpu_milli;
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
    std::int64_t free = state_.resources.free_milli();
    for (std::size_t at = looked_at_; at < queue_.size(); ++at) {
      const Waiting& waiting = queue_[at];
      const std::int64_t wanted = waiting.gpu_milli;
      const bool ends_before = now + waiting.estimate <= reserved_at_;
      if ((ends_before || wanted <= spare_milli_) && wanted <= free && start(waiting, now)) {
        if (!ends_before) spare_milli_ -= wanted;
        free = state_.resources.free_milli();
      } else {
        if (kept != at) queue_[kept] = waiting;
        ++kept;
      }
    }
    queue_.resize(kept);
    looked_at_ = kept;
  }

  State& state_;
  const TraceShapes& shapes_;
  std::vector<char> fits_nowhere_;  // by shape
  std::vector<Waiting> queue_;
  std::size_t looked_at_ = 0;  // jobs at the front that cannot start until something is given back
  TimePoint reserved_at_;
  std::int64_t spare_milli_ = 0;
  std::set<EstimatedEnd> ends_;  // of the jobs that run
};

}  // namespace slicewise::sim
