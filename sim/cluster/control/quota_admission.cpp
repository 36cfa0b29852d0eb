#include "quota_admission.hpp"

#include <algorithm>
#include <tuple>

#include "slicewise/lookup.hpp"

#include "open_jobs.hpp"
#include "pod_life.hpp"

namespace slicewise::sim {

QuotaAdmission::QuotaAdmission(RunState& run, PodLife& pods, OpenJobs& jobs)
    : run_(run),
      pods_(pods),
      jobs_(jobs),
      book_(run.world),
      waiting_(run.world.workloads.size()),
      turned_down_(run.world.workloads.size()),
      stops_others_(run.world.queues.size()),
      holds_up_(run.world.queues.size()),
      queued_(run) {
  any_ = std::ranges::any_of(run.world.workloads,
                             [](const WorkloadModel& model) { return model.queued.has_value(); });
}

bool QuotaAdmission::goes_before(std::uint32_t a, std::uint32_t b) const {
  const auto turn = [this](std::uint32_t job) {
    return std::tuple(-std::int64_t{model_of(job).spec.priority}, run_.cluster.pods[job].submitted,
                      job);
  };
  return turn(a) < turn(b);
}

void QuotaAdmission::add(std::uint32_t p, bool is_new) {
  if (run_.cluster.first_of_job(p) != p) return;
  const std::uint32_t job = queued_.job_of(p);
  QueuedPods::Job* known = queued_.find(job);
  if (known == nullptr) {
    queued_.add(job);
    return wait(job);
  }
  if (!is_new && known->ending > 0 && --known->ending == 0) wait(job);
}

void QuotaAdmission::wait(std::uint32_t job) {
  const std::size_t workload = index(run_.cluster.pods[job].workload);
  std::deque<std::uint32_t>& jobs = waiting_[workload];
  const auto place = std::ranges::upper_bound(
      jobs, job, [this](std::uint32_t a, std::uint32_t b) { return goes_before(a, b); });
  if (place != jobs.end()) turned_down_[workload] = 0;  // it may take the place of younger ones
  jobs.insert(place, job);
  const QueuedJobs& of = *model_of(job).queued;
  const std::optional<std::uint32_t>& holds_up = holds_up_[of.queue];
  const bool comes_after = holds_up && goes_before(*holds_up, job);
  const bool waits_for_ever = !of.never.empty() || comes_after;
  have_quota(job, !waits_for_ever);
  if (!of.never.empty() && !comes_after) tell_who_waits_for_ever(of.queue);
  run_.timers.set(TimerKind::Quota, 0, run_.now);
}

void QuotaAdmission::wait_no_more(std::uint32_t job) {
  const std::size_t queue = model_of(job).queued->queue;
  std::erase(waiting_[index(run_.cluster.pods[job].workload)], job);
  if (stops_others_[queue] == job) stops_others_[queue].reset();
  if (holds_up_[queue] == job) tell_who_waits_for_ever(queue);
}

void QuotaAdmission::have_quota_on(const QueuedPods::Set& set, PoolMask pools) {
  queued_.for_each_job(set, [&](std::uint32_t p) { jobs_.have_quota_on(p, pools); });
}

void QuotaAdmission::have_quota(std::uint32_t job, bool ever) {
  for (const QueuedPods::Set& set : queued_.at(job).sets) have_quota_on(set, ever ? kAnyPool : 0);
}

void QuotaAdmission::remove(std::uint32_t p) {
  if (!model_of(p).queued || run_.cluster.first_of_job(p) != p) return;
  const std::uint32_t job = queued_.job_of(p);
  QueuedPods::Job* queued = queued_.find(job);
  if (queued == nullptr) return;
  QueuedPods::Set& set = queued_.set_of(p);
  const int pods = model_of(p).pods_per_job;
  const PodPhase phase = run_.cluster.pods[p].phase;
  const bool was_there = phase != PodPhase::Suspended && phase != PodPhase::Unsubmitted;
  set.left -= pods;
  const bool is_over = queued->is_over();
  if (queued->is_admitted) {
    if (was_there) set.there -= pods;
    if (set.left < set.held) keep(job, set, set.left);
    fill(set);
    if (is_over) give_back(job);
  } else if (was_there && queued->ending > 0) {
    if (--queued->ending == 0 && !is_over) wait(job);
  } else if (is_over) {
    wait_no_more(job);
  }
  if (is_over) queued_.remove(job);
}

// Jobs of an admitted object that wait, as far as there is quota for them.
void QuotaAdmission::fill(QueuedPods::Set& set) {
  const int pods = run_.world.workloads[set.workload].pods_per_job;
  while (set.next < set.end && set.there + pods <= set.held) {
    const std::uint32_t first = set.next;
    const PodPhase phase = run_.cluster.pods[first].phase;
    if (phase == PodPhase::Unsubmitted) return;  // as are those after it
    set.next += static_cast<std::uint32_t>(pods);
    if (phase != PodPhase::Suspended) continue;
    for_each_of_job(run_.cluster, first, [&](std::uint32_t p) {
      if (run_.cluster.pods[p].phase == PodPhase::Suspended) pods_.submit(p);
    });
  }
}

// Of a strict queue, all behind the first that is never admitted.
void QuotaAdmission::tell_who_waits_for_ever(std::size_t queue) {
  using Strategy = scenarios::ClusterQueue::Strategy;
  if (run_.world.queues[queue].spec.strategy != Strategy::StrictFifo) return;
  std::vector<std::uint32_t> jobs;
  std::optional<std::uint32_t>& first = holds_up_[queue];
  first.reset();
  for (std::size_t w = 0; w < waiting_.size(); ++w) {
    const auto& queued = run_.world.workloads[w].queued;
    if (!queued || queued->queue != queue || waiting_[w].empty()) continue;
    jobs.insert(jobs.end(), waiting_[w].begin(), waiting_[w].end());
    if (queued->never.empty()) continue;
    if (!first || goes_before(waiting_[w].front(), *first)) first = waiting_[w].front();
  }
  for (const std::uint32_t job : jobs) {
    const bool waits_for_ever = first && !goes_before(job, *first);
    have_quota(job, !waits_for_ever);
  }
}

AdmittedJob& QuotaAdmission::admitted(std::uint32_t job) {
  return *std::ranges::find(admitted_, job, &AdmittedJob::job);
}

// So many pods of the set keep their quota. Whoever was turned down in its cohort is looked at
// again.
void QuotaAdmission::keep(std::uint32_t job, QueuedPods::Set& set, int pods) {
  AdmittedJob& held = admitted(job);
  const QuotaAmounts before = quota_of(set.each, set.held);
  const QuotaAmounts after = quota_of(set.each, pods);
  for (std::size_t n = 0; n < before.size(); ++n) {
    const QuotaAmount less{before[n].cell, before[n].count - after[n].count};
    book_.give(held.queue, {less});
    std::ranges::find(held.held, less.cell, &QuotaAmount::cell)->count -= less.count;
  }
  set.held = pods;
  for (std::size_t w = 0; w < waiting_.size(); ++w) {
    const auto& queued = run_.world.workloads[w].queued;
    if (!queued) continue;
    const bool gains =
        queued->queue == held.queue ||
        (book_.has_cohort(held.queue) && book_.is_same_cohort(held.queue, queued->queue));
    if (gains) turned_down_[w] = 0;
  }
  run_.timers.set(TimerKind::Quota, 0, run_.now);
}

void QuotaAdmission::give_back(std::uint32_t job) {
  for (QueuedPods::Set& set : queued_.at(job).sets) keep(job, set, 0);
  std::erase_if(admitted_, [&](const AdmittedJob& one) { return one.job == job; });
}

std::optional<std::uint32_t> QuotaAdmission::head_of(std::size_t queue) const {
  std::optional<std::uint32_t> first;
  for (std::size_t w = 0; w < waiting_.size(); ++w) {
    const auto& queued = run_.world.workloads[w].queued;
    if (!queued || queued->queue != queue || waiting_[w].empty() || turned_down_[w] != 0) continue;
    const auto& stops = stops_others_[queue];
    if (stops && index(run_.cluster.pods[*stops].workload) == w) return stops;
    if (!first || goes_before(waiting_[w].front(), *first)) first = waiting_[w].front();
  }
  return first;
}

// The first of each queue, in the order in which they are gone through.
std::vector<QuotaAdmission::Entry> QuotaAdmission::nominate() {
  std::vector<Entry> entries;
  QuotaChoice choice(run_.world, book_, admitted_);
  for (std::size_t queue = 0; queue < run_.world.queues.size(); ++queue) {
    const auto job = head_of(queue);
    if (!job) continue;
    const Pod& pod = run_.cluster.pods[*job];
    std::vector<QuotaChoice::PodSet> sets;
    for (const QueuedPods::Set& set : queued_.at(*job).sets) {
      const QueuedJobs& of = *run_.world.workloads[set.workload].queued;
      sets.push_back({&of, std::min(of.pods, set.left)});
    }
    entries.push_back({*job, index(pod.workload), queue,
                       choice.decide(sets, model_of(*job).spec.priority, pod.submitted)});
  }
  std::ranges::stable_sort(entries, [this](const Entry& a, const Entry& b) {
    const auto rank = [this](const Entry& entry) {
      return std::tuple(stops_others_[entry.queue] != entry.job, entry.decision.borrows);
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return goes_before(a.job, b.job);
  });
  return entries;
}

void QuotaAdmission::on_timer() {
  // Jobs that stopped each other for ever would do so in Kueue, where it takes time.
  constexpr Duration kPause = seconds(1);
  for (std::size_t left = 4 * run_.cluster.pods.size() + waiting_.size(); left > 0; --left) {
    if (!cycle()) return;
  }
  run_.timers.set(TimerKind::Quota, 0, run_.now + kPause);
}

// False: as long as nothing happens, the next cycle would be the same.
bool QuotaAdmission::cycle() {
  const std::vector<Entry> entries = nominate();
  QuotaBook book = book_;  // as it would be with those that were gone through
  std::vector<std::uint32_t> gone;
  bool goes_on = false;
  for (const Entry& entry : entries) goes_on = process(entry, book, gone) || goes_on;
  for (const std::uint32_t job : gone) stop(job);
  return goes_on;
}

bool QuotaAdmission::process(const Entry& entry, QuotaBook& book,
                             std::vector<std::uint32_t>& gone) {
  const QuotaChoice::Decision& decision = entry.decision;
  if (decision.mode == Mode::NoFit) return turn_down(entry);
  if (decision.mode == Mode::Preempt && decision.victims.empty()) {
    reserve(entry, book);
    return turn_down(entry);
  }
  const auto is_gone = [&](std::uint32_t job) { return contains(gone, job); };
  if (std::ranges::any_of(decision.victims, is_gone)) return false;
  QuotaBook then = book;
  const auto without = [&](std::uint32_t job) {
    then.give(admitted(job).queue, admitted(job).held);
  };
  std::ranges::for_each(gone, without);
  std::ranges::for_each(decision.victims, without);
  const bool fits = std::ranges::all_of(decision.amounts, [&](const QuotaAmount& wanted) {
    return wanted.count <= then.available(entry.queue, wanted.cell);
  });
  if (!fits) return false;
  book.take(entry.queue, decision.amounts);
  if (decision.mode == Mode::Fit) {
    admit(entry);
  } else {
    stops_others_[entry.queue] = entry.job;
    gone.insert(gone.end(), decision.victims.begin(), decision.victims.end());
  }
  return true;
}

// A strict queue waits for it.
bool QuotaAdmission::turn_down(const Entry& entry) {
  if (stops_others_[entry.queue] == entry.job) stops_others_[entry.queue].reset();
  const auto strategy = run_.world.queues[entry.queue].spec.strategy;
  if (strategy == scenarios::ClusterQueue::Strategy::StrictFifo) return false;
  turned_down_[entry.workload] = 1;
  return true;
}

// Others shall not borrow what it waits for and could not get back. Source: scheduler.go,
// reserveCapacityForUnreclaimablePreempt() and quotaResourcesToReserve().
void QuotaAdmission::reserve(const Entry& entry, QuotaBook& book) const {
  const scenarios::ClusterQueue& queue = run_.world.queues[entry.queue].spec;
  if (queue.reclaim == scenarios::QuotaPreemption::Any) return;
  QuotaAmounts kept = entry.decision.amounts;
  for (auto& [cell, count] : kept) {
    const QuotaLimits& limits = book_.limits(entry.queue, cell);
    const std::int64_t own = limits.nominal - book.used(entry.queue, cell);
    if (!entry.decision.borrows) {
      count = std::clamp<std::int64_t>(own, 0, count);
    } else if (limits.borrowing) {
      count = std::min(count, own + *limits.borrowing);
    }
  }
  book.take(entry.queue, kept);
}

void QuotaAdmission::admit(const Entry& entry) {
  if (stops_others_[entry.queue] == entry.job) stops_others_[entry.queue].reset();
  std::deque<std::uint32_t>& waiting = waiting_[entry.workload];
  waiting.erase(std::ranges::find(waiting, entry.job));
  const Pod& pod = run_.cluster.pods[entry.job];
  book_.take(entry.queue, entry.decision.amounts);
  admitted_.push_back({entry.job, entry.queue, run_.cluster.model(pod).spec.priority, pod.submitted,
                       run_.now, entry.decision.amounts});
  QueuedPods::Job& queued = queued_.at(entry.job);
  queued.is_admitted = true;
  for (std::size_t n = 0; n < queued.sets.size(); ++n) {
    QueuedPods::Set& set = queued.sets[n];
    set.each = entry.decision.sets[n].each;
    set.held = entry.decision.sets[n].pods;
    have_quota_on(set, entry.decision.sets[n].pools);
    fill(set);
  }
}

void QuotaAdmission::stop(std::uint32_t job) {
  give_back(job);
  QueuedPods::Job& queued = queued_.at(job);
  queued.is_admitted = false;
  std::vector<std::uint32_t> stopped;
  for (QueuedPods::Set& set : queued.sets) {
    set.there = 0;
    set.next = set.first;
    queued_.for_each_job(set, [&](std::uint32_t p) {
      const PodPhase phase = run_.cluster.pods[p].phase;
      const bool is_there =
          is_bound(phase) || phase == PodPhase::Pending || phase == PodPhase::Recreating;
      if (is_there) stopped.push_back(p);
    });
  }
  queued.ending = static_cast<int>(stopped.size());
  if (stopped.empty()) return wait(job);
  for (const std::uint32_t p : stopped) {
    ++run_.record_of(run_.cluster.pods[p]).quota_stops;
    pods_.suspend(p);
  }
}

}  // namespace slicewise::sim
