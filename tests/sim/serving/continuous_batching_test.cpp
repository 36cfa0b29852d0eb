#include "slicewise/sim/serving/continuous_batching.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

#include "replay.hpp"
#include "step_by_step.hpp"

namespace slicewise::sim {
namespace {

// Llama-2-7B in FP16 on A100-80GB.
constexpr models::LlmStep kA100{9.1e-3, 63.7e-6, 367.3e-9, 0.6e-3};

TEST(ContinuousBatching, OneRequestTakesItsPromptAndThenAStepPerToken) {
  ContinuousBatching server(kA100, {8, 512, 10000, 0});
  const std::vector<LlmRequest> one = {{TimePoint{0}, 1000, 4, 7}};
  const Replay got = replay(server, one);
  ASSERT_EQ(got.outcomes.size(), 1U);
  const auto at = [](double tokens, double cached) {
    return models::step_seconds(kA100, tokens, cached);
  };
  const double first = at(512, 0) + at(488, 512);
  EXPECT_NEAR(to_seconds(got.outcomes[0].first_token - TimePoint{}), first, 2e-9);
  EXPECT_NEAR(to_seconds(got.outcomes[0].done - TimePoint{}),
              first + at(1, 1000) + at(1, 1001) + at(1, 1002), 4e-9);
  EXPECT_EQ(got.pieces, 3);
  EXPECT_EQ(got.steps, 5);
  EXPECT_EQ(server.pool().peak(), 1003);
  EXPECT_EQ(server.pool().held(), 0);
}

// The slowest law that a scenario may give, and all that a cache may hold.
TEST(ContinuousBatching, AStepIsNoLongerThanItsClockCanSay) {
  ContinuousBatching server({3600, 1, 1, 3600}, {8, 1 << 20, std::int64_t{1} << 40, 0});
  for (std::uint32_t id = 0; id < 8; ++id) server.push({TimePoint{0}, 1 << 20, 100'000, id});
  TimePoint now;
  for (int piece = 0; piece < 12; ++piece) {
    const Duration work = server.begin(now);
    ASSERT_GT(work, seconds(1));
    ASSERT_LE(work, hours(24 * 14));
    now = now + work;
    server.end(now);
  }
}

// Whatever the chunks, attention grows with the square of what the law's own tokens leave.
TEST(ContinuousBatching, ALongPromptAttendsToAllBeforeIt) {
  models::LlmStep law = kA100;
  law.pair_s = 5e-9;
  for (const int budget : {2000, 8000, 20'000}) {
    const BatchingLimits limits{8, budget, 30'000};
    const std::vector<LlmRequest> one = {{TimePoint{0}, 20'000, 3, 0}};
    double expected = law.pair_s * (20'000.0 - 4096) * (20'000.0 - 4096) / 2;
    for (int done = 0; done < 20'000; done += budget) {
      expected += models::step_seconds(law, std::min(budget, 20'000 - done), done);
    }
    ContinuousBatching server(law, limits);
    const Replay got = replay(server, one);
    EXPECT_NEAR(to_seconds(got.outcomes[0].first_token - TimePoint{}), expected, 1e-7);
    EXPECT_EQ(got.outcomes, StepByStep(law, limits).run(one));
  }
}

TEST(ContinuousBatching, AReusedPrefixIsHeldButNotComputed) {
  ContinuousBatching server(kA100, {8, 4096, 10000, 0.75});
  const Replay got = replay(server, {{TimePoint{0}, 1000, 1, 0}});
  EXPECT_NEAR(to_seconds(got.outcomes[0].done - TimePoint{}), models::step_seconds(kA100, 250, 750),
              2e-9);
  EXPECT_EQ(server.pool().peak(), 1000);
}

// A prompt of 1,000 tokens in 62 blocks of 16, and 8 tokens of its own.
TEST(ContinuousBatching, APromptThatCameBeforeIsFoundUpToItsLastBlock) {
  scenarios::PromptBlocks blocks;
  blocks.tokens = 16;
  for (std::uint32_t block = 0; block < 62; ++block) blocks.before.push_back(block);
  ContinuousBatching server(kA100, {8, 4096, 10000, 0, 16},
                            std::make_shared<const scenarios::PromptBlocks>(blocks));
  const Replay got = replay(server, {{TimePoint{0}, 1000, 1, 0, 62},
                                     {TimePoint{} + seconds(9), 1000, 1, 1, 62},
                                     {TimePoint{} + seconds(9), 992, 1, 2, 62}});
  EXPECT_NEAR(to_seconds(got.outcomes[0].done - TimePoint{}), models::step_seconds(kA100, 1000, 0),
              2e-9);
  // All tokens of the third prompt are there; one has to be computed, with its block.
  EXPECT_NEAR(to_seconds(got.outcomes[2].done - TimePoint{}) - 9,
              models::step_seconds(kA100, 8 + 16, 992 + 976), 2e-9);
  EXPECT_EQ(server.counts().prompt_tokens, 2992);
  EXPECT_EQ(server.counts().found_tokens, 992 + 976);
  EXPECT_EQ(server.pool().peak(), 1000) << "blocks are held once";
}

TEST(ContinuousBatching, AnArrivalWaitsForTheStepUnderWayOnly) {
  ContinuousBatching server(kA100, {8, 512, 10000, 0});
  server.push({TimePoint{0}, 10, 100, 0});
  const TimePoint decoding = TimePoint{} + server.begin({0});
  EXPECT_TRUE(server.end(decoding).empty());
  const Duration whole = server.begin(decoding);
  EXPECT_EQ(server.piece().steps, 99);
  server.push({decoding + milliseconds(15), 10, 1, 1});
  const Duration cut = server.cut(milliseconds(15));
  EXPECT_EQ(server.piece().steps, 2);
  EXPECT_LT(cut, whole);
  EXPECT_GT(cut, milliseconds(15));
}

TEST(ContinuousBatching, NobodyCutsWhoCannotBeAdmitted) {
  ContinuousBatching server(kA100, {1, 512, 10000, 0});
  server.push({TimePoint{0}, 10, 100, 0});
  server.begin({0});
  server.end({1000});
  const Duration whole = server.begin({1000});
  server.push({TimePoint{2000}, 10, 1, 1});
  EXPECT_EQ(server.cut({1000}), whole);
}

// One place: the request of the second adapter waits for the first to leave, that of the base model
// passes it. Each adapter is copied in once, but for the first, whose place was taken meanwhile.
TEST(ContinuousBatching, AdaptersTakeTurnsForThePlaces) {
  BatchingLimits limits{8, 512, 10000};
  limits.adapters = {1, 2, 5e-3, 1e-3, 2e-3};
  ContinuousBatching server(kA100, limits);
  const auto of = [](std::uint32_t ticket, std::uint32_t adapter) {
    LlmRequest request{TimePoint{0}, 100, 2, ticket};
    request.adapter = adapter;
    return request;
  };
  const Replay got = replay(server, {of(0, 1), of(1, 2), of(2, 0), of(3, 1)});
  ASSERT_EQ(got.outcomes.size(), 4U);
  const auto at = [](double tokens, double cached) {
    return models::step_seconds(kA100, tokens, cached);
  };
  const double first = at(300, 0) + 8e-3 + at(3, 300) + 3e-3;
  for (const std::size_t passed : {0U, 1U, 2U}) {
    EXPECT_NE(got.outcomes[passed].ticket, 1U);
    EXPECT_NEAR(to_seconds(got.outcomes[passed].done - TimePoint{}), first, 4e-9);
  }
  EXPECT_EQ(got.outcomes[3].ticket, 1U);
  EXPECT_NEAR(to_seconds(got.outcomes[3].done - TimePoint{}),
              first + at(100, 0) + 8e-3 + at(1, 100) + 3e-3, 8e-9);
  EXPECT_EQ(server.counts().adapter_loads, 2);
  replay(server, {of(4, 1)});
  EXPECT_EQ(server.counts().adapter_loads, 3);
}

TEST(AdapterChoice, FollowsThePopularity) {
  scenarios::LoraAdapters adapters;
  adapters.count = 3;
  adapters.share = 0.5;
  const AdapterChoice zipf(adapters);  // 6/11, 3/11, 2/11 of a half
  EXPECT_EQ(zipf.of(0), 1U);
  EXPECT_EQ(zipf.of(0.272), 1U);
  EXPECT_EQ(zipf.of(0.273), 2U);
  EXPECT_EQ(zipf.of(0.409), 2U);
  EXPECT_EQ(zipf.of(0.41), 3U);
  EXPECT_EQ(zipf.of(0.4999), 3U);
  EXPECT_EQ(zipf.of(0.5), 0U);
  adapters.popularity = scenarios::LoraAdapters::Popularity::Even;
  EXPECT_EQ(AdapterChoice(adapters).of(0.17), 2U);
}

TEST(ContinuousBatching, AFullPoolThrowsOutTheLatestWhichAnswersLater) {
  ContinuousBatching server(kA100, {8, 512, 25, 0});
  const Replay got = replay(server, {{TimePoint{0}, 10, 10, 0}, {TimePoint{0}, 10, 10, 1}});
  ASSERT_EQ(got.outcomes.size(), 2U);
  EXPECT_EQ(got.outcomes[0].ticket, 0U);
  EXPECT_EQ(got.outcomes[1].ticket, 1U);
  EXPECT_EQ(server.counts().preemptions, 1);
  EXPECT_LE(server.pool().peak(), 25);
  EXPECT_FALSE(server.fits({TimePoint{0}, 16, 11, 0}));
  EXPECT_TRUE(server.fits({TimePoint{0}, 16, 10, 0}));
}

TEST(ContinuousBatching, AbandonsRunningAndWaiting) {
  ContinuousBatching server(kA100, {1, 512, 10000, 0});
  server.push({TimePoint{0}, 10, 10, 3});
  server.begin({0});
  server.push({TimePoint{0}, 10, 10, 4});
  std::vector<std::uint32_t> lost;
  server.abandon([&](const LlmRequest& request) { lost.push_back(request.ticket); });
  EXPECT_EQ(lost, (std::vector<std::uint32_t>{3, 4}));
  EXPECT_TRUE(server.idle());
  EXPECT_FALSE(server.working());
  EXPECT_EQ(server.pool().held(), 0);
}

// As prompts of conversations are: most go on where another one ended.
std::shared_ptr<const scenarios::PromptBlocks> random_blocks(RandomStream& random) {
  scenarios::PromptBlocks blocks;
  blocks.tokens = 1 + static_cast<std::int32_t>(random.below(40));
  for (std::uint32_t block = 1; block < 30; ++block) {
    blocks.before.push_back(random.below(4) == 0 ? 0 : random.below(block));
  }
  return std::make_shared<const scenarios::PromptBlocks>(blocks);
}

// One whose blocks are no longer than the prompt.
PrefixCache::Block random_prompt(RandomStream& random, const scenarios::PromptBlocks& blocks,
                                 std::int32_t input) {
  auto prompt = random.below(static_cast<std::uint32_t>(blocks.before.size()));
  while (TokenCache(blocks).tokens(prompt) > input) prompt = blocks.before[prompt];
  return prompt;
}

std::vector<LlmRequest> random_requests(RandomStream& random, std::int64_t cache_tokens,
                                        std::uint32_t gap_us, std::uint32_t longest) {
  std::vector<LlmRequest> requests;
  TimePoint at;
  const std::uint32_t count = 1 + random.below(40);
  for (std::uint32_t ticket = 0; ticket < count; ++ticket) {
    if (random.below(4) > 0) at = at + Duration{random.below(gap_us * 1000U)};
    const auto input = static_cast<std::int32_t>(1 + random.below(longest));
    const auto output = static_cast<std::int32_t>(1 + random.below(longest));
    const std::int64_t places = std::int64_t{input} + output - 1;
    if (places > cache_tokens) continue;
    requests.push_back({at, input, output, ticket});
  }
  return requests;
}

TEST(ThoroughContinuousBatching, EqualsSingleStepsInRandomHistories) {
  RandomStream random(7, 0, 0, Purpose::Test);
  std::int64_t preempted = 0;
  std::int64_t steps = 0;
  std::int64_t pieces = 0;
  std::int64_t found = 0;
  std::int64_t kept = 0;
  for (int history = 0; history < 2000; ++history) {
    SCOPED_TRACE(history);
    const models::LlmStep law{1e-3 * (1 + random.below(30)), 1e-6 * (1 + random.below(300)),
                              1e-9 * random.below(2000), 1e-4 * random.below(10)};
    BatchingLimits limits;
    limits.max_sequences = 1 + static_cast<int>(random.below(12));
    limits.max_batched_tokens = 1 + static_cast<int>(random.below(200));
    const std::uint32_t longest = 1 + random.below(200);
    limits.cache_tokens = 1 + random.below(4 * longest);
    limits.prefix_reuse = random.below(2) == 0 ? 0 : 0.01 * random.below(101);
    limits.prefix_caching = random.below(4) > 0;
    std::vector<LlmRequest> arrivals =
        random_requests(random, limits.cache_tokens, 1 + random.below(400'000), longest);
    for (LlmRequest& request : arrivals) {
      if (random.below(4) == 0) request.brought = request.input_tokens - 1;
    }
    std::shared_ptr<const scenarios::PromptBlocks> blocks;
    if (history % 2 == 0) {
      limits.prefix_reuse = 0;
      limits.block_size = 1 + static_cast<int>(random.below(20));
      blocks = random_blocks(random);
      for (LlmRequest& request : arrivals) {
        request.prompt = random_prompt(random, *blocks, request.input_tokens);
      }
    }
    if (history % 3 == 0) {
      limits.adapters = {1 + static_cast<int>(random.below(3)), 4, 1e-6 * random.below(3000),
                         1e-6 * random.below(500), 1e-6 * random.below(2000)};
      for (LlmRequest& request : arrivals) request.adapter = random.below(5);
    }
    ContinuousBatching server(law, limits, blocks);
    StepByStep reference(law, limits, blocks.get());
    const Replay got = replay(server, arrivals);
    ASSERT_EQ(got.outcomes, reference.run(arrivals));
    ASSERT_EQ(got.steps, reference.steps);
    ASSERT_EQ(server.counts().preemptions, reference.preemptions);
    ASSERT_EQ(server.counts().found_tokens, reference.found);
    ASSERT_EQ(server.counts().adapter_loads, reference.loads);
    ASSERT_EQ(server.pool().held(), 0);
    found += blocks ? server.counts().found_tokens : 0;
    ASSERT_EQ(got.outcomes.size(), arrivals.size());
    ASSERT_NEAR(static_cast<double>(got.attributed.ns), static_cast<double>(got.busy.ns),
                static_cast<double>(arrivals.size()) + 1);
    ASSERT_LE(server.pool().peak(), limits.cache_tokens);
    preempted += reference.preemptions;
    kept += reference.kept_tokens;
    steps += reference.steps;
    pieces += got.pieces;
  }
  EXPECT_GT(preempted, 500);
  EXPECT_GT(found, 50'000);
  EXPECT_GT(kept, 5'000);
  EXPECT_LT(pieces, steps / 2);
}

}  // namespace
}  // namespace slicewise::sim
