#include <algorithm>

#include <fmt/format.h>

#include "../fields/node_values.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr Field kTokensFields[] = {
    field<&Llm::input>("input", "{p50: 1020, p99: 4142}", "Tokens of a prompt.")
        .needed()
        .of(kTokenAmount),
    field<&Llm::output>("output", "{mean: 211, distribution: Exponential}", "Tokens of an answer.")
        .needed()
        .of(kTokenAmount),
};
constexpr FieldList kTokens = block<Llm>(kTokensFields);

constexpr Field kLlmStepFields[] = {
    field<&Llm::weights_time>("weightsTime", "14.2ms",
                              "Time to read the weights once: a decode step of one sequence "
                              "without cache, and without the "
                              "experts of `model`, which come on top; at most 1h.")
        .positive()
        .within(hours(1)),
    field<&Llm::token_seconds>("tokenTime", "63.7us",
                               "Compute of one token, as a long prefill shows it; at most 1s.")
        .as(T::FineDuration)
        .positive()
        .within(seconds(1)),
    field<&Llm::kv_read_seconds>("cacheReadTime", "0.3673us",
                                 "Time to read the cache of one token; at most 1s.")
        .as(T::FineDuration)
        .within(seconds(1)),
    field<&Llm::overhead>("overhead", "1ms", "Time of the framework, per step; at most 1h.")
        .within(hours(1))
        .otherwise("the model's, else 0.6ms"),
};
constexpr FieldList kLlmStep = block<Llm>(kLlmStepFields);

constexpr Field kSharedPrefixFields[] = {
    field<&SharedPrefix::tokens>("tokens", "1500",
                                 "Tokens of the prefix, which are part of the prompt.")
        .needed()
        .between(1, 100'000'000),
    field<&SharedPrefix::share>("share", "80%",
                                "Share of the prompts that begin with one, if they are as long.")
        .as(T::Percent)
        .positive(),
    field<&SharedPrefix::count>("count", "20", "Different prefixes, each as frequent.")
        .between(1, 1'000'000),
};
constexpr FieldList kSharedPrefix = block<SharedPrefix>(kSharedPrefixFields);

constexpr Word kPopularities[] = {{"Zipf", LoraAdapters::Popularity::Zipf},
                                  {"Even", LoraAdapters::Popularity::Even}};
