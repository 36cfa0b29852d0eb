#include "one_workload.hpp"

namespace slicewise::scenarios {
namespace {

std::string with_service(const std::string& fields) {
  return with_workload("kind: Service, measured: {requestGpuTime: 9ms}, traffic: {mean: 1/s}, " +
                       fields);
}

const std::string kStep = "step: {weightsTime: 14.2ms, tokenTime: 63.7us, cacheReadTime: 0.3673us}";
const std::string kMemory = "weights: 16Gi, kvBytesPerToken: 128Ki";
const std::string kTokens = "tokens: {input: 600, output: 200}";

std::string with_llm(const std::string& llm, const std::string& more = "") {
  return with_workload("kind: Service, traffic: {mean: 1/s}, llm: {" + llm + "}" + more);
}

TEST(Serving, EverySettingIsRead) {
  const Serving none = workload_of(with_service("replicas: 2")).serving;
  EXPECT_EQ(none.routing, Routing::Random);
  EXPECT_FALSE(none.queue_limit || none.timeout);
  EXPECT_EQ(none.concurrency, 0);
  EXPECT_EQ(none.max_batch, 1);
  const Serving serving =
      workload_of(with_service("serving: {routing: TwoChoices, queueLimit: 0, timeout: 2s, "
                               "concurrency: 16, batching: {maxBatch: 8, maxDelay: 5ms}, "
                               "cpuBefore: 3ms, cpuAfter: 1ms, bursts: 4, cpuBetween: 2ms, "
                               "retries: {most: 2, after: 100ms}}"))
          .serving;
  EXPECT_EQ(serving.routing, Routing::TwoChoices);
  EXPECT_EQ(serving.queue_limit, 0);
  EXPECT_EQ(serving.timeout, seconds(2));
  EXPECT_EQ(serving.concurrency, 16);
  EXPECT_EQ(serving.max_batch, 8);
  EXPECT_EQ(serving.max_delay, milliseconds(5));
  EXPECT_EQ(serving.cpu_before, milliseconds(3));
  EXPECT_EQ(serving.cpu_after, milliseconds(1));
  EXPECT_EQ(serving.bursts, 4);
  EXPECT_EQ(serving.cpu_between, milliseconds(2));
  EXPECT_EQ(serving.retries, 2);
  EXPECT_EQ(serving.retry_after, milliseconds(100));
}

TEST(Serving, AShareOfTimeSaysNothingOfARequest) {
  for (const std::string key : {"gpuBusy", "gpuUtil"}) {
    expect_problem(with_workload("kind: Service, measured: {requestGpuTime: 9ms, " + key +
                                 ": 40%}, traffic: {mean: 1/s}"),
                   Code::SettingConflict, key + " on a Service");
  }
}

TEST(Serving, LanguageModelsHaveStepsInPlaceOfBursts) {
  expect_problem(
      with_workload("kind: Service, measured: {requestGpuTime: 9ms}, traffic: {mean: 1/s}, "
                    "serving: {cpuBetween: 2ms}"),
      Code::SettingConflict, "cpuBetween without bursts");
  expect_problem(with_llm(kStep + ", " + kMemory + ", " + kTokens, ", serving: {bursts: 2}"),
                 Code::SettingConflict, "bursts with llm");
}

TEST(Serving, BatchesFitTheWorkers) {
  expect_problem(with_service("serving: {concurrency: 4, batching: {maxBatch: 8}}"),
                 Code::SettingConflict, "maxBatch is above concurrency");
  expect_problem(with_service("serving: {batching: {maxBatch: 1, maxDelay: 5ms}}"),
                 Code::SettingConflict, "maxDelay with maxBatch 1");
  expect_problem(with_service("serving: {batching: {maxDelay: 5ms}}"), Code::FieldMissing,
                 "maxBatch");
}

TEST(Serving, BelongsToAService) {
  const std::string job = "work: {units: 1}, measured: {unitTime: 1s}, ";
  expect_problem(with_workload(job + "serving: {concurrency: 4}"), Code::SettingConflict,
                 "serving on a Job");
  expect_problem(with_workload(job + "autoscaling: {max: 4, target: 2}"), Code::SettingConflict,
                 "autoscaling on a Job");
  expect_problem(with_workload(job + "llm: {model: m, " + kTokens + "}"), Code::SettingConflict,
                 "llm on a Job");
}

// Times of a token are below the nanosecond of the simulated clock: they keep their digits.
TEST(Llm, StepTimesAreExact) {
  const Llm llm = *workload_of(with_llm(kStep + ", " + kMemory + ", " + kTokens)).llm;
  EXPECT_EQ(llm.weights_time, microseconds(14'200));
  EXPECT_EQ(*llm.token_seconds, 63.7e-6);
  EXPECT_EQ(*llm.kv_read_seconds, 3.673e-7);
  EXPECT_FALSE(llm.overhead.has_value());
  EXPECT_EQ(llm.weights, gibibytes(16));
  EXPECT_EQ(llm.kv_bytes_per_token->count, 131'072);
  EXPECT_EQ(llm.input->law, RandomAmount::Law::Constant);
  EXPECT_EQ(llm.input->mean, 600);
  EXPECT_FALSE(llm.max_sequences) << "vLLM's, by the GPU";
}

TEST(Llm, LimitsAndLengthsAreRead) {
  const Llm llm =
      *workload_of(with_llm("model: m, kvCache: 4Gi, memoryUtilization: 85%, maxSequences: 64, "
                            "maxBatchedTokens: 512, prefixReuse: 30%, tokens: {input: {p50: 1000, "
                            "p95: 2276.0165, most: 8192}, output: {mean: 211.5, distribution: "
                            "Exponential, least: 2}}"))
           .llm;
  EXPECT_EQ(llm.model.value, "m");
  EXPECT_EQ(llm.kv_cache, gibibytes(4));
  EXPECT_DOUBLE_EQ(llm.memory_utilization, 0.85);
  EXPECT_EQ(llm.max_sequences, 64);
  EXPECT_EQ(llm.max_batched_tokens, 512);
  EXPECT_DOUBLE_EQ(llm.prefix_reuse, 0.3);
  EXPECT_EQ(llm.input->law, RandomAmount::Law::LogNormal);
  EXPECT_NEAR(llm.input->sigma, 0.5, 1e-6);
  EXPECT_NEAR(llm.input->mean, 1133.148453, 1e-3);
  EXPECT_EQ(llm.input->most, 8192);
  EXPECT_EQ(llm.output->law, RandomAmount::Law::Exponential);
  EXPECT_EQ(llm.output->mean, 211.5);
  EXPECT_EQ(llm.output->least, 2);
}

TEST(Llm, IsSharedAndQuantised) {
  const Llm llm = *workload_of(with_llm("model: m, tensorParallelSize: 4, quantization: INT4, "
                                        "kvCacheDtype: FP8, " +
                                        kTokens))
                       .llm;
  EXPECT_EQ(llm.tensor_parallel_size, 4);
  EXPECT_EQ(llm.quantization, "INT4");
  EXPECT_EQ(llm.kv_cache_dtype, "FP8");
  const std::string adapters = "adapters: {count: 40, maxLoras: 4, memory: 80Mi}, ";
  const Llm tuned = *workload_of(with_llm("model: m, " + adapters + kTokens)).llm;
  ASSERT_TRUE(tuned.adapters);
  EXPECT_EQ(tuned.adapters->at_once, 4);
  EXPECT_EQ(tuned.adapters->step_time, milliseconds(2));
  expect_problem(with_llm("model: m, sharedPrefix: {tokens: 9}, " + adapters + kTokens),
                 Code::SettingConflict, "sharedPrefix on llm with adapters");
  const Llm sleeping = *workload_of(with_llm("model: m, sleep: {level: 2}, " + kTokens)).llm;
  ASSERT_TRUE(sleeping.sleep);
  EXPECT_EQ(sleeping.sleep->memory, gibibytes(1));
  expect_problem(with_llm("model: m, sleep: {}, " + adapters + kTokens), Code::SettingConflict,
                 "adapters on llm with sleep");
  expect_problem(with_llm("model: m, tensorParallelSize: 0, " + kTokens), Code::ValueRange,
                 "between 1 and 64");
  expect_problem(with_llm("model: m, quantization: FP4, " + kTokens), Code::EnumUnknown, "FP4");
  expect_problem(with_llm("quantization: FP8, " + kStep + ", " + kMemory + ", " + kTokens),
                 Code::SettingConflict, "quantization on llm without a model");
  expect_problem(with_llm("model: m, quantization: FP8, weights: 8Gi, " + kTokens),
                 Code::SettingConflict, "weights on llm with quantization");
  expect_problem(with_llm("model: m, kvCacheDtype: FP8, kvBytesPerToken: 64Ki, " + kTokens),
                 Code::SettingConflict, "kvBytesPerToken on llm with kvCacheDtype");
}

TEST(Llm, NeedsALawAndLengths) {
  expect_problem(with_llm(kMemory + ", " + kTokens), Code::FieldMissing, "\"step\" is missing");
  expect_problem(with_llm(kStep + ", weights: 1Gi, " + kTokens), Code::FieldMissing,
                 "\"kvBytesPerToken\" is missing");
  expect_problem(with_llm("step: {weightsTime: 1ms, tokenTime: 1us}, " + kMemory + ", " + kTokens),
                 Code::FieldMissing, "\"cacheReadTime\" is missing");
  expect_problem(with_llm("model: m"), Code::FieldMissing, "\"tokens\" is missing");
  expect_problem(with_llm("model: m, tokens: {input: 3}"), Code::FieldMissing, "\"output\"");
  expect_problem(with_llm("model: m, tokens: {input: {p50: 9, p99: 20, least: 8, most: 4}, "
                          "output: 1}"),
                 Code::SettingConflict, "least is above most");
}

TEST(Llm, BatchesByItself) {
  const std::string llm = "model: m, " + kTokens;
  expect_problem(with_llm(llm, ", serving: {batching: {maxBatch: 8}}"), Code::SettingConflict,
                 "batching on a Service with llm");
  expect_problem(with_llm(llm, ", serving: {concurrency: 8}"), Code::SettingConflict,
                 "concurrency on a Service with llm");
  expect_problem(with_llm(llm, ", measured: {requestGpuTime: 9ms}"), Code::SettingConflict,
                 "requestGpuTime on a Service with llm");
  expect_problem(with_llm(llm, ", measured: {capacityShare: 30%}"), Code::SettingConflict,
                 "capacityShare on a Service with llm");
  expect_problem(with_llm("model: m, step: {tokenTime: 0us}, " + kTokens), Code::ValueRange,
                 "more than zero");
  expect_problem(with_llm("model: m, step: {tokenTime: 63.7}, " + kTokens), Code::UnitMissing,
                 "no unit");
}

TEST(Autoscaling, CountIsTheMostAndReplicasTheStart) {
  const Workload plain = workload_of(with_service("autoscaling: {min: 2, max: 8, target: 3.5}"));
  EXPECT_EQ(plain.count, 8);
  EXPECT_FALSE(plain.autoscaling->start_replicas);
  EXPECT_EQ(plain.autoscaling->metric, Autoscaling::Metric::Concurrency);
  EXPECT_EQ(plain.autoscaling->target, 3.5);
  EXPECT_EQ(plain.autoscaling->sync_period, seconds(15));
  EXPECT_EQ(plain.autoscaling->scale_down_window, minutes(5));
  EXPECT_DOUBLE_EQ(plain.autoscaling->tolerance, 0.1);
  const Workload zero = workload_of(
      with_service("replicas: 5, autoscaling: {min: 0, max: 8, metric: Queue, target: 3, "
                   "tolerance: 5%, scaleUpWindow: 30s, window: 2m, cooldown: 10m}"));
  EXPECT_EQ(zero.count, 8);
  EXPECT_EQ(zero.autoscaling->start_replicas, 5);
  EXPECT_EQ(zero.autoscaling->min_replicas, 0);
  EXPECT_DOUBLE_EQ(zero.autoscaling->tolerance, 0.05);
  EXPECT_EQ(zero.autoscaling->scale_up_window, seconds(30));
  EXPECT_EQ(zero.autoscaling->window, minutes(2));
  EXPECT_EQ(zero.autoscaling->cooldown, minutes(10));
}

TEST(Autoscaling, TargetHasTheUnitOfItsMetric) {
  const auto target = [](const std::string& fields) {
    return workload_of(with_service("autoscaling: {max: 8, " + fields + "}")).autoscaling->target;
  };
  EXPECT_DOUBLE_EQ(target("metric: RequestRate, target: 90/m"), 1.5);
  EXPECT_DOUBLE_EQ(target("metric: GpuUtilization, target: 70%"), 70);
  const auto problem = [](const std::string& fields, Code code, const std::string& message) {
    expect_problem(with_service("autoscaling: {max: 8, " + fields + "}"), code, message);
  };
  problem("metric: RequestRate, target: 4", Code::SettingConflict, "unit of its metric");
  problem("metric: GpuUtilization, target: 0.7", Code::SettingConflict, "unit of its metric");
  problem("metric: Queue, target: 4/s", Code::SettingConflict, "unit of its metric");
  problem("target: 0", Code::ValueRange, "more than zero");
  problem("target: many", Code::FieldType, "is not a rate");
}

TEST(Autoscaling, BoundsFitEachOther) {
  expect_problem(with_service("autoscaling: {min: 9, max: 8, target: 1}"), Code::SettingConflict,
                 "min is above max");
  expect_problem(with_service("replicas: 9, autoscaling: {max: 8, target: 1}"),
                 Code::SettingConflict, "outside of autoscaling's");
  expect_problem(with_service("autoscaling: {min: 0, max: 8, metric: GpuUtilization, target: 70%}"),
                 Code::SettingConflict, "min: 0 with metric GpuUtilization");
}

}  // namespace
}  // namespace slicewise::scenarios
