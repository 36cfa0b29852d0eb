#include "studies/probe/inputs.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../demo.hpp"
#include "studies/probe/scaled_input.hpp"
#include "world/parts.hpp"

namespace slicewise::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

// As in the flips of a plan: a batch on a GPU of half the speed takes twice as long as a whole.
TEST(Inputs, RequestsThatTakeLongerDoSoInBatchesAsWell) {
  scenarios::Workload api =
      demo::service(1, 50, milliseconds(10), scenarios::ServiceTime::Law::Exponential);
  api.measured->extra_per_item = milliseconds(4);
  const scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api});
  for (const char* input : {".measured.requestGpuTime", ".requestGpuTime"}) {
    const scenarios::Workload varied =
        scaled_input(scenario, "workloads." + api.name.value + input, 1.2, demo::catalogue())
            .workloads[0];
    EXPECT_EQ(varied.measured->request_gpu_time->mean, milliseconds(12)) << input;
    EXPECT_EQ(varied.measured->extra_per_item, microseconds(4'800)) << input;
  }
}

// A plan hangs on them as on what the scenario says itself.
TEST(Inputs, WhatTheCatalogueKnowsIsVariedAsWell) {
  scenarios::Workload api =
      demo::service(1, 50, milliseconds(10), scenarios::ServiceTime::Law::Exponential);
  api.measured.reset();
  api.profile.value = "bert-base-inference-seq-32/a100-40gb/b32";
  const std::string input = "workloads." + api.name.value + ".requestGpuTime";
  const scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api});
  EXPECT_THAT(flip_inputs(scenario, demo::catalogue()), Contains(input));
  const auto mean_time = [&](double factor) {
    const auto varied = scaled_input(scenario, input, factor, demo::catalogue());
    return filled_in(varied.workloads[0], demo::catalogue()).measured->request_gpu_time->mean;
  };
  EXPECT_GT(mean_time(1), Duration{});
  EXPECT_NEAR(to_seconds(mean_time(3)), 3 * to_seconds(mean_time(1)), 1e-9);
}

scenarios::Workload recorded(const char* name, int jobs, Duration run, Bytes memory) {
  scenarios::Workload w = demo::training(jobs);
  w.name.value = name;
  w.count = jobs;
  w.measured->unit_time = seconds(1);
  w.gpu_memory.resident = memory;
  scenarios::RecordedJobs& trace = w.trace.emplace();
  trace.workload = "team";
  trace.at_once = jobs;
  const scenarios::RecordedJobs::Job job{Duration{}, run};
  trace.jobs = std::make_shared<const std::vector<scenarios::RecordedJobs::Job>>(
      static_cast<std::size_t>(jobs), job);
  return w;
}

// Jobs that are alike are a workload each; whoever has a trace knows of none of them.
TEST(Inputs, OneTraceHasEachInputOnce) {
  const scenarios::Scenario scenario =
      demo::scenario(demo::pool(2), {recorded("team-small", 3, seconds(100), gibibytes(1)),
                                     recorded("team-large", 1, seconds(300), gibibytes(5))});
  EXPECT_THAT(flip_inputs(scenario, demo::catalogue()),
              ElementsAre("workloads.team.unitTime", "workloads.team.gpuMemory"));
  const scenarios::Scenario flipped =
      scaled_input(scenario, "workloads.team.gpuMemory", 2, demo::catalogue());
  EXPECT_EQ(flipped.workloads[0].gpu_memory.resident, gibibytes(2));
  EXPECT_EQ(flipped.workloads[1].gpu_memory.resident, gibibytes(10));

  const Expected<World> world = build_world(scenario, demo::catalogue());
  ASSERT_TRUE(world);
  const std::string words[] = {"workloads.team.measured.unitTime",
                               "workloads.team.gpuMemory.resident"};
  const auto places = choose_inputs(scenario, *world, words);
  ASSERT_TRUE(places);
  ASSERT_EQ(places->size(), 2U);
  EXPECT_EQ((*places)[0].input.value.value, 150);  // the mean run of four jobs
  EXPECT_EQ((*places)[1].input.value.value, 2 * 1024.0 * 1024 * 1024);
  const Expected<World> longer = world_at(scenario, demo::catalogue(), (*places)[0], 1.5);
  ASSERT_TRUE(longer);
  for (const WorkloadModel& model : longer->workloads) {
    EXPECT_EQ(model.spec.measured->unit_time, milliseconds(1500)) << model.name;
  }
  const Expected<World> larger = world_at(scenario, demo::catalogue(), (*places)[1], 0.5);
  ASSERT_TRUE(larger);
  EXPECT_EQ(larger->workloads[0].spec.gpu_memory.resident, Bytes{gibibytes(1).count / 2});
  EXPECT_EQ(larger->workloads[1].spec.gpu_memory.resident, Bytes{gibibytes(5).count / 2});
}

}  // namespace
}  // namespace slicewise::sim
