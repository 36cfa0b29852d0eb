// Servers of language models side by side under MPS: each piece of steps has its own share of the
// GPU, and all of them together do no more than one server could that never leaves the GPU idle.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "llm_scenarios.hpp"
#include "sharing_scenarios.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Workload;

constexpr int kCallers = 16;  // of each server, which takes all of them into its steps
constexpr int kSeconds = 600;

struct Tokens {
  std::string what;
  double input = 1;
  double output = 1;
};
const Tokens kPrompts{"prompts", 2000, 1};
const Tokens kAnswers{"answers", 20, 200};
const Tokens kBoth{"both", 500, 50};

Workload servers(const Tokens& tokens, int count) {
  Workload w = chat(1);
  w.name.value = tokens.what;
  w.count = count;
  w.llm->model.value = "llama-3-8b-fp16/a100-80gb";
  w.llm->input = exactly(tokens.input);
  w.llm->output = exactly(tokens.output);
  w.llm->prefix_caching = false;
  w.llm->kv_cache = gibibytes(2);
  w.llm->max_sequences = kCallers;
  w.traffic->shape = scenarios::ClosedLoop{kCallers * count, Duration{}};
  w.serving.routing = scenarios::Routing::LeastOutstanding;
  w.measured.emplace().sm_active = 0.3;  // of a quiet minute: it says nothing of a step
  return w;
}

// Requests a second of each workload.
std::vector<double> throughputs(Scenario s) {
  s.warmup = seconds(kReady);
  s.duration = seconds(kReady + kSeconds);
  std::vector<double> rates;
  for (const WorkloadResult& w : demo::result(s).workloads)
    rates.push_back(w.throughput_per_second);
  return rates;
}

double throughput(const Scenario& s) { return throughputs(s).front(); }

Scenario alone(const Tokens& tokens) { return sharing::a100({servers(tokens, 1)}); }

// Of a server whose host never makes the GPU wait.
double capacity(Scenario s) {
  s.workloads[0].llm->overhead = Duration{};
  return throughput(s);
}

// Answers come all at once: as many of them may lie before the end of a run or behind it.
double slack(int servers) { return static_cast<double>(servers) * kCallers / kSeconds; }

struct Case {
  Tokens tokens;
  int count;
  bool uncapped;
};

class LlmBesideItself : public testing::TestWithParam<Case> {};

TEST_P(LlmBesideItself, DoesNoMoreThanTheGpuAndLittleLess) {
  const auto& [tokens, count, uncapped] = GetParam();
  const double most = capacity(alone(tokens));
  const double got = throughput(sharing::with_mps({servers(tokens, count)}, count, uncapped));
  EXPECT_LE(got, most + slack(count));
  EXPECT_GE(got, (uncapped ? 0.97 : 0.9) * most - slack(count)) << "halves cost 7 %";
}

INSTANTIATE_TEST_SUITE_P(Ways, LlmBesideItself,
                         testing::Values(Case{kPrompts, 2, true}, Case{kPrompts, 2, false},
                                         Case{kPrompts, 4, true}, Case{kPrompts, 4, false},
                                         Case{kAnswers, 2, true}, Case{kAnswers, 2, false},
                                         Case{kAnswers, 4, true}, Case{kAnswers, 4, false},
                                         Case{kBoth, 2, true}, Case{kBoth, 2, false},
                                         Case{kBoth, 4, true}, Case{kBoth, 4, false}),
                         [](const auto& test) {
                           return test.param.tokens.what + std::to_string(test.param.count) +
                                  (test.param.uncapped ? "uncapped" : "capped");
                         });

TEST(LlmBesideOthers, DoNoMoreThanTheirSlice) {
  for (const Tokens& tokens : {kPrompts, kAnswers, kBoth}) {
    SCOPED_TRACE(tokens.what);
    const double most = capacity(sharing::with_mig({servers(tokens, 1)}, "all-3g.40gb"));
    Scenario s = sharing::with_mig({servers(tokens, 2)}, "all-3g.40gb");
    auto& plugin = s.node_pools[0].device_plugin.emplace();
    plugin.mps = sharing::replicas(2);
    plugin.allocation_policy = scenarios::AllocationPolicy::Packed;
    s.node_pools[0].mps.emplace().force = true;
    for (const bool uncapped : {true, false}) {
      s.node_pools[0].mps->uncapped = uncapped;
      const double got = throughput(s);
      EXPECT_LE(got, most + slack(2)) << uncapped;
      EXPECT_GE(got, 0.9 * most - slack(2)) << uncapped;
    }
  }
}

TEST(LlmBesideOthers, PromptsAndAnswersShareTheGpu) {
  for (const bool uncapped : {true, false}) {
    const std::vector<double> got =
        throughputs(sharing::with_mps({servers(kPrompts, 1), servers(kAnswers, 1)}, 2, uncapped));
    const double work = got[0] / capacity(alone(kPrompts)) + got[1] / capacity(alone(kAnswers));
    EXPECT_LE(work, 1.01);
    EXPECT_GE(work, 0.9);
  }
}

TEST(LlmBesideOthers, OneAloneIsAsOnAGpuOfItsOwn) {
  for (const Tokens& tokens : {kPrompts, kAnswers, kBoth}) {
    EXPECT_EQ(throughput(sharing::with_mps({servers(tokens, 1)}, 2, true)),
              throughput(alone(tokens)))
        << tokens.what;
  }
}

}  // namespace
}  // namespace slicewise::sim
