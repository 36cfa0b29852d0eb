#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "event_loop.hpp"
#include "interleaving.hpp"
#include "replay_state.hpp"

namespace slicewise::sim {
namespace {

// The trace lacks what these queues need, or says what they do not reckon with.
std::optional<Diagnostic> problem_of(const scenarios::JobTrace& trace,
                                     const ReplayCluster& cluster) {
  const auto refuse = [&](std::size_t row, const char* what, const char* help) {
    return make_diagnostic(Code::TraceColumnMissing, trace.place_of(row), what, help);
  };
  // The first row of which it is true.
  const auto row_where = [&](const auto& column, auto is) -> std::optional<std::size_t> {
    const auto values = column.values();
    const auto found = std::ranges::find_if(values, is);
    if (found == values.end()) return std::nullopt;
    return static_cast<std::size_t>(found - values.begin());
  };
  const auto is_unknown = [](Duration each) { return each.ns < 0; };
  for (const auto* column :
       {&trace.iteration, &trace.iteration_host, &trace.iteration_gpu, &trace.iteration_network}) {
    auto row = column->empty() ? std::size_t{0} : row_where(*column, is_unknown);
    if (column == &trace.iteration && !row) {
      row = row_where(*column, [](Duration each) { return each.ns == 0; });
    }
    if (!row) continue;
    return refuse(*row, "muri and antman need to know what an iteration of each job does",
                  "give the trace the columns iteration_s, iteration_host_s, iteration_gpu_s and "
                  "iteration_network_s");
  }
  if (!trace.gang.empty())
    return refuse(0, "muri and antman know no gangs", "leave the column out");
  if (const auto row = row_where(trace.gpus, [](std::int32_t gpus) { return gpus == 0; })) {
    return refuse(*row, "muri and antman take jobs with GPUs only", "leave the others out");
  }
  const auto is_part = [](std::int32_t milli) { return milli >= 0 && milli < 1000; };
  if (const auto row = row_where(trace.gpu_milli, is_part)) {
    return refuse(*row, "muri and antman know no parts of a GPU", "leave the column gpu_milli out");
  }
  if (cluster.only_gpus) return std::nullopt;
  auto row = row_where(trace.cpu_milli, [](std::int32_t milli) { return milli > 0; });
  if (!row) row = row_where(trace.memory, [](Bytes bytes) { return bytes.count > 0; });
  if (row) {
    return refuse(*row, "muri and antman reckon with GPUs alone, not with host CPU and memory",
                  "leave the columns cpu_milli and memory_bytes out, or say --nodes 2x8");
  }
  row = row_where(trace.gpu_models, [](std::uint32_t name) { return name != 0; });
  if (!row || cluster.any_gpu_model) return std::nullopt;
  return refuse(*row, "muri and antman know no GPU models", "--any-gpu takes any");
}

// GPUs that a queue gives away by itself, several jobs to each.
class InterleavedGpus {
 public:
  InterleavedGpus(const JobStream& jobs, std::int64_t gpus) : jobs_(jobs), gpus_(gpus) {}

