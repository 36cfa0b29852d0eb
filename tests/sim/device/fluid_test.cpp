#include "slicewise/sim/device/fluid.hpp"

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

#include "run_next.hpp"

namespace slicewise::sim {
namespace {

// Two or more saturating clients get 1/n each.
models::DomainClient saturating() {
  return models::client_in({1, 0, models::kHardNorm, {}, {}}, {1, 1}, 1);
}
// Slowed only when more than two of them run.
models::DomainClient half() {
  return models::client_in({0.5, 0, models::kHardNorm, {}, {}}, {1, 1}, 1);
}

Fluid engine_of(std::uint32_t contexts, models::DomainClient client, double duty = 1) {
  Fluid gpu(contexts);
  client.duty = duty;
  for (std::uint32_t context = 0; context < contexts; ++context) {
    gpu.set_client(context, client);
  }
  return gpu;
}

TEST(Fluid, AloneTakesItsTime) {
  Fluid gpu = engine_of(3, saturating());
  gpu.advance({50});
  gpu.start(1, hours(3));
  EXPECT_EQ(run_next(gpu, 1), 50 + hours(3).ns);
  EXPECT_EQ(gpu.next().at, kNever);
  EXPECT_EQ(gpu.time().idle, Duration{50});
  EXPECT_EQ(gpu.time().switching, Duration{});
  EXPECT_EQ(gpu.busy_of(1), hours(3));
}

// A request of 10 ms, a tenth of it kernels of 50 us, beside one that never rests with kernels of
// 1 ms: it waits for 20 of them, E = 20 ms, with the variance 2 E K, and never takes less than
// alone.
TEST(Fluid, WaitsForKernelsHaveTheMeanOfTheLawAndTheVarianceOfTheirLengths) {
  models::ClientLaw light{0.1, 0, 1, {}, {}};
  light.kernel_time = microseconds(50);
  models::ClientLaw heavy{1, 0, 1, {}, {}};
  heavy.kernel_time = milliseconds(1);
  RandomStream random(1, 0, 0, Purpose::Test);
  constexpr int kRequests = 40'000;
  double sum = 0;
  double squares = 0;
  for (int n = 0; n < kRequests; ++n) {
    Fluid gpu(2);
    gpu.set_client(0, models::client_in(light, {1, 1}, 1));
    gpu.set_client(1, models::client_in(heavy, {1, 1}, 1));
    gpu.start(1, hours(1));
    gpu.start(0, milliseconds(10));
    gpu.wait_by_chance(0, random);
    const double waits_ms = static_cast<double>(gpu.next().at.ns) * 1e-6 - 10;
    ASSERT_GT(waits_ms, 0);
    sum += waits_ms;
    squares += waits_ms * waits_ms;
  }
  const double mean = sum / kRequests;
  EXPECT_NEAR(mean, 20, 0.15);
  EXPECT_NEAR(squares / kRequests - mean * mean, 2 * 20 * 1, 2);
}

TEST(Fluid, WithoutLengthsOrNeighboursNothingIsByChance) {
  RandomStream random(1, 0, 0, Purpose::Test);
  RandomStream untouched = random;
  Fluid gpu = engine_of(2, saturating());
  gpu.start(0, {300});
  gpu.wait_by_chance(0, random);
  gpu.start(1, {300});
  gpu.wait_by_chance(1, random);
  EXPECT_EQ(run_next(gpu, 0), 600);
  EXPECT_EQ(random.next_u64(), untouched.next_u64());
}

// 0 alone until 100 (200 left), 0 and 1 at half speed: 1 needs 2 * 60, 0 has 140 left at 220.
TEST(Fluid, ClientsRunSideBySide) {
  Fluid gpu = engine_of(2, saturating());
  gpu.start(0, {300});
  gpu.advance({100});
  gpu.start(1, {60});
  EXPECT_EQ(run_next(gpu, 1), 220);
  EXPECT_EQ(run_next(gpu, 0), 360);
  EXPECT_EQ(gpu.time().busy, Duration{360});
  EXPECT_EQ(gpu.busy_of(0), Duration{300});
  EXPECT_EQ(gpu.busy_of(1), Duration{60});
}

TEST(Fluid, ClientsThatFitDoNotSlowEachOther) {
  Fluid gpu = engine_of(3, half());
  gpu.start(0, {100});
  gpu.start(1, {90});
  EXPECT_EQ(run_next(gpu, 1), 90);
  gpu.start(1, {1'000});
  gpu.start(2, {1'000});  // three halves: 2/3 of the speed each
  EXPECT_EQ(run_next(gpu, 0), 90 + 15);
  EXPECT_EQ(run_next(gpu, 1), 105 + 990);
  EXPECT_EQ(run_next(gpu, 2), 105 + 990);
}

// Three at 1/3: rounding must not turn 300 into 301. And 7 ns of 2/3: 10.5 rounds up.
TEST(Fluid, RoundsUpToTheNextNanosecondOnly) {
  Fluid three = engine_of(3, saturating());
  for (std::uint32_t context = 0; context < 3; ++context) three.start(context, {100});
  EXPECT_EQ(three.next().at, TimePoint{300});
  Fluid halves = engine_of(3, half());
  for (std::uint32_t context = 0; context < 3; ++context) halves.start(context, {7});
  EXPECT_EQ(halves.next().at, TimePoint{11});
}

TEST(Fluid, RequestsOfTheSameInstantAreCompletedOneByOne) {
  Fluid gpu = engine_of(4, half());
  for (std::uint32_t context = 4; context-- > 0;) gpu.start(context, {1'001});
  for (std::uint32_t context = 0; context < 4; ++context) {
    EXPECT_EQ(run_next(gpu, context), 2'002);
    if (context == 1) gpu.start(0, {10});  // two ended, two are due, one starts
  }
  EXPECT_EQ(run_next(gpu, 0), 2'002 + 10);
  EXPECT_EQ(gpu.next().at, kNever);
}

TEST(Fluid, CancelGivesTheOthersItsShare) {
  Fluid gpu = engine_of(2, saturating());
  gpu.start(0, {100});
  gpu.start(1, {100});
  gpu.advance({40});
  gpu.cancel(0);
  gpu.cancel(0);  // no effect when it has none
  EXPECT_EQ(run_next(gpu, 1), 40 + 80);
  EXPECT_EQ(gpu.busy_of(0), Duration{20});
  EXPECT_EQ(gpu.busy_of(1), Duration{100});
}

TEST(Fluid, ContextsMayRunDifferentClientsOneAfterAnother) {
  Fluid gpu = engine_of(2, saturating());
  gpu.start(0, {100});
  gpu.start(1, {100});
  EXPECT_EQ(run_next(gpu, 0), 200);
  EXPECT_EQ(run_next(gpu, 1), 200);
  gpu.set_client(0, half());
  gpu.set_client(1, half());
  gpu.start(0, {100});
  gpu.start(1, {100});
  EXPECT_EQ(run_next(gpu, 0), 300);
}

// A client with 40 % duty leaves 60 % to nobody. Two independent ones: 1 - 0.6^2 = 64 %.
TEST(Fluid, BusyIsTheShareInWhichSomeKernelRuns) {
  const models::DomainClient light = models::client_in({0.1, 0, 2, {}, {}}, {1, 1}, 1);
  Fluid gpu = engine_of(2, half(), 0.4);
  gpu.start(0, {1'000'000});
  gpu.advance({500'000});
  EXPECT_EQ(gpu.time().busy, Duration{200'000});
  gpu.start(1, {500'000});
  EXPECT_EQ(run_next(gpu, 0), 1'000'000);
  EXPECT_EQ(run_next(gpu, 1), 1'000'000);
  EXPECT_NEAR(static_cast<double>(gpu.time().busy.ns), 200'000 + 320'000, 2);
  EXPECT_EQ(gpu.busy_of(0).ns - gpu.busy_of(1).ns, 200'000);
  // Kernels that always run leave no gap, however much they slow each other.
  Fluid full = engine_of(5, light);
  for (std::uint32_t context = 0; context < 5; ++context) full.start(context, {1'000'000});
  full.advance({1'000'000});
  EXPECT_NEAR(static_cast<double>(full.time().busy.ns), 1'000'000, 5);
}

// Slowed to half, a client of 40 % duty runs kernels during 1 - 0.6/2 = 70 %; two of them: 91 %.
TEST(Fluid, NeighboursMakeKernelsLongerNotTheHostsPart) {
  Fluid gpu = engine_of(2, saturating(), 0.4);
  gpu.start(0, {500'000});
  gpu.start(1, {500'000});
  gpu.advance({1'000'000});
  EXPECT_NEAR(static_cast<double>(gpu.time().busy.ns), 910'000, 2);
}

// A random company: law, duty and history.
class RandomCompany {
 public:
  explicit RandomCompany(std::uint32_t number)
      : random_(43, 0, number, Purpose::Test),
        contexts_(1 + random_.below(number % 50 == 0 ? 80 : 12)),
        gpu_(contexts_),
        clients_(contexts_),
        left_(contexts_, -1) {
    for (std::uint32_t context = 0; context < contexts_; ++context) come(context);
  }

  void play(int events) {
    for (int event = 0; event < events && !testing::Test::HasFailure(); ++event) {
      change_something();
      move_clock();
      compare();
    }
  }

 private:
  void come(std::uint32_t context) {
    constexpr double kNorms[] = {1, 2, 3, 4.5, models::kHardNorm};
    models::ClientLaw law{random_.uniform(), random_.uniform(), kNorms[random_.below(5)], {}, {}};
    if (random_.below(5) == 0) law.sensitivity = random_.uniform();
    const double limit = random_.below(3) == 0 ? random_.uniform() : 1;
    clients_[context] = models::client_in(law, {1, 1}, limit);
    clients_[context].duty = 1 - random_.uniform() / 2;
    gpu_.set_client(context, clients_[context]);
  }

  void change_something() {
    const std::uint32_t context = random_.below(contexts_);
    if (left_[context] < 0) {
      const Duration work{1 + random_.below(random_.below(2) == 0 ? 20 : 2'000'000)};
      gpu_.start(context, work);
      left_[context] = static_cast<double>(work.ns);
    } else if (random_.below(10) == 0) {
      gpu_.cancel(context);
      left_[context] = -1;
      if (random_.below(2) == 0) come(context);  // another process in its place
    } else if (random_.below(6) == 0) {
      shorten(context);
    }
  }

  void shorten(std::uint32_t context) {
    const std::int64_t left = gpu_.left(context).ns;
    ASSERT_NEAR(static_cast<double>(left), left_[context], 1.01);
    if (left == 0) return;
    const Duration less{random_.below(static_cast<std::uint32_t>(left))};
    gpu_.shorten(context, less);
    left_[context] = std::max(0.0, left_[context] - static_cast<double>(less.ns));
  }

  // The law told naively: work left after every step, from the speeds of those present.
  void spend(Duration step) {
    std::vector<models::DomainClient> present;
    for (std::uint32_t context = 0; context < contexts_; ++context) {
      if (left_[context] >= 0) present.push_back(clients_[context]);
    }
    std::vector<double> speeds(present.size());
    models::shared_speeds(present, speeds);
    std::size_t place = 0;
    for (double& left : left_) {
      if (left < 0) continue;
      left = std::max(0.0, left - speeds[place++] * static_cast<double>(step.ns));
    }
  }

  void move_clock() {
    const Completion next = gpu_.next();
    const bool idle = next.at == kNever;
    Duration step = idle ? Duration{1 + random_.below(1'000)} : next.at - gpu_.now();
    const bool whole = !idle && random_.below(2) == 0;
    if (!whole && step.ns > 0) step = {random_.below(static_cast<std::uint32_t>(step.ns))};
    if (step.ns > 1) {
      // Nobody is done a nanosecond before the next completion.
      spend({step.ns - 1});
      for (const double left : left_) ASSERT_TRUE(left < 0 || left > 1e-9 || step.ns == 0);
      spend({1});
    } else {
      spend(step);
    }
    gpu_.advance(gpu_.now() + step);
    if (!whole) return;
    ASSERT_NEAR(left_[next.context], 0, 1e-2) << "the work is done when the timer fires";
    ASSERT_EQ(gpu_.complete(), next.context);
    left_[next.context] = -1;
  }

  void compare() {
    const EngineTime time = gpu_.time();
    ASSERT_EQ((time.busy + time.switching + time.idle).ns, gpu_.now().ns);
    ASSERT_GE(time.idle.ns, 0);
    Duration sum;
    for (std::uint32_t context = 0; context < contexts_; ++context) sum += gpu_.busy_of(context);
    ASSERT_EQ(sum, time.busy);
  }

  RandomStream random_;
  std::uint32_t contexts_;
  Fluid gpu_;
  std::vector<models::DomainClient> clients_;
  std::vector<double> left_;  // work in ns, by context; -1: no request
};

// 4,000 histories of 60 instants: work arrives at zero when the timer fires and not before; time
// is conserved to the nanosecond.
TEST(ThoroughFluid, FollowsTheLawThroughRandomHistories) {
  for (std::uint32_t number = 0; number < 4'000; ++number) {
    SCOPED_TRACE(testing::Message() << "history " << number);
    RandomCompany(number).play(60);
    if (HasFailure()) return;
  }
}

// Moving the clock in many steps or in one is the same, to the bit.
TEST(Fluid, StepsOfTheClockLeaveNoTrace) {
  const models::DomainClient client = models::client_in({0.7, 0.3, 3, {}, {}}, {1, 1}, 1);
  Fluid coarse = engine_of(3, client, 0.9);
  Fluid fine = coarse;
  RandomStream random(44, 0, 0, Purpose::Test);
  for (int request = 0; request < 2'000; ++request) {
    const std::uint32_t context = coarse.next().at == kNever ? 0 : coarse.next().context;
    if (coarse.next().at != kNever) {
      while (fine.now() < coarse.next().at) {
        const Duration rest = coarse.next().at - fine.now();
        fine.advance(fine.now() + Duration{std::min<std::int64_t>(rest.ns, random.below(5'000))});
      }
      coarse.advance(coarse.next().at);
      ASSERT_EQ(coarse.complete(), context);
      ASSERT_EQ(fine.complete(), context);
    }
    for (std::uint32_t starting = 0; starting < 3; ++starting) {
      if (request > 0 && starting != context) continue;
      const Duration work{1 + random.below(100'000)};
      coarse.start(starting, work);
      fine.start(starting, work);
    }
    ASSERT_EQ(coarse.next().at, fine.next().at);
    ASSERT_EQ(coarse.time().busy, fine.time().busy);
  }
}

// Three clients whose kernels always run, at speeds that are no round numbers, for a million
// requests: the parts of nanoseconds add up to no idle time, never below zero.
TEST(Fluid, BusyTimeDoesNotDrift) {
  Fluid gpu = engine_of(3, models::client_in({0.7, 0.3, 3, {}, {}}, {1, 1}, 1));
  for (std::uint32_t context = 0; context < 3; ++context) gpu.start(context, {1 + context});
  for (std::int64_t request = 0; request < 1'000'000; ++request) {
    const Completion next = gpu.next();
    gpu.advance(next.at);
    gpu.complete();
    gpu.start(next.context, {1'000'000'003 + request * 1'777 + next.context});
  }
  EXPECT_GE(gpu.time().idle.ns, 0);
  EXPECT_LE(gpu.time().idle.ns, 3);
}

}  // namespace
}  // namespace slicewise::sim
