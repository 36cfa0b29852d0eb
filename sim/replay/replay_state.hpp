#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/replay/replay.hpp"

#include "job_stream.hpp"
#include "resources.hpp"

namespace slicewise::sim {

// Keeps the figures of a replay while it runs.
class ReplayRecord {
 public:
  ReplayRecord(const JobStream& jobs, const ReplaySettings& settings);

  void arrived() { ++result_.events; }
  void never_fits(JobNumber job);
  void started(JobNumber job, TimePoint now);
  void preempted(JobNumber job);
  void lost(JobNumber job, Duration work);
  void ended(JobNumber job, TimePoint now);
  void waiting(std::int64_t jobs) {
    if (jobs > result_.most_waiting) result_.most_waiting = jobs;
  }
  ReplayResult take(std::int64_t total_milli, bool interrupted);

 private:
  void ended_row(JobNumber job, std::size_t row, TimePoint arrival, TimePoint now);

  const JobStream& jobs_;
  ReplayResult result_;
  std::array<ReplayClass, 7> classes_;
  Int128 milli_ns_ = 0;  // thousandths of GPUs x time of finished work
  Int128 lost_milli_ns_ = 0;
  std::int64_t used_milli_ = 0;
  std::int64_t peak_milli_ = 0;
};

// What all queue policies work on: the jobs, what they can be given, those that run.
template <class Resources>
class ReplayState {
 public:
  ReplayState(const JobStream& stream, Resources& given, std::size_t most_running,
              const ReplaySettings& settings, bool preemptive)
      : jobs(stream),
        resources(given),
        running(most_running),
        record(stream, settings),
        restarts_(settings.restart_preempted) {
    if (preemptive) done_.resize(stream.size());
  }

  // Whether the scheduler has to do with this row: the others were left out.
  bool is_queued(JobNumber job) const {
    return jobs.is_submitted(job) && resources.fits_empty(job);
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
    resources.give_back(ended.job, ended.held);
    record.ended(ended.job, now);
    return ended;
  }

  // A job whose GPUs were taken away goes on later, or from its start.
  void account_preempted(const RunningJob& stopped, TimePoint now) {
    if (restarts_) {
      record.lost(stopped.job, now - stopped.since);
    } else {
      done_[stopped.job] += now - stopped.since;
    }
    record.preempted(stopped.job);
  }

  // Returns its slot.
  std::uint32_t run(const RunningJob& job) {
    record.started(job.job, job.since);
    return running.add(job, job.since + remaining(job.job));
  }

  Duration remaining(JobNumber job) const {
    return done_.empty() ? jobs.run(job) : jobs.run(job) - done_[job];
  }

  const JobStream& jobs;
  Resources& resources;
  RunningJobs running;
  ReplayRecord record;

 private:
  bool restarts_;
  std::vector<Duration> done_;  // by job, of preemptive policies
};

}  // namespace slicewise::sim
