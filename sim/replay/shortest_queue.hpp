#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "replay_state.hpp"

namespace slicewise::sim {

// Least remaining time (SRTF) or remaining time x GPUs (SRSF) first. At each event all jobs are
// placed anew in that order, each where it fits, so that running jobs may move: no cost of
// preemption or migration, the ideal that schedulers are measured against.
template <class State>
class Shortest {
 public:
  static constexpr std::int64_t kEventsPerLook = 256;

  Shortest(State& state, bool by_service) : state_(state), by_service_(by_service) {
    for (const std::int32_t gpus : state.jobs.trace().gpus.values()) {
      any_without_gpu_ = any_without_gpu_ || gpus == 0;
    }
  }

  void add(JobNumber job) { arrived_.push_back({key(job, state_.remaining(job)), job}); }

  void freed(const RunningJob& ended) {
    std::erase_if(order_, [&](const Ran& ran) { return ran.rank.second == ended.job; });
    freed_ = true;
  }

  void schedule(TimePoint now) {
    if (waiting_.empty()) start_at_once(now);
    const bool is_new = freed_ || !arrived_.empty();
    waiting_.insert(arrived_.begin(), arrived_.end());
    if (is_new && !waiting_.empty()) replan(now);
    arrived_.clear();
    freed_ = false;
  }
  std::int64_t waiting() const { return static_cast<std::int64_t>(waiting_.size()); }

 private:
  using Ranked = std::pair<Int128, JobNumber>;
  struct Ran {
    Ranked rank;
    std::uint32_t slot;
  };

  Int128 key(JobNumber job, Duration remaining) const {
    return by_service_ ? static_cast<Int128>(remaining.ns) * state_.jobs.gpu_milli(job)
                       : remaining.ns;
  }

  // While nobody waits, all that fit run, in whatever order.
  void start_at_once(TimePoint now) {
    std::erase_if(arrived_, [&](const Ranked& job) {
      const auto held = state_.resources.take(job.second);
      if (held) order_.push_back({job, state_.run({job.second, *held, now})});
      return held.has_value();
    });
  }

  void replan(TimePoint now) {
    release_all(now);
    auto next = waiting_.begin();
    std::size_t ran = 0;
    stopped_.clear();
    chosen_.clear();
    kept_.clear();
    while (next != waiting_.end() || ran < order_.size()) {
      const bool is_full = state_.resources.free_milli() == 0 && !any_without_gpu_;
      if (next == waiting_.end() || (ran < order_.size() && order_[ran].rank < *next)) {
        const bool goes_on = !is_full && take_again(order_[ran]);
        (goes_on ? kept_ : stopped_).push_back(order_[ran++]);
      } else if (is_full) {
        next = waiting_.end();
      } else {
        const auto held = state_.resources.take(next->second);
        if (held) chosen_.push_back({next->second, *held, now});
        next = held ? waiting_.erase(next) : std::next(next);
      }
    }
    std::swap(order_, kept_);
    for (const Ran& stopped : stopped_) {
      const RunningJob job = state_.stop(stopped.slot, now);
      waiting_.insert({key(job.job, state_.remaining(job.job)), job.job});
    }
    for (const RunningJob& job : chosen_) order_.push_back({{0, job.job}, state_.run(job)});
  }

  // All that run give their GPUs back, in order of what they have left. The order of the plan
  // before it is nearly that of this one.
  void release_all(TimePoint now) {
    for (std::size_t at = 0; at < order_.size(); ++at) {
      Ran ran = order_[at];
      const RunningJob& job = state_.running[ran.slot];
      state_.resources.give_back(job.job, job.held);
      ran.rank.first = key(job.job, state_.running.end_of(ran.slot) - now);
      std::size_t to = at;
      for (; to > 0 && ran.rank < order_[to - 1].rank; --to) order_[to] = order_[to - 1];
      order_[to] = ran;
    }
  }

  bool take_again(const Ran& ran) {
    RunningJob& job = state_.running[ran.slot];
    const auto held = state_.resources.take(job.job);
    if (held) job.held = *held;
    return held.has_value();
  }

  State& state_;
  bool by_service_;
  bool any_without_gpu_ = false;
  std::set<Ranked> waiting_;
  std::vector<Ranked> arrived_;
  std::vector<Ran> order_;  // of those that run
  std::vector<Ran> kept_;
  std::vector<Ran> stopped_;
  std::vector<RunningJob> chosen_;
  bool freed_ = false;
};

}  // namespace slicewise::sim
