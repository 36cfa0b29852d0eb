#include "slicewise/sim/device/company.hpp"

#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace slicewise::sim {
namespace {

CompanyMember member(double duty, bool serial) {
  CompanyMember m;
  m.duty = duty;
  m.serial = serial;
  return m;
}

std::vector<CompanyMember> time_sliced(std::vector<CompanyMember> members, Duration switch_cost) {
  const models::TimeSlice slice{milliseconds(2), switch_cost};
  CompanyLaw law;
  law.find_slowdowns(models::TimeSlicing{8, slice}, slice, std::span(members), [] { return 8; });
  return members;
}

// A quarter of its time is GPU phase, and takes a turn of each neighbour more. Who leaves no gap is
// the same neighbour whether the host phase that it has not is said to overlap or not.
TEST(Company, ASerialMemberWaitsForATurnOfEachThatKeepsTheGpu) {
  auto members = time_sliced({member(0.25, true), member(1, false)}, {});
  EXPECT_NEAR(members[0].slowdown, 1.25, 1e-9);
  EXPECT_NEAR(members[1].slowdown, 1.25, 1e-9);
  members =
      time_sliced({member(0.25, true), member(1, false), member(1, false), member(1, false)}, {});
  EXPECT_NEAR(members[0].slowdown, 1.75, 1e-9);
  EXPECT_NEAR(members[1].slowdown, 3.5, 1e-9);
  members = time_sliced({member(0.25, true), member(1, false)}, microseconds(200));
  EXPECT_NEAR(members[0].slowdown, 0.75 + 0.25 * 1.1 * 2, 1e-9);
}

// A quarter of the GPU at the most, and no host phase: half of the time it would be held for it
// waits.
TEST(Company, WhoWaitsForOthersIsHeldBackForLess) {
  for (const bool serial : {true, false}) {
    CompanyMember held = member(0.25, serial);
    held.held = 0.75;
    const auto members = time_sliced({held, member(1, false)}, {});
    EXPECT_NEAR(members[0].slowdown, 1, 1e-9);
    EXPECT_NEAR(members[1].slowdown, 1 / 0.75, 1e-9);
  }
}

// Nobody is there: nobody waits.
TEST(Company, ASerialMemberBesideNextToNothingIsAlone) {
  const auto members = time_sliced({member(0.4, true), member(1e-6, false)}, {});
  EXPECT_NEAR(members[0].slowdown, 1, 1e-5);
}

TEST(Company, NoMixDoesMoreThanTheGpuCan) {
  std::mt19937_64 bits(3);
  const auto uniform = [&] { return static_cast<double>(bits() >> 11) * 0x1p-53; };
  for (int trial = 0; trial < 20'000; ++trial) {
    std::vector<CompanyMember> members{member(1 - uniform(), false)};
    const auto count = 1 + bits() % 10;
    for (std::size_t m = 0; m < count; ++m) {
      members.push_back(member(1 - uniform(), bits() % 2 == 0));
      if (bits() % 2 == 0) members.back().held = (1 - members.back().duty) * uniform();
    }
    double busy = 0;
    for (const CompanyMember& m : time_sliced(std::move(members), {})) {
      EXPECT_GE(m.slowdown, 1);
      busy += m.duty / m.slowdown;
    }
    ASSERT_LE(busy, 1 + 1e-9) << "trial " << trial;
  }
}

}  // namespace
}  // namespace slicewise::sim
