#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/choice.hpp"
#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/metrics/histogram.hpp"
#include "slicewise/sim/metrics/ratio_histogram.hpp"
#include "slicewise/sim/placement/placement.hpp"
#include "slicewise/sim/replay/sharing.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/stamp.hpp"
#include "slicewise/units.hpp"

// A trace of jobs, replayed on a cluster: who waits for how long under which scheduler.
namespace slicewise::sim {

// Which waiting job goes next. "Fits" means that the placement finds GPUs for it now.
enum class QueuePolicy : std::uint8_t {
  Fifo,      // strict: the oldest job blocks all behind it until it fits
  Backfill,  // the oldest that fits (kube-scheduler without priorities)
  Easy,      // as Fifo, but later jobs may start where they do not delay the oldest one, judged by
             // their time limits (Lifka 1995); without limits by their true run times
  Priority,  // higher priority first, then the oldest that fits; preempts lower priorities
  ShortestTime,     // SRTF: preemptive, least remaining run time first
  ShortestService,  // SRSF: preemptive, least remaining run time x GPUs first
  // Of jobs that share all of their GPUs: they need to know what an iteration of each does.
  Muri,    // Muri-L: least GPU time so far first; groups of jobs interleave their iterations
  AntMan,  // priority 0 owns its GPUs, others take what that leaves
};

inline constexpr std::array kQueuePolicies = {
    Choice{"fifo", QueuePolicy::Fifo},         Choice{"backfill", QueuePolicy::Backfill},
    Choice{"easy", QueuePolicy::Easy},         Choice{"priority", QueuePolicy::Priority},
    Choice{"srtf", QueuePolicy::ShortestTime}, Choice{"srsf", QueuePolicy::ShortestService},
    Choice{"muri", QueuePolicy::Muri},         Choice{"antman", QueuePolicy::AntMan}};
constexpr std::string_view policy_name(QueuePolicy policy) {
  return word_of(kQueuePolicies, policy);
}

// Whether it gives GPUs to several jobs at a time and chooses them by itself: no placement.
constexpr bool interleaves(QueuePolicy policy) {
  return policy == QueuePolicy::Muri || policy == QueuePolicy::AntMan;
}

// Nodes, or one pool of GPUs that any job may take any of.
struct ReplayCluster {
  std::vector<NodeShape> nodes;
  std::int64_t pool_gpus = 0;  // when there are no nodes
  // Of a job, on a cluster whose nodes are described no further: its GPUs count, not its CPUs,
  // memory and GPU models. Always so for a pool.
  bool only_gpus = false;
  bool any_gpu_model = false;  // jobs take GPUs of any model
  // What a trace calls a model, and the models that it means: "a100" is both sizes of memory. What
  // is not here means the model of that very name.
  std::map<std::string, std::vector<std::string>, std::less<>> gpu_names;
};

// What the jobs of one line of a table have in common.
enum class GroupBy : std::uint8_t { Nothing, User, Group, Project, Size };

struct ReplaySettings {
  ReplayCluster cluster;
  // Jobs that meet on a GPU slow each other down; nullptr: they do not. The names of the nodes are
  // its instance types. REQUIRES: a queue policy that is not SRTF or SRSF.
  std::shared_ptr<const GpuSharing> sharing;
  GroupBy group_by = GroupBy::Nothing;
  QueuePolicy queue = QueuePolicy::Fifo;
  NodePolicy placement = NodePolicy::BestFit;  // REQUIRES: sharing, if it knows sharing
  std::uint64_t seed = scenarios::kUsualSeed;
  // The trace this many times, each `shift` later than the one before it.
  int repeat = 1;
  Duration shift;
  bool restart_preempted =
      false;  // a preempted job loses its work (Kubernetes without checkpoints)
  // Times that a job without a limit of its own comes back after it found no GPU memory left, as
  // backoffLimit of a Job; 0: never.
  int backoff_limit = scenarios::kBackoffLimit;
  bool keep_jobs = false;  // fill ReplayResult::jobs
  // Again with the least and the most that busy time may be of GPU_UTIL, where sharing hangs on it.
  bool sampled_inputs = false;
  // Called now and then with (jobs that arrived, all jobs, time of the replay).
  std::function<void(std::int64_t done, std::int64_t total, TimePoint now)> progress;
  const std::atomic<bool>* interrupted = nullptr;
};

// When a job started first and ended; kNever: it did not.
struct JobTimes {
  TimePoint start = kNever;
  TimePoint end = kNever;
};

// Jobs of like size.
struct ReplayClass {
  std::string name;  // "1 GPU", "2-4 GPUs"
  std::int64_t finished = 0;
  Histogram wait;
  Histogram completion;  // from arrival to end
};

struct ReplayGroup {
  std::string name;
  std::int64_t finished = 0;
  std::int64_t lost = 0;     // never ran, or failed
  Int128 wait_ns = 0;        // sum
  Int128 completion_ns = 0;  // sum
  RatioHistogram slowdown;   // under sharing

