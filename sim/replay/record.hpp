#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "slicewise/sim/replay/replay.hpp"

#include "job_stream.hpp"

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

}  // namespace slicewise::sim
