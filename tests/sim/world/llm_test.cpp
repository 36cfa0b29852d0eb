// What a language model becomes on each kind of domain.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/gpu_room.hpp"

#include "../demo.hpp"

namespace slicewise::sim {
namespace {

using scenarios::RandomAmount;

// Of a step, beside weights and cache.
constexpr Bytes kActivations = mebibytes(1'126);

scenarios::NodePool pool_of(const char* instance_type) {
  scenarios::NodePool pool;
  pool.name.value = "gpu";
  pool.instance_type.value = instance_type;
  return pool;
}

RandomAmount tokens(double mean, std::int64_t most) {
  return {RandomAmount::Law::Exponential, mean, 0, 1, most};
}

scenarios::Workload chat_of(const char* model) {
  scenarios::Workload w;
  w.name.value = "chat";
  w.kind = scenarios::WorkloadKind::Service;
  w.restart_policy = scenarios::RestartPolicy::Always;
  w.pod.extended.push_back({{"nvidia.com/gpu", {}}, 1, {}});
  w.traffic.emplace().mean = {1};
  w.llm.emplace().model.value = model;
  w.llm->input = tokens(500, 2048);
  w.llm->output = tokens(200, 1024);
  return w;
}

scenarios::Scenario hour_of(const scenarios::NodePool& pool, const scenarios::Workload& workload) {
  scenarios::Scenario s = demo::scenario(pool, {workload});
  s.duration = hours(1);
  return s;
}

World world_of(const char* instance_type, const scenarios::Workload& workload) {
  return demo::world(hour_of(pool_of(instance_type), workload));
}

Diagnostics errors_of(const char* instance_type, const scenarios::Workload& workload) {
  const auto built = build_world(hour_of(pool_of(instance_type), workload), demo::catalogue());
  return built ? Diagnostics{} : built.error();
}

scenarios::Workload chat_on(int gpus, const char* model) {
  scenarios::Workload w = chat_of(model);
  w.pod.extended.front().count = gpus;
  return w;
}

scenarios::Traffic replaying_blocks() {
  scenarios::RequestTrace trace;
  trace.has_tokens = true;
  trace.rows = {{Duration{}, 600, 10, 1}};
  trace.blocks =
      std::make_shared<const scenarios::PromptBlocks>(scenarios::PromptBlocks{512, {0, 0}});
  scenarios::Traffic traffic;
  traffic.shape = trace;
  return traffic;
}

TEST(LlmWorld, PromptsAreOfTheTraceOrOfThePrefixesTheyShare) {
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a10g");
  EXPECT_FALSE(world_of("g5.xlarge", w).workloads[0].prompts);
  w.llm->shared_prefix = scenarios::SharedPrefix{300, 1, 4};
  EXPECT_EQ(world_of("g5.xlarge", w).workloads[0].prompts->before.size(), 5U);
  EXPECT_EQ(world_of("g5.xlarge", w).workloads[0].prompts->tokens, 300);
  w.llm->shared_prefix.reset();
  w.traffic = replaying_blocks();
  EXPECT_FALSE(world_of("g5.xlarge", w).workloads[0].prompts) << "its prompts are drawn";
  w.llm->input.reset();
  w.llm->output.reset();
  EXPECT_EQ(world_of("g5.xlarge", w).workloads[0].prompts->tokens, 512);
  w.llm->prefix_caching = false;
  EXPECT_FALSE(world_of("g5.xlarge", w).workloads[0].prompts);
}

TEST(LlmWorld, WhatIsFoundIsSimulatedOrSaid) {
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a10g");
  w.traffic = replaying_blocks();
  w.llm->input.reset();
  w.llm->output.reset();
  w.llm->prefix_reuse = 0.3;
  Diagnostics found = errors_of("g5.xlarge", w);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].message.find("prefixReuse, and a trace"), std::string::npos);
  w.llm->prefix_reuse = 0;
  w.llm->shared_prefix = scenarios::SharedPrefix{300, 1, 4};
  found = errors_of("g5.xlarge", w);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].message.find("sharedPrefix, and a trace"), std::string::npos);
}

