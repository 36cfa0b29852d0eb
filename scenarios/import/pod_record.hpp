#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/pod_file.hpp"

#include "import_report.hpp"

namespace slicewise::scenarios {

// A pod as the API server or Prometheus knows it. Times in ns since 1970.
struct PodRecord {
  using Time = std::optional<std::int64_t>;

  std::string name;
  std::string space;  // its namespace
  std::string work;   // "Deployment/asr"; "" without an owner
  std::string instance_type;
  std::string gpu_models;  // that it may run on, "NVIDIA-A10G|NVIDIA-L4"
  std::string node;
  std::string ran_on;                // the GPU, where it is known and the only one
  std::string job;                   // "namespace/name" of the Job that made it
  Amounts amounts;                   // what the scheduler reserves, as PodFile has it
  std::optional<int> node_replicas;  // of a shared GPU of its node, by the node's labels
  std::string node_sharing;          // likewise: "time-slicing", "mps"
  // Of other schedulers: thousandths of each GPU and memory of each, without a device plugin.
  std::optional<std::int32_t> fraction;
  std::optional<Bytes> gpu_memory;  // asked for, or the most that was seen
  std::int32_t fraction_gpus = 1;
  Time arrival;
  Time scheduled;
  Time started;  // its first container
  Time working;  // ... by the word of the container itself, where a source has that beside
  Time ended;
  Time seen;  // first by kube-state-metrics
  JobState state = JobState::Unknown;
  std::int32_t priority = 0;
  std::optional<std::int32_t> gpu_permille;
  std::optional<std::int32_t> sm_permille;
  std::optional<Duration> time_limit;
  std::optional<std::int32_t> backoff_limit;  // of its Job
  bool is_greedy = false;                     // it maps all free GPU memory
  SourceLocation where;
  std::int64_t order = 0;  // in the source
};

bool asks_for_gpu(const PodRecord& pod);

// Of a label of nodes, "4"; nullopt also of GPUs that are cut by MIG, which have 0.
std::optional<int> replicas_of_gpu(std::string_view label);

// Makes a trace of the pods that ask for GPUs. Counts in `report` those that do not, and what had
// to be assumed.
JobTrace trace_of_pods(std::vector<PodRecord> pods, const ImportOptions& options,
                       ImportReport& report);

// Those that map all free GPU memory, by their ids in that trace.
std::set<std::string> greedy_pods(const std::vector<PodRecord>& pods);

}  // namespace slicewise::scenarios
