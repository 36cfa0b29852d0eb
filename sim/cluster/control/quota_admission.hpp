#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "../run_state.hpp"
#include "quota_book.hpp"
#include "quota_choice.hpp"

namespace slicewise::sim {

class OpenJobs;
class PodLife;

// Kueue: Jobs that name a queue are suspended, and have no pods, until its quota has room for all
// pods of the Job. A cycle looks at the first Job of each queue (priority, then age), all against
// the same book, and goes through them: those within their own quota first, then those that borrow;
// of these by priority, then age. One that no longer fits after those before it, or whose victims
// are taken, is looked at again in the next cycle; one that does not fit lets the next of its queue
// by unless that is StrictFIFO, until something is given back in its cohort: behind one that is
// never admitted a strict queue waits for ever. A Job for which others were stopped comes first in
// its queue until it is admitted. Victims give their quota back at once and their nodes after their
// grace period; they wait in their queue anew, as old as they are. Source: sigs.k8s.io/kueue
// pkg/scheduler/scheduler.go, schedule(), processEntry() and makeClassicalIterator();
// pkg/cache/queue/cluster_queue.go, baseCompareFunc and RequeueIfNotPresent. Unlike there all of it
// takes no time, Jobs of one workload are turned down together (SchedulingEquivalenceHashing), and
// victims are back in the queue once their pods have gone.
class QuotaAdmission {
 public:
  QuotaAdmission(RunState& run, PodLife& pods, OpenJobs& jobs);

  // Whether the pod's Job is suspended.
  bool holds_back(std::uint32_t pod) const {
    return any_ && run_.cluster.model(run_.cluster.pods[pod]).queued &&
           !is_admitted_[run_.cluster.first_of_job(pod)];
  }
  // The Job of the pod waits from now on.
  void add(std::uint32_t pod);
  // It is deleted, or has ended.
  void remove(std::uint32_t pod);
  // The cycles of this instant.
  void on_timer();

 private:
  using Mode = QuotaChoice::Mode;
  static constexpr std::size_t kNeverAdmitted = static_cast<std::size_t>(-1);
  struct Entry {
    std::uint32_t job = 0;
    std::size_t workload = 0;
    std::size_t queue = 0;
    QuotaChoice::Decision decision;
  };

  const WorkloadModel& model_of(std::uint32_t job) const {
    return run_.cluster.model(run_.cluster.pods[job]);
  }
  bool goes_before(std::uint32_t a, std::uint32_t b) const;
  void tell_who_waits_for_ever(std::size_t queue);
  std::optional<std::uint32_t> head_of(std::size_t queue) const;
  std::vector<Entry> nominate();
  bool cycle();
  bool process(const Entry& entry, QuotaBook& book, std::vector<std::uint32_t>& gone);
  bool turn_down(const Entry& entry);
  void reserve(const Entry& entry, QuotaBook& book) const;
  void admit(const Entry& entry);
  void stop(std::uint32_t job);
  void give_back(std::uint32_t job);
  const AdmittedJob& admitted(std::uint32_t job) const;

  RunState& run_;
  PodLife& pods_;
  OpenJobs& jobs_;
  QuotaBook book_;
  bool any_ = false;
  std::vector<std::deque<std::uint32_t>> waiting_;          // by workload: Jobs, the oldest first
  std::vector<char> turned_down_;                           // by workload
  std::vector<std::optional<std::uint32_t>> stops_others_;  // by queue: who comes first
  std::vector<std::optional<std::uint32_t>> holds_up_;      // by strict queue: whom it waits for
  std::vector<bool> is_admitted_;                           // by the first pod of a Job
  std::vector<std::size_t> wait_of_;  // likewise: its place in the record's quota_wait
  std::vector<AdmittedJob> admitted_;
};

}  // namespace slicewise::sim
