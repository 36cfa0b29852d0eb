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
      holds_up_(run.world.queues.size()) {
  any_ = std::ranges::any_of(run.world.workloads,
                             [](const WorkloadModel& model) { return model.queued.has_value(); });
  if (!any_) return;
  is_admitted_.resize(run.cluster.pods.size());
  wait_of_.resize(run.cluster.pods.size(), kNeverAdmitted);
}

bool QuotaAdmission::goes_before(std::uint32_t a, std::uint32_t b) const {
  const auto turn = [this](std::uint32_t job) {
    return std::tuple(-std::int64_t{model_of(job).spec.priority}, run_.cluster.pods[job].submitted,
                      job);
  };
  return turn(a) < turn(b);
}

void QuotaAdmission::add(std::uint32_t pod) {
  if (run_.cluster.first_of_job(pod) != pod) return;
  const std::size_t workload = index(run_.cluster.pods[pod].workload);
  std::deque<std::uint32_t>& jobs = waiting_[workload];
  const auto place = std::ranges::upper_bound(
      jobs, pod, [this](std::uint32_t a, std::uint32_t b) { return goes_before(a, b); });
  if (place != jobs.end()) turned_down_[workload] = 0;  // it may take the place of younger ones
  jobs.insert(place, pod);
  const QueuedJobs& queued = *model_of(pod).queued;
  const std::optional<std::uint32_t>& holds_up = holds_up_[queued.queue];
  const bool comes_after = holds_up && goes_before(*holds_up, pod);
  const bool waits_for_ever = !queued.never.empty() || comes_after;
  jobs_.have_quota_on(pod, waits_for_ever ? 0 : kAnyPool);
  if (!queued.never.empty() && !comes_after) tell_who_waits_for_ever(queued.queue);
  run_.timers.set(TimerKind::Quota, 0, run_.now);
}

void QuotaAdmission::remove(std::uint32_t pod) {
  if (!model_of(pod).queued || run_.cluster.first_of_job(pod) != pod) return;
  if (is_admitted_[pod]) return give_back(pod);
  const std::size_t queue = model_of(pod).queued->queue;
  std::erase(waiting_[index(run_.cluster.pods[pod].workload)], pod);
  if (stops_others_[queue] == pod) stops_others_[queue].reset();
  if (holds_up_[queue] == pod) tell_who_waits_for_ever(queue);
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
    jobs_.have_quota_on(job, waits_for_ever ? 0 : kAnyPool);
  }
}

const AdmittedJob& QuotaAdmission::admitted(std::uint32_t job) const {
  return *std::ranges::find(admitted_, job, &AdmittedJob::job);
}

// Whoever was turned down in its cohort is looked at again.
void QuotaAdmission::give_back(std::uint32_t job) {
  const std::size_t queue = admitted(job).queue;
  book_.give(queue, admitted(job).held);
  std::erase_if(admitted_, [&](const AdmittedJob& one) { return one.job == job; });
  is_admitted_[job] = false;
  for (std::size_t w = 0; w < waiting_.size(); ++w) {
    const auto& queued = run_.world.workloads[w].queued;
    if (!queued) continue;
    const bool gains = queued->queue == queue ||
                       (book_.has_cohort(queue) && book_.is_same_cohort(queue, queued->queue));
    if (gains) turned_down_[w] = 0;
  }
  run_.timers.set(TimerKind::Quota, 0, run_.now);
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
    entries.push_back(
        {*job, index(pod.workload), queue, choice.decide(run_.cluster.model(pod), pod.submitted)});
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
  is_admitted_[entry.job] = true;
  std::vector<Duration>& waits = run_.record_of(pod).quota_wait;
  if (std::size_t& place = wait_of_[entry.job]; place == kNeverAdmitted) {
    place = waits.size();
    waits.push_back(run_.now - pod.submitted);
  } else {
    waits[place] += run_.now - pod.queued;
  }
  jobs_.have_quota_on(entry.job, entry.decision.pools);
  for_each_of_job(run_.cluster, entry.job, [&](std::uint32_t p) {
    if (run_.cluster.pods[p].phase == PodPhase::Suspended) pods_.submit(p);
  });
}

void QuotaAdmission::stop(std::uint32_t job) {
  give_back(job);
  ++run_.record_of(run_.cluster.pods[job]).quota_stops;
  pods_.suspend(job);
}

}  // namespace slicewise::sim
