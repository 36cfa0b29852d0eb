#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "slicewise/sim/replay/replay.hpp"

#include "../placement/job_backoff.hpp"
#include "gpu_company.hpp"
#include "job_stream.hpp"
#include "replay_record.hpp"
#include "resources.hpp"

namespace slicewise::sim {

// Jobs that ran out of GPU memory and come back: as the Job controller does it, as often as their
// backoffLimit says.
class KilledJobs {
 public:
  KilledJobs(const JobStream& stream, int limit) : stream_(stream), limit_(limit) {}

  // False: it was tried often enough.
  bool comes_back(JobNumber job, TimePoint now) {
    const int kills = ++kills_[job];
    if (kills > limit_of(job)) {
      kills_.erase(job);
      return false;
    }
    waiting_.push_back({now + job_backoff(kills), job});
    std::ranges::push_heap(waiting_, std::greater());
    return true;
  }

  void ended(JobNumber job) { kills_.erase(job); }

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
  std::unordered_map<JobNumber, int> kills_;              // of those that have not ended
  std::vector<std::pair<TimePoint, JobNumber>> waiting_;  // a heap
};

// What all queue policies work on: the jobs, what they can be given, those that run.
template <class Resources, class Company>
class ReplayState {
 public:
  static constexpr bool kShared = Company::kMeets;

  // `asked`: the jobs with the GPUs that the trace says, which figures are about.
  ReplayState(const JobStream& stream, const JobStream& asked, Resources& given, Company among_jobs,
              const ReplaySettings& settings)
      : jobs(stream),
        resources(given),
        company(std::move(among_jobs)),
        record(asked, settings),
        killed(stream, settings.backoff_limit),
        restarts_(settings.restart_preempted) {}

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
      past_.erase(ended.job);
    }
    resources.give_back(ended.job, ended.held);
    return ended;
  }

  // Its GPUs were taken away: it goes on later, or from its start.
  RunningJob stop(std::uint32_t slot, TimePoint now) {
    const RunningJob stopped = running[slot];
    running.remove(slot);
    Duration on_gpu = now - stopped.since;
    Duration work = on_gpu;
    if constexpr (Company::kMeets) {
      const GpuCompany::Stretch stretch = company.leave(slot, stopped, now, running);
      on_gpu = stretch.on_gpu;
      work = stretch.work;
    }
    if (restarts_) {
      record.lost(stopped.job, work);
    } else {
      Past& past = past_[stopped.job];
      past.work += work;
      past.on_gpu += on_gpu;
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

  Duration remaining(JobNumber job) const { return jobs.run(job) - past_of(job).work; }

  const JobStream& jobs;
  Resources& resources;
  RunningJobs running;
  Company company;
  ReplayRecord record;
  KilledJobs killed;

 private:
  // What a job has behind it that was stopped and will go on.
  struct Past {
    Duration work;    // of its run time
    Duration on_gpu;  // that was not for nothing
  };
  Past past_of(JobNumber job) const {
    const auto past = past_.find(job);
    return past == past_.end() ? Past{} : past->second;
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
      if (killed.comes_back(job, now)) return;
      record.failed(job);
    } else {
      const Duration on_gpu = past_of(job).on_gpu + stretch.on_gpu;
      const ServedInCompany served{on_gpu, jobs.run(job), stretch.whole};
      record.ended(job, now, &served);
      killed.ended(job);
    }
    past_.erase(job);
  }

  bool restarts_;
  std::unordered_map<JobNumber, Past> past_;  // of those that have not ended
};

}  // namespace slicewise::sim
