#include <algorithm>
#include <cmath>

#include "interleaving.hpp"
#include "replay_record.hpp"

namespace slicewise::sim {
namespace {

constexpr std::int64_t kEventsPerGlance = 4'096;  // at the interrupt flag

std::optional<Diagnostic> problem_of(const scenarios::JobTrace& trace) {
  const auto refuse = [](const char* what, const char* help) {
    return make_diagnostic(Code::TraceColumnMissing, {}, what, help);
  };
  const auto says_all = [&](const scenarios::TraceColumn<Duration>& column) {
    return std::ranges::none_of(column.values(), [](Duration each) { return each.ns < 0; });
  };
  if (trace.iteration.empty() || trace.iteration_host.empty() || trace.iteration_gpu.empty() ||
      trace.iteration_network.empty() || !says_all(trace.iteration) ||
      !says_all(trace.iteration_host) || !says_all(trace.iteration_gpu) ||
      !says_all(trace.iteration_network) ||
      std::ranges::find(trace.iteration.values(), Duration{}) != trace.iteration.values().end()) {
    return refuse("muri and antman need to know what an iteration of each job does",
                  "give the trace the columns iteration_s, iteration_host_s, iteration_gpu_s and "
                  "iteration_network_s");
  }
  if (!trace.gang.empty()) return refuse("muri and antman know no gangs", "leave the column out");
  if (std::ranges::find(trace.gpus.values(), 0) != trace.gpus.values().end()) {
    return refuse("muri and antman take jobs with GPUs only", "leave the others out");
  }
  return std::nullopt;
}

// The jobs between arrival and end, each at the pace that the policy gave it last.
template <class Policy>
class InterleavedReplay {
 public:
  InterleavedReplay(const JobStream& jobs, const ReplaySettings& settings, std::int64_t gpus,
                    Policy policy)
      : jobs_(jobs),
        settings_(settings),
        gpus_(gpus),
        policy_(std::move(policy)),
        record_(jobs, settings) {}

  ReplayResult run() {
    std::int64_t events = 0;
    while (next_ < jobs_.size() || !alive_.empty()) {
      const TimePoint now =
          std::min(next_ < jobs_.size() ? jobs_.arrival(next_) : kNever, first_end());
      if (now == kNever) break;
      work_until(now);
      admit(now);
      policy_.plan(alive_);
      note_starts(now);
      if (++events % kEventsPerGlance != 0) continue;
      if (settings_.interrupted != nullptr && settings_.interrupted->load()) {
        return taken(true);
      }
      if (settings_.progress) settings_.progress(next_, jobs_.size(), now);
    }
    for (const InterleavedJob& job : alive_) record_.never_fits(job.job);
    return taken(false);
  }

 private:
  ReplayResult taken(bool interrupted) {
    ReplayResult result = record_.take(1'000 * gpus_, interrupted);
    result.peak_gpus = std::min(result.peak_gpus, result.total_gpus);  // several jobs on each
    return result;
  }
  // Rounded up, so that the work is done by then.
  TimePoint end_of(const InterleavedJob& job) const {
    if (job.pace == 0) return kNever;
    return now_ + Duration{static_cast<std::int64_t>(
                      std::ceil(static_cast<double>(job.left.ns) * job.pace))};
  }
  TimePoint first_end() const {
    TimePoint first = kNever;
    for (const InterleavedJob& job : alive_) first = std::min(first, end_of(job));
    return first;
  }

  void work_until(TimePoint now) {
    const Duration elapsed = now - now_;
    std::erase_if(alive_, [&](InterleavedJob& job) {
      if (job.pace == 0) return false;
      job.served_s += to_seconds(elapsed);
      const bool has_ended = end_of(job) <= now;
      job.left -= Duration{std::llround(static_cast<double>(elapsed.ns) / job.pace)};
      job.left = std::max(job.left, Duration{1});
      if (!has_ended) return false;
      record_.ended(job.job, now);
      policy_.ended(job);
      return true;
    });
    now_ = now;
  }

  void admit(TimePoint now) {
    for (; next_ < jobs_.size() && jobs_.arrival(next_) == now; ++next_) {
      record_.arrived();
      if (!jobs_.is_submitted(next_)) continue;
      const std::int64_t gpus = jobs_.trace().gpus[jobs_.row(next_)];
      if (gpus > gpus_) {
        record_.never_fits(next_);
        continue;
      }
      InterleavedJob& job = alive_.emplace_back();
      job.job = next_;
      job.gpus = gpus;
      job.left = jobs_.run(next_);
    }
  }

  void note_starts(TimePoint now) {
    std::int64_t waiting = 0;
    for (InterleavedJob& job : alive_) {
      waiting += job.pace == 0 ? 1 : 0;
      if (job.pace > 0 && !std::exchange(job.has_started, true)) record_.started(job.job, now);
    }
    record_.waiting(waiting);
  }

  const JobStream& jobs_;
  const ReplaySettings& settings_;
  std::int64_t gpus_;
  Policy policy_;
  ReplayRecord record_;
  std::vector<InterleavedJob> alive_;  // in order of arrival
  JobNumber next_ = 0;
  TimePoint now_;
};

}  // namespace

Expected<ReplayResult> replay_interleaved(const scenarios::JobTrace& trace,
                                          const ReplaySettings& settings) {
  if (const auto problem = problem_of(trace)) return tl::unexpected(Diagnostics{*problem});
  const JobStream jobs(trace, settings.repeat, settings.shift);
  std::vector<int> nodes;
  for (const NodeShape& node : settings.cluster.nodes) {
    if (node.gpus > 0) nodes.push_back(node.gpus);
  }
  if (settings.cluster.nodes.empty()) nodes = {static_cast<int>(settings.cluster.pool_gpus)};
  std::int64_t gpus = 0;
  for (const int of_node : nodes) gpus += of_node;
  if (settings.queue == QueuePolicy::Muri) {
    return InterleavedReplay(jobs, settings, gpus, MuriGroups(jobs, nodes)).run();
  }
  return InterleavedReplay(jobs, settings, gpus, AntMan(jobs, nodes)).run();
}

}  // namespace slicewise::sim