// What no prompt is long enough for did nothing, and nobody said so.
TEST(LlmWorld, ASharedPrefixIsNoLongerThanAllPrompts) {
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a10g");
  w.llm->input.emplace().mean = 512;
  w.llm->shared_prefix = scenarios::SharedPrefix{512, 0.5, 4};
  EXPECT_TRUE(world_of("g5.xlarge", w).workloads[0].prompts);
  w.llm->shared_prefix->tokens = 513;
  const Diagnostics found = errors_of("g5.xlarge", w);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].message.find("of 513 tokens, and no prompt with more than 512"),
            std::string::npos);
  w.llm->input->law = scenarios::RandomAmount::Law::Exponential;
  EXPECT_TRUE(world_of("g5.xlarge", w).workloads[0].prompts) << "some are longer than the mean";
}

// Four places of 100 MiB on an A10G with 600 GB/s; a step has them on top of its law.
TEST(LlmWorld, AdaptersTakePlacesFromTheCache) {
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a10g");
  const World without = world_of("g5.xlarge", w);
  w.llm->adapters.emplace().count = 9;
  w.llm->adapters->at_once = 4;
  w.llm->adapters->memory = mebibytes(100);
  const World with = world_of("g5.xlarge", w);
  const LlmDemand& none = without.workloads[0].on_pool[0].llm.at(0);
  const LlmDemand& four = with.workloads[0].on_pool[0].llm.at(0);
  EXPECT_EQ(none.cache_tokens - four.cache_tokens, mebibytes(400).count / 131072);
  EXPECT_NEAR(static_cast<double>(four.gpu_memory.count),
              static_cast<double>(none.gpu_memory.count), 131072);
  EXPECT_DOUBLE_EQ(four.adapter_read_s, 100.0 * 1048576 / (0.7 * 600e9));
  EXPECT_DOUBLE_EQ(four.adapter_load_s, 100.0 * 1048576 / 12e9);
  EXPECT_EQ(with.provenance.assumed, without.provenance.assumed + 1);
  w.traffic = replaying_blocks();
  w.llm->input.reset();
  w.llm->output.reset();
  const Diagnostics found = errors_of("g5.xlarge", w);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].message.find("adapters, and a trace"), std::string::npos);
  w.llm->prefix_caching = false;
  EXPECT_TRUE(errors_of("g5.xlarge", w).empty());
}

// 61 GB on an A100 took 2.86 s to wake up and 2.78 s to fall asleep, 8.3 GB 0.82 and 0.42 s; by an
// SSD 2.58 s. Source: vLLM's blog, 2025-10-26.
TEST(LlmWorld, SleepIsAsMeasuredOnAnA100) {
  const auto of = [](double gigabytes, int level) {
    scenarios::Workload w = chat_of("llama-3-8b-fp16/a100-80gb");
    w.llm->weights = Bytes{std::llround(gigabytes * 1e9)};
    w.llm->sleep.emplace().level = level;
    return *world_of("p4de.24xlarge", w).workloads[0].on_pool[0].llm.at(0).sleep;
  };
  EXPECT_NEAR(to_seconds(of(61.1, 1).wake_time), 2.86, 0.14);
  EXPECT_NEAR(to_seconds(of(61.1, 1).sleep_time), 2.78, 0.2);
  EXPECT_NEAR(to_seconds(of(8.3, 1).wake_time), 0.82, 0.14);
  EXPECT_NEAR(to_seconds(of(8.3, 1).sleep_time), 0.42, 0.14);
  EXPECT_NEAR(to_seconds(of(8.3, 2).wake_time), 2.58, 0.14);
  EXPECT_EQ(of(8.3, 2).host_memory, Bytes{});
}

TEST(LlmWorld, SleepingWeightsWantMemoryOfTheHost) {
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a10g");
  w.pod.memory_request = gibibytes(4);
  EXPECT_FALSE(demo::has(world_of("g5.xlarge", w).findings, Code::LlmSleeps));
  w.llm->sleep.emplace();
  const World world = world_of("g5.xlarge", w);
  EXPECT_TRUE(demo::has(world.findings, Code::LlmSleeps));
  const auto& found = world.findings;
  const auto warned = std::ranges::find(found, Code::SleepHostMemory, &Diagnostic::code);
  ASSERT_NE(warned, found.end());
  EXPECT_NE(warned->message.find("holds 15.0 GiB of host memory, pinned, and asks for 4.0"),
            std::string::npos);
  w.pod.memory_limit = gibibytes(8);
  const World limited = world_of("g5.xlarge", w);
  EXPECT_NE(std::ranges::find(limited.findings, Code::SleepHostMemory, &Diagnostic::code)
                ->message.find("its limit of 8.0 GiB kills it"),
            std::string::npos);
  w.llm->sleep->level = 2;
  EXPECT_FALSE(demo::has(world_of("g5.xlarge", w).findings, Code::SleepHostMemory));
}

