#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "job_trace.hpp"

// Which jobs of a trace are alike.
namespace slicewise::scenarios {

// How fine jobs are told apart.
struct Grain {
  std::int32_t share;  // steps of GPU use and SM activity, in thousandths
  bool powers;         // memory and CPU as powers of two, else as whole GiB and CPUs
  bool host;           // by CPU and memory of the host, priority and backoff limit
};

// What the jobs of a class have in common; -1: the trace does not say.
struct ClassKey {
  std::int64_t gpus = 0;
  std::int64_t milli = -1;  // of each GPU, where nothing tells how much they used
  std::int64_t use = -1;
  std::int64_t sm = -1;
  std::int64_t gpu_gib = -1;
  std::int64_t cpus = -1;
  std::int64_t gib = -1;
  std::int64_t priority = 0;
  std::int64_t backoff = -1;
  std::uint32_t resource = 0;  // names of the trace
  std::uint32_t profile = 0;
  std::uint32_t device = 0;
  std::uint32_t owner = 0;

  friend auto operator<=>(const ClassKey&, const ClassKey&) = default;
};

struct JobClasses {
  Grain grain;
  std::map<ClassKey, std::vector<std::size_t>> rows;
};

// The rows in classes as fine as leaves at most `most` of them; if none does, the coarsest.
JobClasses class_jobs(const JobTrace& trace, std::span<const std::size_t> rows,
                      const RecordedJobs& source, std::size_t most);

// Whose each job is; nullptr: not asked for.
const TraceColumn<std::uint32_t>* owners_of(const JobTrace& trace, RecordedJobs::Split split);

// The column's value; -1: not known.
inline std::int64_t known(const auto& column, std::size_t row) {
  return column.empty() ? -1 : plain(column[row]);
}

}  // namespace slicewise::scenarios
