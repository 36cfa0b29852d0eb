#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/units.hpp"

// What a Service or a Notebook is asked to do, how its pods answer, and what is demanded of it.
// Plain data, part of scenario.hpp.
namespace slicewise::scenarios {

// Where figures come from.
enum class Provenance : std::uint8_t { Measured, Catalog, Assumed };

// A positive random time.
struct ServiceTime {
  enum class Law : std::uint8_t { Deterministic, Exponential, LogNormal };
  Law law = Law::Deterministic;
  Duration mean;
  double sigma = 0;  // of the logarithm, LogNormal only
};

// A positive random whole number: tokens of a prompt, bytes that a session holds.
struct RandomAmount {
  enum class Law : std::uint8_t { Constant, Exponential, LogNormal };
  Law law = Law::Constant;
  double mean = 0;
  double sigma = 0;                   // of the logarithm, LogNormal only
  std::optional<std::int64_t> least;  // what is drawn is cut to least..most
  std::optional<std::int64_t> most;
};

// Blocks of prompts, as many tokens each: prompts that begin alike share their first ones. A tree:
// block n > 0 stands for all tokens up to its end, and comes after block before[n] < n; 0 is none.
struct PromptBlocks {
  using Block = std::uint32_t;
  std::int32_t tokens = 512;  // of each
  std::vector<Block> before = {0};
};

// Requests of a trace file, in order of arrival.
struct RequestTrace {
  struct Row {
    Duration at;  // since the first row of the window
    std::int32_t input_tokens = 0;
    std::int32_t output_tokens = 0;
    PromptBlocks::Block prompt = 0;  // the last whole block of the prompt that is known
  };
  Located<std::string> file;         // as written; relative to the scenario file
  Located<std::string> time_column;  // "" = by its usual names
  Located<std::string> input_column;
  Located<std::string> output_column;
  Located<std::string> blocks_column;
  int block_tokens = 512;          // of the blocks in that column
  Duration from;                   // of the window, since the first request of the file
  std::optional<Duration> length;  // absent: to the end of the file
  bool has_tokens = false;
  std::vector<Row> rows;                       // within the window, `at` not scaled
  std::shared_ptr<const PromptBlocks> blocks;  // of the prompts; null: nobody knows them
  double scale = 1;          // of the rate: at 2 the same requests come in half of the time
  bool repeats = false;      // starts over when it is through
  std::int64_t skipped = 0;  // rows outside the window
};

// The rate follows the clock of the day: a smooth curve through `mean` with one maximum.
struct Diurnal {
  Rate peak;
  Duration peak_at;     // local time of day
  Duration utc_offset;  // local time - UTC
  double weekend = 1;   // rate on Saturday and Sunday against a working day
};

// Bursts of a Markov-modulated Poisson process: the rate jumps between two values at random.
struct Bursts {
  Rate rate;        // within a burst
  Duration length;  // of a burst, mean
  Duration every;   // from the start of a burst to that of the next, mean
};

struct RateStep {
  Duration at;  // from the start of the run
  Rate rate;    // until the next step; may be 0
};

// A stretch of time of one client, during which its requests come as a renewal process: gaps of the
// family `law` with this rate and variation (ServeGen, Xiang et al. 2025, arXiv 2505.09999).
struct ClientWindow {
  enum class Law : std::uint8_t { Exponential, Gamma, Weibull };
  std::uint32_t client = 0;
  Duration at;  // since the start of the file's first day
  Rate rate;    // may be 0
  Law law = Law::Exponential;
  double variation = 1;  // coefficient of variation of the gaps
};

// Clients whose rates and variations are known window by window, all together.
struct ClientTraffic {
  Located<std::string> file;          // as written; relative to the scenario file
  std::vector<ClientWindow> windows;  // in order of client, then time
  Duration window;                    // length of each
  Duration from;                      // of the file, where the run starts
  bool repeats = false;               // starts over when it is through
  double scale = 1;                   // of all rates
};

// N clients, each of which waits for its response, thinks, and asks again.
struct ClosedLoop {
  int clients = 1;
  Duration think_time;  // mean, exponential
};

// Requests of a Service or a pipeline. The shape says how the rate changes with time, the gaps how
// arrivals vary around it; a trace and a closed loop bring both.
struct Traffic {
  enum class Gaps : std::uint8_t { Poisson, Constant, Gamma, Weibull };
  Gaps gaps = Gaps::Poisson;
  double gap_variation = 1;  // coefficient of variation of the gaps, Gamma and Weibull
  Rate mean;                 // over the run, or over a week of Diurnal's working days
  std::variant<std::monostate, Diurnal, Bursts, std::vector<RateStep>, RequestTrace, ClientTraffic,
               ClosedLoop>
      shape;  // monostate: the same rate all the time
  std::optional<Provenance> provenance;
  SourceLocation where;
};

// Which replica a request goes to.
enum class Routing : std::uint8_t {
  Random,  // kube-proxy's iptables mode
  RoundRobin,
  LeastOutstanding,
  TwoChoices,   // the less loaded of two at random
  PrefixAware,  // which has most of the prompt in its KV cache
};

// How a pod of a Service answers.
struct Serving {
  Routing routing = Routing::Random;
  std::optional<int> queue_limit;  // waiting requests per pod; a request that finds more is dropped
  std::optional<Duration> timeout;  // a request that waited longer is dropped unanswered
  int concurrency = 0;              // requests of a pod between arrival at a worker and response;
                                    // 0: no limit
  int max_batch = 1;                // requests that the GPU answers in one go
  Duration max_delay;               // how long a batch that is not full waits for more
  Duration cpu_before;              // host CPU time of a request before the GPU
  Duration cpu_after;               // ... and after it
  int bursts = 1;                   // of equal length, in which the GPU works on a batch
  Duration cpu_between;             // host CPU time between two bursts
  bool copies = true;               // of the inputs to the GPU before all and of the answers after
                                    // all, for both of which the host waits
  int retries = 0;                  // of a request that was dropped or lost, by its client
  Duration retry_after;             // back-off before the first retry; doubles
};

// Tokens that prompts begin with alike: a system prompt.
struct SharedPrefix {
  int tokens = 1;
  double share = 1;  // of the prompts that begin with one
  int count = 1;     // different ones, each as frequent
};

// LoRA adapters of one base model, of which each request names one or none (vLLM's --enable-lora).
struct LoraAdapters {
  enum class Popularity : std::uint8_t {
    Even,
    Zipf,  // the k-th is asked for one k-th as often as the first
  };
  int count = 1;            // different ones
  int at_once = 1;          // of a step; so many have a place in GPU memory (vLLM's max_loras)
  std::optional<int> rank;  // the largest of any (vLLM's max_lora_rank)
  Bytes memory;             // of such a place, on all GPUs of the pod together
  double share = 1;         // of the requests that name one
  Popularity popularity = Popularity::Zipf;
  std::optional<Duration> load_time;     // from host memory into a place
  Duration step_time = milliseconds(2);  // of a step with any, for their kernels
};

// An engine that sleeps while others have its GPU (vLLM's --enable-sleep-mode).
struct EngineSleep {
  int level = 1;                // 1: the weights wait in host memory; 2: they are read again
  Bytes memory = gibibytes(1);  // of the GPU that stays taken, without the CUDA context
  std::optional<Duration> wake_time;
  std::optional<Duration> sleep_time;
};

// What of a request a server does: all, or with others the one half (disaggregated serving). Who
// has the prompt gives the first token and the keys and values; who decodes gives the rest.
enum class LlmRole : std::uint8_t { Both, Prefill, Decode };

// A language model served with continuous batching (vLLM, TensorRT-LLM): T of a step over N tokens
// = || T_w, N t ||_2 + r * cached tokens of the running sequences + overhead.
struct Llm {
  LlmRole role = LlmRole::Both;
  Located<std::string> model;             // step law of the catalogue, "" = none
  std::optional<Duration> weights_time;   // T_w: the weights are read once
  std::optional<double> token_seconds;    // t: compute of one token
  std::optional<double> kv_read_seconds;  // r: reading the cache of one token
  std::optional<Duration> overhead;       // framework, per step
  std::optional<Bytes> weights;           // GPU memory
  std::optional<Bytes> kv_bytes_per_token;
  std::optional<Bytes> kv_cache;    // pool reserved at start; absent: by memory_utilization
  double memory_utilization = 0.9;  // share of the GPU's (or limit's) memory that the server takes
  std::optional<int> tensor_parallel_size;  // GPUs that share every layer; absent: those of the pod
  std::string quantization;                 // of the layers: "FP8", "INT4"; "": as the model is
  std::string kv_cache_dtype;               // "FP8"; "": as the model is
  std::optional<int> max_sequences;         // running at once; absent: vLLM's own, by the GPU
  std::optional<int> max_batched_tokens;    // of a step, decoded and prefilled; likewise
  std::optional<int> max_model_len;  // tokens of a request: what the pool has to hold at start
  bool prefix_caching = true;        // of blocks that are known to be alike
  int block_size = 16;               // tokens: what is found is a multiple of it
  std::optional<SharedPrefix> shared_prefix;
  double prefix_reuse = 0;  // share of prompt tokens found in the cache, whichever
  std::optional<LoraAdapters> adapters;
  std::optional<EngineSleep> sleep;
  std::optional<RandomAmount> input;  // tokens; absent: from the trace
  std::optional<RandomAmount> output;
  SourceLocation where;
};

// HPA or KEDA.
struct Autoscaling {
  enum class Metric : std::uint8_t { Queue, Concurrency, RequestRate, GpuUtilization };
  int min_replicas = 1;  // 0: KEDA scales to zero
  int max_replicas = 1;
  std::optional<int> start_replicas;  // when the run begins; absent: as the schedule has it
  Metric metric = Metric::Concurrency;
  // Per pod: waiting requests, requests in the pod, requests/s, 70 for 70 % busy; 0: there is no
  // metric, the schedule alone decides.
  double target = 1;
  std::vector<ReplicaWindow> schedule{};  // beside the metric: the larger wish counts
  Duration sync_period = seconds(15);
  Duration window = seconds(60);              // over which the metric is averaged
  Duration scale_down_window = seconds(300);  // stabilization: the largest wish of it counts
  Duration scale_up_window;
  double tolerance = 0.1;
  Duration cooldown = seconds(300);  // without requests or a window, before the last pod goes
  SourceLocation where;

