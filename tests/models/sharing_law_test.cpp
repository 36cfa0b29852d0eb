#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "clients_together.hpp"

namespace slicewise::models {
namespace {

constexpr double kSevenths = 1.0 / 7;

TEST(Norm, IsTheSumAtOneAndTheMaximumAtInfinity) {
  EXPECT_DOUBLE_EQ(norm(3, 4, 1), 7);
  EXPECT_DOUBLE_EQ(norm(3, 4, 2), 5);
  EXPECT_NEAR(norm(3, 4, 3), std::cbrt(27.0 + 64.0), 1e-14);
  EXPECT_NEAR(norm(3, 4, 4.5), std::pow(std::pow(3, 4.5) + std::pow(4, 4.5), 1 / 4.5), 1e-14);
  EXPECT_EQ(norm(3, 4, kHardNorm), 4);
  EXPECT_EQ(norm(0, 0, 2), 0);
}

// Powers far below the smallest double are nothing, not garbage.
TEST(Norm, SmallPartsVanishUnderLargeExponents) {
  for (const double small : {0.0, 1e-300, 1e-20, 1e-6}) {
    EXPECT_EQ(norm(1, small, 63.5), 1) << small;
    EXPECT_EQ(norm(small, 1, 63.5), 1) << small;
  }
  const DomainClient idle = client_in({1e-9, 0.5, 63.5, {}, {}}, kWholeGpu, 1);
  EXPECT_EQ(idle.stretch, 1);
}

// Nothing slows down what gets all it needs; p = infinity: demand, p = 1: 1 + what others ask for.
TEST(Slowdown, GrowsWithDemandBeyondTheOwnPart) {
  for (const double p : {1.0, 2.0, 3.0, 4.5, kHardNorm}) {
    EXPECT_NEAR(slowdown(0.6, 0.3, p), 1, 1e-15) << p;
    EXPECT_NEAR(slowdown(0.6, 0.6, p), 1, 1e-15) << p;
    EXPECT_NEAR(slowdown(1, 2.5, p), 2.5, 1e-14) << p;
    EXPECT_NEAR(slowdown(0, 0, p), 1, 1e-15) << p;
  }
  EXPECT_NEAR(slowdown(0.6, 1.5, 1), 1 + 0.9, 1e-14);
  EXPECT_NEAR(slowdown(0.6, 1.5, 2), std::sqrt(0.64 + 2.25), 1e-14);
  EXPECT_EQ(slowdown(0.6, 1.5, kHardNorm), 1.5);
  EXPECT_EQ(slowdown(0.6, 0.9, kHardNorm), 1);
}

// E1: half of the work in a seventh of the GPU. p = 1: T0 = 0.5, W/f = 3.5.
TEST(ClientInDomain, FollowsE1) {
  EXPECT_NEAR(client_in({0.5, 0, 1, {}, {}}, {kSevenths, 1}, 1).stretch, 0.5 + 3.5, 1e-14);
  EXPECT_NEAR(client_in({0.5, 0, 2, {}, {}}, {kSevenths, 1}, 1).stretch,
              std::sqrt(0.75 + 3.5 * 3.5), 1e-14);
  EXPECT_NEAR(client_in({0.5, 0, kHardNorm, {}, {}}, {kSevenths, 1}, 1).stretch, 3.5, 1e-14);
  // Memory-limited work takes f_m, not f_c: a 3g instance has 3/7 of the SMs, 4/8 of the bandwidth.
  EXPECT_NEAR(client_in({1, 1, 2, {}, {}}, {3 * kSevenths, 0.5}, 1).stretch, 2, 1e-14);
  EXPECT_NEAR(client_in({1, 0.4, 2, {}, {}}, {3 * kSevenths, 0.5}, 1).stretch, 0.6 * 7 / 3 + 0.8,
              1e-14);
}

// u <= f: a slice that holds what the workload needs does not slow it (p = infinity).
TEST(ClientInDomain, SliceLargeEnoughDoesNotSlowALaunchBoundClient) {
  EXPECT_EQ(client_in({0.14, 0, kHardNorm, {}, {}}, {kSevenths, 1}, 1).stretch, 1);
}

// A limit on threads slows the compute part as a smaller share of SMs would, the memory part only
// below the share of SMs that reaches the full bandwidth: 0.14 x 2.2 of it.
TEST(ClientInDomain, ThreadLimitActsLikeAShareOfTheSms) {
  const ClientLaw law{0.8, 0.3, 3, {}, {}};
  const DomainClient limited = client_in(law, kWholeGpu, 0.14);
  EXPECT_NEAR(limited.stretch, client_in(law, {0.14, 0.14 * 2.2}, 1).stretch, 1e-14);
  // What it takes of the domain while alone is the same work over a longer time.
  EXPECT_NEAR(limited.compute, 0.8 * 0.7 / limited.stretch, 1e-15);
  EXPECT_NEAR(limited.bandwidth, 0.8 * 0.3 / limited.stretch, 1e-15);
}

// Source: nebuly-ai/nos, YOLOS-small on A100: 7 clients under MPS take 3.64 times as long each.
// With u = 0.44 and p = 1 (fitted on n = 7), n T u + T0 = 1 + 6 * 0.44.
TEST(IdenticalClients, SerialClientsAddUp) {
  EXPECT_NEAR(identical_clients({0.44, 0, 1, {}, {}}, kWholeGpu, 7), 3.64, 1e-12);
  // Saturated: throughput approaches f/W.
  EXPECT_NEAR(1000 / identical_clients({0.5, 0, 3, {}, {}}, kWholeGpu, 1000), 2, 1e-6);
  EXPECT_EQ(identical_clients({0.25, 0.2, kHardNorm, {}, {}}, kWholeGpu, 4), 1);
}

// p = infinity shares capacity in proportion: x = 1/max(1, U). p = 1: 1/x_i = 1 + the others' u.
TEST(SharedSpeeds, LimitsOfTheExponent) {
  const auto with_norm = [](double p) {
    return std::vector{client_in({0.9, 0, p, {}, {}}, kWholeGpu, 1),
                       client_in({0.6, 0, p, {}, {}}, kWholeGpu, 1)};
  };
  const std::vector<double> hard = speeds_of(with_norm(kHardNorm));
  EXPECT_NEAR(hard[0], 1 / 1.5, 1e-14);
  EXPECT_NEAR(hard[1], 1 / 1.5, 1e-14);
  const std::vector<double> serial = speeds_of(with_norm(1));
  EXPECT_NEAR(serial[0], 1 / 1.6, 1e-14);
  EXPECT_NEAR(serial[1], 1 / 1.9, 1e-14);
  const std::vector<double> soft = speeds_of(with_norm(2));
  EXPECT_NEAR(soft[0], 1 / std::sqrt(1 + 2.25 - 0.81), 1e-14);
  EXPECT_NEAR(soft[1], 1 / std::sqrt(1 + 2.25 - 0.36), 1e-14);
}

// Two halves of the SMs: compute-bound clients meet nowhere but in what stays shared.
TEST(SharedSpeeds, DisjointLimitsLeaveTheResidue) {
  const DomainClient half = client_in({1, 0, 2, {}, {}}, kWholeGpu, 0.5);
  for (const double speed : speeds_of({half, half})) {
    EXPECT_NEAR(speed, 1 / kResidualInterference, 1e-14);
  }
  // Memory-bound ones still share the bandwidth.
  const DomainClient streaming = client_in({1, 1, kHardNorm, {}, {}}, kWholeGpu, 0.5);
  for (const double speed : speeds_of({streaming, streaming})) {
    EXPECT_NEAR(speed, 0.5 / kResidualInterference, 1e-14);
  }
  // The stock device plugin's 14 % for seven replicas sums to 98 %: disjoint.
  const DomainClient seventh = client_in({1, 0, 2, {}, {}}, kWholeGpu, 0.14);
  for (const double speed : speeds_of(std::vector(7, seventh))) {
    EXPECT_NEAR(speed, 1 / kResidualInterference, 1e-14);
  }
}

// Two alike: as on SMs of their own as far as those reach, then as without limits.
TEST(SharedSpeeds, LimitsThatOverlapLieBetweenDisjointOnesAndNone) {
  const ClientLaw law{0.6, 0.5, 3, {}, {}};
  const auto time = [&](double threads) {
    const DomainClient client = client_in(law, kWholeGpu, threads);
    return client.stretch / speeds_of({client, client})[0];
  };
  EXPECT_NEAR(time(0.5), kResidualInterference * std::cbrt(1 - 0.216 + 0.729), 1e-14);
  EXPECT_NEAR(time(1), std::cbrt(1 - 0.216 + 1.728), 1e-14);
  EXPECT_NEAR(time(0.55), time(0.45), 0.005 * time(0.45));
  for (const double threads : {0.6, 0.7, 0.8, 0.9}) EXPECT_NEAR(time(threads), time(1), 1e-14);
}

// The residue makes kernels longer, not what the host does meanwhile.
TEST(SharedSpeeds, TheResidueIsOfKernelsAlone) {
  DomainClient light = client_in({0.1, 0, 2, {}, {}}, kWholeGpu, 0.5);
  for (const double duty : {0.0, 0.25, 1.0}) {
    light.duty = duty;
    EXPECT_NEAR(speeds_of({light, light})[0], 1 / (1 + (kResidualInterference - 1) * duty), 1e-14);
  }
  DomainClient other = light;
  other.duty = 0.5;
  EXPECT_LT(speeds_of({light, other})[0], speeds_of({light, other})[1]);
}

TEST(SharedSpeeds, MeasuredPairsFollowSensitivityAndPressure) {
  const DomainClient first = client_in({0.5, 0, 2, 0.6, 0.9}, kWholeGpu, 1);
  const DomainClient second = client_in({0.5, 0, 2, 0.2, 0.3}, kWholeGpu, 1);
  const DomainClient unmeasured = client_in({0.4, 0.5, 2, {}, {}}, kWholeGpu, 1);
  const std::vector<double> speeds = speeds_of({first, second, unmeasured});
  EXPECT_NEAR(speeds[0], 1 / (1 + 0.6 * (0.3 + 0.4)), 1e-14);
  EXPECT_NEAR(speeds[1], 1 / (1 + 0.2 * (0.9 + 0.4)), 1e-14);
  EXPECT_NEAR(speeds[2], 1 / std::sqrt(1 - 0.16 + 1.4 * 1.4), 1e-14);
}

// Copies go by the law that was fitted on copies, of unlike ones alpha and c were measured.
TEST(SharedSpeeds, CopiesOfAMeasuredPairGoByTheLaw) {
  ClientLaw law{0.5, 0, 2, 0.6, 0.9};
  const DomainClient other = client_in({0.5, 0, 2, 0.2, 0.3}, kWholeGpu, 1);
  EXPECT_NEAR(speeds_of({client_in(law, kWholeGpu, 1), client_in(law, kWholeGpu, 1)})[0],
              1 / (1 + 0.6 * 0.9), 1e-14);
  law.copies_by_law = true;
  const DomainClient client = client_in(law, kWholeGpu, 1);
  EXPECT_NEAR(speeds_of({client, client})[0], 1 / identical_clients(law, kWholeGpu, 2), 1e-14);
  EXPECT_NEAR(speeds_of({client, client, other})[1],
              1 / (identical_clients(law, kWholeGpu, 2) * (1 + 0.6 * 0.3)), 1e-14);
}

// Under the stock plugin a pod has paid for its few SMs already: a neighbour costs it no more than
// that.
TEST(SharedSpeeds, AMeasuredNeighbourDoesNotAddToALimit) {
  const ClientLaw law{0.9, 0, 1, 2.0, 2.0};
  const DomainClient alone = client_in(law, kWholeGpu, 0.25);
  const DomainClient other = client_in({0.8, 0, 1, 1.0, 1.0}, kWholeGpu, 0.25);
  const double time = alone.stretch / speeds_of({alone, other})[0];
  const DomainClient free = client_in(law, kWholeGpu, 1);
  const DomainClient free_other = client_in({0.8, 0, 1, 1.0, 1.0}, kWholeGpu, 1);
  EXPECT_NEAR(1 / speeds_of({free, free_other})[0], 3, 1e-14);
  EXPECT_GE(time, 3);
  EXPECT_LT(time, alone.stretch * 1.1);
}

DomainClient with_kernels(ClientLaw law, Duration kernel_time) {
  law.kernel_time = kernel_time;
  return client_in(law, kWholeGpu, 1);
}

// p = 1 and a neighbour that never rests: each of the light client's kernels waits for one of its.
TEST(SharedSpeeds, AShortKernelWaitsForALongOne) {
  const ClientLaw light{0.1, 0, kSerialNorm, {}, {}};
  const ClientLaw heavy{1, 0, kSerialNorm, {}, {}};
  const auto slowdowns = [&](Duration own, Duration neighbours) {
    std::vector<double> x = speeds_of({with_kernels(light, own), with_kernels(heavy, neighbours)});
    return std::pair(1 / x[0], 1 / x[1]);
  };
  const auto [alike, heavy_beside] = slowdowns(microseconds(50), microseconds(50));
  EXPECT_NEAR(alike, 1.1, 1e-12);             // 10 % longer, where in proportion it is 2
  EXPECT_NEAR(heavy_beside, 1 / 0.9, 1e-12);  // the light one does all of its work
  const auto [waits, hardly] = slowdowns(microseconds(50), milliseconds(5));
  EXPECT_NEAR(waits, 0.9 + 0.1 * 101, 1e-12);
  EXPECT_NEAR(hardly, 1 + 0.01, 1e-12);  // one kernel of 50 us for each of 5 ms
}

// A neighbour that rests has no more than its own work for anybody to wait for: of 8 ms of its
// kernels in 10 ms, a client waits 4 times as long as it works.
TEST(SharedSpeeds, NobodyWaitsForMoreThanTheNeighbourHas) {
  const ClientLaw client{1, 0, kSerialNorm, {}, {}};
  const ClientLaw neighbour{0.8, 0, kSerialNorm, {}, {}};
  const std::vector<double> x =
      speeds_of({with_kernels(client, microseconds(10)), with_kernels(neighbour, milliseconds(8))});
  EXPECT_NEAR(x[0], 1 / (1 / (1 - 0.8)), 1e-12);
}

// Three that ask for more than there is, hard norm: who asks for less than an even share has it,
// the rest is even; by a program of its own (progressive filling).
TEST(SharedSpeeds, KernelsAsLongAsEachOtherShareMaxMinFairly) {
  const auto client = [](double u) {
    return with_kernels({u, 0, kHardNorm, {}, {}}, microseconds(20));
  };
  const std::vector<double> x = speeds_of({client(0.1), client(0.95), client(0.6), client(0.95)});
  EXPECT_NEAR(x[0] * 0.1, 0.1, 1e-12);
  for (const std::size_t i : {1U, 3U}) EXPECT_NEAR(x[i] * 0.95, 0.3, 1e-12);
  EXPECT_NEAR(x[2] * 0.6, 0.3, 1e-12);
}

TEST(SharedSpeeds, ALimitOrAnUnknownKernelIsNoTurn) {
  const ClientLaw light{0.1, 0, 2, {}, {}};
  const ClientLaw heavy{0.95, 0, 2, {}, {}};
  const auto plain = [](const ClientLaw& law, double threads) {
    return client_in(law, kWholeGpu, threads);
  };
  const auto known = [](const ClientLaw& law, double threads) {
    ClientLaw with = law;
    with.kernel_time = microseconds(30);
    return client_in(with, kWholeGpu, threads);
  };
  EXPECT_EQ(speeds_of({known(light, 1), plain(heavy, 1)}),
            speeds_of({plain(light, 1), plain(heavy, 1)}));
  EXPECT_EQ(speeds_of({known(light, 0.5), known(heavy, 1)}),
            speeds_of({plain(light, 0.5), plain(heavy, 1)}));
  EXPECT_GT(speeds_of({known(light, 1), known(heavy, 1)})[0],
            1.3 * speeds_of({plain(light, 1), plain(heavy, 1)})[0]);
}

// Half of the SMs: a kernel of compute takes twice as long, one of memory as the bandwidth has it.
TEST(ClientInDomain, KernelsAreLongerOnASlice) {
  ClientLaw law{0.5, 0.5, 2, {}, {}, milliseconds(1)};
  EXPECT_EQ(client_in(law, kWholeGpu, 1).kernel_time, milliseconds(1));
  EXPECT_EQ(client_in(law, {0.5, 0.25}, 1).kernel_time, milliseconds(3));
  law.bandwidth_share = 0;
  EXPECT_EQ(client_in(law, {0.5, 0.25}, 1).kernel_time, milliseconds(2));
}

// One that uses a quarter of its turns waits for a whole one of the other after each: 1 + 4; which
// waits for a quarter: 1 + 1/4.
TEST(DemandInTurns, WhoLeavesTurnsEarlyWaitsForWholeOnes) {
  const std::array<TurnTaker, 2> takers = {{{1, 0.25}, {1, 1}}};
  EXPECT_DOUBLE_EQ(demand_in_turns(takers, 0), 5);
  EXPECT_DOUBLE_EQ(demand_in_turns(takers, 1), 1.25);
}

TEST(DemandInTurns, AlikeOnAFullGpuItIsTheSumOfDuties) {
  const std::array<TurnTaker, 3> takers = {{{0.8, 0.4}, {0.8, 0.4}, {0.8, 0.4}}};
  EXPECT_NEAR(demand_in_turns(takers, 1), 2.4, 1e-12);
}

// The other needs no more than its share of the time, however long its turns are.
TEST(DemandInTurns, NobodyWaitsForMoreThanTheOtherNeeds) {
  const std::array<TurnTaker, 2> takers = {{{0.5, 0.01}, {0.2, 1}}};
  EXPECT_NEAR(demand_in_turns(takers, 0), 0.7, 1e-12);
}

}  // namespace
}  // namespace slicewise::models