  bool fits_empty(JobNumber job) const { return jobs_.gpu_milli(job) <= total_milli(); }
  void give_back(JobNumber /*job*/, Holding /*held*/) {}
  void hold(std::int64_t gpus) {
    held_ = gpus;
    most_held_ = std::max(most_held_, gpus);
  }
  std::int64_t most_held() const { return most_held_; }
  std::int64_t total_milli() const { return 1'000 * gpus_; }
  std::int64_t free_milli() const { return 1'000 * (gpus_ - held_); }

 private:
  const JobStream& jobs_;
  std::int64_t gpus_;
  std::int64_t held_ = 0;
  std::int64_t most_held_ = 0;
};

using InterleavedState = ReplayState<InterleavedGpus, NoCompany>;

// The jobs between arrival and end, each at the pace that the policy gave it last.
template <class Policy>
class Interleaved {
 public:
  static constexpr std::int64_t kEventsPerLook = 1;

  Interleaved(InterleavedState& state, Policy policy) : state_(state), policy_(std::move(policy)) {}

  void add(JobNumber job) {
    InterleavedJob& added = alive_.emplace_back();
    added.job = job;
    added.gpus = state_.jobs.trace().gpus[state_.jobs.row(job)];
    added.left = state_.jobs.run(job);
  }
  void freed(const RunningJob& ended) {
    const auto at = std::ranges::lower_bound(alive_, ended.job, {}, &InterleavedJob::job);
    policy_.ended(*at);
    alive_.erase(at);
  }

  void schedule(TimePoint now) {
    paces_.clear();
    for (InterleavedJob& job : alive_) {
      if (job.pace > 0) job.served_s += to_seconds(now - last_);
      paces_.push_back(job.pace);
    }
    last_ = now;
    policy_.plan(alive_);
    state_.resources.hold(policy_.gpus_in_use());
    // Who stops makes room for who goes on.
    for (const bool stops : {true, false}) {
      for (std::size_t at = 0; at < alive_.size(); ++at) {
        InterleavedJob& job = alive_[at];
        if ((job.pace == 0) == stops && job.pace != paces_[at]) go_on(job, paces_[at], now);
      }
    }
  }
  std::int64_t waiting() const {
    return static_cast<std::int64_t>(alive_.size() - state_.running.size());
  }
  // Those that nobody will ever start.
  void turn_away_rest() {
    for (const InterleavedJob& job : alive_) state_.turn_away(job.job);
  }

 private:
  void go_on(InterleavedJob& job, double pace, TimePoint now) {
    if (pace > 0) {
      job.left -= Duration{std::llround(static_cast<double>((now - job.since).ns) / pace)};
      job.left = std::max(job.left, Duration{1});
    }
    job.since = now;
    if (job.pace == 0) {
      state_.running.remove(job.slot);
    } else if (pace > 0) {
      state_.running.move_end(job.slot, end_of(job));
    } else {
      job.slot = state_.running.add({job.job, 0, now}, end_of(job));
      if (!std::exchange(job.has_started, true)) state_.record.started(job.job, now);
    }
  }

  // Rounded up, so that the work is done by then. Who would last for longer than a replay may, goes
  // faster before that, or the replay is too long.
  static TimePoint end_of(const InterleavedJob& job) {
    const double lasts = std::ceil(static_cast<double>(job.left.ns) * job.pace);
    if (lasts > static_cast<double>(kLatestEvent.ns)) return kLatestEvent + Duration{1};
    return job.since + Duration{static_cast<std::int64_t>(lasts)};
  }

  InterleavedState& state_;
  Policy policy_;
  std::vector<InterleavedJob> alive_;  // in order of arrival
  std::vector<double> paces_;          // before the plan
  TimePoint last_;
};

template <class Policy>
Expected<ReplayResult> replay_under(const JobStream& jobs, const ReplaySettings& settings,
                                    const std::vector<int>& nodes, Policy policy) {
  InterleavedGpus gpus(jobs, std::accumulate(nodes.begin(), nodes.end(), std::int64_t{0}));
  InterleavedState state(jobs, jobs, gpus, NoCompany(), settings);
  Interleaved<Policy> queue(state, std::move(policy));
  const Outcome outcome = run_events(state, queue, settings);
  if (outcome == Outcome::Whole) queue.turn_away_rest();
  auto result = result_of(state, outcome);
  if (result) result->peak_gpus = static_cast<double>(gpus.most_held());
  return result;
}

}  // namespace

Expected<ReplayResult> replay_interleaved(const scenarios::JobTrace& trace,
                                          const ReplaySettings& settings) {
  if (const auto problem = problem_of(trace, settings.cluster)) {
    return tl::unexpected(Diagnostics{*problem});
  }
  const JobStream jobs(trace, settings);
  std::vector<int> nodes;
  for (const NodeShape& node : settings.cluster.nodes) {
    if (node.gpus > 0) nodes.push_back(node.gpus);
  }
  if (settings.cluster.nodes.empty()) nodes = {static_cast<int>(settings.cluster.pool_gpus)};
  if (settings.queue == QueuePolicy::Muri) {
    return replay_under(jobs, settings, nodes, MuriGroups(jobs, nodes));
  }
  return replay_under(jobs, settings, nodes, AntMan(jobs, nodes));
}

}  // namespace slicewise::sim