  bool has_metric() const { return target > 0; }
  // Replicas at once: without a metric nobody asks for more than the windows do.
  int most_wanted() const {
    int most = has_metric() ? max_replicas : std::max(min_replicas, start_replicas.value_or(0));
    for (const ReplicaWindow& open : schedule) most = std::max(most, open.replicas);
    return most;
  }
  // Whether requests that find no pod wait for one, and wake it (KEDA's HTTP add-on).
  bool holds_requests() const { return min_replicas == 0 && has_metric(); }
};

// People who open a notebook, run a cell now and then, and leave it open.
struct Notebooks {
  int users = 1;
  double sessions_per_day = 1;     // of a user, on working days
  ServiceTime length;              // of a session, unless it is culled before
  std::vector<Duration> peaks_at;  // local time of day at which people start
  Duration spread = hours(1);      // standard deviation around the peak
  Duration utc_offset;
  std::optional<Duration> idle_cull;   // after this long without a cell
  ServiceTime interval;                // from the end of a cell to the start of the next
  ServiceTime gpu_time;                // of a cell, alone on the GPU
  std::optional<RandomAmount> memory;  // bytes that a session comes to hold; absent: gpuMemory
  SourceLocation where;
};

// A figure of the result that has a limit.
enum class Figure : std::uint8_t {
  LatencyP50,
  LatencyP90,
  LatencyP95,
  LatencyP99,
  LatencyP999,
  TtftP50,  // time to first token
  TtftP95,
  TtftP99,
  TpotP50,  // time per output token after the first
  TpotP95,
  TpotP99,
  Availability,   // answered / asked, at least
  Throughput,     // requests/s, at least
  CompletionP95,  // of Jobs
  WaitP95,
  Deadline,         // every Job done this long after it was submitted
  SessionStartP95,  // notebooks
  CellSlowdownP95,  // wall time of a cell / alone
  OomPerUserMonth,  // out-of-memory kills
  SlowdownP95,      // recorded jobs: time running / as recorded
  DeadlinesMet,     // ... of those that have one, at least
};

// A share of one, shown as percent.
struct Share {
  double of_one = 0;
  friend auto operator<=>(Share, Share) = default;
};

// A limit, or a figure, in the unit that the figure has; double: a plain number.
using FigureValue = std::variant<Duration, Share, Rate, double>;

// A limit on a result figure; the run exits 99 when one is missed.
struct Objective {
  Figure figure = Figure::LatencyP99;
  FigureValue limit;
  SourceLocation where;
};

// Services that a request passes through, end to end.
struct Pipeline {
  struct Stage {
    Located<std::string> workload;
    std::vector<Located<std::string>> after;  // stages whose answers it needs; none: the request
    Duration network{};                       // from the last of them to it
    std::optional<Bytes> kv_bandwidth;        // per second, of keys and values that come with it
  };
  Located<std::string> name;
  std::vector<Stage> stages;
  Traffic traffic;
  std::vector<Objective> objectives;
  SourceLocation where;
};

}  // namespace slicewise::scenarios