// Four times the memory for the cache, less what the weights leave more of each.
TEST(LlmWorld, GpusOfAPodShareTheModel) {
  const World alone = world_of("g5.12xlarge", chat_of("llama-3-8b-fp16/a10g"));
  const World shared = world_of("g5.12xlarge", chat_on(4, "llama-3-8b-fp16/a10g"));
  const LlmDemand& one = alone.workloads[0].on_pool[0].llm.at(0);
  const LlmDemand& each = shared.workloads[0].on_pool[0].llm.at(0);
  EXPECT_FALSE(one.shared);
  ASSERT_TRUE(each.shared);
  EXPECT_DOUBLE_EQ(each.step.weights_s, 32 * 30e-6 + (one.step.weights_s - 32 * 30e-6) / 4);
  EXPECT_DOUBLE_EQ(each.step.kv_read_s, one.step.kv_read_s / 4);
  EXPECT_EQ(each.gpu_memory, one.gpu_memory) << "90 % of a GPU";
  const std::int64_t pool = each.gpu_memory.count - mebibytes(15360).count / 4 - kActivations.count;
  EXPECT_EQ(each.cache_tokens, pool / (131072 / 4));
  EXPECT_EQ(shared.workloads[0].gpu_memory, Bytes{mebibytes(15360).count / 4 + 131072 / 4 * 3072});
  EXPECT_TRUE(demo::has(shared.findings, Code::LlmShared));
  EXPECT_FALSE(demo::has(alone.findings, Code::LlmShared));
  EXPECT_GT(shared.provenance.assumed, alone.provenance.assumed);
}

// 131 GiB on 80 GB, on two, on four.
TEST(LlmWorld, EnoughGpusHoldALargeModel) {
  const auto tokens_on = [](int gpus) {
    const World world = world_of("p4de.24xlarge", chat_on(gpus, "llama-3-70b-fp16/a100-80gb"));
    return world.workloads[0].on_pool[0].llm.at(0).cache_tokens;
  };
  EXPECT_EQ(tokens_on(1), 0);
  EXPECT_GT(tokens_on(2), 10'000);
  EXPECT_GT(tokens_on(4), 400'000);
}

TEST(LlmWorld, TheSizeIsThatOfThePod) {
  scenarios::Workload w = chat_on(2, "llama-3-8b-fp16/a10g");
  w.llm->tensor_parallel_size = 2;
  EXPECT_TRUE(errors_of("g5.12xlarge", w).empty());
  w.llm->tensor_parallel_size = 4;
  const Diagnostics differs = errors_of("g5.12xlarge", w);
  ASSERT_TRUE(demo::has(differs, Code::SettingConflict));
  EXPECT_NE(differs[0].help.find("ask for 4,"), std::string::npos);
  scenarios::NodePool shared = pool_of("g5.12xlarge");
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{"nvidia.com/gpu", {}}, 2, {}});
  shared.device_plugin.emplace().time_slicing = sharing;
  w.llm->tensor_parallel_size = 2;
  const auto built = build_world(hour_of(shared, w), demo::catalogue());
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().back().message.find("parts of GPUs"), std::string::npos)
      << built.error().back().message;
}

TEST(LlmWorld, WhatCannotBeSharedIsRefused) {
  const Diagnostics three = errors_of("g5.12xlarge", chat_on(3, "llama-3-8b-fp16/a10g"));
  ASSERT_TRUE(demo::has(three, Code::ValueRange));
  EXPECT_NE(three[0].help.find("ask for 1, 2, 4 or 8"), std::string::npos);
  scenarios::Workload own = chat_on(2, "");
  own.llm->weights_time = milliseconds(20);
  own.llm->token_seconds = 1e-4;
  own.llm->weights = gibibytes(8);
  own.llm->kv_bytes_per_token = Bytes{65536};
  EXPECT_TRUE(demo::has(errors_of("g5.12xlarge", own), Code::InputMissing));
}

