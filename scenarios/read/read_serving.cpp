#include "node_values.hpp"
#include "random_values.hpp"
#include "read_scenario.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::pair<std::string_view, Routing> kRoutings[] = {
    {"Random", Routing::Random},
    {"RoundRobin", Routing::RoundRobin},
    {"LeastOutstanding", Routing::LeastOutstanding},
    {"TwoChoices", Routing::TwoChoices},
};
constexpr std::pair<std::string_view, Autoscaling::Metric> kMetrics[] = {
    {"Queue", Autoscaling::Metric::Queue},
    {"Concurrency", Autoscaling::Metric::Concurrency},
    {"RequestRate", Autoscaling::Metric::RequestRate},
    {"GpuUtilization", Autoscaling::Metric::GpuUtilization},
};

// Each metric has its own unit; nullopt after reporting a target in another one.
std::optional<double> read_target(const Node& node, Autoscaling::Metric metric,
                                  Findings& findings) {
  const auto number = number_at(&node, "target");
  const auto rate = rate_at(&node, "target");
  const auto share = percent_at(&node, "target");
  if (!number && !rate && !share) return std::nullopt;
  std::optional<double> target;
  std::string_view help;
  switch (metric) {
    case Autoscaling::Metric::Queue:
    case Autoscaling::Metric::Concurrency:
      target = number;
      help = "requests per pod are a number: `target: 4`";
      break;
    case Autoscaling::Metric::RequestRate:
      if (rate) target = rate->per_second;
      help = "requests of a pod are a rate: `target: 12/s`";
      break;
    case Autoscaling::Metric::GpuUtilization:
      if (share) target = 100 * *share;
      help = "utilization is a percentage: `target: 70%`";
      break;
  }
  if (!target) {
    findings.add(Code::SettingConflict, value_place(node, "target"),
                 "target does not have the unit of its metric", std::string(help));
  } else if (*target <= 0) {
    findings.add(Code::ValueRange, value_place(node, "target"), "target must be more than zero");
    return std::nullopt;
  }
  return target;
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
  if (scaling.min_replicas == 0 && scaling.metric == Autoscaling::Metric::GpuUtilization) {
    findings.add(Code::SettingConflict, value_place(node, "metric"),
                 "min: 0 with metric GpuUtilization",
                 "without a pod no GPU is busy, and none would be started: scale on Queue, "
                 "Concurrency or RequestRate");
  }
}

}  // namespace

Serving read_serving(const Node& workload) {
  const Node* node = block(&workload, "serving");
  Serving serving;
  serving.routing = word_at(node, "routing", kRoutings).value_or(serving.routing);
  serving.queue_limit = int_at(node, "queueLimit");
  serving.timeout = duration_at(node, "timeout");
  serving.concurrency = int_at(node, "concurrency").value_or(serving.concurrency);
  const Node* batching = block(node, "batching");
  serving.max_batch = int_at(batching, "maxBatch").value_or(serving.max_batch);
  serving.max_delay = duration_at(batching, "maxDelay").value_or(serving.max_delay);
  serving.cpu_before = duration_at(node, "cpuBefore").value_or(serving.cpu_before);
  serving.cpu_after = duration_at(node, "cpuAfter").value_or(serving.cpu_after);
  const Node* retries = block(node, "retries");
  serving.retries = int_at(retries, "most").value_or(serving.retries);
  serving.retry_after = duration_at(retries, "after").value_or(serving.retry_after);
  return serving;
}

std::optional<Llm> read_llm(const Node& workload, Findings& findings) {
  const Node* node = block(&workload, "llm");
  if (node == nullptr) return std::nullopt;
  Llm llm;
  llm.where = key_place(workload, "llm");
  llm.model = located_text_at(node, "model");
  const Node* step = block(node, "step");
  llm.weights_time = duration_at(step, "weightsTime");
  llm.token_seconds = seconds_at(step, "tokenTime");
  llm.kv_read_seconds = seconds_at(step, "cacheReadTime");
  llm.overhead = duration_at(step, "overhead");
  llm.weights = bytes_at(node, "weights");
  llm.kv_bytes_per_token = bytes_at(node, "kvBytesPerToken");
  llm.kv_cache = bytes_at(node, "kvCache");
  llm.memory_utilization = percent_at(node, "memoryUtilization").value_or(llm.memory_utilization);
  llm.max_sequences = int_at(node, "maxSequences").value_or(llm.max_sequences);
  llm.max_batched_tokens = int_at(node, "maxBatchedTokens").value_or(llm.max_batched_tokens);
  llm.prefix_reuse = percent_at(node, "prefixReuse").value_or(llm.prefix_reuse);
  const Node* tokens = block(node, "tokens");
  llm.input = random_tokens_at(tokens, "input", findings);
  llm.output = random_tokens_at(tokens, "output", findings);
  return llm;
}

std::optional<Autoscaling> read_autoscaling(const Node& workload, Findings& findings) {
  const Node* node = block(&workload, "autoscaling");
  if (node == nullptr) return std::nullopt;
  Autoscaling scaling;
  scaling.where = key_place(workload, "autoscaling");
  scaling.min_replicas = int_at(node, "min").value_or(scaling.min_replicas);
  scaling.max_replicas = int_at(node, "max").value_or(scaling.min_replicas);
  scaling.metric = word_at(node, "metric", kMetrics).value_or(scaling.metric);
  scaling.target = read_target(*node, scaling.metric, findings).value_or(scaling.target);
  scaling.sync_period = duration_at(node, "syncPeriod").value_or(scaling.sync_period);
  scaling.window = duration_at(node, "window").value_or(scaling.window);
  scaling.scale_down_window =
      duration_at(node, "scaleDownWindow").value_or(scaling.scale_down_window);
  scaling.scale_up_window = duration_at(node, "scaleUpWindow").value_or(scaling.scale_up_window);
  scaling.tolerance = percent_at(node, "tolerance").value_or(scaling.tolerance);
  scaling.cooldown = duration_at(node, "cooldown").value_or(scaling.cooldown);
  // Scaled to zero, it starts with a pod all the same, as a rollout does.
  scaling.start_replicas =
      int_at(&workload, "replicas").value_or(std::max(scaling.min_replicas, 1));
  check_replicas(workload, *node, scaling, findings);
  return scaling;
}

}  // namespace slicewise::scenarios
