#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "../run_state.hpp"
#include "queued_pods.hpp"
#include "quota_book.hpp"
#include "quota_choice.hpp"

namespace slicewise::sim {

class OpenJobs;
class PodLife;

// Kueue: Jobs that name a queue are suspended, and have no pods, until its quota has room for all
// pods that the Job has at a time; of an object with several pod sets (a JobSet), for those of all
// of them. Once fewer pods are left than have quota, what is done gives its own back. A cycle looks
// at the first Job of each queue (priority, then age), all against the same book, and goes through
// them: those within their own quota first, then those that borrow; of these by priority, then age.
// One that no longer fits after those before it, or whose victims are taken, is looked at again in
// the next cycle; one that does not fit lets the next of its queue by unless that is StrictFIFO,
// until something is given back in its cohort: behind one that is never admitted a strict queue
// waits for ever. A Job for which others were stopped comes first in its queue until it is
// admitted. Victims give their quota back at once and their nodes after their grace period; they
// wait in their queue anew, as old as they are. Source: sigs.k8s.io/kueue
// pkg/scheduler/scheduler.go, schedule(), processEntry() and makeClassicalIterator();
// pkg/cache/queue/cluster_queue.go, baseCompareFunc and RequeueIfNotPresent;
// pkg/controller/jobs/job/job_controller.go, PodSets() and ReclaimablePods(). Unlike there all of
// it takes no time, Jobs of one workload are turned down together (SchedulingEquivalenceHashing),
// and victims are back in the queue once their pods have gone.
class QuotaAdmission {
 public:
  QuotaAdmission(RunState& run, PodLife& pods, OpenJobs& jobs);

  // Whether the pod that is to be has quota. False: its Job is suspended, or has as many as it may.
  bool lets(std::uint32_t pod) { return !any_ || !model_of(pod).queued || queued_.take_quota(pod); }
  // It waits from now on. `is_new`: it never was there.
  void add(std::uint32_t pod, bool is_new);
  // It is deleted, or ends.
  void remove(std::uint32_t pod);
  // The cycles of this instant.
  void on_timer();

 private:
  using Mode = QuotaChoice::Mode;
  struct Entry {
    std::uint32_t job = 0;
    std::size_t workload = 0;
    std::size_t queue = 0;
    QuotaChoice::Decision decision;
  };

  const WorkloadModel& model_of(std::uint32_t job) const {
    return run_.cluster.model(run_.cluster.pods[job]);
  }
  void wait(std::uint32_t job);
  void wait_no_more(std::uint32_t job);
  void have_quota_on(const QueuedPods::Set& set, PoolMask pools);
  void have_quota(std::uint32_t job, bool ever);
  void fill(QueuedPods::Set& set);
  void keep(std::uint32_t job, QueuedPods::Set& set, int pods);
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
  AdmittedJob& admitted(std::uint32_t job);

  RunState& run_;
  PodLife& pods_;
  OpenJobs& jobs_;
  QuotaBook book_;
  bool any_ = false;
  std::vector<std::deque<std::uint32_t>> waiting_;          // by workload: Jobs, the oldest first
  std::vector<char> turned_down_;                           // by workload
  std::vector<std::optional<std::uint32_t>> stops_others_;  // by queue: who comes first
  std::vector<std::optional<std::uint32_t>> holds_up_;      // by strict queue: whom it waits for
  QueuedPods queued_;
  std::vector<AdmittedJob> admitted_;
};

}  // namespace slicewise::sim
