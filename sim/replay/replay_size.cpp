#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "slicewise/sim/replay/replay.hpp"
#include "slicewise/sim/run_size.hpp"

#include "job_stream.hpp"

namespace slicewise::sim {
namespace {

// Bytes of one of each, measured on x86-64 with replays of 10^5 to 10^7 of them.
constexpr double kTraceRowBytes = 100;
constexpr double kAliveJobBytes = 200;
constexpr double kJobTimesBytes = 16;
constexpr double kPlacedNodeBytes = 500;
constexpr double kSharedGpuBytes = 150;
constexpr double kTicketBytes = 16;
constexpr double kOwnedGpuBytes = 16;

double gpus_of(const ReplayCluster& cluster) {
  auto gpus = static_cast<double>(cluster.pool_gpus);
  for (const NodeShape& node : cluster.nodes) gpus += node.gpus;
  return gpus;
}

// Jobs at the same time.
struct Alive {
  double running = 0;  // mean
  double waiting = 0;  // mean when a job comes
  double most = 0;     // that wait or run
  double busy = 0;     // share of the arrivals that find somebody waiting
};

// As if all GPUs together worked on the oldest job, and beside that as many ran as do on average.
Alive alive_jobs(const JobStream& jobs, double gpus, int repeat, Duration shift) {
  const auto rows = static_cast<JobNumber>(jobs.trace().size());
  if (rows == 0) return {};
  const double capacity = 1000 * gpus;
  const auto seconds_of = [&](JobNumber row) {
    return jobs.is_submitted(row) ? to_seconds(jobs.run(row)) : 0;
  };
  const auto work_of = [&](JobNumber row) {
    const auto milli = static_cast<double>(jobs.gpu_milli(row));
    return milli <= capacity ? milli * seconds_of(row) : 0;
  };
  double done = 0;  // of the oldest job's work
  JobNumber oldest = 0;
  const auto work_for = [&](Duration time, JobNumber arrived) {
    done += capacity * to_seconds(time);
    while (oldest < arrived && work_of(oldest) <= done) done -= work_of(oldest++);
    if (oldest == arrived) done = 0;
    return static_cast<double>(arrived - oldest);
  };
  Alive alive;
  double run_sum = 0, milli_sum = 0;
  for (JobNumber row = 0; row < rows; ++row) {
    const double waiting = row == 0 ? 0 : work_for(jobs.arrival(row) - jobs.arrival(row - 1), row);
    alive.most = std::max(alive.most, waiting + 1);
    alive.waiting += waiting / rows;
    alive.busy += waiting > 0 ? 1.0 / rows : 0;
    run_sum += seconds_of(row);
    milli_sum += static_cast<double>(jobs.gpu_milli(row));
  }
  const Duration span = jobs.arrival(rows - 1) - jobs.arrival(0);
  const double lasts = to_seconds(span) + run_sum / rows;
  if (lasts > 0) alive.running = std::min(run_sum / lasts, 1.0 * rows);
  if (milli_sum > 0) alive.running = std::min(alive.running, capacity * rows / milli_sum);
  alive.most += alive.running;
  // What is left of a repetition when the next begins is left of each.
  const double left = repeat > 1 ? work_for(std::max(Duration{}, shift - span), rows) : 0;
  alive.most += left * (repeat - 1);
  alive.waiting += left * (repeat - 1) / 2;
  if (left > 0) alive.busy = 1;
  return alive;
}

// What a queue looks at beside the job that comes or goes, in events.
double looks_of(QueuePolicy queue, const Alive& alive, bool on_pool) {
  constexpr double kOneThatWaits = 0.05;
  constexpr double kOneOnAPool = 0.2;  // that runs: a count of GPUs; on nodes a placement
  switch (queue) {
    case QueuePolicy::Muri:
    case QueuePolicy::AntMan:
      return alive.waiting + alive.running;
    case QueuePolicy::ShortestTime:
    case QueuePolicy::ShortestService:
      return alive.busy * alive.running * (on_pool ? kOneOnAPool : 1);
    case QueuePolicy::Easy:
      return kOneThatWaits * alive.waiting;
    case QueuePolicy::Fifo:
    case QueuePolicy::Backfill:
    case QueuePolicy::Priority:
      break;
  }
  return 0;
}

// "jobs of the trace: 160 x 100 bytes".
SizePart bytes_of(std::string_view what, double count, double each, SourceLocation where) {
  return {fmt::format("{}: {:.4g} x {:.0f} bytes", what, count, each), count * each,
          std::move(where)};
}

}  // namespace

RunSize estimate_size(const scenarios::JobTrace& trace, const ReplaySettings& settings) {
  const double gpus = gpus_of(settings.cluster);
  const int tickets = settings.sharing ? settings.sharing->tickets : 0;
  const JobStream jobs(trace, settings, tickets);
  const Alive alive = alive_jobs(jobs, gpus, settings.repeat, settings.shift);
  const auto rows = static_cast<double>(trace.size());
  const SourceLocation where = trace.place_of(0);
  const double events = 2 * rows * settings.repeat;
  const double looks = looks_of(settings.queue, alive, settings.cluster.nodes.empty());
  RunSize size{.of = "the replay", .events = {}, .memory = {}, .bill = {}};
  size.events = {
      {fmt::format("arrivals and ends: {:.0f} jobs x {} x 2", rows, settings.repeat), events,
       where},
      {fmt::format("looks at other jobs: {:.4g} x {:.4g}", events, looks), events * looks, where}};
  size.memory = {bytes_of("jobs of the trace", rows, kTraceRowBytes, where),
                 bytes_of("jobs that wait or run", alive.most, kAliveJobBytes, where),
                 bytes_of("nodes", static_cast<double>(settings.cluster.nodes.size()),
                          kPlacedNodeBytes, where)};
  if (settings.sharing) {
    const double each = kSharedGpuBytes + tickets * kTicketBytes;
    size.memory.push_back(bytes_of("shared GPUs", gpus, each, where));
  }
  if (settings.queue == QueuePolicy::AntMan) {
    double wanted = 0;
    for (const std::int32_t each : trace.gpus.values()) wanted += each;
    size.memory.push_back(bytes_of("GPUs that jobs own", std::min(gpus, wanted * settings.repeat),
                                   kOwnedGpuBytes, where));
  }
  if (settings.keep_jobs) {
    size.memory.push_back(bytes_of("times of jobs", rows * settings.repeat, kJobTimesBytes, where));
  }
  return size;
}

RunSize estimate_inflation(const scenarios::JobTrace& trace, const ReplayCluster& cluster,
                           int target_percent) {
  double wanted = 0;
  for (std::size_t row = 0; row < trace.size(); ++row) {
    wanted += static_cast<double>(trace.gpus[row]) * trace.milli_of_each(row) / 1000;
  }
  if (wanted == 0) return {};
  const double target = std::max(wanted, gpus_of(cluster) * target_percent / 100);
  const double each = wanted / static_cast<double>(trace.size());
  const double jobs = target / each;
  const SourceLocation where = trace.place_of(0);
  RunSize size{.of = "the experiment", .events = {}, .memory = {}, .bill = {}};
  size.events = {
      {fmt::format("arrivals: {:.4g} GPUs / {:.4g} of each job", target, each), jobs, where}};
  size.memory = {
      bytes_of("jobs", jobs, kTraceRowBytes, where),
      bytes_of("nodes", static_cast<double>(cluster.nodes.size()), kPlacedNodeBytes, where)};
  return size;
}

}  // namespace slicewise::sim