constexpr Field kAdapterFields[] = {
    field<&LoraAdapters::count>("count", "40", "Different adapters that requests name.")
        .needed()
        .between(1, 100'000),
    field<&LoraAdapters::at_once>(
        "maxLoras", "4",
        "Adapters of a step, and places for them in GPU memory (vLLM's max_loras): requests that "
        "name others wait, while those behind them go on.")
        .between(1, 10'000),
    field<&LoraAdapters::memory>(
        "memory", "80Mi",
        "GPU memory of a place, on all GPUs of the pod together: the size of the file "
        "adapter_model.safetensors of the largest rank (vLLM's max_lora_rank).")
        .needed()
        .positive(),
    field<&LoraAdapters::rank>("maxLoraRank", "64",
                               "The largest rank of any (vLLM's max_lora_rank, 16 where nobody "
                               "says): what the patch of the pods asks for.")
        .between(1, 512),
    field<&LoraAdapters::share>(
        "share", "70%", "Share of the requests that name one; the others are the base model's.")
        .as(T::Percent)
        .positive(),
    field<&LoraAdapters::popularity>(
        "popularity", "Even",
        "Zipf: the k-th is asked for one k-th as often as the first. Even: all alike.")
        .one_of(kPopularities),
    field<&LoraAdapters::load_time>(
        "loadTime", "20ms",
        "Time to copy one from host memory into a place; the step that it comes with waits for it.")
        .within(hours(1))
        .otherwise("its memory at 12 GB/s, Assumed"),
    field<&LoraAdapters::step_time>(
        "stepTime", "1ms",
        "What a step with any of them takes longer, beside reading them. 2 ms is what Punica adds "
        "to a token (arXiv 2310.18547, A100): Assumed elsewhere.")
        .within(hours(1)),
};
constexpr FieldList kAdapters = block<LoraAdapters>(kAdapterFields);

constexpr Field kSleepFields[] = {
    field<&EngineSleep::level>(
        "level", "2",
        "1: the weights wait in host memory. 2: they are given up and read from disk again.")
        .between(1, 2),
    field<&EngineSleep::memory>(
        "memory", "1500Mi",
        "GPU memory that it holds asleep, beside its CUDA context: CUDA graphs and buffers. 1Gi is "
        "Assumed; vLLM's log says it (\"is still in use\")."),
    field<&EngineSleep::wake_time>("wakeTime", "2.5s", "Time to wake up.")
        .within(hours(1))
        .otherwise("340ms and the weights at 24 GB/s (A100, H100 and newer) or 12 GB/s (Assumed); "
                   "at level 2 560ms and the weights at 4.1 GB/s, an SSD's"),
    field<&EngineSleep::sleep_time>("sleepTime", "1.5s", "Time to fall asleep.")
        .within(hours(1))
        .otherwise("50ms and the weights at 24 or 12 GB/s"),
};
constexpr FieldList kSleep = block<EngineSleep>(kSleepFields);

constexpr Word kRoles[] = {
    {"Both", LlmRole::Both}, {"Prefill", LlmRole::Prefill}, {"Decode", LlmRole::Decode}};
constexpr Word kQuantizations[] = {"FP8", "INT4"};
constexpr Word kCacheTypes[] = {"FP8"};

constexpr Field kLlmFields[] = {
    field<&Llm::model>("model", "llama-3-8b-fp16/a10g",
                       "Language model of the catalogue; what is given beside it counts instead.")
        .positive(),
    field<&Llm::role>(
        "role", "Prefill",
        "What of each request it does: Both, or as a stage of a pipeline the one half, Prefill "
        "(the prompt and the first token) or, after it, Decode (the rest).")
        .one_of(kRoles),
    inner(
        "step", "{weightsTime: 14.2ms, tokenTime: 63.7us, cacheReadTime: 0.3673us}",
        "Time of one step over N tokens: the norm of weightsTime and N x tokenTime, plus "
        "cacheReadTime for every cached token of the running sequences, plus overhead; on one GPU.")
        .of(kLlmStep),
    inner("tokens", "{input: {p50: 1020, p99: 4142}, output: {p50: 129, p99: 601}}",
          "Lengths of prompts and answers: a number, {mean, distribution} or percentiles.")
        .of(kTokens)
        .otherwise("those of the trace"),
    field<&Llm::weights>("weights", "16Gi", "GPU memory of the weights."),
    field<&Llm::kv_bytes_per_token>("kvBytesPerToken", "128Ki",
                                    "GPU memory of the cache of one token.")
        .positive(),
    field<&Llm::kv_cache>("kvCache", "4Gi", "Size of the cache on each GPU, reserved at start.")
        .otherwise("what memoryUtilization leaves beside the weights"),
    field<&Llm::memory_utilization>("memoryUtilization", "90%",
                                    "Share of the GPU's memory, or of the limit, that the server "
                                    "takes (vLLM's gpu_memory_utilization).")
        .as(T::Percent)
        .positive(),
    field<&Llm::tensor_parallel_size>(
        "tensorParallelSize", "4",
        "GPUs that share every layer (vLLM's tensor_parallel_size): as many as the pod asks for.")
        .between(1, 64)
        .otherwise("the GPUs of the pod"),
    field<&Llm::quantization>(
        "quantization", "FP8",
        "Weights of the model's layers in fewer bytes (vLLM's quantization; INT4 is awq and gptq).")
        .one_of(kQuantizations)
        .otherwise("as the model is"),
    field<&Llm::kv_cache_dtype>("kvCacheDtype", "FP8",
                                "Keys and values in one byte each (vLLM's kv_cache_dtype).")
        .one_of(kCacheTypes)
        .otherwise("as the model is"),
    field<&Llm::max_sequences>("maxSequences", "64",
                               "Sequences that run at once (vLLM's max_num_seqs).")
        .between(1, 1'000'000)
        .otherwise("1024 on GPUs of 70 GiB and more but A100, 256 on others, as vLLM has it"),
    field<&Llm::max_batched_tokens>(
        "maxBatchedTokens", "2048",
        "Tokens of a step, decoded and prefilled (vLLM's max_num_batched_tokens).")
        .between(1, 100'000'000)
        .otherwise("8192 on GPUs of 70 GiB and more but A100, 2048 on others, as vLLM has it"),
    field<&Llm::max_model_len>(
        "maxModelLen", "32768",
        "Tokens of the longest request (vLLM's max_model_len): a server whose cache holds fewer "
        "does not start.")
        .between(1, 100'000'000)
        .otherwise(
            "the model's context length, where the catalogue has it and no kvCache is given"),
    field<&Llm::prefix_caching>(
        "prefixCaching", "false",
        "Whether the cache keeps what prompts begin with alike (vLLM's enable_prefix_caching): the "
        "blocks of a trace that has them, or sharedPrefix."),
    field<&Llm::block_size>(
        "blockSize", "32",
        "Tokens of a block: prompts are found in whole ones (vLLM's block_size).")
        .between(1, 100'000),
    field<&Llm::shared_prefix>("sharedPrefix", "{tokens: 1500, share: 80%, count: 20}",
                               "What prompts begin with alike, as system prompts are.")
        .of(kSharedPrefix),
    field<&Llm::prefix_reuse>("prefixReuse", "30%",
                              "Share of each prompt's tokens that is taken to be found in the "
                              "cache, where nobody knows which prompts are alike.")
        .as(T::Percent),
    field<&Llm::adapters>("adapters", "{count: 40, maxLoras: 4, memory: 80Mi}",
                          "LoRA adapters on this base model, one of which requests name.")
        .of(kAdapters),
    field<&Llm::sleep>(
        "sleep", "{level: 1}",
        "The engine sleeps while another one has its GPU (vLLM's --enable-sleep-mode): those with "
        "`sleep` on a GPU take turns, one is awake at most, and requests for another wait.")
        .of(kSleep),
};

}  // namespace

constinit const FieldList kLlm = block<Llm>(kLlmFields);

namespace {

constexpr Word kRoutings[] = {{"Random", Routing::Random},
                              {"RoundRobin", Routing::RoundRobin},
                              {"LeastOutstanding", Routing::LeastOutstanding},
                              {"TwoChoices", Routing::TwoChoices},
                              {"PrefixAware", Routing::PrefixAware}};
constexpr Word kMetrics[] = {{"Queue", Autoscaling::Metric::Queue},
                             {"Concurrency", Autoscaling::Metric::Concurrency},
                             {"RequestRate", Autoscaling::Metric::RequestRate},
                             {"GpuUtilization", Autoscaling::Metric::GpuUtilization}};

// Each metric has its own unit: a target in another one is reported.
void read_target(Autoscaling& scaling, const Field& /*field*/, const Entry& entry,
                 Reading& reading) {
  const Node& node = *entry.value;
  double number = 0;
  double share = 0;
  Rate rate;
  const bool is_number = read_value(Field{"target", T::Number}, node, number);
  const bool is_rate = read_value(Field{"target", T::Rate}, node, rate);
  const bool is_share = read_value(Field{"target", T::Percent}, node, share);
  if (!is_number && !is_rate && !is_share) return;
  bool has_unit = false;
  double target = 0;
  std::string_view help;
  switch (scaling.metric) {
    case Autoscaling::Metric::Queue:
    case Autoscaling::Metric::Concurrency:
      has_unit = is_number;
      target = number;
      help = "requests per pod are a number: `target: 4`";
      break;
    case Autoscaling::Metric::RequestRate:
      has_unit = is_rate;
      target = rate.per_second;
      help = "requests of a pod are a rate: `target: 12/s`";
      break;
    case Autoscaling::Metric::GpuUtilization:
      has_unit = is_share;
      target = 100 * share;
      help = "utilization is a percentage: `target: 70%`";
      break;
  }
  if (!has_unit) {
    reading.findings.add(Code::SettingConflict, node.where,
                         "target does not have the unit of its metric", std::string(help));
  } else if (target <= 0) {
    reading.findings.add(Code::ValueRange, node.where, "target must be more than zero");
  } else {
    scaling.target = target;
  }
}

// What a metric is averaged over, and what was wished for, is kept look by look.
void check_looks(const Autoscaling& scaling, const Node& map, Findings& findings) {
  constexpr std::int64_t kMostLooks = 100'000;
  const Duration each = std::min(scaling.sync_period, seconds(1));
  const Duration longest =
      std::max({scaling.window, scaling.scale_down_window, scaling.scale_up_window});
  if (each.ns <= 0 || longest.ns / each.ns <= kMostLooks) return;
  findings.add(Code::SettingConflict, value_place(map, each < seconds(1) ? "syncPeriod" : "window"),
               fmt::format("a window of {:.6g} s holds more than {} looks, one every {:.3g} s",
                           to_seconds(longest), kMostLooks, to_seconds(each)),
               "a longer syncPeriod, or shorter windows");
}

void finish_autoscaling(Autoscaling& scaling, const Node& map, Reading& reading) {
  if (!int_at(&map, "max")) scaling.max_replicas = scaling.min_replicas;
  if (map.find("target") == nullptr) {
    scaling.target = 0;
    if (map.find("schedule") == nullptr) {
      reading.findings.add(Code::FieldMissing, scaling.where, "autoscaling has no target",
                           "target: 4, or a schedule");
    } else if (map.find("metric") != nullptr) {
      reading.findings.add(Code::SettingConflict, key_place(map, "metric"), "metric without target",
                           "a target, or the schedule alone");
    }
  }
  for (const ReplicaWindow& window : scaling.schedule) {
    if (window.replicas <= scaling.max_replicas) continue;
    reading.findings.add(
        Code::SettingConflict, window.where,
        fmt::format("desiredReplicas {} is above max {}", window.replicas, scaling.max_replicas),
        "the autoscaler goes no further than max");
  }
  check_looks(scaling, map, reading.findings);
}

void check_replicas(const Node& workload, const Node& node, const Autoscaling& scaling,
                    Findings& findings) {
  if (scaling.min_replicas > scaling.max_replicas) {
    findings.add(Code::SettingConflict, value_place(node, "min"), "min is above max",
                 "min and max are the fewest and the most replicas");
    return;
  }
  const auto replicas = int_at(&workload, "replicas");
  if (replicas && (*replicas < scaling.min_replicas || *replicas > scaling.max_replicas)) {
    findings.add(Code::SettingConflict, value_place(workload, "replicas"),
                 "replicas is outside of autoscaling's min .. max",
                 "with autoscaling it is the number at the start: remove it to start with min");
  }
  if (scaling.holds_requests() && scaling.metric == Autoscaling::Metric::GpuUtilization) {
    findings.add(Code::SettingConflict, value_place(node, "metric"),
                 "min: 0 with metric GpuUtilization",
                 "without a pod no GPU is busy, and none would be started: scale on Queue, "
                 "Concurrency or RequestRate");
  }
}

constexpr Field kBatchingFields[] = {
    field<&Serving::max_batch>("maxBatch", "8", "Requests that the GPU answers in one go, at most.")
        .needed()
        .between(1, 10'000),
    field<&Serving::max_delay>("maxDelay", "5ms",
                               "How long a batch that is not full waits for more requests."),
};
constexpr FieldList kBatching = block<Serving>(kBatchingFields);

constexpr Field kRetriesFields[] = {
    field<&Serving::retries>("most", "2", "Times that a client asks again.").needed().up_to(100),
    field<&Serving::retry_after>("after", "100ms",
                                 "Time before the first retry; doubles with each."),
};
constexpr FieldList kRetries = block<Serving>(kRetriesFields);

void finish_serving(Serving& serving, const Node& map, Reading& reading) {
  if (serving.bursts > 1 || serving.cpu_between.ns == 0) return;
  reading.findings.add(Code::SettingConflict, value_place(map, "cpuBetween"),
                       "cpuBetween without bursts: a request has one burst, and nothing between",
                       "bursts: 4, or cpuBefore and cpuAfter");
}

constexpr Field kServingFields[] = {
    field<&Serving::routing>(
        "routing", "LeastOutstanding",
        "Which replica a request goes to: Random (kube-proxy's iptables mode), RoundRobin, "
        "LeastOutstanding, TwoChoices, the less loaded of two at random, or PrefixAware, which has "
        "most of the prompt in its KV cache.")
        .one_of(kRoutings),
    field<&Serving::queue_limit>("queueLimit", "100",
                                 "Requests that may wait in a pod; one that finds more is dropped.")
        .otherwise("none"),
    field<&Serving::timeout>("timeout", "2s",
                             "A request that has waited this long is dropped unanswered.")
        .positive()
        .otherwise("none"),
    field<&Serving::concurrency>(
        "concurrency", "4",
        "Requests that a pod works on at a time: its worker threads or processes.")
        .between(1, 1'000'000)
        .otherwise("no limit"),
    inner("batching", "{maxBatch: 8, maxDelay: 5ms}", "Dynamic batching, as Triton does it.")
        .of(kBatching),
    field<&Serving::cpu_before>(
        "cpuBefore", "3ms", "Host CPU time of a request before the GPU (decoding, tokenizing)."),
    field<&Serving::cpu_after>("cpuAfter", "1ms", "Host CPU time of a request after the GPU."),
    field<&Serving::bursts>("bursts", "4",
                            "Parts of equal length in which the GPU works on a request or batch; "
                            "between them the pod's next batch waits, and others have the GPU.")
        .between(1, 1'000'000),
    field<&Serving::cpu_between>("cpuBetween", "2ms", "Host CPU time between two bursts."),
    field<&Serving::copies>("copies", "false",
                            "Whether the host copies inputs to the GPU and answers back, and waits "
                            "for both: under time-slicing each wait gives the turn away."),
    inner("retries", "{most: 2, after: 100ms}",
          "What clients do after a request that was dropped or lost.")
        .of(kRetries),
};

constexpr Field kAutoscalingFields[] = {
    field<&Autoscaling::min_replicas>(
        "min", "1",
        "Fewest replicas. 0 scales to zero, as KEDA does: requests are held until a pod is ready, "
        "or refused where there is no metric that sees them.")
        .up_to(1'000'000),
    field<&Autoscaling::max_replicas>("max", "8", "Most replicas.").needed().between(1, 1'000'000),
    field<&Autoscaling::metric>("metric", "Queue",
                                "What is kept near its target: waiting requests (Queue), requests "
                                "in the pod (Concurrency), RequestRate, or GpuUtilization.")
        .one_of(kMetrics),
    read_by<Autoscaling, &read_target>(T::Target, "target", "4",
                                       "Target per pod: a number for Queue and Concurrency, a rate "
                                       "for RequestRate, a percentage for GpuUtilization.")
        .otherwise("none: the schedule decides"),
    field<&Autoscaling::schedule>(
        "schedule", "[{start: \"0 7 * * 1-5\", end: \"0 20 * * 1-5\", desiredReplicas: 6}]",
        "Times of day and week with a number of replicas each, as triggers of KEDA's cron scaler: "
        "of all that are open, and of the metric, the largest wish counts.")
        .positive()
        .of(kReplicaWindow),
    field<&Autoscaling::sync_period>(
        "syncPeriod", "15s", "Time between two decisions (kube-controller-manager's default).")
        .positive(),
    field<&Autoscaling::window>("window", "1m", "Time over which the metric is averaged.")
        .positive(),
    field<&Autoscaling::scale_down_window>("scaleDownWindow", "5m",
                                           "Stabilization: the largest wish of this time counts."),
    field<&Autoscaling::scale_up_window>("scaleUpWindow", "30s",
                                         "The same for more replicas: the smallest wish counts."),
    field<&Autoscaling::tolerance>("tolerance", "10%",
                                   "Distance from the target that changes nothing.")
        .as(T::Percent),
    field<&Autoscaling::cooldown>(
        "cooldown", "5m",
        "Time without requests or a window of the schedule before the last pod goes (min: 0)."),
};

}  // namespace

constinit const FieldList kServing = block<Serving, &finish_serving>(kServingFields);
constinit const FieldList kAutoscaling =
    block<Autoscaling, &finish_autoscaling>(kAutoscalingFields);

void finish_scaled_workload(const Node& node, Workload& workload, Findings& findings) {
  if (!workload.autoscaling) return;
  Autoscaling& scaling = *workload.autoscaling;
  scaling.start_replicas = int_at(&node, "replicas");
  check_replicas(node, *block(&node, "autoscaling"), scaling, findings);
  workload.count = scaling.most_wanted();
}

}  // namespace slicewise::scenarios
