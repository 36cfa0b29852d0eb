// Language models in the cluster: pods with continuous batching on GPUs of their own and shared.
#include <algorithm>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/metrics/replication.hpp"

#include "../demo.hpp"
#include "../serving/replay.hpp"
#include "llm_scenarios.hpp"

namespace slicewise::sim {
namespace {

using scenarios::RandomAmount;
using scenarios::RequestTrace;
using scenarios::Scenario;
using scenarios::Workload;

// Users who wait for their answers never wait for a place: it is the others' steps that hold them.
TEST(LlmCluster, UsersWhoShareStepsAreBoundByTheGpu) {
  Workload chats = chat(1);
  for (const int users : {1, 16}) {
    chats.traffic->shape = scenarios::ClosedLoop{users, {}};
    const VariantResult result = demo::result(on_g5({chats}, 600));
    EXPECT_EQ(result.workloads[0].bound_by, users == 1 ? "" : "GPU");
  }
}

// A request that finds nobody takes its prompt's step, then a step per token.
TEST(LlmCluster, AtLightLoadTheClosedForm) {
  const Scenario s = on_g5({chat(0.01)}, 20'000);
  const VariantResult result = demo::result(s);
  const WorkloadResult& got = result.workloads[0];
  const models::LlmStep step = step_of(demo::world(s));
  ASSERT_TRUE(got.tokens && got.tokens->first_token);
  const double first = models::step_seconds(step, 600, 0);
  const double each = models::step_seconds(step, 1, 600 + 49);
  EXPECT_NEAR(to_seconds(got.tokens->first_token->p50), first, 0.005 * first);
  EXPECT_NEAR(to_seconds(got.tokens->per_token->p50), each, 0.005 * each);
  EXPECT_NEAR(to_seconds(got.latency->p50), first + 99 * each, 0.005 * (first + 99 * each));
  EXPECT_NEAR(got.requests->mean_batch, 1, 0.1);
  EXPECT_DOUBLE_EQ(got.tokens->output_tokens, 100 * got.completed);
  EXPECT_DOUBLE_EQ(got.tokens->input_tokens, 600 * got.completed);
  // Of the time whose requests are counted.
  const double dollars =
      to_dollars(result.cost.ledger.total) * (1 - to_seconds(s.warmup) / to_seconds(*s.duration));
  EXPECT_NEAR(to_dollars(*got.tokens->per_million_output),
              1e6 * dollars / got.tokens->output_tokens, 1e-6);
}

// 11,904 tokens beyond those whose attention t holds.
TEST(LlmCluster, ALongPromptAtLightLoadTheClosedForm) {
  Workload w = chat(0.01);
  w.llm->input = exactly(16'000);
  w.llm->max_batched_tokens = 16'000;
  const Scenario s = on_g5({w}, 20'000);
  models::LlmStep step = step_of(demo::world(s));
  EXPECT_NEAR(step.pair_s, step.token_s * 2 * 32 * 4096 / 6'979'584'000.0, 1e-15);
  const double first = models::step_seconds(step, 16'000, 0) + step.pair_s * 11'904 * 11'904 / 2;
  EXPECT_NEAR(to_seconds(demo::result(s).workloads[0].tokens->first_token->p50), first,
              0.005 * first);
}

// vllm/engine/arg_utils.py, get_batch_defaults: 70 GiB and more, but no A100.
TEST(LlmCluster, StepsHoldWhatVllmHasForTheGpu) {
  const auto limits = [](const char* type, const Workload& w) {
    Scenario s = on_g5({w}, 600);
    s.node_pools[0].instance_type.value = type;
    const World world = demo::world(s);
    const LlmDemand& there = world.workloads[0].on_pool[0].llm[0];
    return std::pair(there.max_sequences, there.max_batched_tokens);
  };
  for (const char* type : {"p5.4xlarge", "p5en.48xlarge"}) {
    EXPECT_EQ(limits(type, chat(1)), std::pair(1024, 8192)) << type;
  }
  for (const char* type : {"p4de.24xlarge", "g6e.2xlarge", "g5.2xlarge"}) {
    EXPECT_EQ(limits(type, chat(1)), std::pair(256, 2048)) << type;
  }
  Workload w = chat(1);
  w.llm->max_sequences = 100;
  EXPECT_EQ(limits("p5.4xlarge", w), std::pair(100, 8192));
}

std::vector<RequestTrace::Row> random_rows(int count) {
  RandomStream random(5, 0, 0, Purpose::Test);
  std::vector<RequestTrace::Row> rows;
  Duration at = seconds(kReady);
  for (int i = 0; i < count; ++i) {
    at += Duration{static_cast<std::int64_t>(random.exponential() * 4e8)};
    rows.push_back({at, static_cast<std::int32_t>(1 + random.below(2000)),
                    static_cast<std::int32_t>(1 + random.below(300))});
  }
  return rows;
}

std::vector<LlmRequest> requests_of(const std::vector<RequestTrace::Row>& rows) {
  std::vector<LlmRequest> requests;
  for (const RequestTrace::Row& row : rows) {
    requests.push_back({TimePoint{} + row.at, row.input_tokens, row.output_tokens,
                        static_cast<std::uint32_t>(requests.size())});
  }
  return requests;
}

// Of g5.12xlarge, over PCIe.
models::LlmStep step_on_four(const World& world) {
  models::LlmStep step = step_of(world);
  const models::LlmStep exchange =
      models::all_reduces(*world.workloads[0].on_pool[0].llm[0].shared, {12.6e-6, 5e9 * 4 / 6});
  step.overhead_s += exchange.overhead_s;
  step.exchange_s = exchange.exchange_s;
  return step;
}

Scenario on_gpus(int gpus, Scenario s) {
  s.node_pools[0].instance_type.value = gpus == 1 ? "g5.2xlarge" : "g5.12xlarge";
  s.workloads[0].pod.extended.front().count = gpus;
  return s;
}

// On GPUs of its own the cluster adds nothing to the scheduler of the server: prompts that come
// while it decodes end the piece on all GPUs.
class LlmAlone : public testing::TestWithParam<int> {};

TEST_P(LlmAlone, EqualsTheSchedulerByItself) {
  const std::vector<RequestTrace::Row> rows = random_rows(2000);
  const Scenario s = on_gpus(GetParam(), on_g5({replaying(rows)}, 2000));
  const World world = demo::world(s);
  const Replication record = run_replication(world, 0);
  const LlmDemand& there = world.workloads[0].on_pool[0].llm[0];
  const models::LlmStep step = GetParam() == 1 ? step_of(world) : step_on_four(world);
  ContinuousBatching server(step, {256, 2048, there.cache_tokens, 0});
  const std::vector<LlmRequest> requests = requests_of(rows);
  Duration latency;
  Duration first;
  for (const StepByStep::Outcome& outcome : replay(server, requests).outcomes) {
    latency += outcome.done - requests[outcome.ticket].arrived;
    first += outcome.first_token - requests[outcome.ticket].arrived;
  }
  const WorkloadRecord& got = record.workloads[0];
  ASSERT_EQ(got.requests.answered, 2000);
  EXPECT_NEAR(static_cast<double>(got.requests.latency.mean().ns),
              static_cast<double>(latency.ns) / 2000, 1);
  EXPECT_NEAR(static_cast<double>(got.tokens.first_token.mean().ns),
              static_cast<double>(first.ns) / 2000, 1);
  EXPECT_EQ(got.tokens.cache_peak, server.pool().peak());
  EXPECT_GT(got.requests.batched, (GetParam() == 1 ? 5 : 2) * got.requests.batches)
      << "a load worth testing";
  EXPECT_NEAR(got.requests.in_system_ns, static_cast<double>(latency.ns), 1e-6 * 2000) << "Little";
}

INSTANTIATE_TEST_SUITE_P(Gpus, LlmAlone, testing::Values(1, 4));

TEST(LlmCluster, OnFourGpusTheClosedForm) {
  const Scenario s = on_gpus(4, on_g5({chat(0.01)}, 20'000));
  const VariantResult result = demo::result(s);
  const WorkloadResult& got = result.workloads[0];
  const models::LlmStep step = step_on_four(demo::world(s));
  const double first = models::step_seconds(step, 600, 0);
  const double each = models::step_seconds(step, 1, 600 + 49);
  EXPECT_NEAR(to_seconds(got.tokens->first_token->p50), first, 0.005 * first);
  EXPECT_NEAR(to_seconds(got.tokens->per_token->p50), each, 0.005 * each);
  ASSERT_TRUE(got.gang && got.gang->sets.size() == 1);
  EXPECT_EQ(got.gang->gpus, 4);
  const double exchange = 64 * 12.6e-6 + step.exchange_s;
  EXPECT_NEAR(to_seconds(got.gang->sets[0].all_reduce), exchange, 1e-9);
  // Of the time that the container was there: 99 steps of a token, and one of the prompt.
  const double busy = got.completed * (100 * 64 * 12.6e-6 + 699 * step.exchange_s) / 20'000;
  EXPECT_NEAR(got.gang->all_reduce_share, busy, 0.02 * busy);
}

// Fifty prompts of 600 tokens, each sent twice in a row to one of two servers.
double share_found(scenarios::Routing routing) {
  std::vector<RequestTrace::Row> rows;
  scenarios::PromptBlocks blocks;
  blocks.tokens = 592;
  Duration at = seconds(kReady);
  for (PrefixCache::Block prompt = 1; prompt <= 50; ++prompt) {
    blocks.before.push_back(0);
    for (int twice = 0; twice < 2; ++twice) rows.push_back({at += seconds(5), 600, 2, prompt});
  }
  Workload w = replaying(rows);
  std::get<RequestTrace>(w.traffic->shape).blocks =
      std::make_shared<const scenarios::PromptBlocks>(blocks);
  w.count = 2;
  w.serving.routing = routing;
  Scenario s = on_g5({w}, 1000);
  s.node_pools[0].nodes = 2;
  const VariantResult result = demo::result(s);
  EXPECT_EQ(result.workloads[0].completed, 100);
  return result.workloads[0].tokens->prefix_hits;
}

// In turn, every prompt goes to the server that has not seen it.
TEST(LlmCluster, EachServerFindsWhatItHadItself) {
  EXPECT_EQ(share_found(scenarios::Routing::RoundRobin), 0);
  EXPECT_DOUBLE_EQ(share_found(scenarios::Routing::PrefixAware), 592.0 / 1200);
}

// All but the first of each find their prefix: TTFT is that of what is left.
TEST(LlmCluster, PrefixesThatPromptsShareAreFound) {
  Workload w = chat(0.05);
  w.llm->shared_prefix = scenarios::SharedPrefix{480, 0.75, 3};
  const VariantResult result = demo::result(on_g5({w}, 100'000));
  const WorkloadResult& got = result.workloads[0];
  const models::LlmStep step = step_of(demo::world(on_g5({w}, 100'000)));
  EXPECT_NEAR(got.tokens->prefix_hits, 0.75 * 480 / 600, 0.01);
  const double first = models::step_seconds(step, 120, 480);
  EXPECT_NEAR(to_seconds(got.tokens->first_token->p50), first, 0.005 * first);
  w.llm->prefix_caching = false;
  EXPECT_EQ(demo::result(on_g5({w}, 1000)).workloads[0].tokens->prefix_hits, 0);
}

// Forty adapters in four places: most requests bring theirs with them, and wait for it.
TEST(LlmCluster, AdaptersAreCopiedInWhereTheyAreNotThere) {
  Workload w = chat(0.05);
  scenarios::LoraAdapters& adapters = w.llm->adapters.emplace();
  adapters.count = 40;
  adapters.at_once = 4;
  adapters.memory = mebibytes(80);
  adapters.popularity = scenarios::LoraAdapters::Popularity::Even;
  adapters.load_time = milliseconds(500);
  const Scenario s = on_g5({w}, 100'000);
  const VariantResult result = demo::result(s);
  const WorkloadResult& got = result.workloads[0];
  const World world = demo::world(s);
  const double first = models::step_seconds(step_of(world), 600, 0) + 2e-3 + 0.5 +
                       world.workloads[0].on_pool[0].llm.at(0).adapter_read_s;
  EXPECT_NEAR(to_seconds(got.tokens->first_token->p50), first, 0.005 * first);
  EXPECT_NEAR(got.tokens->adapter_loads / got.completed, 0.9, 0.02);
}

// A prompt on one GPU, its keys and values over 25 Gbit/s (g5.12xlarge has 40) to another, which
// takes a step for each further token.
TEST(LlmCluster, PrefillAndDecodeOnTwoGpusTheClosedForm) {
  Workload prefill = chat(1);
  Workload decode = chat(1);
  prefill.traffic.reset();
  decode.traffic.reset();
  prefill.llm->role = scenarios::LlmRole::Prefill;
  decode.name.value = "decode";
  decode.llm->role = scenarios::LlmRole::Decode;
  decode.llm->input.reset();
  decode.llm->output.reset();
  Scenario s = on_g5({prefill, decode}, 20'000);
  s.node_pools[0].instance_type.value = "g5.12xlarge";
  scenarios::Pipeline& halves = s.pipelines.emplace_back();
  halves.name.value = "halves";
  halves.traffic.mean = {0.01};
  halves.stages.resize(2);
  halves.stages[0].workload.value = "chat";
  halves.stages[1].workload.value = "decode";
  halves.stages[1].after.push_back({"chat", {}});
  halves.stages[1].network = milliseconds(1);
  for (const double gbit : {40.0, 25.0}) {
    if (gbit < 40) halves.stages[1].kv_bandwidth = Bytes{static_cast<std::int64_t>(gbit * 1e9 / 8)};
    const VariantResult result = demo::result(s);
    const models::LlmStep step = step_of(demo::world(s));
    const double first = models::step_seconds(step, 600, 0);
    const double transfer = 1e-3 + 600 * 131072.0 * 8 / (gbit * 1e9);
    double rest = transfer;
    for (int token = 0; token < 99; ++token) rest += models::step_seconds(step, 1, 600 + token);
    const TokenFigures& one = *result.workloads[0].tokens;
    const TokenFigures& other = *result.workloads[1].tokens;
    EXPECT_NEAR(to_seconds(one.first_token->p50), first, 0.005 * first);
    EXPECT_FALSE(one.per_token);
    EXPECT_FALSE(other.first_token);
    EXPECT_NEAR(to_seconds(other.per_token->p50), rest / 99, 0.005 * rest / 99);
    EXPECT_DOUBLE_EQ(one.output_tokens, result.workloads[0].completed);
    EXPECT_DOUBLE_EQ(other.output_tokens, 99 * result.workloads[1].completed);
    EXPECT_NEAR(to_seconds(result.workloads[2].latency->p50), first + rest, 0.005 * (first + rest));
  }
}

std::vector<RequestTrace::Row> azure_code_trace() {
  std::ifstream file(SLICEWISE_SHARED_DIR "/traces/azure_llm/AzureLLMInferenceTrace_code.csv");
  std::vector<RequestTrace::Row> rows;
  std::string line;
  std::getline(file, line);
  Duration first{-1};
  while (std::getline(file, line)) {
    int hour = 0;
    int minute = 0;
    double second = 0;
    RequestTrace::Row row;
    if (std::sscanf(line.c_str(), "%*d-%*d-%*d %d:%d:%lf,%d,%d", &hour, &minute, &second,
                    &row.input_tokens, &row.output_tokens) != 5) {
      continue;
    }
    const Duration at = hours(hour) + minutes(minute) + from_seconds(second);
    if (first.ns < 0) first = at;
    row.at = seconds(kReady) + (at - first);
    rows.push_back(row);
  }
  return rows;
}

// 8,819 requests of an hour, on enough GPUs.
TEST(LlmCluster, ReplaysTheAzureCodeTraceToTheToken) {
  const std::vector<RequestTrace::Row> rows = azure_code_trace();
  if (rows.empty()) GTEST_SKIP() << "no traces/azure_llm beside the checkout";
  ASSERT_EQ(rows.size(), 8819U);
  std::int64_t input = 0;
  std::int64_t output = 0;
  for (const RequestTrace::Row& row : rows) {
    input += row.input_tokens;
    output += row.output_tokens;
  }
  Workload w = replaying(rows);
  w.count = 8;
  w.llm->model.value = "llama-3-8b-fp16/a100-80gb";
  w.serving.routing = scenarios::Routing::LeastOutstanding;
  Scenario s = on_g5({w}, 2 * 3600);
  s.node_pools[0].instance_type.value = "p4de.24xlarge";
  const Replication record = run_replication(demo::world(s), 0);
  const WorkloadRecord& got = record.workloads[0];
  EXPECT_EQ(got.requests.arrived, 8819);
  EXPECT_EQ(got.requests.answered, 8819);
  EXPECT_EQ(got.tokens.input, input);
  EXPECT_EQ(got.tokens.output, output);
}

// A trainer that never idles takes every other turn.
TEST(LlmCluster, BesideATrainerTokensTakeTwiceAsLong) {
  Scenario alone = on_g5({chat(0.02)}, 10'000);
  Workload trainer = demo::training(1);
  trainer.kind = scenarios::WorkloadKind::Deployment;
  trainer.measured->device.value = "";
  trainer.measured->gpu_busy = 1;
  trainer.pod.cpu_request = {100};
  trainer.gpu_memory.resident = mebibytes(500);
  Scenario shared = on_g5({chat(0.02), trainer}, 10'000);
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{"nvidia.com/gpu", {}}, 2, {}});
  shared.node_pools[0].device_plugin.emplace().time_slicing = sharing;
  const WorkloadResult by_itself = demo::result(alone).workloads[0];
  const WorkloadResult beside = demo::result(shared).workloads[0];
  const double slower =
      to_seconds(beside.tokens->per_token->p50) / to_seconds(by_itself.tokens->per_token->p50);
  const models::TimeSlice slice = demo::world(shared).pools[0].driver_slice;
  const double expected = 2 * (1 + to_seconds(slice.switch_cost) / to_seconds(slice.turn));
  EXPECT_NEAR(slower, expected, 0.02 * expected);
}

// Two servers take 90 % of the memory each: time-slicing stops nobody, the second dies.
TEST(LlmCluster, TwoServersDoNotFitOneGpu) {
  Workload w = chat(0.1);
  w.count = 2;
  Scenario s = on_g5({w}, 600);
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{"nvidia.com/gpu", {}}, 2, {}});
  s.node_pools[0].device_plugin.emplace().time_slicing = sharing;
  const VariantResult result = demo::result(s);
  EXPECT_GT(result.pods.oom_kills, 3);
  const auto oom = std::ranges::find(result.findings, Code::GpuOom, &Diagnostic::code);
  ASSERT_NE(oom, result.findings.end());
  EXPECT_NE(oom->message.find("\"chat\" takes 90 % of the whole GPU (memoryUtilization)"),
            std::string::npos)
      << oom->message;
  EXPECT_NE(oom->help.find("at most 47.5 %"), std::string::npos) << oom->help;
  s.workloads[0].llm->memory_utilization = 0.475;
  s.node_pools[0].instance_type.value = "g6e.xlarge";
  s.workloads[0].llm->model.value = "llama-3-8b-fp16/a100-80gb";
  EXPECT_EQ(demo::result(s).pods.oom_kills, 0);
  // vLLM compares its half with what its own CUDA context has left.
  s.workloads[0].llm->memory_utilization = 0.5;
  EXPECT_GT(demo::result(s).pods.oom_kills, 0);
  EXPECT_EQ(gpu_rooms(demo::world(s)).front().safe, 1);
}

TEST(LlmCluster, SequencesBeyondThePoolAreRefused) {
  Workload w = chat(0.2);
  w.llm->kv_cache = Bytes{131072 * 650};
  const VariantResult result = demo::result(on_g5({w}, 1000));
  EXPECT_TRUE(demo::has(result.findings, Code::GpuOom));
  EXPECT_EQ(result.workloads[0].requests->answered, 0);
  EXPECT_GT(result.workloads[0].requests->refused, 100);
}

TEST(LlmCluster, ASmallPoolThrowsSequencesOutAndStillAnswersAll) {
  Workload w = chat(2);
  w.llm->kv_cache = Bytes{131072 * 2500};
  w.llm->input = exactly(300);
  w.llm->output = exactly(400);
  Scenario s = on_g5({w}, 100);
  s.workloads[0].traffic->shape = std::vector<scenarios::RateStep>{
      {{}, {0}}, {seconds(kReady), {2}}, {seconds(kReady + 20), {0}}};
  s.duration = seconds(2000);
  const VariantResult result = demo::result(s);
  const WorkloadResult& got = result.workloads[0];
  EXPECT_GT(got.tokens->preemptions, 0);
  EXPECT_EQ(got.requests->answered, got.requests->arrived);
  EXPECT_GT(got.tokens->kv_cache_peak, 0.95);
  EXPECT_LE(got.tokens->kv_cache_peak, 1);
}

// Some prompts are longer than the pool, the others are answered: no replica was missing.
TEST(LlmCluster, PromptsThatAreTooLongAreCountedByThemselves) {
  Workload w = chat(0.2);
  w.llm->kv_cache = Bytes{131072 * 1000};
  w.llm->input = scenarios::RandomAmount{scenarios::RandomAmount::Law::LogNormal, 600, 0.5, {}, {}};
  w.serving.retries = 3;
  const VariantResult result = demo::result(on_g5({w}, 1000));
  const RequestCounts& counts = *result.workloads[0].requests;
  EXPECT_GT(counts.too_long, 5);
  EXPECT_EQ(counts.refused, counts.too_long);
  EXPECT_EQ(counts.retried, 0);
  EXPECT_GT(counts.answered, 50);
  const auto found = std::ranges::find(result.findings, Code::RequestsRefused, &Diagnostic::code);
  ASSERT_NE(found, result.findings.end());
  EXPECT_NE(found->message.find("key-value cache"), std::string::npos);
}

// Nothing comes after the first token: no time between tokens is missed.
TEST(LlmCluster, AnswersOfOneTokenMissNoTimePerToken) {
  Workload w = chat(0.2);
  w.llm->output = exactly(1);
  scenarios::Objective objective;
  objective.figure = scenarios::Figure::TpotP95;
  objective.limit = milliseconds(60);
  w.objectives.push_back(objective);
  const VariantResult result = demo::result(on_g5({w}, 1000));
  ASSERT_EQ(result.workloads[0].objectives.size(), 1U);
  EXPECT_TRUE(result.workloads[0].objectives[0].is_unasked);
  EXPECT_TRUE(result.workloads[0].objectives[0].pass);
}

// What one request may take at most decides whether it is in the objectives.
TEST(LlmCluster, LimitsOnTokensCountPerRequest) {
  Workload w = chat(0.01);
  scenarios::Objective objective;
  objective.figure = scenarios::Figure::TtftP95;
  objective.limit = milliseconds(20);  // a prompt of 600 takes 107 ms
  w.objectives.push_back(objective);
  const VariantResult result = demo::result(on_g5({w}, 5'000));
  EXPECT_GT(result.workloads[0].requests->answered, 20);
  EXPECT_EQ(result.workloads[0].requests->in_objectives, 0);
  EXPECT_GT(result.cost.ledger.missed_slo, Usd{});
}

TEST(LlmCluster, WaitingRequestsTimeOutAndQueuesHaveLimits) {
  Workload w = chat(5);
  w.llm->max_sequences = 1;
  w.serving.timeout = seconds(10);
  const RequestCounts timed = *demo::result(on_g5({w}, 500)).workloads[0].requests;
  EXPECT_GT(timed.timed_out, 1000);
  EXPECT_GT(timed.answered, 100);
  w.serving.timeout.reset();
  w.serving.queue_limit = 3;
  const RequestCounts limited = *demo::result(on_g5({w}, 500)).workloads[0].requests;
  EXPECT_GT(limited.dropped, 1000);
  EXPECT_LT(limited.mean_in_system, 4.01);
}

// Requests that were held for the first pod, and pods that leave when their last answer is out.
TEST(LlmCluster, ScalesFromZeroAndBack) {
  Workload w = chat(0.002);
  w.startup.model_load = seconds(20);
  scenarios::Autoscaling& scaling = w.autoscaling.emplace();
  scaling.min_replicas = 0;
  scaling.max_replicas = 1;
  scaling.target = 4;
  const WorkloadResult got = demo::result(on_g5({w}, 50'000)).workloads[0];
  EXPECT_EQ(got.requests->answered, got.requests->arrived);
  EXPECT_GT(got.requests->answered, 50);
  EXPECT_DOUBLE_EQ(got.tokens->output_tokens, 100 * got.completed);
  EXPECT_GT(got.scaling->scale_downs, 20);
  EXPECT_GT(got.tokens->first_token->p95, seconds(20)) << "the model was loaded first";
}

// The thread percentage holds while the neighbours are idle: a prompt is bound by compute, 1/(1.22
// l) times as long on the share l of the SMs, and reading the weights by what of the bandwidth they
// reach.
TEST(LlmCluster, AThreadLimitSlowsPrompts) {
  const auto step_under = [](int replicas, bool uncapped) {
    scenarios::Workload w = chat(0.01);
    w.llm->kv_cache = Bytes{131072 * 2000};
    w.llm->quantization = "INT4";
    Scenario s = on_g5({w}, 1000);
    s.node_pools[0].device_plugin.emplace().mps.emplace().resources.push_back(
        {{"nvidia.com/gpu", {}}, replicas, {}});
    s.node_pools[0].mps.emplace().uncapped = uncapped;
    return step_of(demo::world(s));
  };
  const models::LlmStep whole = step_under(2, true);
  const models::LlmStep half = step_under(2, false);
  EXPECT_NEAR(half.token_s, whole.token_s / 0.61, 1e-9);
  EXPECT_EQ(half.weights_s, whole.weights_s);  // half of the SMs reach all of the bandwidth
  const models::LlmStep third = step_under(3, false);
  EXPECT_NEAR(third.token_s, whole.token_s / (1.22 * 0.33), 0.02 * third.token_s);
  EXPECT_NEAR(third.weights_s, whole.weights_s / (2.2 * 0.33), 0.02 * third.weights_s);
  EXPECT_EQ(third.overhead_s, whole.overhead_s);
}

// Under every way of sharing, tokens are those of the requests, and a seed gives the same bytes.
TEST(LlmCluster, SharesAGpuUnderMps) {
  Workload w = chat(0.2);
  w.count = 2;
  w.llm->model.value = "llama-3-8b-fp16/a100-80gb";
  Scenario s = on_g5({w}, 2000);
  s.node_pools[0].instance_type.value = "p4de.24xlarge";
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{"nvidia.com/gpu", {}}, 2, {}});
  auto& plugin = s.node_pools[0].device_plugin.emplace();
  plugin.mps = sharing;
  plugin.allocation_policy = scenarios::AllocationPolicy::Packed;
  const VariantResult result = demo::result(s);
  const WorkloadResult& got = result.workloads[0];
  EXPECT_EQ(result.pods.oom_kills, 0) << "each takes 90 % of its limit";
  EXPECT_DOUBLE_EQ(got.tokens->output_tokens, 100 * got.completed);
  EXPECT_GT(got.completed, 300);
  EXPECT_EQ(demo::result(s, 2).workloads[0].tokens->first_token->mean,
            got.tokens->first_token->mean);
}

}  // namespace
}  // namespace slicewise::sim
