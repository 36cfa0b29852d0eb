#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "recorder.hpp"

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

// Of the workload's pods, the first `most` of all: the nth pods of all workloads before any n+1st,
// so that a large workload does not crowd out a small one.
std::vector<std::vector<bool>> choose_pods(const World& world, int most) {
  std::vector<std::vector<bool>> chosen;
  int largest = 0;
  for (const WorkloadModel& workload : world.workloads) {
    chosen.emplace_back(static_cast<std::size_t>(workload.spec.count), false);
    largest = std::max(largest, workload.spec.count);
  }
  int taken = 0;
  for (int nth = 0; nth < largest; ++nth) {
    for (std::vector<bool>& of_workload : chosen) {
      if (taken == most) return chosen;
      if (static_cast<std::size_t>(nth) >= of_workload.size()) continue;
      of_workload[static_cast<std::size_t>(nth)] = true;
      ++taken;
    }
  }
  return chosen;
}

}  // namespace

Recorder::Recorder(const World& world, Duration length, const RecordingLimits& limits)
    : limits_(limits) {
  recording_.variant = world.name;
  recording_.seed = world.seed;
  recording_.length = length;
  recording_.warmup = world.warmup;
  recording_.bucket = bucket_width(length, limits.buckets);
  for (const PoolModel& pool : world.pools) {
    const std::vector<std::int64_t> none(recording_.buckets());
    recording_.pools.push_back({pool.name, none, none});
  }
  add_workloads(world);
  add_pods(world);
}

void Recorder::add_workloads(const World& world) {
  const std::size_t buckets = recording_.buckets();
  const auto add = [&](RecordedWorkload workload) {
    workload.completed.resize(buckets);
    latencies_.push_back({{}, std::vector<std::int64_t>(workload.latency_bounds.size())});
    recording_.workloads.push_back(std::move(workload));
  };
  for (const WorkloadModel& model : world.workloads) {
    RecordedWorkload workload;
    workload.name = model.name;
    workload.kind = scenarios::kind_name(model.spec.kind);
    workload.namespace_name = model.spec.namespace_name;
    workload.running.resize(buckets);
    workload.gpu_busy.resize(buckets);
    if (model.spec.kind == scenarios::WorkloadKind::Service) {
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
  workload_busy_before_.resize(recording_.workloads.size());
  completed_before_.resize(recording_.workloads.size());
}

void Recorder::add_pods(const World& world) {
  const std::vector<std::vector<bool>> chosen = choose_pods(world, limits_.pods);
  for (std::uint32_t w = 0; w < world.workloads.size(); ++w) {
    first_of_.push_back(static_cast<std::uint32_t>(lane_of_.size()));
    for (std::size_t nth = 0; nth < chosen[w].size(); ++nth) {
      if (!chosen[w][nth]) {
        lane_of_.push_back(kNotRecorded);
        ++recording_.left_out.pods;
        continue;
      }
      lane_of_.push_back(static_cast<std::uint32_t>(recording_.pods.size()));
      RecordedPod pod;
      pod.name = fmt::format("{}-{}", world.workloads[w].name, nth + 1);
      pod.workload = w;
      pod.gpu_busy.resize(recording_.buckets());
      recording_.pods.push_back(std::move(pod));
    }
  }
  open_.resize(recording_.pods.size());
  pod_busy_before_.resize(recording_.pods.size());
  pod_worked_ns_.resize(lane_of_.size());
}

}  // namespace slicewise::sim
