#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../state.hpp"

namespace slicewise::sim {

// The Pending pods of one workload, oldest first. They ask for the same, so when one does not fit,
// none does: a cycle looks at one of them, however many wait. Allocates once.
class PendingPods {
 public:
  explicit PendingPods(std::size_t capacity) : ring_(std::max<std::size_t>(1, capacity)) {}
  std::size_t size() const { return count_; }
  std::uint32_t operator[](std::size_t place) const { return ring_[slot(place)]; }
  void push_back(std::uint32_t pod) { ring_[slot(count_++)] = pod; }
  // O(place): the pods before it move up.
  void remove(std::size_t place);

 private:
  std::size_t slot(std::size_t place) const { return (head_ + place) % ring_.size(); }

  std::vector<std::uint32_t> ring_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

// kube-scheduler's queue: which Pending pod is tried next, by priority, then age. One that was
// turned down is tried again when its back-off (1 s doubling to 10 s) is over.
class SchedulingQueue {
 public:
  // The first pod of a workload whose back-off is over.
  struct Candidate {
    std::size_t workload = 0;
    std::size_t place = 0;  // in its queue
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
  void turn_down(const Candidate& candidate, TimePoint now);
  // When somebody has to look again; kNever: not before pods come or something is freed, which
  // wakes the scheduler. What is tried in vain meanwhile is made up for by begin_cycle().
  TimePoint end_cycle();
  // Pods that were turned down may fit now.
  void freed() { std::ranges::fill(may_fit_, char{1}); }

  std::uint32_t pod(const Candidate& candidate) const {
    return of_workload_[candidate.workload][candidate.place];
  }
  std::size_t size() const { return count_; }
  const PendingPods& of(std::size_t workload) const { return of_workload_[workload]; }

 private:
  // Of a pod that was turned down.
  struct Backoff {
    TimePoint ends;
    int attempts = 0;
  };

  bool goes_before(const Candidate& a, const Candidate& b) const;
  void back_off(const Candidate& candidate, TimePoint now);
  void start_over();
  void try_in_vain_until(TimePoint now);
  void skip_periods(TimePoint now);

  const ClusterState& cluster_;
  std::vector<PendingPods> of_workload_;
  std::size_t count_ = 0;
  std::vector<Backoff> backoff_;   // by pod
  std::vector<char> turned_down_;  // by workload, in this cycle
  std::vector<char> may_fit_;      // by workload: something was freed since one was turned down
  bool looks_always_ = false;
  TimePoint retry_ = kNever;     // when the back-off of a pod that was skipped ends
  TimePoint in_vain_ = kNever;   // when the next try is that nobody has to look at
  bool blocked_ = false;         // by the head of a strict queue
  std::vector<Backoff> before_;  // a period ago, while periods are skipped
};

}  // namespace slicewise::sim
