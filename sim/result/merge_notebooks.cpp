#include "slicewise/sim/metrics/time_summary.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

// Slowdowns are recorded as times, see kUnitSlowdown.
std::optional<NumberSummary> slowdowns(std::span<const Histogram> by_replication) {
  const std::optional<TimeSummary> times = summarize(by_replication);
  if (!times) return std::nullopt;
  NumberSummary summary;
  summary.count = times->count;
  summary.mean = ratio(times->mean, kUnitSlowdown);
  summary.p50 = ratio(times->p50, kUnitSlowdown);
  summary.p95 = ratio(times->p95, kUnitSlowdown);
  summary.p99 = ratio(times->p99, kUnitSlowdown);
  return summary;
}

// Of all Notebook workloads, mean per replication: they share the bill.
double active_users(const World& world, std::span<const Replication> replications) {
  double users = 0;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    users += mean_over(replications,
                       [&](const Replication& r) { return r.workloads[w].notebooks.active_users; });
  }
  return users;
}

}  // namespace

std::optional<NotebookFigures> notebook_figures(const World& world, std::size_t w,
                                                std::span<const Replication> replications) {
  const auto& spec = world.workloads[w].spec.notebooks;
  if (!spec) return std::nullopt;
  const auto mean = [&](std::int64_t NotebookRecord::*count) {
    return mean_over(replications,
                     [&](const Replication& r) { return r.workloads[w].notebooks.*count; });
  };
  // From a run to one user and a month of it.
  const auto per_user_month = [&](double of_run, const Replication& r) {
    return r.length.ns == 0 ? 0 : of_run * ratio(kMonth, r.length) / spec->users;
  };
  NotebookFigures figures;
  figures.users = spec->users;
  figures.sessions = mean(&NotebookRecord::sessions);
  figures.cells = mean(&NotebookRecord::cells);
  figures.culled = mean(&NotebookRecord::culled);
  figures.gave_up = mean(&NotebookRecord::gave_up);
  figures.oom_per_user_month = mean_over(replications, [&](const Replication& r) {
    return per_user_month(static_cast<double>(r.workloads[w].oom_kills), r);
  });
  figures.waiting_per_user_month_s = mean_over(replications, [&](const Replication& r) {
    return per_user_month(to_seconds(r.workloads[w].notebooks.waiting), r);
  });
  std::vector<Histogram> starts;
  std::vector<Histogram> slowdown;
  for (const Replication& r : replications) {
    starts.push_back(r.workloads[w].notebooks.session_start);
    slowdown.push_back(r.workloads[w].notebooks.slowdown);
  }
  figures.session_start = summarize(starts);
  figures.cell_slowdown = slowdowns(slowdown);
  if (const double users = active_users(world, replications); users > 0) {
    figures.per_active_user_month = Usd{static_cast<std::int64_t>(
        static_cast<double>(monthly_cost(world, replications).nano) / users)};
  }
  return figures;
}

}  // namespace slicewise::sim
