#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/units.hpp"

// The jobs of a cluster, as its log has them. What every importer of job traces makes, and what
// `slicewise replay` reads.
namespace slicewise::scenarios {

// backoffLimit of a Job that does not say (Kubernetes), and the seed of what does not say one.
inline constexpr int kBackoffLimit = 6;
inline constexpr std::uint64_t kUsualSeed = 42;

// One column: values of its own, or a view into a file that is mapped into memory. A trace without
// the column has it empty.
template <class T>
struct TraceColumn {
  std::vector<T> owned;
  std::span<const T> mapped;

  std::span<const T> values() const { return mapped.data() != nullptr ? mapped : owned; }
  bool empty() const { return values().empty(); }
  std::size_t size() const { return values().size(); }
  const T& operator[](std::size_t row) const { return values()[row]; }
};

// How a job ended, in the words that the logs share.
enum class JobState : std::uint8_t {
  Unknown,
  Completed,
  Failed,
  Cancelled,
  TimedOut,
  Running,
  Pending
};

// As the trace files spell it: "Completed".
std::string_view state_name(JobState state);

// A duration that is not known, in columns of durations.
inline constexpr Duration kUnknownDuration{-1};
// A number that is not known, in columns of numbers.
inline constexpr std::int32_t kUnknownNumber = -1;

// A row of a trace, as reports name it.
struct RowPlace {
  std::int64_t row = 0;              // of those that were kept, from 1
  std::optional<std::int64_t> line;  // of the file; absent: it has none, as a binary trace

  // "line 8"; "row 7" where there are no lines.
  std::string text() const {
    return line ? "line " + std::to_string(*line) : "row " + std::to_string(row);
  }
};

// Why jobs of a trace do not run as they were recorded.
enum class Apart : std::uint8_t {
  // Left out.
  NoTime,
  UnknownTime,
  OtherGpus,
  NoGpu,
  // Run, but otherwise.
  Gang,
  TimeLimit,
  PartOfSeveral,
  OtherResource,
  // Never run: no node has as much.
  NodeGpus,
  NodeCpu,
  NodeMemory,
};

// What is so of them: "without a GPU".
std::string_view apart_text(Apart why);

struct ApartJobs {
  Apart why = Apart::NoGpu;
  std::int64_t jobs = 0;
  RowPlace first;
};

// What is known of jobs, column by column: of a trace, or `Of` one job the values.
template <template <class> class Of>
struct JobColumns {
  Of<Duration> arrival;        // since `origin`; the first may be later than 0
  Of<Duration> run;            // how long it runs once it has its GPUs; kUnknownDuration: never
                               // ended, as far as the log knows
  Of<std::int32_t> gpus;       // whole or shared GPUs; 0: none
  Of<std::int32_t> gpu_milli;  // thousandths of each GPU: 1000 = all of it
  Of<std::int32_t> cpu_milli;
  Of<Bytes> memory;
  Of<Bytes> gpu_memory;            // of each GPU
  Of<Duration> observed_wait;      // from arrival to start in the log
  Of<Duration> time_limit;         // asked for by the user
  Of<Duration> deadline;           // from arrival until it should have ended
  Of<std::int32_t> gpu_permille;   // GPU use while it ran, thousandths
  Of<std::int32_t> sm_permille;    // SM activity (DCGM_FI_PROF_SM_ACTIVE), thousandths
  Of<std::int32_t> priority;       // higher goes first
  Of<std::int32_t> backoff_limit;  // times that it comes back after a failure; 0: never
  Of<JobState> state;
  // Into `names`; 0 is the empty name.
  Of<std::uint32_t> id;  // without the column a job is called by its row
  Of<std::uint32_t> user;
  Of<std::uint32_t> group;       // virtual cluster, partition, namespace
  Of<std::uint32_t> project;     // who is charged: Slurm's account, SWF's group
  Of<std::uint32_t> gpu_models;  // allowed models, "V100M16|V100M32"; "" = any
  Of<std::uint32_t> resource;    // extended resource or MIG profile asked for
  Of<std::uint32_t> work;        // what it runs: a model, a controller
  Of<std::uint32_t> profile;     // of the catalogue, for what is not recorded of its use
  Of<std::uint32_t> gang;        // rows with the same name start together
  // Of the node that it ran on or asks for: "g5.xlarge".
  Of<std::uint32_t> instance_type;
  Of<std::uint32_t> ran_on;  // the GPU that it ran on: "node-3/1"
  // One iteration alone, and of it what the host, the GPU and the network are busy with.
  Of<Duration> iteration;
  Of<Duration> iteration_host;
  Of<Duration> iteration_gpu;
  Of<Duration> iteration_network;
};

// Columns of equal length, one row per job, in order of arrival; rows that arrive together keep
// the order of the file. `arrival`, `run` and `gpus` are always there.
struct JobTrace : JobColumns<TraceColumn> {
  std::vector<std::string> names = {""};
  std::optional<std::int64_t> origin_unix_s;  // what `arrival` counts from, when known
  // Whether `run` was measured while jobs shared GPUs: then it is longer than the work.
  bool run_under_sharing = false;
  std::int64_t company_taken_out = 0;   // rows whose `run` is shorter than recorded, see below
  std::shared_ptr<const void> backing;  // keeps mapped columns alive
  // Where the rows stand in a CSV file: from this line on, or where lines were left out or put in
  // order each on its own. 0: nowhere, as in a binary trace.
  std::string file;
  std::uint32_t first_line = 0;
  std::vector<std::uint32_t> lines;

