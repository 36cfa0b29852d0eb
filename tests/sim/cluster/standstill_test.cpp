#include <atomic>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../../sim/run/replications.hpp"
#include "../demo.hpp"

// What ends a run that would not end by itself.
namespace slicewise::sim {
namespace {

// A client that neither thinks nor waits for an answer asks again at the same instant, for ever.
// No file can say so: the reader gives each closed loop a think time or a request some GPU time.
World loop_without_time() {
  scenarios::Workload client =
      demo::service(1, 1, milliseconds(5), scenarios::ServiceTime::Law::Deterministic);
  client.traffic->shape = scenarios::ClosedLoop{1, {}};
  client.name.where = {"loop.yaml", 7, 11, 3};
  scenarios::Scenario s = demo::scenario(demo::pool(0), {client});
  s.duration = minutes(1);
  World world = demo::world(s);
  for (PoolDemand& demand : world.workloads[0].on_pool) {
    for (Demand& in_kind : demand.in_kind) {
      in_kind.gpu = in_kind.host = in_kind.cpu = in_kind.whole_gpu = {};
      in_kind.gpu_batch.assign(in_kind.gpu_batch.size(), {});
    }
  }
  world.workloads[0].spec.measured->request_gpu_time = {};
  return world;
}

TEST(Standstill, ACycleWithoutTimeEndsTheRunWhereItStands) {
  const World world = loop_without_time();
  try {
    run_replication(world, 0, nullptr);
    FAIL() << "the run ended";
  } catch (const Standstill& standstill) {
    EXPECT_EQ(standstill.problem().where.line, 7);
    EXPECT_THAT(standstill.problem().message, testing::HasSubstr("the clock stands still at"));
    EXPECT_THAT(standstill.problem().message, testing::HasSubstr("of requests of api"));
  }
}

// Whichever thread meets it, and whatever the others do.
TEST(Standstill, AFailureInAThreadReachesTheCaller) {
  for (const int threads : {1, 2, 8}) {
    RunOptions options;
    options.threads = threads;
    std::atomic<int> done{0};
    const auto work = [&](std::size_t n) {
      if (n >= 5) throw std::runtime_error(std::to_string(n));
      ++done;
    };
    try {
      run_in_parallel(100, options, work);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "5");
    }
    EXPECT_EQ(done, 5);
  }
}

}  // namespace
}  // namespace slicewise::sim
