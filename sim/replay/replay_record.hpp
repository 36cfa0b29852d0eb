#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "slicewise/sim/replay/replay.hpp"

#include "job_stream.hpp"
#include "over_time.hpp"

namespace slicewise::sim {

// How a job under sharing fared.
struct ServedInCompany {
  Duration on_gpu;   // all of its time there
  Duration run;      // as recorded, of the whole gang
  double whole = 1;  // its time with a whole GPU / its recorded run time
};

// Keeps the figures of a replay while it runs.
class ReplayRecord {
 public:
  ReplayRecord(const JobStream& jobs, const ReplaySettings& settings);

  void arrived() { ++result_.events; }
  void never_fits(JobNumber job);
  void refused(JobNumber job, TurnedAway reason);
  void started(JobNumber job, TimePoint now);
  void preempted(JobNumber job);
  void lost(JobNumber job, Duration work);
  void killed(JobNumber job);
  void failed(JobNumber job);
  // Without company it was served for the run time of the trace.
  void ended(JobNumber job, TimePoint now, const ServedInCompany* served = nullptr);
  void waiting(std::int64_t jobs) {
    if (jobs > result_.most_waiting) result_.most_waiting = jobs;
  }
  OverTime& over_time() { return over_time_; }
  ReplayResult take(std::int64_t total_milli, bool interrupted);

 private:
  struct Sum {
    double of = 0;
    std::int64_t jobs = 0;
  };

  void ended_row(JobNumber job, std::size_t row, TimePoint arrival, TimePoint now,
                 const ServedInCompany* served);
  void slowed_down(std::size_t row, Duration completion, const ServedInCompany& served);
  void lose(JobNumber job);
  ReplayGroup& group_of(std::size_t row);
  void sort_groups();
  void rank_users();

  const JobStream& jobs_;
  ReplayResult result_;
  std::array<ReplayClass, 7> classes_;
  GroupBy group_by_;
  std::vector<std::uint32_t> group_of_name_;  // into result_.groups, plus 1; 0: none yet
  std::vector<Sum> slowdown_of_user_;         // by name
  Int128 milli_ns_ = 0;                       // thousandths of GPUs x time of finished work
  Int128 lost_milli_ns_ = 0;
  std::int64_t used_milli_ = 0;
  std::int64_t peak_milli_ = 0;
  OverTime over_time_;
};

}  // namespace slicewise::sim
