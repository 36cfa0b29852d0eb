#include <algorithm>
#include <cstdint>
#include <variant>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

#include "merge.hpp"
#include "unanswered.hpp"

namespace slicewise::sim {
namespace {

// A Service or a pipeline, and what it recorded.
struct Stream {
  const WorkloadResult* result;
  SourceLocation where;    // of its name
  SourceLocation traffic;  // of its load
  std::vector<const RequestRecord*> records;
};

std::vector<Stream> streams_of(const World& world, std::span<const Replication> replications,
                               const VariantResult& result) {
  std::vector<Stream> streams;
  for (std::size_t w = 0; w < result.workloads.size(); ++w) {
    if (!result.workloads[w].requests) continue;
    Stream stream{&result.workloads[w], {}, {}, {}};
    if (w < world.workloads.size()) {
      const Workload& spec = world.workloads[w].spec;
      stream.where = spec.name.where;
      stream.traffic = spec.traffic ? spec.traffic->where : spec.name.where;
      for (const Replication& r : replications) {
        stream.records.push_back(&r.workloads[w].requests);
      }
    } else {
      const std::size_t p = w - world.workloads.size();
      stream.where = world.pipelines[p].spec.name.where;
      stream.traffic = world.pipelines[p].spec.traffic.where;
      for (const Replication& r : replications) stream.records.push_back(&r.pipelines[p].requests);
    }
    streams.push_back(std::move(stream));
  }
  return streams;
}

std::string room_of_cache(const WorkloadResult& result) {
  return result.tokens ? fmt::format(" ({} MiB)", result.tokens->kv_cache.count >> 20) : "";
}

void refused_finding(const Stream& stream, Diagnostics& found) {
  const RequestCounts& counts = *stream.result->requests;
  if (counts.too_long > 0) {
    add_diagnostic(found, Code::RequestsRefused, stream.where,
                   fmt::format("{:.0f} requests of \"{}\" have more tokens than the key-value "
                               "cache of a pod could ever hold{}",
                               counts.too_long, stream.result->name, room_of_cache(*stream.result)),
                   "more GPU memory for it (llm.kvCache, memoryUtilization, a larger GPU or "
                   "slice), or shorter prompts");
  }
  const double refused = counts.refused - counts.too_long;
  if (refused <= 0) return;
  add_diagnostic(found, Code::RequestsRefused, stream.where,
                 fmt::format("{:.0f} requests of \"{}\" found no ready replica or lost theirs",
                             refused, stream.result->name),
                 "they miss every latency objective; those of the start-up are left out by a "
                 "warmup longer than it");
}

// Share of the requests whose fate is known, in percent.
double percent_of(double count, const RequestCounts& counts) {
  return 100 * count / (counts.answered + counts.refused + counts.dropped + counts.timed_out);
}

void dropped_finding(const Stream& stream, Diagnostics& found) {
  const RequestCounts& counts = *stream.result->requests;
  const double lost = counts.dropped + counts.timed_out;
  if (lost == 0) return;
  add_diagnostic(
      found, Code::RequestsDropped, stream.traffic,
      fmt::format("{:.3g} % of the requests of \"{}\" were given up: {:.0f} met a full queue, "
                  "{:.0f} timed out",
                  percent_of(lost, counts), stream.result->name, counts.dropped, counts.timed_out),
      "add replicas or GPUs, or allow larger batches; they miss every latency objective");
}

// An objective on a tail that so few requests do not have.
void tail_finding(const Stream& stream, Diagnostics& found) {
  const std::int64_t count = stream.result->latency ? stream.result->latency->count : 0;
  const bool judged = contains(stream.result->objectives, "latencyP999", &ObjectiveResult::name);
  if (!judged || count >= kPlentyForP999) return;
  add_diagnostic(
      found, Code::SampleTooSmall, stream.where,
      fmt::format("\"{}\" is judged by the p99.9 of {} requests: one of the ten slowest",
                  stream.result->name, count),
      fmt::format("simulate {} requests or more: a longer duration, or more replications",
                  kPlentyForP999));
}

void untested_finding(const Stream& stream, Diagnostics& found) {
  const bool judged = std::ranges::any_of(stream.result->objectives, &ObjectiveResult::is_unasked);
  if (!judged || stream.result->requests->arrived > 0) return;
  add_diagnostic(
      found, Code::SampleTooSmall, stream.where,
      fmt::format("no request of \"{}\" came in {}: its objectives were not put to the test",
                  stream.result->name, counted(stream.records.size(), "run")),
      "a longer duration, or more replications");
}

void queue_finding(const Stream& stream, Diagnostics& found) {
  std::int64_t arrived = 0;
  std::int64_t open = 0;
  for (const RequestRecord* record : stream.records) {
    arrived += record->arrived;
    open += unanswered(*record);
  }
  const auto runs = static_cast<std::int64_t>(stream.records.size());
  if (!queue_only_grows(open, arrived, runs)) return;
  add_diagnostic(
      found, Code::QueueUnstable, stream.traffic,
      fmt::format("\"{}\" ended with {} of {} requests unanswered: they arrive faster than the "
                  "GPUs serve them, and the latencies only tell how long the run was",
                  stream.result->name, open / runs, arrived / runs),
      "add replicas on more GPUs, or lower traffic.mean; with time-slicing the switches count");
}

void scaling_finding(const Workload& spec, const WorkloadResult& result, Diagnostics& found) {
  if (!spec.autoscaling || !result.scaling) return;
  const int most = spec.autoscaling->max_replicas;
  if (most == spec.autoscaling->min_replicas || result.scaling->max_replicas < most) return;
  // A schedule that asks for all of them is no load that wants more, nor is the start with them.
  if (result.scaling->max_by_metric < most) return;
  add_diagnostic(
      found, Code::AutoscalerAtMax, spec.autoscaling->where,
      fmt::format("\"{}\" was scaled to its largest number of replicas, {}", result.name, most),
      "allow more replicas, and give the nodes GPUs for them; or share each GPU among more");
}

// Clients that ask again at once, for what takes as long each time, meet on a GPU as they did at
// the start: measured ones drift apart.
void lockstep_finding(const World& world, const WorkloadModel& model, Diagnostics& found) {
  const Workload& spec = model.spec;
  const auto* loop =
      spec.traffic ? std::get_if<scenarios::ClosedLoop>(&spec.traffic->shape) : nullptr;
  if (loop == nullptr || loop->think_time.ns > 0 || std::min(loop->clients, spec.count) < 2) return;
  if (!spec.measured) return;
  const auto& time = spec.measured->request_gpu_time;
  if (!time || time->law != scenarios::ServiceTime::Law::Deterministic) return;
  bool shares = false;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    shares = shares || (model.on_pool[p].schedulable &&
                        world.pools[p].strategy != scenarios::Strategy::Exclusive);
  }
  if (!shares) return;
  add_note(
      found, Code::InputAssumed, spec.traffic->where,
      fmt::format("requests of \"{}\" take as long each, and its {} clients ask again at once: "
                  "they stay in step, and meet on a GPU as they did at the start",
                  model.name, loop->clients),
      "give the scatter of their times, requestGpuTime: {p50: 20ms, p99: 26ms}, or a thinkTime");
}

void cache_finding(const Workload& spec, const WorkloadResult& result, Diagnostics& found) {
  if (!spec.llm || !result.tokens || result.tokens->preemptions == 0) return;
  add_diagnostic(
      found, Code::KvCachePreempted, spec.llm->where,
      fmt::format(
          "\"{}\" threw out {} running sequences for lack of KV cache and computed them again",
          result.name, short_text(result.tokens->preemptions)),
      "give the cache more memory, or run fewer sequences at once");
}

void schedule_finding(const Workload& spec, const WorkloadResult& result, Diagnostics& found) {
  if (!result.schedule || result.schedule->missed + result.schedule->replaced == 0) return;
  const ScheduleFigures& figures = *result.schedule;
  const bool replaces = spec.schedule->concurrency == scenarios::Schedule::Concurrency::Replace;
  add_diagnostic(found, Code::CronRunsMissed, spec.schedule->where,
                 fmt::format("of {} runs of \"{}\" {:.3g} {}", figures.runs, result.name,
                             replaces ? figures.replaced : figures.missed,
                             replaces ? "were deleted for the next before they were done"
                                      : "were not made: the one before was not done"),
                 "more GPUs for it, or a longer time between runs");
}

}  // namespace

std::int64_t unanswered(const RequestRecord& requests) {
  return requests.arrived - requests.answered - requests.refused - requests.dropped -
         requests.timed_out;
}

bool queue_only_grows(std::int64_t open, std::int64_t arrived, std::int64_t runs) {
  constexpr std::int64_t kWorthSaying = 100;
  return open >= kWorthSaying * runs && open * 50 >= arrived;
}

void request_findings(const World& world, std::span<const Replication> replications,
                      const VariantResult& result, Diagnostics& found) {
  for (const Stream& stream : streams_of(world, replications, result)) {
    const FindingsAbout about(stream.result->name, found);
    refused_finding(stream, found);
    dropped_finding(stream, found);
    queue_finding(stream, found);
    untested_finding(stream, found);
    tail_finding(stream, found);
  }
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const FindingsAbout about(result.workloads[w].name, found);
    scaling_finding(world.workloads[w].spec, result.workloads[w], found);
    lockstep_finding(world, world.workloads[w], found);
    cache_finding(world.workloads[w].spec, result.workloads[w], found);
    schedule_finding(world.workloads[w].spec, result.workloads[w], found);
  }
}

}  // namespace slicewise::sim
