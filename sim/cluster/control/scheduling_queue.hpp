#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../state.hpp"
#include "ranked_pods.hpp"

namespace slicewise::sim {

// When a Pending pod is tried among others, the least first: those whose back-off is over, by
// priority, then since when they wait for this try; then those that still back off, by the second
// in which that ends. A back-off costs a pod its place in the queue, not time: nobody waits for its
// end. Source: Kubernetes 1.33 and later, SchedulerPopFromBackoffQ; pkg/scheduler/backend/queue.
struct Turn {
  bool backs_off = false;
  std::int64_t ends_s = 0;  // of those that back off
  std::int64_t minus_priority = 0;
  TimePoint since;
  TimePoint queued;       // where they were turned down at one instant
  std::uint32_t row = 0;  // of the trace, of those that came at one instant

  auto operator<=>(const Turn&) const = default;
};

// The Pending pods of one workload, in the order of their last tries. They ask for the same, so
// when one does not fit, none does: a cycle looks at one of them, and all have been turned down.
// Their back-offs (1 s doubling to 10 s) follow from how often that was since they came.
class PendingPods {
 public:
  explicit PendingPods(std::size_t most_pods);
  std::size_t size() const { return count_; }
  // REQUIRES: size() > 0.
  std::size_t first() const { return first_; }
  // Places from the first to this one may be empty: kNoOwner.
  std::size_t end() const { return end_; }
  std::uint32_t operator[](std::size_t place) const { return pods_[place]; }

  void push_back(std::uint32_t pod, TimePoint now);
  void remove(std::size_t place);
  // For next() it is not there, until it is put back.
  void pass_over(std::size_t place) { pods_[place] = kNoOwner; }
  void put_back(std::size_t place, std::uint32_t pod);
  // The place of the pod whose turn is first, and its turn but for the priority.
  std::optional<std::pair<std::size_t, Turn>> next(TimePoint now) const;
  // None fits: those that came since the last time were tried, or all, which changes their places.
  void turn_down(TimePoint now, bool all);

 private:
  // Neighbours that were tried as often, up to a place: from where the one before it ends.
  struct Run {
    std::size_t end = 0;
    std::size_t tries = 0;   // in vain; the longest back-off is that of all further ones
    std::int64_t until = 0;  // scratch
  };

  TimePoint since(std::size_t place) const { return std::max(last_try_, queued_[place]); }
  std::int64_t backs_off_until(std::size_t place, std::size_t tries, TimePoint now) const;
  std::size_t first_from(std::size_t place) const;
  void sort_by_turn(TimePoint now);
  void close_ranks();

  std::vector<std::uint32_t> pods_;  // by place
  std::vector<TimePoint> queued_;    // by place, rising: of the pods here, not of the one at it
  std::vector<Run> runs_;            // of those that were tried
  std::size_t first_ = 0;
  std::size_t tried_ = 0;  // from here on they have just come
  std::size_t end_ = 0;
  std::size_t count_ = 0;
  TimePoint last_try_;  // of all
};

// kube-scheduler's queue: which Pending pod is tried next. All are when they come and whenever
// something is freed, see Turn. `fifo` has nobody overtake the head: by priority, then age. With
// EASY and where pods are stopped for others, as batch systems have it, there are no back-offs
// either; `priority` goes by who was submitted first, `srtf` and `srsf` by what is left.
class SchedulingQueue {
 public:
  struct Candidate {
    std::size_t workload = 0;
    std::size_t place = 0;  // in its queue

    auto operator<=>(const Candidate&) const = default;
  };

  explicit SchedulingQueue(const ClusterState& cluster);

  // A pod is Pending from `now` on.
  void add(std::uint32_t pod, TimePoint now);
  // O(pods that wait).
  void withdraw(std::uint32_t pod);

  // Everybody who may fit is tried once, one of each workload that is turned down.
  void begin_cycle();
  std::optional<Candidate> next(TimePoint now);
  void take(const Candidate& candidate);
  // None of its workload fits; with `others_may`, others end for it, or its quota is of other
  // pools, and the next may.
  void turn_down(const Candidate& candidate, bool others_may = false);
  // EASY: not now, though it may fit; others of its workload may still be looked at.
  void pass_over(const Candidate& candidate) {
    looked_at_[candidate.workload] = candidate.place + 1;
  }
  // Whether some may fit after all that were turned down before: a pod that others end for has left
  // its room in this cycle.
  bool end_cycle(TimePoint now);
  // Pods that were turned down may fit now.
  void freed() {
    std::ranges::fill(may_fit_, MayFit::All);
    freed_in_cycle_ = true;
  }

  // Pods of the workload may: one has come that they wait for.
  void may_fit(std::size_t workload) {
    freed_in_cycle_ = freed_in_cycle_ || may_fit_[workload] != MayFit::All;
    may_fit_[workload] = MayFit::All;
  }

  std::uint32_t pod(const Candidate& candidate) const {
    const auto& [workload, place] = candidate;
    return ranked_ ? ranked_->of(workload)[place] : of_workload_[workload][place];
  }
  std::size_t size() const { return count_; }
  // Jobs of the workload: gangs count as one.
  std::size_t jobs_of(std::size_t workload) const {
    return ranked_ ? ranked_->of(workload).size() : of_workload_[workload].size();
  }
  // Calls `use` with the first pod of each of them.
  template <class Use>
  void for_each_of(std::size_t workload, Use&& use) const {
    if (jobs_of(workload) == 0) return;
    const PendingPods& queue = of_workload_[workload];
    for (std::size_t place = queue.first(); place < queue.end(); ++place) {
      if (queue[place] != kNoOwner) use(queue[place]);
    }
  }
  // Since when the first of its pods has been here. REQUIRES: jobs_of(workload) > 0.
  TimePoint oldest_of(std::size_t workload) const;
  // REQUIRES: pods are stopped for others.
  const RankedPods& ranked() const { return *ranked_; }

 private:
  enum class MayFit : std::uint8_t { None, New, All };
  struct Head {
    Turn turn;
    Candidate who;

    auto operator<=>(const Head&) const = default;
  };

  bool has_turns() const { return cluster_.world->pod_queue <= PodQueue::Fifo; }
  bool goes_before(const Candidate& a, const Candidate& b) const;
  std::optional<Candidate> best_not_looked_at() const;
  std::optional<Candidate> not_looked_at(std::size_t workload) const;
  void find_head(std::size_t workload, TimePoint now);

  const ClusterState& cluster_;
  std::vector<PendingPods> of_workload_;
  std::optional<RankedPods> ranked_;    // instead of them where pods are stopped for others
  std::size_t count_ = 0;               // pods, those of gangs too
  std::vector<char> turned_down_;       // by workload, in this cycle: of queues without turns
  std::vector<std::size_t> looked_at_;  // likewise, places before this one: of EASY
  std::vector<MayFit> may_fit_;         // by workload, since one was turned down
  bool freed_in_cycle_ = false;
  bool blocked_ = false;     // by the head of a strict queue
  std::vector<Head> heads_;  // in this cycle, of each workload, a heap; with turns
  bool heads_known_ = false;
  std::optional<std::size_t> taken_of_;                           // whose head was taken
  std::vector<std::pair<Candidate, std::uint32_t>> passed_over_;  // others end for them
  std::vector<std::pair<std::size_t, bool>> tried_;  // workloads that were turned down: all of it?
};

}  // namespace slicewise::sim
