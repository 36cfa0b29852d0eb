#include "slicewise/sim/replay/replay.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "backfill_queue.hpp"
#include "easy_queue.hpp"
#include "event_loop.hpp"
#include "fifo_queue.hpp"
#include "interleaving.hpp"
#include "replay_state.hpp"
#include "shortest_queue.hpp"

namespace slicewise::sim {
namespace {

// Nodes whose GPUs are shared.
class SharedNodes : public NodeResources {
 public:
  SharedNodes(const JobStream& jobs, const TraceShapes& shapes, const JobUses& uses,
              const ReplaySettings& settings, const GuestTable& guests)
      : NodeResources(jobs, shapes, settings, &guests),
        stream_(jobs),
        refused_(jobs.trace().size()) {
    const int tickets = uses.sharing().tickets;
    if (uses.sharing().isolates()) {
      never_given_milli_ = total_milli() / 1000 * (1000 - tickets * milli_of_ticket(tickets));
    }
    for (std::size_t row = 0; row < refused_.size(); ++row) refused_[row] = uses.turned_away(row);
  }

  // The reason of its first row that has one.
  std::optional<TurnedAway> turned_away(JobNumber job) const {
    for (const std::uint32_t row : stream_.rows_of(job)) {
      if (refused_[row]) return refused_[row];
    }
    return std::nullopt;
  }
  bool fits_empty(JobNumber job) const {
    return !turned_away(job) && NodeResources::fits_empty(job);
  }
  std::int64_t free_milli() const { return NodeResources::free_milli() - never_given_milli_; }