  // nullopt: no job finished.
  std::optional<Duration> wait_mean() const { return mean_of(wait_ns); }
  std::optional<Duration> completion_mean() const { return mean_of(completion_ns); }

 private:
  std::optional<Duration> mean_of(Int128 sum) const {
    if (finished == 0) return std::nullopt;
    return Duration{static_cast<std::int64_t>(sum / finished)};
  }
};

// Why a job was turned away that the empty cluster has GPUs enough for.
enum class TurnedAway : std::uint8_t {
  GpuMemory,    // it needs more GPU memory than a job may have anywhere
  SeveralGpus,  // MIG instances do not work together
  OtherSlice,   // it asks for a MIG profile that the layout does not have
};

// "they need several GPUs, and MIG instances do not work together". Defined in sim/judge.
std::string_view why_turned_away(TurnedAway reason);

// Of how many jobs with a GPU the trace says what they bring to sharing.
struct JobFigures {
  std::int64_t jobs = 0;
  std::int64_t with_use = 0;       // of the GPU, or of its SMs at least
  std::int64_t with_util = 0;      // of with_use: GPU_UTIL, kBusyOfGpuUtil of which is busy time
  std::int64_t with_fraction = 0;  // nothing of their use, but they asked for a part of a GPU
  std::int64_t with_sm = 0;        // SM activity
  std::int64_t with_memory = 0;    // GPU memory peak
  std::int64_t with_gpu = 0;       // the model of GPU that they ran on, and the catalogue has it
  std::int64_t by_profile = 0;     // of with_use: not that, but a profile of the catalogue
};

struct SlowedUser {
  std::string name;
  std::int64_t jobs = 0;  // finished
  double mean_slowdown = 1;
};

// What jobs did to each other, of the finished ones with a GPU.
struct SharingFigures {
  struct Refusal {
    TurnedAway reason = TurnedAway::GpuMemory;
    std::int64_t jobs = 0;
    scenarios::RowPlace first;
  };
  JobFigures known;               // rows of the trace
  RatioHistogram slowdown;        // time on the GPU / alone on a whole GPU
  RatioHistogram bounded;         // completion / time alone, of which 10 s count at least
  std::vector<SlowedUser> users;  // by mean slowdown, the worst first, twenty at most
  std::int64_t user_count = 0;    // of all
  std::int64_t oom_killed = 0;    // times: the GPU had no memory left
  std::int64_t failed = 0;        // jobs that were killed once more than they are tried again
  std::vector<Refusal> refusals;  // those with jobs
  // Rows that asked for more of a GPU than a share of it is, and got one share.
  std::int64_t asked_for_more = 0;
  scenarios::RowPlace first_asked_for_more;
  double gpu_busy = 0;   // share of the time of all GPUs: kernels run
  double sm_active = 0;  // likewise: SMs work
  double switching = 0;  // likewise: contexts are switched