  std::size_t line_of(std::size_t row) const {
    return lines.empty() ? first_line + row : lines[row];
  }
  SourceLocation place_of(std::size_t row) const {
    if (first_line == 0) return {file};
    return {file, static_cast<int>(line_of(row)), 1};
  }
  RowPlace row_place(std::size_t row) const {
    RowPlace place{static_cast<std::int64_t>(row) + 1, std::nullopt};
    if (first_line != 0) place.line = static_cast<std::int64_t>(line_of(row));
    return place;
  }
  std::size_t size() const { return arrival.size(); }
  // Of each of the job's GPUs, in thousandths: all of it where nobody says less.
  std::int32_t milli_of_each(std::size_t row) const {
    return gpu_milli.empty() || gpu_milli[row] < 0 ? 1000 : gpu_milli[row];
  }
  // Kubernetes hands out several GPUs only whole, and so do nodes here.
  bool asks_for_parts_of_several(std::size_t row) const {
    return gpus[row] > 1 && milli_of_each(row) < 1000;
  }
  std::string_view name(const TraceColumn<std::uint32_t>& column, std::size_t row) const {
    return column.empty() ? std::string_view() : std::string_view(names[column[row]]);
  }
};

struct Measured;
struct Workload;

// What a log says of how busy a job kept each of its GPUs, as shares of its time; absent: nothing.
struct RecordedUse {
  std::optional<double> gpu_util;   // nvidia-smi's figure
  std::optional<double> sm_active;  // averaged over the SMs
  std::optional<double> fraction;   // of a GPU, that it asked for
};

// The one rule by which that becomes gpuUtil, gpuBusy and smActive: its utilization, else its SM
// activity (some kernel runs while an SM works, so that is the least), else what it asked for. Of
// what says nothing `measured` stays as it was.
void take_use(const RecordedUse& use, Measured& measured);

// The share of nvidia-smi's GPU utilisation during which the GPU really is held: it counts every
// sample in which some kernel ran. Fitted with models::kOverlappedNorm.
inline constexpr double kBusyOfGpuUtil = 0.75;

// The share of its time alone for which a job holds the GPU; all of it where nothing says less.
double busy_share(const Measured& measured);

// Between what that share lies: some kernel runs while SMs or device memory work, and a sample of
// nvidia-smi counts as a whole. One figure where gpuBusy is given.
struct BusyRange {
  double least = 0;
  double most = 1;
};
BusyRange busy_range(const Measured& measured);

// u, the share of the GPU's capacity that it takes alone: given, else from the counters of DCGM. It
// lies between the share of the time in which an SM has work, averaged over SMs, and the share in
// which some kernel runs; where gpuUtil was counted beside smActive it is their geometric mean
// (models/MODELS.md, MPS), but no more than busy_share(); where it was not the lower one, and
// without smActive the upper one. Of a request (`in_batches` is false) while kernels of it run,
// which then they do all the time: sqrt(smActive), no more than kMostOfSmActive times that.
double capacity_share(const Measured& measured, bool in_batches);

// The most that smActive was seen to fall short of it (models/MODELS.md, MPS).
inline constexpr double kMostOfSmActive = 1.4;

// Between what that lies, where counters stand for it; one figure where it is given.
struct CapacityRange {
  double least = 0;
  double most = 1;
};
CapacityRange capacity_range(const Measured& measured, bool in_batches);

// Between what the mean length of kernels lies where nobody measured it. Source: on an H200 those
// of five networks that answer requests are 3.2 to 9.1 us, of two training steps 7.7 and 7.9 us, of
// large products of matrices and copies 0.12 to 1.7 ms (models/validation/h200.csv). That networks'
// are up to 100 us on slower GPUs and without graphs is assumed.
struct KernelRange {
  Duration least;
  Duration most;
};
inline constexpr KernelRange kRequestKernels{microseconds(3), microseconds(100)};
inline constexpr KernelRange kBatchKernels{microseconds(7), microseconds(1'700)};

// For how long at most kernels of one request, step (else unit) or cell run, alone: none of them
// lasts longer on average. nullopt: nobody says.
std::optional<Duration> kernel_work(const Workload& workload);

// That of its class, but no more than kernel_work().
KernelRange kernel_range(const Workload& workload);

// Which profiles of the catalogue stand for some jobs: "name~=bert.*:PROFILE" for those whose name
// (its column work, else id) the pattern matches as a whole, "name=bert:PROFILE" for that very one;
// user, group and project likewise; "use=0.2..0.5:PROFILE" for those that kept their GPUs so busy.
// Of several profiles, "PROFILE*3|OTHER", one is drawn for each job, here the first three times as
// often.
struct ProfileRule {
  enum class Subject : std::uint8_t { Name, User, Group, Project, Use };
  struct Choice {
    std::string profile;
    double weight = 1;
  };
  Located<std::string> text;  // as written
  Subject subject = Subject::Name;
  bool is_pattern = false;
  std::string value;  // or a regular expression (ECMAScript)
  double least = 0;   // of Use, in shares of 1
  double below = 0;
  std::vector<Choice> choices;
};

Expected<ProfileRule> read_profile_rule(const std::string& text, const SourceLocation& where = {});

// A rule on each line; blank lines and those that begin with # are passed over.
Expected<std::vector<ProfileRule>> read_profile_rules(const SourceText& source);

// Fills in the column `profile` of jobs with GPUs that have none; the first rule that fits counts.
// Draws depend on the seed and the row alone. Returns how many jobs no rule fitted.
std::int64_t give_profiles(JobTrace& trace, std::span<const ProfileRule> rules, std::uint64_t seed);

// Takes out of `run` what jobs lost to those beside them on the same GPU while they were recorded:
// its time is shared evenly (Assumed), so that a job whose neighbours and itself kept it busy for
// more than all of its time went slower by that factor. Needs ran_on, and does nothing unless
// run_under_sharing, which it resets.
void take_out_company(JobTrace& trace);

// The trace as CSV: a header, then one line per job; columns that the trace lacks are left out.
// Seconds are written as exact decimals. `slicewise import --help` and scenarios/README.md list the
// columns.
std::string job_trace_csv(const JobTrace& trace);

// The same in the binary form: a directory of columns, then the columns as they lie in memory
// (little-endian). Reading it back costs nothing but the pages that are touched.
std::string job_trace_binary(const JobTrace& trace);

// Whether these bytes start like a binary trace of jobs.
bool is_binary_job_trace(std::string_view bytes);

// Reads either form. The columns of a binary trace are views into `source.text` when `backing`
// keeps that alive, else copies. Every bad line comes back (the first few with their text), unless
// there is `skipped`: then bad lines are left out and counted there by reason, each with its first
// line.
Expected<JobTrace> read_job_trace(const SourceText& source,
                                  std::shared_ptr<const void> backing = nullptr,
                                  Diagnostics* skipped = nullptr);

// The same for bytes that are mapped into memory. REQUIRES: is_binary_job_trace(bytes).
Expected<JobTrace> map_job_trace(const std::string& name, std::string_view bytes,
                                 std::shared_ptr<const void> backing);

// A node of a cluster, or several alike.
struct NodeRow {
  std::string name;
  Millicores cpu;
  Bytes memory;
  int gpus = 0;
  std::string gpu_model;  // "" = any job may use it
  std::int64_t count = 1;
};

// Reads a CSV list of nodes with a header: name or sn, cpu_milli, memory_mib, gpu (how many), and
// if there are such columns model and count. That is the form of Alibaba's openb node lists. Every
// line that cannot be read comes back (the first few with their text).
Expected<std::vector<NodeRow>> read_node_list(const SourceText& csv);

// A way of sharing GPUs, as `slicewise replay --sharing` names it.
struct SharingWay {
  enum class Kind : std::uint8_t { Exclusive, TimeSlicing, Mps, Mig };
  Kind kind = Kind::Exclusive;
  int replicas = 1;        // of TimeSlicing and Mps
  std::string mig_config;  // of Mig: "all-1g.5gb"
  std::string text;        // as written
};

// "exclusive", "time-slicing:4", "mps:4", "mig:all-1g.5gb".
Expected<SharingWay> read_sharing_way(const std::string& text, const SourceLocation& where = {});

// A file of `kind: Replay`: a trace of jobs, a cluster and the schedulers to compare, as the flags
// of `slicewise replay` say them.
struct ReplayFile {
  struct Instances {
    Located<std::string> type;
    std::int64_t count = 1;
  };
  struct Nodes {
    std::int64_t count = 1;
    int gpus = 0;
    std::string gpu_model;          // "": any job may use it
    std::optional<Millicores> cpu;  // absent, as memory: GPUs alone count
    std::optional<Bytes> memory;
  };

  std::string name;
  Located<std::string> trace;  // as written; relative to the file
  int repeat = 1;
  std::optional<Duration> shift;
  // One of these four.
  std::optional<std::int64_t> gpus;  // one pool
  std::vector<Nodes> nodes;
  std::string node_list;  // CSV file, relative to the file
  std::vector<Instances> instances;
  std::string region = "us-east-1";  // of the instances
  bool any_gpu = false;
  std::vector<std::string> queues;      // "fifo"; empty: that
  std::vector<std::string> placements;  // "best-fit"; empty: that
  // As read_sharing_way() takes them; empty: jobs get the shares of GPUs that the trace says.
  std::vector<Located<std::string>> sharings;
  std::vector<Located<std::string>> profile_rules;  // as read_profile_rule() takes them
  bool restart_preempted = false;
  int backoff_limit = kBackoffLimit;
  std::optional<double> inflate;  // share of the GPUs
  std::uint64_t seed = kUsualSeed;
  int replications = 1;
};

// Whether a text is meant to be such a file: a line says so.
bool is_replay_file(const SourceText& source);

// Every mistake at once, in file order.
Expected<ReplayFile> read_replay_file(const SourceText& source);

}  // namespace slicewise::scenarios
