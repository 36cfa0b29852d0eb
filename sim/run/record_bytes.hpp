#pragma once

#include <cstdint>

#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/sim/bill.hpp"
#include "slicewise/sim/metrics/histogram.hpp"
#include "slicewise/sim/metrics/ratio_histogram.hpp"
#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/replay/replay.hpp"
#include "slicewise/units.hpp"

// What a task of a study found is made of, for archives (byte_archives.hpp). A record names all of
// its members in a structured binding: with one more it does not compile.
namespace slicewise::sim {

template <class Archive>
void visit_parts(Archive& archive, Int128& number) {
  constexpr unsigned kHalf = 64;
  auto high = static_cast<std::int64_t>(number >> kHalf);
  auto low = static_cast<std::uint64_t>(number);
  archive(high, low);
  number = (static_cast<Int128>(high) << kHalf) | static_cast<Int128>(low);
}
template <class Archive>
void visit_parts(Archive& archive, Histogram& h) {
  h.visit(archive);
}
template <class Archive>
void visit_parts(Archive& archive, RatioHistogram& h) {
  h.visit(archive);
}

// The members of a record, each once.
#define SLICEWISE_MEMBERS(Record, ...)                 \
  template <class Archive>                             \
  void visit_parts(Archive& archive, Record& record) { \
    auto& [__VA_ARGS__] = record;                      \
    archive(__VA_ARGS__);                              \
  }

SLICEWISE_MEMBERS(Duration, ns)
SLICEWISE_MEMBERS(TimePoint, ns)
SLICEWISE_MEMBERS(Bytes, count)
SLICEWISE_MEMBERS(Usd, nano)
SLICEWISE_MEMBERS(scenarios::RowPlace, row, line)
SLICEWISE_MEMBERS(DomainTime, useful, late, failed, switching, cold_start, sm_active, sm_known)
SLICEWISE_MEMBERS(CostLedger, total, useful, idle, switching, failed, cold_start, missed_slo,
                  thrash, control_plane)
SLICEWISE_MEMBERS(NodeRecord, cpu_time, up, cost, observed, switching)
SLICEWISE_MEMBERS(PoolRecord, most, launches, surplus, removed, interruptions, on_demand,
                  layouts_given_up, thrash)
SLICEWISE_MEMBERS(JobOutcome, wait, completion, unfinished)
SLICEWISE_MEMBERS(DomainRecord, time, memory_peak, fullest)
SLICEWISE_MEMBERS(StartUpRecord, pods, decision, launch, ready, gpu_allocatable, scheduling,
                  image_pull, model_load, total)
SLICEWISE_MEMBERS(PendingReason, nodes, nodes_by_cause)
SLICEWISE_MEMBERS(RequestRecord, arrived, answered, in_objectives, refused, too_long, dropped,
                  timed_out, retried, batches, batched, in_system_ns, latency, queueing)
SLICEWISE_MEMBERS(TokenRecord, answered, input, output, output_late, preemptions, prompts, found,
                  adapter_loads, wake_ups, awake_ns, cache_peak, cache_size, first_token, per_token)
SLICEWISE_MEMBERS(ScalingRecord, replica_ns, most, ups, downs, start_up)
SLICEWISE_MEMBERS(NotebookRecord, sessions, cells, culled, active_users, waiting, session_start,
                  slowdown, gave_up)
SLICEWISE_MEMBERS(PipelineRecord, units_done, units_in_objective, requests)
SLICEWISE_MEMBERS(RunsLost, jobs, gpu_time)
SLICEWISE_MEMBERS(WorkloadRecord, jobs_done, jobs_failed, runs_missed, runs_replaced, disrupted,
                  expired, oom_kills, faults, crash_looping, pending_for_good, longest_pending,
                  units_done, units_in_objective, units_under_way, completion, wait, unfinished,
                  waiting, quota_wait, quota_stops, quota_waiting, never_admitted, outcomes,
                  requests, tokens, scaling, notebooks, gpu_busy, gpu_lost, pod_running,
                  backing_off, stretched_by_gpu, stretched_by_cpu, met_node_limit, no_node_for_it,
                  pods_by_gpu_set, all_reduce_ns, working, held, shared, observed)
SLICEWISE_MEMBERS(Replication, length, last_job_end, domains, nodes, pools, start_up, workloads,
                  pipelines, pending_reasons, pods_submitted, running_max, pending_max,
                  pending_at_end, succeeded, failed, oom_kills, restarts, faults, fault_victims,
                  evicted, cut_off, interrupted, events, shared_domain)
SLICEWISE_MEMBERS(JobTimes, start, end)
SLICEWISE_MEMBERS(JobFigures, jobs, with_use, with_util, with_fraction, with_sm, with_memory,
                  with_gpu, by_profile)
SLICEWISE_MEMBERS(SharingFigures::Refusal, reason, jobs, first)
SLICEWISE_MEMBERS(InflationPoint, arrived_percent, allocated_percent)
SLICEWISE_MEMBERS(ReplayClass, name, finished, wait, completion)
SLICEWISE_MEMBERS(ReplayGroup, name, finished, lost, wait_ns, completion_ns, slowdown)
SLICEWISE_MEMBERS(SlowedUser, name, jobs, mean_slowdown)
SLICEWISE_MEMBERS(SharingFigures, known, slowdown, bounded, users, user_count, oom_killed, failed,
                  refusals, asked_for_more, first_asked_for_more, gpu_busy, sm_active, switching)
SLICEWISE_MEMBERS(ReplaySeries, step, waiting, running, gpus)
SLICEWISE_MEMBERS(ReplayResult, jobs, finished, without_run, never_fit, first_never_fit,
                  started_at_once, preemptions, wait, completion, classes, groups, sharing, series,
                  first_arrival, last_end, total_gpus, peak_gpus, gpu_hours, lost_gpu_hours,
                  most_waiting, events, perfect_estimates, interrupted, job_times)
SLICEWISE_MEMBERS(InflationResult, curve, allocated_percent, arrived, failed)

#undef SLICEWISE_MEMBERS

}  // namespace slicewise::sim
