#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "replay_state.hpp"

namespace slicewise::sim {

// Least remaining time (SRTF) or remaining time x GPUs (SRSF) first. At each event all jobs are
// placed anew in that order, each where it fits, so that running jobs may move: no cost of
// preemption or migration, the ideal that schedulers are measured against.
template <class Resources>
class Shortest {
 public:
  Shortest(ReplayState<Resources>& state, bool by_service)
      : state_(state), by_service_(by_service) {
    for (const std::int32_t gpus : state.jobs.trace().gpus.values()) {
      any_without_gpu_ = any_without_gpu_ || gpus == 0;
    }
  }

  void add(JobNumber job) {
    waiting_.insert({key(job, state_.remaining(job)), job});
    arrived_ = true;
  }
  void freed(const RunningJob& /*ended*/) { freed_ = true; }

  void schedule(TimePoint now) {
    if ((arrived_ || freed_) && !waiting_.empty()) replan(now);
    arrived_ = freed_ = false;
  }
  std::int64_t waiting() const { return static_cast<std::int64_t>(waiting_.size()); }

 private:
  using Ranked = std::pair<Int128, JobNumber>;
  struct Ran {
    Ranked rank;
    std::uint32_t slot;
    bool operator<(const Ran& other) const { return rank < other.rank; }
  };

  Int128 key(JobNumber job, Duration remaining) const {
    return by_service_ ? static_cast<Int128>(remaining.ns) * state_.jobs.gpu_milli(job)
                       : remaining.ns;
  }

  void replan(TimePoint now) {
    release_all(now);
    auto next = waiting_.begin();
    std::size_t ran = 0;
    stopped_.clear();
    chosen_.clear();
    while (next != waiting_.end() || ran < ran_.size()) {
      const bool is_full = state_.resources.free_milli() == 0 && !any_without_gpu_;
      if (next == waiting_.end() || (ran < ran_.size() && ran_[ran].rank < *next)) {
        if (is_full || !take_again(ran_[ran])) stopped_.push_back(ran_[ran]);
        ++ran;
      } else if (is_full) {
        next = waiting_.end();
      } else {
        const auto held = state_.resources.take(next->second);
        if (held) chosen_.push_back({next->second, *held, now});
        next = held ? waiting_.erase(next) : std::next(next);
      }
    }
    for (const Ran& stopped : stopped_) {
      const RunningJob job = state_.running[stopped.slot];
      state_.running.remove(stopped.slot);
      state_.account_preempted(job, now);
      waiting_.insert({key(job.job, state_.remaining(job.job)), job.job});
    }
    for (const RunningJob& job : chosen_) state_.run(job);
  }

  void release_all(TimePoint now) {
    state_.running.list(slots_);
    ran_.clear();
    for (const std::uint32_t slot : slots_) {
      const RunningJob& job = state_.running[slot];
      state_.resources.give_back(job.job, job.held);
      ran_.push_back({{key(job.job, state_.running.end_of(slot) - now), job.job}, slot});
    }
    std::ranges::sort(ran_, {}, &Ran::rank);
  }

  bool take_again(const Ran& ran) {
    RunningJob& job = state_.running[ran.slot];
    const auto held = state_.resources.take(job.job);
    if (held) job.held = *held;
    return held.has_value();
  }

  ReplayState<Resources>& state_;
  bool by_service_;
  bool any_without_gpu_ = false;
  std::set<Ranked> waiting_;
  std::vector<std::uint32_t> slots_;
  std::vector<Ran> ran_;
  std::vector<Ran> stopped_;
  std::vector<RunningJob> chosen_;
  bool arrived_ = false;
  bool freed_ = false;
};

}  // namespace slicewise::sim