  std::int64_t refused() const {
    std::int64_t jobs = 0;
    for (const Refusal& refusal : refusals) jobs += refusal.jobs;
    return jobs;
  }
};

// Means over equal steps from the first arrival on, of what was looked at as often as it takes.
// None of less than a second.
struct ReplaySeries {
  Duration step;
  std::vector<double> waiting;  // jobs in the queue
  std::vector<double> running;  // jobs
  std::vector<double> gpus;     // that jobs hold
};

struct ReplayResult {
  std::int64_t jobs = 0;  // of the trace, all repetitions
  std::int64_t finished = 0;
  std::int64_t without_run = 0;  // left out: their run time is not known
  std::int64_t never_fit = 0;    // dropped: they ask for more than the empty cluster has
  std::optional<std::size_t> first_never_fit;  // row
  std::int64_t started_at_once = 0;
  std::int64_t preemptions = 0;
  // Time in which a job did not make progress: from arrival to end, less its run time.
  Histogram wait;
  Histogram completion;              // from arrival to end
  std::vector<ReplayClass> classes;  // those with jobs, small to large
  std::vector<ReplayGroup> groups;   // by ReplaySettings::group_by, worst first
  std::optional<SharingFigures> sharing;
  ReplaySeries series;
  TimePoint first_arrival;
  TimePoint last_end;
  double total_gpus = 0;
  double peak_gpus = 0;       // allocated at once
  double gpu_hours = 0;       // of finished work
  double lost_gpu_hours = 0;  // work that preempted jobs did again
  std::int64_t most_waiting = 0;
  std::int64_t events = 0;          // arrivals, ends and preemptions
  bool perfect_estimates = false;   // Easy without time limits in the trace
  bool interrupted = false;         // stopped early: jobs that had not ended are missing
  std::vector<JobTimes> job_times;  // by row, then repetition, when keep_jobs

  Duration makespan() const { return last_end - first_arrival; }
  // Allocated GPU time of finished work over GPUs x makespan: above 1 where several jobs are on a
  // GPU at a time.
  double utilization() const;
};

// Jobs start at the moment they get their GPUs and run for `run`; ends at an instant come before
// starts. Not modelled: start-up times, failures, slowdown by neighbours but under
// ReplaySettings::sharing. Rows of one gang start together or not at all. Without sharing GPU
// shares are honoured as they are (`gpu_milli`): traces have them, Kubernetes does not; with it a
// job with one GPU has a ticket, one with several has whole GPUs. Errors: a repetition that
// overlaps the one before it, times beyond 292 years.
Expected<ReplayResult> replay(const scenarios::JobTrace& trace, const ReplaySettings& settings);

// Shapes of a trace's rows, each once, and how often it comes.
struct TraceShapes {
  std::vector<JobShape> shapes;
  std::vector<ShapeId> of_row;
  std::vector<TypicalJob> typical;  // the most frequent ones that cover 95 % of the rows
};
// `tickets`: of each GPU; a job with one GPU takes one. 0: it takes what the trace says.
TraceShapes shapes_of(const scenarios::JobTrace& trace, const ReplayCluster& cluster,
                      int tickets = 0);

// How much of a cluster's GPUs a placement policy can hand out before fragments stop it: the
// experiment of Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent", USENIX ATC'23.

struct InflationJob {
  std::string name;
  ShapeId shape = 0;
};

struct InflationInput {
  std::vector<NodeShape> nodes;  // any order: ties go to the smallest name
  std::vector<JobShape> shapes;
  std::vector<InflationJob> jobs;  // the rows of the trace
};

struct InflationPoint {
  int arrived_percent = 0;       // GPUs asked for so far, of the cluster's GPUs; rounded
  double allocated_percent = 0;  // of the cluster's GPUs; mean over the jobs that arrived in this
                                 // percent
};

struct InflationResult {
  std::vector<InflationPoint> curve;  // ascending; a percent that no job ends in is left out
  double allocated_percent = 0;       // at the target: of the last point of the curve
  std::int64_t arrived = 0;           // jobs
  std::int64_t failed = 0;            // jobs that fitted nowhere: dropped
};

// Jobs sorted by name and shuffled with the seed arrive one after the other and stay. They are
// followed by rows drawn at random with replacement until the next would take the GPUs asked for
// above `target_percent` of the cluster's; of a trace that asks for more, rows drawn at random are
// left out instead. Fgd takes its typical jobs from the rows. Pure: same input and seed, same
// result. REQUIRES: a node with a GPU, a job that asks for one.
InflationResult inflate(const InflationInput& input, NodePolicy policy, std::uint64_t seed,
                        int target_percent);

// One trace on one cluster under several schedulers, side by side.

struct Scheduling {
  QueuePolicy queue = QueuePolicy::Fifo;
  NodePolicy placement = NodePolicy::BestFit;
  std::shared_ptr<const GpuSharing> sharing{};
};

// The settings with what the scheduling says.
ReplaySettings under(const Scheduling& scheduling, ReplaySettings settings);

// What reports say about where the figures come from.
struct ReplayOrigin {
  Stamp stamp;                      // its scenario is the trace: file and hash of its bytes
  std::string cluster;              // "one pool of 2,000 GPUs", "250 x p3.16xlarge"
  std::optional<UsdPerHour> price;  // of all nodes together
};

struct ReplayOutcome {
  Scheduling scheduling;
  ReplayResult result;
  std::optional<Usd> cost;  // of all nodes from the first arrival to the last end
  Verdict verdict;
  // ReplaySettings::sampled_inputs: waitMean, completionMean, slowdownMean and costUsd as they are
  // for the least, the usual and the most of GPU_UTIL.
  std::vector<FigureRange> ranges = {};

