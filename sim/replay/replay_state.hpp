#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "slicewise/sim/replay/replay.hpp"

#include "gpu_company.hpp"
#include "job_stream.hpp"
#include "replay_record.hpp"
#include "resources.hpp"

namespace slicewise::sim {

// Jobs that ran out of GPU memory and come back: as the Job controller does it, after 10 s, 20 s
// and so on up to 6 minutes, as often as their backoffLimit says. Source: Kubernetes, "Jobs", pod
// backoff failure policy.
class KilledJobs {
 public:
  KilledJobs(const JobStream& stream, int limit, bool may_be_killed)
      : stream_(stream), limit_(limit), kills_(may_be_killed ? stream.size() : 0) {}

  // False: it was tried often enough.
  bool comes_back(JobNumber job, TimePoint now) {
    constexpr Duration kFirst = seconds(10);
    constexpr Duration kMost = seconds(360);
    constexpr int kDoublings = 6;  // then it is kMost
    const int kills = ++kills_[job];
    if (kills > limit_of(job)) return false;
    const Duration wait =
        std::min(kMost, kFirst * (std::int64_t{1} << std::min(kills - 1, kDoublings)));
    waiting_.push_back({now + wait, job});
    std::ranges::push_heap(waiting_, std::greater());
    return true;
  }

  TimePoint next() const { return waiting_.empty() ? kNever : waiting_.front().first; }
  JobNumber take() {
    std::ranges::pop_heap(waiting_, std::greater());
    const JobNumber job = waiting_.back().second;
    waiting_.pop_back();
    return job;
  }

 private:
  int limit_of(JobNumber job) const {
    const auto& own = stream_.trace().backoff_limit;
    const std::int32_t limit = own.empty() ? scenarios::kUnknownNumber : own[stream_.row(job)];
    return limit < 0 ? limit_ : limit;
  }

  const JobStream& stream_;
  int limit_;                                             // of those without one of their own
  std::vector<std::int32_t> kills_;                       // by job
  std::vector<std::pair<TimePoint, JobNumber>> waiting_;  // a heap
};

// What all queue policies work on: the jobs, what they can be given, those that run.
template <class Resources, class Company>
class ReplayState {
 public:
  static constexpr bool kShared = Company::kMeets;

  // `asked`: the jobs with the GPUs that the trace says, which figures are about.
  ReplayState(const JobStream& stream, const JobStream& asked, Resources& given, Company among_jobs,
              std::size_t most_running, const ReplaySettings& settings, bool preemptive)
      : jobs(stream),
        resources(given),
        running(most_running),
        company(std::move(among_jobs)),
        record(asked, settings),
        killed(stream, settings.backoff_limit, may_be_killed(company)),
        restarts_(settings.restart_preempted) {
    if (preemptive) done_.resize(stream.size());
    if (Company::kMeets && preemptive && !restarts_) served_.resize(stream.size());
  }

  // Whether the scheduler has to do with this row: the others were left out.
  bool is_queued(JobNumber job) const {
    return jobs.is_submitted(job) && resources.fits_empty(job);
  }

  void turn_away(JobNumber job) {
    if constexpr (Company::kMeets) {
      if (const auto reason = resources.turned_away(job)) return record.refused(job, *reason);
    }
    record.never_fits(job);
  }

  // Starts the job if it fits.
  bool start(JobNumber job, TimePoint now) {
    const std::optional<Holding> held = resources.take(job);
    if (held) run({job, *held, now});
    return held.has_value();
  }

  RunningJob finish(std::uint32_t slot, TimePoint now) {
    const RunningJob ended = running[slot];
    running.remove(slot);
    if constexpr (Company::kMeets) {
      finish_in_company(company.leave(slot, ended, now, running), ended.job, now);
    } else {
      record.ended(ended.job, now);
    }
    resources.give_back(ended.job, ended.held);
    return ended;
  }

  // Its GPUs were taken away: it goes on later, or from its start.
  RunningJob stop(std::uint32_t slot, TimePoint now) {
    const RunningJob stopped = running[slot];
    running.remove(slot);
    Duration work = now - stopped.since;
    if constexpr (Company::kMeets) {
      const GpuCompany::Stretch stretch = company.leave(slot, stopped, now, running);
      work = stretch.work;
      if (!served_.empty()) served_[stopped.job] += stretch.on_gpu;
    }
    if (restarts_) {
      record.lost(stopped.job, work);
    } else {
      done_[stopped.job] += work;
    }
    record.preempted(stopped.job);
    return stopped;
  }

  // Returns its slot.
  std::uint32_t run(const RunningJob& job) {
    record.started(job.job, job.since);
    const Duration left = remaining(job.job);
    if constexpr (Company::kMeets) {
      const std::uint32_t slot = running.add(job, kNever);
      company.join(slot, job, left, resources, running);
      return slot;
    } else {
      return running.add(job, job.since + left);
    }
  }

  // What has held up to now.
  void look(TimePoint now, std::int64_t waiting) {
    if (!record.over_time().is_due(now)) return;
    record.over_time().look(
        now, {static_cast<double>(waiting), static_cast<double>(running.size()), gpus_in_use()});
  }

  TimePoint next_retry() const { return kShared ? killed.next() : kNever; }

  Duration remaining(JobNumber job) const {
    return done_.empty() ? jobs.run(job) : jobs.run(job) - done_[job];
  }

  const JobStream& jobs;
  Resources& resources;
  RunningJobs running;
  Company company;
  ReplayRecord record;
  KilledJobs killed;

 private:
  static bool may_be_killed(const Company& company) {
    if constexpr (Company::kMeets) {
      return company.may_run_out_of_memory();
    } else {
      return false;
    }
  }

  double gpus_in_use() const {
    if constexpr (Company::kMeets) {
      return static_cast<double>(company.gpus_in_use());
    } else {
      return static_cast<double>(resources.total_milli() - resources.free_milli()) / 1000;
    }
  }

  void finish_in_company(const GpuCompany::Stretch& stretch, JobNumber job, TimePoint now) {
    if (stretch.killed) {
      record.killed(job);
      if (!killed.comes_back(job, now)) record.failed(job);
      return;
    }
    const Duration before = served_.empty() ? Duration{} : served_[job];
    const ServedInCompany served{before + stretch.on_gpu, jobs.run(job), stretch.whole};
    record.ended(job, now, &served);
  }

  bool restarts_;
  std::vector<Duration> done_;    // by job, of preemptive policies
  std::vector<Duration> served_;  // likewise: time on GPUs that was not for nothing
};

}  // namespace slicewise::sim
