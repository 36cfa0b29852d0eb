#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/sim/replay/replay.hpp"

namespace slicewise::sim {

// Thousandths of a GPU that a job with one GPU takes of it, one of so many tickets.
constexpr int milli_of_ticket(int tickets) { return 1000 / tickets; }

// A row of the trace in one of its repetitions: row + repetition x rows.
using JobNumber = std::uint32_t;

// The jobs in order of arrival, read from the trace's columns while they are wanted. A gang counts
// as one job, called by its last row to arrive: it asks for all of its rows' GPUs and holds them
// until the longest row is through. Rows without a known run time and the other rows of a gang
// are passed over.
class JobStream {
 public:
  // `tickets`: of each GPU; a job with one GPU takes one of them. 0: it takes what the trace says.
  // Several GPUs are whole ones on nodes.
  JobStream(const scenarios::JobTrace& trace, const ReplaySettings& settings, int tickets = 0);

  JobNumber size() const { return total_; }
  std::size_t row(JobNumber job) const { return total_ == rows_ ? job : job % rows_; }

  TimePoint arrival(JobNumber job) const {
    const Duration first = trace_.arrival[row(job)];
    return TimePoint{first.ns} + (total_ == rows_ ? Duration{} : shift_ * (job / rows_));
  }
  Duration run(JobNumber job) const {
    return gangs_.empty() ? trace_.run[row(job)] : gang_run_[row(job)];
  }
  // Thousandths of GPUs that it takes, of the whole gang.
  std::int64_t gpu_milli(JobNumber job) const;
  std::int64_t milli_of_row(std::size_t row) const;
  int priority(JobNumber job) const {
    return trace_.priority.empty() ? 0 : trace_.priority[row(job)];
  }
  // The user's limit, or the run time where there is none.
  Duration estimate(JobNumber job) const;

  // Whether the scheduler sees this row as a job.
  bool is_submitted(JobNumber job) const {
    return gangs_.empty() ? trace_.run[row(job)].ns >= 0 : gang_run_[row(job)].ns >= 0;
  }
  // All rows of the job, in order. A view that the next call may change.
  std::span<const std::uint32_t> rows_of(JobNumber job) const;

  const scenarios::JobTrace& trace() const { return trace_; }

 private:
  void find_gangs();

  const scenarios::JobTrace& trace_;
  JobNumber rows_ = 0;
  JobNumber total_ = 0;
  Duration shift_;
  bool on_nodes_ = false;
  int ticket_milli_ = 0;  // 0: as the trace says
  // Only when the trace has gangs: rows of each, in order, and by row its gang's run time when it
  // is the last to arrive, else kUnknownDuration.
  std::vector<std::vector<std::uint32_t>> gangs_;
  std::vector<std::uint32_t> gang_of_row_;  // into gangs_, kNoGang
  std::vector<Duration> gang_run_;
  mutable std::uint32_t single_ = 0;
};

}  // namespace slicewise::sim