  std::optional<Usd> cost_per_job() const;          // finished
  std::optional<double> gpu_hours_per_usd() const;  // of finished work
};

// Under which scheduling jobs are done soonest in the mean, if busy time is so much of GPU_UTIL.
struct FastestAt {
  double busy_of_util = 0;
  std::size_t outcome = 0;
};

struct ReplayStudy {
  ReplayOrigin origin;
  bool on_nodes = false;  // else one pool: placement means nothing
  int repeat = 1;
  Duration shift;
  bool restart_preempted = false;
  int backoff_limit = scenarios::kBackoffLimit;
  bool run_under_sharing = false;      // the trace's run times are longer than the work
  std::int64_t company_taken_out = 0;  // rows whose time with neighbours was taken out of them
  GroupBy group_by = GroupBy::Nothing;
  std::vector<ReplayOutcome> outcomes;
  std::vector<FastestAt> fastest;  // of several outcomes with ranges
  bool interrupted = false;
  Diagnostics findings;

  bool shares() const { return !outcomes.empty() && outcomes.front().result.sharing; }
};

// Jobs that the empty cluster cannot hold stay Pending. Those whose run time is not known were not
// submitted, and those that an interrupt cut off are not judged. Defined in sim/judge.
Verdict judge(const ReplayResult& replayed, bool allow_pending);

// Replays under each scheduling, in parallel, and judges each; the number of threads changes no
// byte. The first has the jobs of settings.keep_jobs. settings.progress gets the jobs of all of
// them together. When interrupted, schedulings that had not started are missing. The origin's stamp
// says whether Pending jobs count; seed and runs are filled in.
Expected<ReplayStudy> replay_each(const scenarios::JobTrace& trace, const ReplaySettings& settings,
                                  std::span<const Scheduling> schedulings,
                                  const ReplayOrigin& origin, const RunOptions& options);

struct InflationOutcome {
  NodePolicy placement = NodePolicy::BestFit;
  std::vector<InflationResult> by_seed;

  double mean_allocated_percent() const;
  std::optional<double> standard_deviation() const;  // of the seeds; nullopt with one
};

struct InflationStudy {
  ReplayOrigin origin;  // its seed is that of the first run; the others follow
  int target_percent = 0;
  std::vector<InflationOutcome> outcomes;
  bool interrupted = false;
};

// The inflation experiment under each placement with `seeds` seeds, in parallel. It may ask for
// more than there is on purpose, so nothing is judged. Errors: no job that asks for a GPU, no node
// with one.
Expected<InflationStudy> inflate_each(const scenarios::JobTrace& trace,
                                      const ReplayCluster& cluster,
                                      std::span<const NodePolicy> placements, int target_percent,
                                      std::uint64_t seed, int seeds, const ReplayOrigin& origin,
                                      const RunOptions& options);

}  // namespace slicewise::sim
