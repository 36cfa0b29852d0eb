// What a language model becomes on each kind of domain.
#include <gtest/gtest.h>

#include "../demo.hpp"

namespace slicewise::sim {
namespace {

using scenarios::RandomAmount;

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

TEST(LlmWorld, AModelOnSeveralGpusIsRefused) {
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a10g");
  w.pod.extended.front().count = 4;
  EXPECT_TRUE(demo::has(errors_of("g5.12xlarge", w), Code::StrategyNotModelled));
}

TEST(LlmWorld, TheServerTakesItsShareOfTheMemoryAsVllmDoes) {
  const World world = world_of("g5.xlarge", chat_of("llama-3-8b-fp16/a10g"));
  const LlmDemand& there = world.workloads[0].on_pool[0].llm.at(0);
  EXPECT_DOUBLE_EQ(there.weights_s, 34.2e-3);
  EXPECT_DOUBLE_EQ(there.token_s, 300.9e-6);
  const PoolModel& pool = world.pools[0];
  const auto taken =
      static_cast<std::int64_t>(0.9 * static_cast<double>(pool.kinds[0].memory.count));
  EXPECT_EQ(there.gpu_memory + pool.context_memory, Bytes{taken});
  EXPECT_EQ(there.cache_tokens,
            (Bytes{taken} - pool.context_memory - mebibytes(15360)).count / 131072);
  EXPECT_GT(there.cache_tokens, 10'000);
  EXPECT_FALSE(demo::has(world.findings, Code::GpuOom));
  EXPECT_EQ(world.workloads[0].gpu_memory, mebibytes(15360) + Bytes{131072 * 3072});
}

TEST(LlmWorld, AGivenCacheIsTakenAtItsWord) {
  scenarios::Workload w = chat_of("llama-3-8b-fp16/a10g");
  w.llm->kv_cache = gibibytes(2);
  const World world = world_of("g5.xlarge", w);
  const LlmDemand& there = world.workloads[0].on_pool[0].llm.at(0);
  EXPECT_EQ(there.cache_tokens, 2 * 1024 * 8);
  EXPECT_EQ(there.gpu_memory, mebibytes(15360) + gibibytes(2));
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
  EXPECT_NEAR(there.weights_s, 9.8e-3 * 2039 / 864, 1e-6);
  EXPECT_NEAR(there.token_s, 67.5e-6 * 312 / 362.05, 1e-9);
  EXPECT_TRUE(demo::has(world.findings, Code::ProfileScaled));
  EXPECT_TRUE(std::ranges::count(world.provenance.assumed_inputs, "chat: GPU time on L40S") == 1);
}

TEST(LlmWorld, AMigInstanceHasItsShares) {
  scenarios::NodePool pool = pool_of("p4de.24xlarge");
  pool.mig.emplace().config.value = "all-3g.40gb";
  const World world = demo::world(hour_of(pool, chat_of("llama-3-8b-fp16/a100-80gb")));
  const LlmDemand& there = world.workloads[0].on_pool[0].llm.at(0);
  const DomainKind& kind = world.pools[0].kinds[0];
  ASSERT_LT(kind.share.compute, 0.5);
  EXPECT_NEAR(there.weights_s, 9.8e-3 / kind.share.bandwidth, 1e-9);
  EXPECT_NEAR(there.token_s, 67.5e-6 / kind.share.compute, 1e-9);
}

TEST(LlmWorld, WeightsThatDoNotFitAreSaidBeforeTheRun) {
  const World world = world_of("g4dn.xlarge", chat_of("llama-3-8b-fp16/a100-80gb"));
  const LlmDemand& there = world.workloads[0].on_pool[0].llm.at(0);
  EXPECT_EQ(there.cache_tokens, 0);
  EXPECT_EQ(there.gpu_memory, world.pools[0].kinds[0].memory) << "more than its context leaves";
  EXPECT_EQ(std::ranges::count(world.findings, Code::GpuOom, &Diagnostic::code), 1);
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
  EXPECT_DOUBLE_EQ(there.weights_s, 0.02);
  EXPECT_DOUBLE_EQ(there.kv_read_s, 65536 / (0.7 * 600e9));
  EXPECT_DOUBLE_EQ(there.overhead_s, 0.6e-3);
  w.llm->output.reset();
  EXPECT_TRUE(demo::has(errors_of("g5.xlarge", w), Code::InputMissing)) << "tokens";
}

}  // namespace
}  // namespace slicewise::sim
