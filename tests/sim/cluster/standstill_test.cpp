#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../../sim/cluster/clock_watch.hpp"
#include "../../../sim/run/replications.hpp"
#include "../demo.hpp"

// What ends a run that would not end by itself.
namespace slicewise::sim {
namespace {

// A client that does not think asks again at once, and an answer takes a nanosecond.
World loop_of_nanoseconds() {
  scenarios::Workload client =
      demo::service(1, 1, nanoseconds(1), scenarios::ServiceTime::Law::Deterministic);
  client.traffic->shape = scenarios::ClosedLoop{1, {}};
  client.name.where = {"loop.yaml", 7, 11, 3};
  scenarios::Scenario s = demo::scenario(demo::pool(0), {client});
  s.duration = minutes(1);
  return demo::world(s);
}

void expect_standstill(const std::function<void()>& run, const std::string& how) {
  try {
    run();
    FAIL() << "it ended";
  } catch (const Standstill& standstill) {
    EXPECT_EQ(standstill.problem().where.line, 7);
    EXPECT_THAT(standstill.problem().message, testing::HasSubstr("the clock " + how));
    EXPECT_THAT(standstill.problem().message, testing::HasSubstr("requests of api"));
  }
}

TEST(NightlyStandstill, ALoopThatTakesNanosecondsEndsTheRun) {
  const World world = loop_of_nanoseconds();
  expect_standstill([&] { run_replication(world, 0, nullptr); }, "crawls at ");
}

// No file makes such a cycle: every unit of work takes a nanosecond at least.
TEST(Standstill, ACycleWithoutTimeEndsTheRunWhereItStands) {
  const World world = loop_of_nanoseconds();
  RunState run(world, 0, nullptr);
  ClockWatch watch(run);
  run.now = TimePoint{} + seconds(2);
  expect_standstill(
      [&] {
        for (int event = 0; event < 3'000'000; ++event) watch.fired({TimerKind::Service, 0});
      },
      "stands still at 2.");
}

TEST(Standstill, ManyEventsOfManyInstantsAreNone) {
  const World world = loop_of_nanoseconds();
  RunState run(world, 0, nullptr);
  ClockWatch watch(run);
  for (int instant = 0; instant < 5; ++instant) {
    run.now = run.now + seconds(1);
    for (int event = 0; event < 1'000'000; ++event) watch.fired({TimerKind::Service, 0});
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
