// A plan of a fleet that is interrupted has the best answer that it told of.
#include <atomic>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "small_plans.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Workload;
using small_plans::limit;
using small_plans::set_with;
using small_plans::small_space;

// Of six services three fill a GPU: a GPU for each is found first, then they share.
scenarios::ScenarioSet services(int count) {
  std::vector<Workload> workloads;
  for (int n = 0; n < count; ++n) {
    Workload api = demo::service(1, 2, milliseconds(5), scenarios::ServiceTime::Law::Deterministic);
    api.name.value = "s" + std::to_string(n);
    api.measured->device.value = "T4";
    api.gpu_memory.resident = gibibytes(n % 2 == 0 ? 3 : 12);
    api.objectives.push_back(limit(scenarios::Figure::LatencyP99, milliseconds(500)));
    workloads.push_back(std::move(api));
  }
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "g4dn.xlarge";
  scenarios::Scenario scenario = demo::scenario(pool, std::move(workloads));
  scenario.duration = seconds(12);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  return set_with(std::move(scenario));
}

PlanOptions shared_or_not() {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"exclusive", "timeSlicing"};
  options.replicas = {};
  options.max_nodes = 32;
  options.split = true;
  return options;
}

TEST(InterruptedFleet, KeepsTheBestThatItToldOf) {
  PlanOptions options = shared_or_not();
  std::vector<std::string> all;
  options.run.so_far = [&](const std::string& line) {
    if (line.starts_with("best so far")) all.push_back(line);
  };
  const auto whole = make_plan(services(6), 0, demo::catalogue(), options);
  ASSERT_TRUE(whole);
  ASSERT_GE(all.size(), 2U);
  for (std::size_t n = 0; n < all.size(); ++n) {
    std::atomic<bool> interrupted = false;
    options.run.interrupted = &interrupted;
    std::size_t said = 0;
    options.run.so_far = [&](const std::string& line) {
      if (!line.starts_with("best so far")) return;
      EXPECT_EQ(line, all[said]);
      interrupted = said++ == n;
    };
    const auto plan = make_plan(services(6), 0, demo::catalogue(), options);
    ASSERT_TRUE(plan);
    EXPECT_EQ(said, n + 1);
    ASSERT_FALSE(plan->options.empty()) << n;
    EXPECT_TRUE(plan->interrupted || n + 1 == all.size());
    const PlanOption& best = plan->options.front();
    EXPECT_TRUE(best.figures.stands());
    EXPECT_EQ(best.figures.running_max, 6);
    EXPECT_TRUE(all[n].ends_with(whole_dollars(*best.goal) + " a month"))
        << all[n] << ", but " << *best.goal;
  }
}

// To ask whether all stand together would take longer than to find the next.
TEST(ThoroughInterruptedFleet, IsToldUnconfirmedWhereItIsLarge) {
  for (const int count : {128, 129}) {
    PlanOptions options = shared_or_not();
    std::atomic<bool> interrupted = false;
    options.run.interrupted = &interrupted;
    std::string first;
    options.run.so_far = [&](const std::string& line) {
      if (first.empty()) first = line.substr(0, line.find(':'));
      interrupted = true;
    };
    const auto plan = make_plan(services(count), 0, demo::catalogue(), options);
    ASSERT_TRUE(plan);
    EXPECT_EQ(first, count > 128 ? "stands, to be confirmed" : "best so far");
    EXPECT_EQ(plan->options.empty(), count > 128);
  }
}

}  // namespace
}  // namespace slicewise::sim
