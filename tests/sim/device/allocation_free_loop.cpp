// Of its own executable, because it replaces operator new for all of it.
#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "slicewise/sim/device/exclusive.hpp"
#include "slicewise/sim/device/fluid.hpp"
#include "slicewise/sim/device/strict_slots.hpp"
#include "slicewise/sim/placement/placement.hpp"

#include "pods_on_one_gpu.hpp"

namespace {

// A count of calls to operator new is global by nature.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<long> allocations{0};

void* counted(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace slicewise::sim {
namespace {

// 100,000 requests from ten pods: arrivals, queues, turns, departures, histogram.
TEST(AllocationFreeLoop, TimeSlicing) {
  const models::TimeSlice slice{microseconds(1'024), microseconds(113)};
  const auto service = [](RandomStream& random) {
    return Duration{1 + static_cast<std::int64_t>(random.exponential() * 2e6)};
  };
  const long before_building = allocations;
  PodsOnOneGpu model(10, RoundRobin(10, slice, slice.switch_cost), 30, service, 1);
  model.run(kNever - Duration{1}, 1);  // the histogram takes its memory with the first latency
  const long before = allocations;
  EXPECT_GT(before, before_building);  // the count counts
  model.run(kNever - Duration{1}, 100'000);
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(model.latencies().count(), 100'000);
}

// Starts, completions and cancels at random.
template <class Engine>
void expect_no_allocation(Engine gpu) {
  RandomStream random(1, 0, 0, Purpose::Test);
  const long before = allocations;
  std::uint32_t started = 0;
  for (int step = 0; step < 100'000; ++step) {
    gpu.cancel(started % 64);
    gpu.start(started++ % 64, {1 + random.below(100)});
    if (random.below(2) == 0) {
      gpu.advance(gpu.next().at);
      gpu.complete();
    }
  }
  EXPECT_EQ(allocations, before);
}

TEST(AllocationFreeLoop, ExclusiveWithCancels) { expect_no_allocation(Exclusive(64)); }
TEST(AllocationFreeLoop, Fluid) { expect_no_allocation(Fluid(64)); }
TEST(AllocationFreeLoop, StrictSlots) {
  expect_no_allocation(StrictSlots(64, {{10}, {1}}, models::Vgpu::Policy::FixedShare));
}

// Jobs of three shapes, one larger than a node, that come and go.
TEST(AllocationFreeLoop, Placement) {
  const std::vector<NodeShape> nodes(300, {"node", {96'000}, gibibytes(384), 8, "A100"});
  const std::vector<JobShape> shapes = {{{8'000}, gibibytes(8), 1, 470, {}},
                                        {{8'000}, gibibytes(8), 2, 1000, {"A100"}},
                                        {{80'000}, gibibytes(80), 20, 1000, {}}};
  const std::vector<TypicalJob> typical = {{0, 0.5}, {1, 0.5}};
  for (const NodePolicy policy : {NodePolicy::BestFit, NodePolicy::Random, NodePolicy::Fgd}) {
    Placement placement(nodes, shapes, policy, 1, typical);
    std::vector<AllocationId> running(100);
    const auto turn_over = [&](bool release) {
      for (std::uint32_t n = 0; n < running.size(); ++n) {
        if (release) placement.release(running[n]);
        running[n] = *placement.place(n % 3);
      }
    };
    turn_over(false);
    for (int round = 0; round < 20; ++round) turn_over(true);  // every part of every size
    const long before = allocations;
    for (int round = 0; round < 100; ++round) turn_over(true);
    EXPECT_EQ(allocations, before);
  }
}

}  // namespace
}  // namespace slicewise::sim
