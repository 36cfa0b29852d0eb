#include "recorder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace slicewise::sim {
namespace {

// Prometheus' default buckets up to 10 s, then those that GPU work needs.
constexpr Duration kLatencyBounds[] = {
    milliseconds(5),   milliseconds(10),  milliseconds(25), milliseconds(50),    milliseconds(100),
    milliseconds(250), milliseconds(500), seconds(1),       milliseconds(2'500), seconds(5),
    seconds(10),       seconds(30),       seconds(60)};

// What one bucket may last, so that its ends fall where a clock has marks.
std::vector<Duration> bucket_widths() {
  std::vector<Duration> widths;
  for (std::int64_t decade = 1; decade < 1'000'000'000; decade *= 10) {
    for (const std::int64_t step : {1, 2, 5}) widths.push_back(nanoseconds(decade * step));
  }
  for (const std::int64_t s : {1, 2, 5, 10, 15, 30}) widths.push_back(seconds(s));
  for (const std::int64_t m : {1, 2, 5, 10, 15, 30}) widths.push_back(minutes(m));
  for (const std::int64_t h : {1, 2, 3, 6, 12, 24, 48, 168}) widths.push_back(hours(h));
  return widths;
}

Duration bucket_width(Duration length, int most) {
  for (const Duration width : bucket_widths()) {
    if (length <= width * most) return width;
  }
  return {length.ns / most + 1};
}

std::vector<Duration> latency_bounds(const std::optional<Duration>& limit) {
  std::vector<Duration> bounds(std::begin(kLatencyBounds), std::end(kLatencyBounds));
  if (!limit) return bounds;
  const auto place = std::ranges::lower_bound(bounds, *limit);
  if (place == bounds.end() || *place != *limit) bounds.insert(place, *limit);
  return bounds;
}

void add_request_series(RecordedWorkload& workload, const RequestLimits& limits,
                        std::size_t buckets) {
  for (auto* series : {&workload.arrived, &workload.late, &workload.lost, &workload.in_system}) {
    series->resize(buckets);
  }
  for (auto* series : {&workload.mean, &workload.p50, &workload.p99}) series->resize(buckets);
  workload.latency_limit = limits.latency;
  workload.latency_bounds = latency_bounds(limits.latency);
  workload.within_bound.reserve(buckets * workload.latency_bounds.size());
}

}  // namespace

Recorder::Recorder(const World& world, Duration length, const RecordingLimits& limits)
    : draft_{.recording = {}, .limits = limits, .bucket = 0, .gpu_of = {}, .lane_of = {}},
      gpus_(draft_),
      nodes_(draft_, gpus_),
      pods_(draft_, gpus_),
      turns_(draft_) {
  draft_.recording.variant = world.name;
  draft_.recording.seed = world.seed;
  draft_.recording.length = length;
  draft_.recording.warmup = world.warmup;
  draft_.recording.bucket = bucket_width(length, limits.buckets);
  for (const PoolModel& pool : world.pools) {
    const std::vector<std::int64_t> none(draft_.recording.buckets());
    draft_.recording.pools.push_back({pool.name, none, none});
  }
  add_workloads(world);
  pods_.begin(world);
}

void Recorder::add_workloads(const World& world) {
  const std::size_t buckets = draft_.recording.buckets();
  const auto add = [&](RecordedWorkload workload) {
    workload.completed.resize(buckets);
    latencies_.push_back({{}, std::vector<std::int64_t>(workload.latency_bounds.size())});
    draft_.recording.workloads.push_back(std::move(workload));
  };
  std::uint32_t pods = 0;
  for (const WorkloadModel& model : world.workloads) {
    first_of_.push_back(pods);
    pods += static_cast<std::uint32_t>(model.spec.count);
    RecordedWorkload workload;
    workload.name = model.name;
    workload.kind = scenarios::kind_name(model.spec.kind);
    workload.namespace_name = model.spec.namespace_name;
    workload.running.resize(buckets);
    workload.gpu_busy.resize(buckets);
    if (model.spec.kind == WorkloadKind::Service) {
      add_request_series(workload, model.limits, buckets);
      workload.waiting.resize(buckets);
    }
    add(std::move(workload));
  }
  for (const PipelineModel& model : world.pipelines) {
    RecordedWorkload pipeline;
    pipeline.name = model.name;
    pipeline.kind = "Pipeline";
    add_request_series(pipeline, model.limits, buckets);
    add(std::move(pipeline));
  }
  busy_before_.resize(draft_.recording.workloads.size());
  completed_before_.resize(draft_.recording.workloads.size());
}

void Recorder::begin(const ClusterState& cluster) {
  nodes_.begin(cluster);
  turns_.begin(cluster);
}

void Recorder::request_over(RecordedRequest request) {
  using Outcome = RecordedRequest::Outcome;
  if (request.pod) *request.pod -= first_of_[request.workload];
  if (std::cmp_less(draft_.recording.requests.size(), draft_.limits.requests)) {
    draft_.recording.requests.push_back(request);
  } else if (draft_.limits.requests > 0) {
    ++draft_.recording.left_out.requests;
  }
  RecordedWorkload& workload = draft_.recording.workloads[request.workload];
  const bool late = request.outcome == Outcome::Late;
  if (!late && request.outcome != Outcome::InTime) {
    ++draft_.now_of(workload.lost);
    return;
  }
  ++draft_.now_of(workload.completed);
  draft_.now_of(workload.late) += late ? 1 : 0;
  const Duration latency = request.over - request.arrived;
  Latencies& latencies = latencies_[request.workload];
  latencies.times.add(latency);
  for (std::size_t n = workload.latency_bounds.size(); n > 0; --n) {
    if (latency > workload.latency_bounds[n - 1]) break;
    ++latencies.within_bound[n - 1];
  }
}

void Recorder::sample_workload(std::size_t w, const WorkloadTotals& totals) {
  RecordedWorkload& workload = draft_.recording.workloads[w];
  if (!workload.running.empty()) draft_.now_of(workload.running) = totals.running;
  if (!workload.gpu_busy.empty()) {
    draft_.now_of(workload.gpu_busy) = gained(totals.gpu_busy_ns, busy_before_[w]);
  }
  if (workload.arrived.empty()) {
    draft_.now_of(workload.completed) = totals.completed - completed_before_[w];
    completed_before_[w] = totals.completed;
    return;
  }
  draft_.now_of(workload.in_system) = totals.in_system;
  if (!workload.waiting.empty()) draft_.now_of(workload.waiting) = totals.waiting;
  Latencies& latencies = latencies_[w];
  if (latencies.times.count() > 0) {
    draft_.now_of(workload.mean) = latencies.times.mean();
    draft_.now_of(workload.p50) = latencies.times.quantile(0.5);
    draft_.now_of(workload.p99) = latencies.times.quantile(0.99);
    latencies.times = {};
  }
  for (std::int64_t& count : latencies.within_bound) {
    workload.within_bound.push_back(std::exchange(count, 0));
  }
}

void Recorder::sample_pool(std::size_t pool, std::int64_t ready, std::int64_t billed) {
  draft_.now_of(draft_.recording.pools[pool].ready) = ready;
  draft_.now_of(draft_.recording.pools[pool].billed) = billed;
}

TimePoint Recorder::bucket_ends() const {
  return draft_.bucket < draft_.recording.buckets() ? draft_.recording.bucket_end(draft_.bucket)
                                                    : kNever;
}

Recording Recorder::take(TimePoint now) {
  pods_.end(now);
  turns_.end(now);
  nodes_.end(now);
  gpus_.end();
  return std::move(draft_.recording);
}

}  // namespace slicewise::sim
