#include <gtest/gtest.h>

#include "llm_scenarios.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Workload;

// Two engines of 19 GiB each on a GPU of 22. The second request of `a` comes while `b` waits for
// the first to be answered, and has to wait for `b`.
TEST(EngineTurns, EnginesTakeTurnsInTheMemoryOfAGpu) {
  const auto at = [](double s) { return seconds(kReady) + from_seconds(s); };
  Workload a = replaying({{at(10), 600, 100}, {at(12.1), 600, 100}});
  Workload b = replaying({{at(12), 600, 100}});
  for (Workload* w : {&a, &b}) {
    w->llm->sleep.emplace();
    w->llm->sleep->wake_time = seconds(2);
    w->llm->sleep->sleep_time = seconds(1);
  }
  b.name.value = "b";
  Scenario s = on_g5({a, b}, 60);
  s.node_pools[0].device_plugin = demo::pool(2).device_plugin;
  const VariantResult result = demo::result(s);
  const models::LlmStep step = step_of(demo::world(s));
  const double first = models::step_seconds(step, 600, 0);
  const double whole = first + 99 * models::step_seconds(step, 1, 600 + 49);
  const TokenFigures& of_a = *result.workloads[0].tokens;
  const TokenFigures& of_b = *result.workloads[1].tokens;
  const double a_done = 12 + whole;  // it was awake at 12
  const double b_done = a_done + 3 + whole;
  EXPECT_NEAR(to_seconds(of_b.first_token->mean), a_done + 3 + first - 12, 0.01);
  EXPECT_NEAR(to_seconds(of_a.first_token->mean), (2 + first + b_done + 3 + first - 12.1) / 2,
              0.01);
  EXPECT_EQ(of_a.wake_ups, 2);
  EXPECT_EQ(of_b.wake_ups, 1);
  EXPECT_NEAR(*of_a.awake, (whole + 1 + 60 - b_done - 3) / 60, 0.001);
  EXPECT_NEAR(*of_b.awake, (whole + 1) / 60, 0.001);
  EXPECT_EQ(result.pods.oom_kills, 0);
  const Bytes one = demo::world(s).workloads[0].on_pool[0].llm[0].gpu_memory;
  const Bytes contexts{2 * demo::world(s).pools[0].context_memory.count};
  EXPECT_EQ(result.gpus[0].memory_peak, one + gibibytes(1) + contexts);
  for (Workload& w : s.workloads) w.llm->sleep.reset();
  EXPECT_GT(demo::result(s).pods.oom_kills, 0);
}

// A process beside them takes what the one that wakes up needs: it dies, its request is refused.
TEST(EngineTurns, AnEngineThatFindsNoMemoryDies) {
  Workload a = replaying({{seconds(kReady + 10), 600, 100}});
  a.llm->sleep.emplace();
  Workload other =
      demo::service(1, 0.1, milliseconds(1), scenarios::ServiceTime::Law::Deterministic);
  other.measured->device.value = "A10G";
  other.gpu_memory.resident = gibibytes(10);
  Scenario s = on_g5({a, other}, 60);
  s.node_pools[0].device_plugin = demo::pool(2).device_plugin;
  const VariantResult result = demo::result(s);
  EXPECT_EQ(result.pods.oom_kills, 1);
  EXPECT_EQ(result.workloads[0].requests->refused, 1);
}

}  // namespace
}  // namespace slicewise::sim
