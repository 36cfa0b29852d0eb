#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/replay/replay.hpp"

// What a task of a study found, as bytes for another process of the same build. A record names all
// of its members in a structured binding: with one more it does not compile.
namespace slicewise::sim {

class ByteWriter {
 public:
  template <class... T>
  void operator()(T&... values) {
    (add(values), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <class T>
  void add(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    } else {
      visit_parts(*this, value);
    }
  }

  template <class Archive, class T>
  friend void visit_list(Archive& archive, T& list);
  std::size_t resize_of(std::size_t size) {
    add(size);
    return size;
  }

  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (take(values), ...);
  }

 private:
  template <class T>
  void take(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (bytes_.size() < sizeof(T)) throw std::runtime_error("a rank says less than it should");
      std::memcpy(&value, bytes_.data(), sizeof(T));
      bytes_.remove_prefix(sizeof(T));
    } else {
      visit_parts(*this, value);
    }
  }

  template <class Archive, class T>
  friend void visit_list(Archive& archive, T& list);
  std::size_t resize_of(std::size_t /*size*/) {
    std::size_t size = 0;
    take(size);
    if (size > bytes_.size()) throw std::runtime_error("a rank says less than it should");
    return size;
  }

  std::string_view bytes_;
};

template <class Archive, class T>
void visit_list(Archive& archive, T& list) {
  list.resize(archive.resize_of(list.size()));
  for (auto& value : list) archive(value);
}

template <class Archive, class T>
void visit_parts(Archive& archive, std::vector<T>& list) {
  visit_list(archive, list);
}
template <class Archive>
void visit_parts(Archive& archive, std::string& text) {
  visit_list(archive, text);
}
template <class Archive, class T>
void visit_parts(Archive& archive, std::optional<T>& value) {
  bool is_there = value.has_value();
  archive(is_there);
  if (is_there && !value) value.emplace();
  if (is_there) archive(*value);
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

SLICEWISE_MEMBERS(DomainRecord, time, memory_peak, fullest)
SLICEWISE_MEMBERS(StartUpRecord, pods, decision, launch, ready, gpu_allocatable, scheduling,
                  image_pull, model_load, total)
SLICEWISE_MEMBERS(PendingReason, nodes, nodes_by_cause)
SLICEWISE_MEMBERS(RequestRecord, arrived, answered, in_objectives, refused, dropped, timed_out,
                  retried, batches, batched, in_system_ns, latency, queueing)
SLICEWISE_MEMBERS(TokenRecord, input, output, output_late, preemptions, prompts, found,
                  adapter_loads, wake_ups, awake_ns, cache_peak, cache_size, first_token, per_token)
SLICEWISE_MEMBERS(ScalingRecord, replica_ns, most, ups, downs, start_up)
SLICEWISE_MEMBERS(NotebookRecord, sessions, cells, culled, active_users, waiting, session_start,
                  slowdown, gave_up)
SLICEWISE_MEMBERS(PipelineRecord, requests)
SLICEWISE_MEMBERS(WorkloadRecord, jobs_done, jobs_failed, runs_missed, runs_replaced, disrupted,
                  gpu_disrupted, oom_kills, crash_looping, pending_for_good, longest_pending,
                  units_done, units_in_objective, completion, wait, outcomes, requests, tokens,
                  scaling, notebooks, gpu_busy, gpu_lost, pod_running, backing_off,
                  stretched_by_gpu, stretched_by_cpu, met_node_limit, no_node_for_it,
                  pods_by_gpu_set, all_reduce_ns, working, held, shared, observed)
SLICEWISE_MEMBERS(Replication, length, domains, nodes, pools, start_up, workloads, pipelines,
                  pending_reasons, pods_submitted, running_max, pending_max, pending_at_end,
                  succeeded, failed, oom_kills, restarts, faults, fault_victims, evicted, cut_off,
                  interrupted, events, shared_domain)
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
