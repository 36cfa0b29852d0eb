#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../state.hpp"
#include "ranked_pods.hpp"

namespace slicewise::sim {

// The Pending pods of one workload, oldest first, and when the back-off of each ends. They ask for
// the same, so when one does not fit, none does: a cycle looks at one of them, however many wait. A
// tournament over the ends finds it in O(log pods). Allocates once.
class PendingPods {
 public:
  explicit PendingPods(std::size_t most_pods);
  std::size_t size() const { return count_; }
  // REQUIRES: size() > 0.
  std::size_t first() const { return first_; }
  // Places from the first to this one may be empty: kNoOwner.
  std::size_t end() const { return end_; }
  std::uint32_t operator[](std::size_t place) const { return pods_[place]; }
  TimePoint back_off_ends(std::size_t place) const { return ends_[pods_.size() + place]; }

  void push_back(std::uint32_t pod, TimePoint ends);
  void remove(std::size_t place);
  void set_end(std::size_t place, TimePoint ends);
  // The first pod whose back-off is over; `skipped` becomes no later than the ends of those before
  // it.
  std::optional<std::size_t> first_eligible(TimePoint now, TimePoint& skipped) const;

 private:
  void close_ranks();
  // The ends of these places have changed.
  void compare_again(std::size_t from, std::size_t to);

  std::vector<std::uint32_t> pods_;  // by place, as many as a power of two
  std::vector<TimePoint> ends_;      // the root is 1; leaves follow; kNever where nobody is
  std::size_t first_ = 0;
  std::size_t end_ = 0;
  std::size_t count_ = 0;
};

// kube-scheduler's queue: which Pending pod is tried next, by priority, then age. One that was
// turned down is tried again when its back-off (1 s doubling to 10 s) is over. With EASY and where
// pods are stopped for others, as batch systems have it, there is no back-off: whenever pods come
// or something is freed all are looked at; `priority` goes by who was submitted first, `srtf` and
// `srsf` by what is left.
class SchedulingQueue {
 public:
  // The first pod of a workload whose back-off is over.
  struct Candidate {
    std::size_t workload = 0;
    std::size_t place = 0;  // in its queue

    bool operator==(const Candidate&) const = default;
  };

  explicit SchedulingQueue(const ClusterState& cluster);

  // A pod is Pending from `now` on.
  void add(std::uint32_t pod, TimePoint now);
  // O(pods that wait).
  void withdraw(std::uint32_t pod, TimePoint now);

  // Every eligible pod may be tried once, one of each workload that is turned down.
  void begin_cycle(TimePoint now);
  std::optional<Candidate> next(TimePoint now);
  void take(const Candidate& candidate);
  // None of its workload fits; with `others_may`, others end for it, and the next is tried at once.
  void turn_down(const Candidate& candidate, TimePoint now, bool others_may = false);
  // Something was freed where others end for the pod, since `since`: it is tried when the back-off
  // of the try that asked for the room is over. O(pods that wait).
  void try_soon(std::uint32_t pod, TimePoint since, TimePoint now);
  // EASY: not now, though it may fit; others of its workload may still be looked at.
  void pass_over(const Candidate& candidate) {
    looked_at_[candidate.workload] = candidate.place + 1;
  }
  // When somebody has to look again; kNever: not before pods come or something is freed, which
  // wakes the scheduler. What is tried in vain meanwhile is made up for by begin_cycle(). While
  // others end for a pod (`others_end`) no try is in vain: several of its workload may have theirs.
  TimePoint end_cycle(bool others_end);
  // Pods that were turned down may fit now.
  void freed() { std::ranges::fill(may_fit_, char{1}); }

  std::uint32_t pod(const Candidate& candidate) const {
    const auto& [workload, place] = candidate;
    return ranked_ ? ranked_->of(workload)[place] : of_workload_[workload][place];
  }
  std::size_t size() const { return count_; }
  // Jobs of the workload: gangs count as one.
  std::size_t jobs_of(std::size_t workload) const {
    return ranked_ ? ranked_->of(workload).size() : of_workload_[workload].size();
  }
  // Since when the first of its pods has been here. REQUIRES: jobs_of(workload) > 0.
  TimePoint oldest_of(std::size_t workload) const;
  // REQUIRES: pods are stopped for others.
  const RankedPods& ranked() const { return *ranked_; }

 private:
  // One that found no node.
  struct Try {
    Candidate who;
    TimePoint at;
    TimePoint ends;  // of the back-off
  };

  bool goes_before(const Candidate& a, const Candidate& b) const;
  std::optional<Candidate> best_not_looked_at() const;
  void back_off(const Candidate& candidate, TimePoint now);
  void start_over();
  std::optional<Candidate> not_looked_at(std::size_t workload) const;
  bool backs_off() const { return cluster_.world->pod_queue <= scenarios::PodQueue::Fifo; }
  void try_in_vain();
  void try_in_vain_until(TimePoint now);
  void skip_periods(TimePoint now);

  const ClusterState& cluster_;
  std::vector<PendingPods> of_workload_;
  std::optional<RankedPods> ranked_;    // instead of them where pods are stopped for others
  std::size_t count_ = 0;               // pods, those of gangs too
  std::vector<int> attempts_;           // in vain, by pod
  std::vector<char> turned_down_;       // by workload, in this cycle
  std::vector<std::size_t> looked_at_;  // likewise, places before this one: of EASY
  std::vector<char> may_fit_;  // by workload: something was freed since one was turned down
  bool looks_always_ = false;
  TimePoint retry_ = kNever;      // when the back-off of a pod that was skipped ends
  TimePoint in_vain_ = kNever;    // when the next try is that nobody has to look at
  bool blocked_ = false;          // by the head of a strict queue
  std::vector<Candidate> heads_;  // in this cycle, of each workload, a heap; with back-offs
  bool heads_known_ = false;
  std::optional<std::size_t> taken_of_;  // the workload whose head was taken
  std::vector<Try> tries_;               // of a period in vain
  std::vector<Try> tries_before_;        // of the one before it
};

}  // namespace slicewise::sim