TEST(LlmWorld, GpusThatNobodyLinkedAreNamed) {
  models::Catalogue unlinked = demo::catalogue();
  for (models::Interconnect& one : unlinked.interconnects) one.pcie_gbytes_per_second = 0;
  const scenarios::Workload w = chat_on(4, "llama-3-8b-fp16/a10g");
  const auto built = build_world(hour_of(pool_of("g5.12xlarge"), w), unlinked);
  ASSERT_FALSE(built);
  EXPECT_NE(built.error()[0].message.find("PCIe only"), std::string::npos);
  const scenarios::Workload linked = chat_on(4, "llama-3-8b-fp16/a100-80gb");
  EXPECT_TRUE(build_world(hour_of(pool_of("p4de.24xlarge"), linked), unlinked));
}

// A model of one byte a token, and one that weighs less than its layers say.
TEST(LlmWorld, NothingHasLessThanNothing) {
  models::Catalogue small = demo::catalogue();
  for (models::LlmModel& model : small.llm_models) {
    model.kv_bytes_per_token = Bytes{1};
    model.weights = mebibytes(1);
  }
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a100-80gb");
  w.llm->quantization = "INT4";
  w.llm->kv_cache_dtype = "FP8";
  const auto built = build_world(hour_of(pool_of("g6e.xlarge"), w), small);
  ASSERT_TRUE(built);
  const LlmDemand& there = built->workloads[0].on_pool[0].llm.at(0);
  EXPECT_GT(there.cache_tokens, 0);
  EXPECT_LE(there.gpu_memory + built->pools[0].context_memory, built->pools[0].kinds[0].memory);
}

// Reading the head of Llama-3-8B on an A100-80GB: 128,256 x 4,096 x 2 bytes / (0.7 x 2,039 GB/s).
constexpr double kHeadMs = 128256.0 * 4096 * 2 / (0.7 * 2039e9) * 1e3;

TEST(LlmWorld, FewerBytesAreReadAndHeld) {
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a100-80gb");
  const World half = world_of("g6e.xlarge", w);
  w.llm->quantization = "FP8";
  w.llm->kv_cache_dtype = "FP8";
  const World fp8 = world_of("g6e.xlarge", w);
  const LlmDemand& before = half.workloads[0].on_pool[0].llm.at(0);
  const LlmDemand& after = fp8.workloads[0].on_pool[0].llm.at(0);
  const double same_ms = 32 * 30e-3 + kHeadMs;  // small kernels and the head
  EXPECT_NEAR(after.step.weights_s / before.step.weights_s,
              (same_ms + (9.8 + kHeadMs - same_ms) / 2) / (9.8 + kHeadMs), 1e-6);
  EXPECT_DOUBLE_EQ(after.step.token_s, before.step.token_s / 2) << "L40S has FP8 cores";
  EXPECT_DOUBLE_EQ(after.step.kv_read_s, before.step.kv_read_s / 2);
  EXPECT_GT(after.cache_tokens, 2 * before.cache_tokens);
  const World on_a100 = world_of("p4de.24xlarge", w);
  EXPECT_DOUBLE_EQ(on_a100.workloads[0].on_pool[0].llm.at(0).step.token_s, 67.5e-6)
      << "A100 has none";
  EXPECT_TRUE(demo::has(errors_of("g4dn.xlarge", w), Code::StrategyNotModelled)) << "nor Turing";
}

