#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/cluster/cluster.hpp"

#include "../demo.hpp"

namespace slicewise::sim {
namespace {

// With srtf a job that fits nowhere makes the queue look, at every event, for somebody who would
// have to go. That changes nobody's times, not even by a nanosecond in a month.
TEST(StoppingQueue, WhoOnlyLooksChangesNothing) {
  std::vector<scenarios::Workload> kinds;
  for (int kind = 0; kind < 6; ++kind) {
    scenarios::Workload& w = kinds.emplace_back(demo::training(12));
    w.name.value = "kind-" + std::to_string(kind);
    w.work->units = 37 + 11 * kind;
    w.measured->unit_time = seconds(7'000) + Duration{13'331'977} * std::int64_t{kind};
    w.measured->unit_time_cv = 0.3;
    w.submit_interval = seconds(9'700 + 3'100 * kind);
  }
  scenarios::Scenario s = demo::scenario(demo::pool(3, 4), kinds);
  s.pod_queue = scenarios::PodQueue::ShortestTime;
  const auto completions = [&] {
    std::vector<std::vector<Duration>> all;
    const Replication r = run_replication(demo::world(s), 0);
    for (std::size_t w = 0; w < kinds.size(); ++w) all.push_back(r.workloads[w].completion);
    return all;
  };
  const auto alone = completions();
  EXPECT_EQ(alone.front().size(), 12U);
  scenarios::Workload never = demo::training(1);
  never.name.value = "never";
  never.pod.extended.front().count = 1'000;
  never.work->units = 1'000'000'000;  // it goes last
  s.workloads.push_back(never);
  EXPECT_EQ(completions(), alone);
}

}  // namespace
}  // namespace slicewise::sim
