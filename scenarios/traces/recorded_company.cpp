#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/scenario.hpp"

// Jobs that were recorded beside others.
namespace slicewise::scenarios {
namespace {

struct Stay {
  std::size_t row = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  double busy = 1;  // share of the GPU's time that it would take alone
  double work_ns = 0;
};

// What turns of contexts cost beside the kernels, as in the engine of time-slicing: 172 us of
// 1.024 ms on an A10G. A log does not say how its GPUs were shared; most take turns.
constexpr double kTurnOverhead = 1.0 / 6;

// As the jobs of a replay are read.
Measured recorded_use(const JobTrace& trace, std::size_t row) {
  const auto share = [row](const TraceColumn<std::int32_t>& thousandths) {
    const bool is_known = !thousandths.empty() && thousandths[row] >= 0;
    return is_known ? std::optional(thousandths[row] / 1000.0) : std::nullopt;
  };
  const std::int32_t milli = trace.milli_of_each(row);
  Measured measured;
  take_use({share(trace.gpu_permille), share(trace.sm_permille), milli > 0 ? milli / 1000.0 : 1},
           measured);
  return measured;
}

// Each stay gets the work that was done in it. The GPU's time is shared evenly among those that
// want more of it than there is.
void find_work(std::vector<Stay>& stays) {
  std::vector<std::pair<std::int64_t, std::size_t>> changes;  // who comes or goes then
  for (std::size_t s = 0; s < stays.size(); ++s) {
    changes.emplace_back(stays[s].start_ns, s);
    changes.emplace_back(stays[s].end_ns, s);
  }
  std::ranges::sort(changes);
  std::vector<std::size_t> present;
  std::int64_t since = 0;
  for (const auto& [at, changed] : changes) {
    double wanted = 0;
    for (const std::size_t s : present) wanted += stays[s].busy;
    if (present.size() > 1) wanted *= 1 + kTurnOverhead;
    const double work = static_cast<double>(at - since) / std::max(1.0, wanted);
    for (const std::size_t s : present) stays[s].work_ns += work;
    since = at;
    const auto there = std::ranges::find(present, changed);
    if (there == present.end()) {
      present.push_back(changed);
    } else {
      present.erase(there);
    }
  }
}

}  // namespace

void take_out_company(JobTrace& trace) {
  if (!trace.run_under_sharing || trace.ran_on.empty()) return;
  std::map<std::uint32_t, std::vector<Stay>> gpus;  // by name
  for (std::size_t row = 0; row < trace.size(); ++row) {
    if (trace.ran_on[row] == 0 || trace.run[row].ns <= 0) continue;
    Stay stay{.row = row};
    const Duration wait = trace.observed_wait.empty() ? Duration{} : trace.observed_wait[row];
    stay.start_ns = trace.arrival[row].ns + std::max<std::int64_t>(0, wait.ns);
    stay.end_ns = stay.start_ns + trace.run[row].ns;
    stay.busy = busy_share(recorded_use(trace, row));
    gpus[trace.ran_on[row]].push_back(stay);
  }
  std::vector<Duration> run(trace.run.values().begin(), trace.run.values().end());
  for (auto& [name, stays] : gpus) {
    find_work(stays);
    for (const Stay& stay : stays) {
      const Duration alone{std::max<std::int64_t>(1, std::llround(stay.work_ns))};
      if (alone >= run[stay.row]) continue;
      run[stay.row] = alone;
      ++trace.company_taken_out;
    }
  }
  trace.run = {.owned = std::move(run), .mapped = {}};
  trace.run_under_sharing = false;
}

}  // namespace slicewise::scenarios
