#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/validation.hpp"
#include "slicewise/units.hpp"

// What a user measured of workloads of his own, alone and beside others.
namespace slicewise::models {

enum class MeasuredSharing : std::uint8_t { Alone, Mps, TimeSlicing };

// What the benchmark of a language model server sent: some requests at once, then one whenever one
// was answered. Lengths in the order of arrival, as many of one as of the other.
struct ServedRequests {
  int at_once = 1;
  std::vector<std::int32_t> inputs;   // tokens of the prompts
  std::vector<std::int32_t> outputs;  // of the answers
  bool listed = false;                // false: every length is the mean
  Duration first_token;               // mean time to it
};

// Shares of the time as DCGM counts them.
struct Activity {
  std::optional<double> gpu_util;     // some kernel ran in the sample: GPU_UTIL
  std::optional<double> sm_active;    // an SM had work, mean over SMs: SM_ACTIVE
  std::optional<double> dram_active;  // memory sent or received: DRAM_ACTIVE
};

// The mean time of one step (a batch) of one process.
struct Measurement {
  std::string workload;
  std::string gpu;  // GpuModel::name
  int batch = 1;
  std::string slice = "full";  // MIG profile
  DomainShare share;           // what the slice has of the GPU
  MeasuredSharing sharing = MeasuredSharing::Alone;
  double active_threads = 1;        // (0, 1]
  int clients = 1;                  // equal processes on the slice, this one included
  std::string beside;               // the workload of one more process there; "" for none
  std::optional<int> beside_batch;  // its batch; nullopt: not said
  Duration time;
  bool is_busy = false;  // of a recorded window: for as long the GPU had its work, the host aside
  std::optional<double> time_sigma;      // of the logarithm of `time` from step to step, alone
  Duration kernel_time{};                // mean length of its kernels; 0 when not measured
  Duration host_time{};                  // CPU time of the host beside `time`; 0 when not measured
  Activity activity;                     // of the GPU, alone
  std::optional<ServedRequests> served;  // `time` is that of each token after the first
  // To each process of a row that is not alone requests come at random, so many in a second; `time`
  // is their mean latency, queueing included. 0: each as soon as the last is answered.
  double requests_per_second = 0;
  Duration p99{};                     // of their latencies
  bool has_unused_quantiles = false;  // of a row that is not alone: note_unused_quantiles()
  std::string driver;
  std::string date;
  SourceLocation where;
};

// What a file leaves out: a tool that measures one workload does not name it.
struct MeasuredContext {
  std::string workload;
  std::string gpu;
  std::optional<int> batch{};
  std::optional<MeasuredSharing> sharing{};  // of several processes
  std::string driver{};
  std::string date{};
};

// The GPU that flags name for a file that names none; nullptr, with a problem, where they do not or
// the catalogue does not know it.
const GpuModel* gpu_of(const MeasuredContext& context, const Catalogue& catalogue,
                       const std::string& file, Diagnostics& problems);

// Reads one of
//   a CSV file, or a JSON list of objects, with the columns workload, gpu and one of latency_ms (of
//   a step) and rate_per_s (items of one process); batch, slice, sharing (alone, mps,
//   time-slicing), p50_ms, p90_ms, p95_ms and p99_ms (quantiles beside that mean, which are taken
//   of rows alone), requests_per_s (that come at random to each process that shares a GPU, whose
//   p99_ms is then held against the models), threads_percent,
//   clients, beside (another workload), beside_batch, kernel_us (mean length of its kernels),
//   host_cpu_ms (CPU time of a step beside its latency), gpu_util_percent, sm_active_percent and
//   dram_active_percent (of rows alone), driver and date may be absent,
//
//   the CSV report of Triton's perf_analyzer: its row of the lowest concurrency is the workload
//   alone, a step takes its `Server Compute Infer`, and the share of that in which kernels ran
//   follows of `Avg GPU Utilization`, where --collect-metrics was given,
//
//   what nsys stats wrote as CSV: the NVTX range that is a step, and the mean length of kernels,
//
//   the JSON of `vllm bench serve` or genai-perf: a step is one token
//   of every request, the batch the requests that are served at a time, as the file has it or
//   `context` says; lengths that the file does not list (vLLM's --save-detailed) are all the mean;
//   a run at a request rate has no measurement, unless it is known how many were served at a time,
//   the document of tools/gpu_probe: its kernels under MPS, or on MIG slices.
// All mistakes at once, with line and column.
Expected<std::vector<Measurement>> read_measurements(const SourceText& file,
                                                     const Catalogue& catalogue,
                                                     const MeasuredContext& context = {});

// Whether the file is a summary of kernels by nsys stats that has no step: the mean length of the
// kernels of a process whose time another file has.
bool is_kernel_summary(const SourceText& file);
Expected<Duration> read_kernel_summary(const SourceText& file);  // REQUIRES: is_kernel_summary()

// What of a tool's file is a measurement, where not all of it is; "" of all others.
std::string what_is_read_of(const SourceText& file);

// What ships of a source in the columns of read_measurements(). Throws std::runtime_error where it
// cannot be read: a bug.
std::vector<Measurement> shipped_measurements(std::string_view source, const Catalogue& catalogue);

// What rows alone on the whole GPU say of a workload, the mean over them: of those that have DCGM's
// shares beside the time, where some do. The time is 0 where there are none.
MeasuredProcess process_alone(const std::vector<Measurement>& measurements, const std::string& gpu,
                              const std::string& workload, int batch);

// The processes that shared a whole GPU in turns or, without limits, under MPS, and whose time
// alone was measured: pairs of which both rows are there, and copies of which DCGM's shares are.
std::vector<MeasuredCompany> companies_of(const std::vector<Measurement>& measurements,
                                          const std::string& gpu);

// Adds the measurements to what the models are held against: of each GPU a study of those alone and
// under MPS, fitted on one process and the fewest under MPS, on the whole GPU and the smallest
// slice; one of those in turns of which no shares are known, from the time alone; and for each way
// of sharing one of copies and pairs from the time alone and DCGM's shares, and one of pairs
// without shares; and one of the p99 of requests that came at random. `file` is where they come
// from. Returns notes: which rows no study has, and why.
Diagnostics add_studies(const std::vector<Measurement>& measurements, const std::string& file,
                        ValidationSet& set);

// Says, once, that nothing is made of quantiles of rows that share a GPU.
void note_unused_quantiles(const std::vector<Measurement>& measurements, Diagnostics& notes);

// "alone on the whole GPU", "2 processes under MPS on 1g.10gb": without workload and batch.
std::string setting_of(const Measurement& measurement);

// Whether each was measured beside the other, as far as they say with which batch.
bool are_a_pair(const Measurement& first, const Measurement& second);

}  // namespace slicewise::models