TEST(LlmWorld, TheServerTakesItsShareOfTheMemoryAsVllmDoes) {
  const World world = world_of("g5.xlarge", chat_of("llama-3-8b-fp16/a10g"));
  const LlmDemand& there = world.workloads[0].on_pool[0].llm.at(0);
  EXPECT_NEAR(there.step.weights_s, 34.2e-3 + kHeadMs * 1e-3 * 2039 / 600, 1e-8);
  EXPECT_DOUBLE_EQ(there.step.token_s, 300.9e-6);
  const PoolModel& pool = world.pools[0];
  const auto taken =
      static_cast<std::int64_t>(0.9 * static_cast<double>(pool.kinds[0].memory.count));
  EXPECT_EQ(there.gpu_memory + pool.context_memory, Bytes{taken});
  EXPECT_EQ(there.cache_tokens,
            (Bytes{taken} - pool.context_memory - mebibytes(15360) - kActivations).count / 131072);
  EXPECT_GT(there.cache_tokens, 10'000);
  EXPECT_FALSE(demo::has(world.findings, Code::GpuOom));
  EXPECT_EQ(world.workloads[0].gpu_memory, mebibytes(15360) + Bytes{131072 * 3072});
}

// As vLLM's check_enough_kv_cache_memory.
TEST(LlmWorld, ACacheThatHoldsNotOneOfTheLongestRequestsStartsNoServer) {
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a10g");
  const World by_default = world_of("g5.xlarge", w);
  EXPECT_FALSE(demo::has(by_default.findings, Code::GpuOom)) << "8192, by the catalogue";
  const std::int64_t tokens = by_default.workloads[0].on_pool[0].llm.at(0).cache_tokens;
  w.llm->max_model_len = static_cast<int>(tokens);
  EXPECT_FALSE(demo::has(world_of("g5.xlarge", w).findings, Code::GpuOom));
  w.llm->max_model_len = 131'072;
  const World world = world_of("g5.xlarge", w);
  ASSERT_TRUE(demo::has(world.findings, Code::GpuOom));
  const auto oom = std::ranges::find(world.findings, Code::GpuOom, &Diagnostic::code);
  EXPECT_NE(oom->message.find("fewer than one request of maxModelLen 131072"), std::string::npos);
  EXPECT_NE(oom->help.find(fmt::format("a maxModelLen of at most {}", tokens)), std::string::npos);
  const LlmDemand& there = world.workloads[0].on_pool[0].llm.at(0);
  EXPECT_GT(there.gpu_memory + world.pools[0].context_memory, world.pools[0].kinds[0].memory);
  w.llm->max_model_len.reset();
  models::Catalogue longer = demo::catalogue();
  for (models::LlmModel& model : longer.llm_models) model.context_length = 131'072;
  const auto built = build_world(hour_of(pool_of("g5.xlarge"), w), longer);
  ASSERT_TRUE(built);
  EXPECT_TRUE(demo::has(built->findings, Code::GpuOom)) << "the model's own length";
}

TEST(LlmWorld, AGivenCacheIsTakenAtItsWord) {
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a10g");
  w.llm->kv_cache = gibibytes(2);
  const World world = world_of("g5.xlarge", w);
  const LlmDemand& there = world.workloads[0].on_pool[0].llm.at(0);
  EXPECT_EQ(there.cache_tokens, 2 * 1024 * 8);
  EXPECT_EQ(there.gpu_memory, mebibytes(15360) + kActivations + gibibytes(2));
}

// 2 PiB a token times the tokens of a request was less than nothing.
TEST(LlmWorld, ACacheOfAnySizeIsASize) {
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a10g");
  w.llm->kv_bytes_per_token = mebibytes(2'147'483'647);
  EXPECT_EQ(world_of("g5.xlarge", w).workloads[0].gpu_memory,
            mebibytes(15360) + Bytes{std::int64_t{1} << 60});
}

TEST(LlmWorld, StepsAreCarriedOverToAnotherGpu) {
  const World world = world_of("g6e.xlarge", chat_of("llama-3-8b-fp16/a100-80gb"));
  const LlmDemand& there = world.workloads[0].on_pool[0].llm.at(0);
  EXPECT_NEAR(there.step.weights_s, (9.8 + kHeadMs) * 1e-3 * 2039 / 864, 1e-6);
  EXPECT_NEAR(there.step.token_s, 67.5e-6 * 312 / 362.05, 1e-9);
  EXPECT_TRUE(demo::has(world.findings, Code::ProfileScaled));
  EXPECT_TRUE(std::ranges::count(world.provenance.assumed_inputs,
                                 AssumedInput("chat", "GPU time on L40S")) == 1);
}

TEST(LlmWorld, WhatTheCatalogueHasOfThatGpuIsNamed) {
  const World world = world_of("g5.xlarge", chat_of("llama-3-8b-fp16/a100-80gb"));
  const auto scaled = std::ranges::find(world.findings, Code::ProfileScaled, &Diagnostic::code);
  ASSERT_NE(scaled, world.findings.end());
  EXPECT_THAT(scaled->message,
              testing::EndsWith("; the catalogue has llama-3-8b-fp16/a10g of that GPU"));
  EXPECT_EQ(scaled->help, "llm.model: llama-3-8b-fp16/a10g");
}

TEST(LlmWorld, AMigInstanceHasItsShares) {
  scenarios::NodePool pool = pool_of("p4de.24xlarge");
  pool.mig.emplace().config.value = "all-3g.40gb";
  const World world = demo::world(hour_of(pool, chat_of("llama-3-8b-fp16/a100-80gb")));
  const LlmDemand& there = world.workloads[0].on_pool[0].llm.at(0);
  const DomainKind& kind = world.pools[0].kinds[0];
  ASSERT_LT(kind.share.compute, 0.5);
  EXPECT_NEAR(there.step.weights_s, (9.8 + kHeadMs) * 1e-3 / kind.share.bandwidth, 1e-9);
  EXPECT_NEAR(there.step.token_s, 67.5e-6 / kind.share.compute, 1e-9);
}

TEST(LlmWorld, WeightsThatDoNotFitAreSaidBeforeTheRun) {
  const World world = world_of("g4dn.xlarge", chat_of("llama-3-8b-fp16/a100-80gb"));
  const LlmDemand& there = world.workloads[0].on_pool[0].llm.at(0);
  EXPECT_EQ(there.cache_tokens, 0);
  EXPECT_GT(there.gpu_memory, world.pools[0].kinds[0].memory);
  EXPECT_EQ(there.gpu_memory.count, kActivations.count +
                                        world.workloads[0].spec.llm->weights->count +
                                        world.workloads[0].spec.llm->kv_bytes_per_token->count);
  EXPECT_EQ(std::ranges::count(world.findings, Code::GpuOom, &Diagnostic::code), 1);
}

// The memory would do, the server's own share of it does not: what is advised mends it.
TEST(LlmWorld, AShareBelowTheWeightsIsToldApartFromAGpuThatIsTooSmall) {
  scenarios::Workload chat = chat_of("llama-3-8b-fp16/a10g");
  const auto told = [&](const char* type) {
    const World world = world_of(type, chat);
    const auto oom = std::ranges::find(world.findings, Code::GpuOom, &Diagnostic::code);
    return oom == world.findings.end() ? Diagnostic{} : *oom;
  };
  chat.llm->memory_utilization = 0.6;
  const Diagnostic small_share = told("g5.xlarge");
  EXPECT_NE(small_share.message.find("need 16.5 GiB, and it takes 60 % of the 22.1 GiB of A10G"),
            std::string::npos)
      << small_share.message;
  EXPECT_EQ(small_share.help,
            "a memoryUtilization above 75 %, quantization, several GPUs for each pod or a larger "
            "GPU");
  const GpuRoom room = gpu_rooms(world_of("g5.xlarge", chat)).front();
  EXPECT_EQ(room.bound, GpuRoom::Bound::OwnShare);
  EXPECT_EQ(room.safe, 0);
  EXPECT_LT(*room.process_limit, room.next);
  chat.llm->memory_utilization = 0.76;
  chat.llm->max_model_len = 512;  // of the model's 8192 the pool would have to hold all
  EXPECT_EQ(gpu_rooms(world_of("g5.xlarge", chat)).front().safe, 1);
  const Diagnostic small_gpu = told("g4dn.xlarge");
  EXPECT_NE(small_gpu.message.find("need 16.2 GiB, and T4 has 14.8 GiB"), std::string::npos)
      << small_gpu.message;
  EXPECT_EQ(small_gpu.help, "quantization, several GPUs for each pod or a larger GPU");
  EXPECT_EQ(gpu_rooms(world_of("g4dn.xlarge", chat)).front().bound, GpuRoom::Bound::Memory);
}

// vLLM's logs of Qwen3-8B on an L4 with 90 % of its memory: 15.27 GiB of weights leave 3.14 GiB and
// 22,880 tokens of 144 KiB; in FP8 9.06 leave 9.26 and 67,424.
TEST(LlmWorld, ThePoolIsNearWhatVllmLogged) {
  scenarios::Workload qwen = chat_of("llama-3-8b-fp16/a100-80gb");
  qwen.llm->kv_bytes_per_token = Bytes{144 * 1024};
  const auto pool = [&](double weights_gib) {
    qwen.llm->weights = Bytes{std::llround(weights_gib * static_cast<double>(gibibytes(1).count))};
    const World world = world_of("g6.2xlarge", qwen);
    return static_cast<double>(world.workloads[0].on_pool[0].llm.at(0).cache_tokens);
  };
  EXPECT_NEAR(pool(15.27), 22'880, 0.02 * 22'880);
  EXPECT_NEAR(pool(9.06), 67'424, 0.02 * 67'424);
}

// vLLM refuses to start where its share is more than its own CUDA context leaves.
TEST(LlmWorld, AShareOfAllMemoryNeverStarts) {
  scenarios::Workload chat = chat_of("llama-3-8b-fp16/a10g");
  chat.llm->memory_utilization = 1;
  EXPECT_TRUE(world_of("g5.xlarge", chat).workloads[0].dies_at_start);
  const World context = world_of("g5.xlarge", chat_of("llama-3-8b-fp16/a10g"));
  const double most = 1 - static_cast<double>(context.pools[0].context_memory.count) /
                              static_cast<double>(context.pools[0].kinds[0].memory.count);
  chat.llm->memory_utilization = most - 1e-6;
  EXPECT_FALSE(world_of("g5.xlarge", chat).workloads[0].dies_at_start);
}

// A plan of two pools was refused because the model does not fit the pool that it stays away from.
TEST(LlmWorld, NothingIsSaidOfPoolsThatItsPodsStayAwayFrom) {
  scenarios::Workload chat = chat_of("llama-3-8b-fp16/a100-80gb");
  scenarios::Scenario scenario = hour_of(pool_of("g6e.xlarge"), chat);
  scenario.node_pools.push_back(pool_of("g4dn.xlarge"));
  scenario.node_pools.back().name.value = "small";
  EXPECT_TRUE(demo::has(demo::world(scenario).findings, Code::GpuOom));
  scenario.node_pools.front().labels = {{"for", "chat"}};
  scenario.workloads.front().pod.node_selector = {{"for", "chat"}};
  EXPECT_FALSE(demo::has(demo::world(scenario).findings, Code::GpuOom));
}

// A scenario was refused for a GPU that the model never comes to.
TEST(LlmWorld, StepsAreNotCarriedOverToPoolsThatItsPodsStayAwayFrom) {
  scenarios::Scenario scenario = hour_of(pool_of("g5.xlarge"), chat_of("llama-3-8b-fp16/a10g"));
  scenario.node_pools.push_back(pool_of("g7e.2xlarge"));
  scenario.node_pools.back().name.value = "new";
  scenario.node_pools.front().labels = {{"for", "chat"}};
  scenario.workloads.front().pod.node_selector = {{"for", "chat"}};
  const World world = demo::world(scenario);
  EXPECT_DOUBLE_EQ(world.workloads[0].on_pool[0].llm.at(0).step.token_s, 300.9e-6);
}

TEST(LlmWorld, NoCarryingOverToAGpuWithoutATensorRate) {
  EXPECT_TRUE(demo::has(errors_of("g7e.2xlarge", chat_of("llama-3-8b-fp16/a100-80gb")),
                        Code::InputMissing));
}

TEST(LlmWorld, UnknownAndUnusableModelsAreNamed) {
  const Diagnostics unknown = errors_of("g5.xlarge", chat_of("llama-3-8b-fp16/a10"));
  ASSERT_TRUE(demo::has(unknown, Code::ProfileUnknown));
  EXPECT_NE(unknown[0].help.find("llama-3-8b-fp16/a10g"), std::string::npos);
  EXPECT_TRUE(
      demo::has(errors_of("g5.xlarge", chat_of("llama-2-7b-fp16/a40")), Code::InputMissing));
}

TEST(LlmWorld, OwnFiguresNeedNoModel) {
  scenarios::Workload w = chat_of("");
  w.llm->weights_time = milliseconds(20);
  w.llm->token_seconds = 1e-4;
  w.llm->weights = gibibytes(8);
  EXPECT_EQ(errors_of("g5.xlarge", w).size(), 1U) << "KV bytes per token are missing";
  w.llm->kv_bytes_per_token = Bytes{65536};
  const World world = world_of("g5.xlarge", w);
  const LlmDemand& there = world.workloads[0].on_pool[0].llm.at(0);
  EXPECT_DOUBLE_EQ(there.step.weights_s, 0.02);
  EXPECT_DOUBLE_EQ(there.step.kv_read_s, 65536 / (0.7 * 600e9));
  EXPECT_DOUBLE_EQ(there.step.overhead_s, 0.6e-3);
  w.llm->output.reset();
  EXPECT_TRUE(demo::has(errors_of("g5.xlarge", w), Code::InputMissing)) << "tokens";
}

}  // namespace
}  // namespace slicewise::sim
