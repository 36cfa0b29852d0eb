#include "job_classes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace slicewise::scenarios {
namespace {

// The first that leaves few enough classes is taken.
constexpr Grain kGrains[] = {
    {100, false, true}, {250, true, true}, {250, true, false}, {500, true, false}};

std::uint32_t name_at(const TraceColumn<std::uint32_t>& column, std::size_t row) {
  return column.empty() ? 0 : column[row];
}

std::int64_t in_steps(std::int64_t value, std::int64_t step) {
  return value < 0 ? -1 : (value + step / 2) / step * step;
}

// Rounded up to whole units, or to a power of two of them.
std::int64_t in_units(std::int64_t value, std::int64_t unit, bool powers) {
  if (value < 0) return -1;
  const std::int64_t units = value / unit + (value % unit != 0 ? 1 : 0);
  if (!powers || units < 2) return units;
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(units)));
}

ClassKey key_of(const JobTrace& trace, std::size_t row, const RecordedJobs& source,
                const Grain& grain) {
  constexpr std::int64_t kGibi = 1LL << 30U;
  constexpr std::int64_t kWhole = 1'000;
  ClassKey key;
  key.gpus = trace.gpus[row];
  key.use = in_steps(known(trace.gpu_permille, row), grain.share);
  key.sm = in_steps(known(trace.sm_permille, row), grain.share);
  const std::int64_t milli = trace.gpu_milli.empty() ? kWhole : trace.gpu_milli[row];
  const bool by_profile = name_at(trace.profile, row) != 0;
  if (key.use < 0 && key.sm < 0 && !by_profile && milli >= 0 && milli < kWhole) {
    key.milli = std::max<std::int64_t>(in_steps(milli, grain.share), 10);
  }
  key.gpu_gib = in_units(known(trace.gpu_memory, row), kGibi, grain.powers);
  if (grain.host) {
    key.priority = trace.priority.empty() ? 0 : trace.priority[row];
    key.backoff = known(trace.backoff_limit, row);
    if (source.host_requests) {
      key.cpus = in_units(known(trace.cpu_milli, row), 1'000, grain.powers);
      key.gib = in_units(known(trace.memory, row), kGibi, grain.powers);
    }
  }
  key.resource = name_at(trace.resource, row);
  key.profile = name_at(trace.profile, row);
  key.device = name_at(trace.gpu_models, row);
  if (key.device == 0) key.device = name_at(trace.instance_type, row);
  if (const auto* owners = owners_of(trace, source.split)) key.owner = name_at(*owners, row);
  return key;
}

bool counted_together(const Measured& measured) {
  return measured.sm_active && measured.gpu_util && !measured.gpu_busy && !measured.capacity_share;
}

}  // namespace

const TraceColumn<std::uint32_t>* owners_of(const JobTrace& trace, RecordedJobs::Split split) {
  switch (split) {
    case RecordedJobs::Split::User:
      return &trace.user;
    case RecordedJobs::Split::Group:
      return &trace.group;
    case RecordedJobs::Split::Project:
      return &trace.project;
    case RecordedJobs::Split::None:
      break;
  }
  return nullptr;
}

JobClasses class_jobs(const JobTrace& trace, std::span<const std::size_t> rows,
                      const RecordedJobs& source, std::size_t most) {
  JobClasses classes{};
  for (const Grain& grain : kGrains) {
    classes = {grain, {}};
    for (const std::size_t row : rows) {
      classes.rows[key_of(trace, row, source, grain)].push_back(row);
    }
    if (classes.rows.size() <= most) break;
  }
  return classes;
}

void take_use(const RecordedUse& use, Measured& measured) {
  if (!use.gpu_util && !use.sm_active && !use.fraction) return;
  measured.gpu_util = use.gpu_util;
  measured.gpu_busy.reset();
  if (!use.gpu_util) measured.gpu_busy = use.sm_active ? use.sm_active : use.fraction;
  if (use.sm_active) measured.sm_active = use.sm_active;
}

BusyRange busy_range(const Measured& measured) {
  if (measured.gpu_busy) return {*measured.gpu_busy, *measured.gpu_busy};
  const double most = measured.gpu_util.value_or(1);
  double least = 0;
  for (const auto& part : {measured.sm_active, measured.dram_active, measured.capacity_share}) {
    least = std::max(least, part.value_or(0));
  }
  return {std::min(least, most), most};
}

double busy_share(const Measured& measured) {
  const BusyRange range = busy_range(measured);
  if (!measured.gpu_util || measured.gpu_busy) return range.most;
  return std::clamp(kBusyOfGpuUtil * *measured.gpu_util, range.least, range.most);
}

CapacityRange capacity_range(const Measured& measured, bool in_batches) {
  constexpr double kLeast = 1e-6;
  const double busy = std::max(in_batches ? busy_share(measured) : 1, kLeast);
  if (counted_together(measured)) {
    if (in_batches) return {std::clamp(*measured.sm_active, kLeast, busy), busy};
    return {std::clamp(*measured.sm_active / std::max(*measured.gpu_util, kLeast), kLeast, 1.0), 1};
  }
  const bool by_util = in_batches && measured.capacity_share && !measured.gpu_busy;
  const double most = by_util ? std::max(measured.gpu_util.value_or(busy), kLeast) : busy;
  const double given = measured.capacity_share.value_or(measured.sm_active.value_or(busy));
  const double least = std::clamp(given, kLeast, most);
  if (measured.capacity_share || !measured.sm_active) return {least, least};
  return {least, std::clamp(kMostOfSmActive * least, least, most)};
}

std::optional<Duration> kernel_work(const Workload& workload) {
  if (workload.llm || !workload.measured) return std::nullopt;
  if (workload.notebooks) return workload.notebooks->gpu_time.mean;
  const Measured& measured = *workload.measured;
  if (measured.request_gpu_time) return measured.request_gpu_time->mean;
  if (!measured.unit_time) return std::nullopt;
  const auto steps = workload.work ? workload.work->steps_per_unit.value_or(1) : 1;
  return from_seconds(to_seconds(*measured.unit_time) * busy_range(measured).most /
                      static_cast<double>(steps));
}

KernelRange kernel_range(const Workload& workload) {
  KernelRange range = runs_batches(workload.kind) ? kBatchKernels : kRequestKernels;
  if (const auto work = kernel_work(workload)) {
    range.most = std::min(range.most, std::max(*work, nanoseconds(1)));
    range.least = std::min(range.least, range.most);
  }
  return range;
}

double capacity_share(const Measured& measured, bool in_batches) {
  const CapacityRange range = capacity_range(measured, in_batches);
  const bool counted = counted_together(measured) || (!in_batches && measured.sm_active);
  if (measured.capacity_share || !counted) return range.least;
  const double most = in_batches ? *measured.gpu_util : 1;
  return std::min(std::sqrt(range.least * most), range.most);
}

}  // namespace slicewise::scenarios