 private:
  const JobStream& stream_;
  std::int64_t never_given_milli_ = 0;  // 7 tickets of 142 leave 6 of each GPU that is all tickets
  std::vector<std::optional<TurnedAway>> refused_;  // by row
};

template <class State>
Outcome run_queue(State& state, const TraceShapes& shapes, const ReplaySettings& settings) {
  const auto with = [&](auto queue) { return run_events(state, queue, settings); };
  switch (settings.queue) {
    case QueuePolicy::Fifo:
      return with(Fifo<State>(state));
    case QueuePolicy::Easy:
      return with(Easy<State>(state, shapes));
    case QueuePolicy::Backfill:
    case QueuePolicy::Priority:
      return with(Backfill<State>(state, shapes, settings.queue == QueuePolicy::Priority));
    case QueuePolicy::ShortestTime:
    case QueuePolicy::ShortestService:
    case QueuePolicy::Muri:
    case QueuePolicy::AntMan:
      break;
  }
  // They place everybody anew at each event.
  if constexpr (!State::kShared) {
    return with(Shortest<State>(state, settings.queue == QueuePolicy::ShortestService));
  }
  return Outcome::Whole;
}

void add_gpu_time(const GpuCompany& company, ReplayResult& result) {
  const double gpu_ns = result.total_gpus * static_cast<double>(result.makespan().ns);
  SharingFigures& figures = *result.sharing;
  result.peak_gpus = static_cast<double>(company.most_gpus());
  if (gpu_ns <= 0) return;
  figures.gpu_busy = std::min(1.0, company.busy_ns() / gpu_ns);
  figures.sm_active = std::min(1.0, company.sm_ns() / gpu_ns);
  figures.switching = company.switching_ns() / gpu_ns;
}

// `asked`: the jobs as the trace has them.
template <class Resources, class Company>
Expected<ReplayResult> replay_on(const JobStream& jobs, const JobStream& asked, Resources resources,
                                 Company company, const TraceShapes& shapes,
                                 const ReplaySettings& settings) {
  ReplayState<Resources, Company> state(jobs, asked, resources, std::move(company), settings);
  auto result = result_of(state, run_queue(state, shapes, settings));
  if (!result) return result;
  result->perfect_estimates =
      settings.queue == QueuePolicy::Easy && jobs.trace().time_limit.empty();
  if constexpr (Company::kMeets) add_gpu_time(state.company, *result);
  return result;
}

// kube-scheduler spreads by CPU and memory. Jobs of which the trace says neither would all land on
// the first nodes: they are spread by GPUs.
ReplaySettings spread_by_what_is_known(const scenarios::JobTrace& trace, ReplaySettings settings) {
  if (settings.placement != NodePolicy::LeastAllocated) return settings;
  if (!trace.cpu_milli.empty() || !trace.memory.empty()) return settings;
  for (NodeShape& node : settings.cluster.nodes) {
    node.cpu = {};
    node.memory = {};
  }
  return settings;
}

// A fraction that no share is, of jobs that got one.
void count_fractions(const scenarios::JobTrace& trace, const JobUses& uses, int tickets,
                     SharingFigures& figures) {
  if (trace.gpu_milli.empty() || tickets == 1) return;
  for (std::size_t row = trace.size(); row-- > 0;) {
    const std::int32_t milli = trace.gpu_milli[row];
    const bool is_a_share = (std::int64_t{milli} - 1) * tickets < 1000;  // of thousandths, rounded
    if (trace.gpus[row] != 1 || milli >= 1000 || is_a_share || uses.turned_away(row)) continue;
    ++figures.asked_for_more;
    figures.first_asked_for_more = trace.row_place(row);
  }
}

Expected<ReplayResult> replay_shared(const scenarios::JobTrace& trace,
                                     const ReplaySettings& settings) {
  const GpuSharing& sharing = *settings.sharing;
  const JobStream jobs(trace, settings, sharing.tickets);
  const JobStream asked(trace, settings);
  TraceShapes shapes = shapes_of(trace, settings.cluster, sharing.tickets);
  const JobUses uses(trace, sharing);
  if (!uses.problems().empty()) return tl::unexpected(uses.problems());
  keep_to_gpus_with_room(trace, uses, settings.cluster.nodes, shapes);
  GuestTable guests;
  if (knows_sharing(settings.placement)) {
    guests = guests_of(trace, uses, settings.cluster.nodes, shapes);
  }
  SharedNodes nodes(jobs, shapes, uses, settings, guests);
  GpuCompany company(jobs, uses, settings.cluster.nodes);
  auto result = replay_on(jobs, asked, std::move(nodes), std::move(company), shapes, settings);
  if (!result) return result;
  result->sharing->known = uses.known();
  count_fractions(trace, uses, sharing.tickets, *result->sharing);
  return result;
}

std::optional<Diagnostic> time_problem(const scenarios::JobTrace& trace,
                                       const ReplaySettings& settings) {
  if (trace.size() == 0) return std::nullopt;
  const auto too_late = [](Int128 ns) { return ns > kLatestEvent.ns; };
  const Duration first = trace.arrival[0];
  const Duration last = trace.arrival[trace.size() - 1];
  if (settings.repeat > 1 && settings.shift < last - first) {
    return make_diagnostic(
        Code::ValueRange, {},
        fmt::format("the trace lasts {:.0f} s, longer than its repetitions are shifted by",
                    to_seconds(last - first)),
        "shift them by at least that");
  }
  if (static_cast<Int128>(trace.size()) * settings.repeat >= UINT32_MAX) {
    return make_diagnostic(Code::ValueRange, {}, "more than 4,294,967,294 jobs",
                           "repeat the trace less often");
  }
  if (too_late(last.ns + static_cast<Int128>(settings.shift.ns) * settings.repeat) ||
      std::ranges::any_of(trace.run.values(), [&](Duration run) { return too_late(run.ns); })) {
    return replay_too_long();
  }
  return std::nullopt;
}

}  // namespace

double ReplayResult::utilization() const {
  const double hours = to_seconds(makespan()) / 3600;
  return hours > 0 && total_gpus > 0 ? gpu_hours / (total_gpus * hours) : 0;
}

Expected<ReplayResult> replay(const scenarios::JobTrace& trace, const ReplaySettings& asked_for) {
  if (const auto problem = time_problem(trace, asked_for)) {
    return tl::unexpected(Diagnostics{*problem});
  }
  const ReplaySettings settings = spread_by_what_is_known(trace, asked_for);
  if (interleaves(settings.queue)) return replay_interleaved(trace, settings);
  if (settings.sharing) return replay_shared(trace, settings);
  const bool pool = settings.cluster.nodes.empty();
  const JobStream jobs(trace, settings);
  const bool needs_shapes =
      !pool || settings.queue == QueuePolicy::Backfill || settings.queue == QueuePolicy::Priority;
  const TraceShapes shapes = needs_shapes ? shapes_of(trace, settings.cluster) : TraceShapes{};
  const auto alone = [&](auto resources) {
    return replay_on(jobs, jobs, std::move(resources), NoCompany(), shapes, settings);
  };
  if (pool) return alone(GpuPool(jobs, settings.cluster.pool_gpus));
  return alone(NodeResources(jobs, shapes, settings));
}

}  // namespace slicewise::sim
