#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "clients_together.hpp"

namespace slicewise::models {
namespace {

// Random clients in random domains. mt19937_64 is fixed by the standard; its distributions are not.
class RandomClients {
 public:
  // `kernels`: the lengths of most clients' kernels are known.
  explicit RandomClients(std::uint64_t seed, bool kernels = false)
      : bits_(seed), kernels_(kernels) {}

  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) { return bits_() % n; }

  ClientLaw law() {
    constexpr double kNorms[] = {1, 2, 3, 1.5, 5.25, 40, 63.9, kHardNorm};
    ClientLaw drawn{share(), share(), kNorms[below(std::size(kNorms))], {}, {}};
    if (below(4) == 0) drawn.sensitivity = 2 * uniform();
    if (below(4) == 0) drawn.pressure = 2 * uniform();
    drawn.copies_by_law = below(2) == 0;
    if (kernels_) drawn.kernel_time = kernel_time();
    return drawn;
  }
  DomainShare domain() {
    if (below(3) == 0) return kWholeGpu;
    return {1 - uniform(), 1 - uniform()};
  }
  // `limits`: 0 none, 1 all, 2 some of the clients.
  DomainClient client(DomainShare domain, std::size_t limits) {
    const bool limited = limits == 1 || (limits == 2 && below(2) == 0);
    const double threads = limited ? (below(2) == 0 ? 0.14 : 1 - uniform()) : 1;
    DomainClient drawn = client_in(law(), domain, threads);
    drawn.duty = uniform();
    return drawn;
  }
  std::vector<DomainClient> clients(std::size_t count) {
    const DomainShare shared = domain();
    const std::size_t limits = below(3);
    std::vector<DomainClient> drawn;
    for (std::size_t i = 0; i < count; ++i) drawn.push_back(client(shared, limits));
    return drawn;
  }

 private:
  // Between 1 ms and 100 s, long against the nanosecond that they are rounded to.
  Duration kernel_time() {
    if (below(4) == 0) return {};
    return from_seconds(1e-3 * std::pow(10, 5 * uniform()));
  }
  double share() {
    constexpr double kEdges[] = {0, 1, 1e-9, 0.5};
    return below(5) == 0 ? kEdges[below(std::size(kEdges))] : uniform();
  }
  std::mt19937_64 bits_;
  bool kernels_;
};

// E2 with n copies of a client without limits is E1: 1/x = T_n(f) / T_1(f). In turns, too.
TEST(SharedSpeedsProperty, IdenticalClientsFollowE1) {
  RandomClients random(1, true);
  for (int trial = 0; trial < 20'000; ++trial) {
    ClientLaw law = random.law();
    law.sensitivity.reset();
    const DomainShare domain = random.domain();
    const std::size_t n = 1 + random.below(48);
    const DomainClient client = client_in(law, domain, 1);
    const double expected = identical_clients(law, domain, static_cast<int>(n)) / client.stretch;
    for (const double speed : speeds_of(std::vector(n, client))) {
      ASSERT_NEAR(1 / speed, expected, 1e-12 * expected) << "trial " << trial;
    }
  }
}

TEST(SharedSpeedsProperty, AloneAClientRunsUndisturbed) {
  RandomClients random(2);
  for (int trial = 0; trial < 10'000; ++trial) {
    ASSERT_EQ(speeds_of(random.clients(1))[0], 1) << "trial " << trial;
    // And on a whole GPU without a limit it takes T1: the law is relative to that.
    const ClientLaw law = random.law();
    ASSERT_NEAR(client_in(law, kWholeGpu, 1).stretch, 1, 1e-15) << "trial " << trial;
    ASSERT_NEAR(identical_clients(law, kWholeGpu, 1), 1, 1e-15) << "trial " << trial;
  }
}

TEST(SharedSpeedsProperty, SmallerDomainsAndLimitsNeverSpeedUp) {
  RandomClients random(3);
  for (int trial = 0; trial < 10'000; ++trial) {
    const ClientLaw law = random.law();
    const DomainShare large = random.domain();
    const DomainShare small{large.compute * (1 - random.uniform()),
                            large.bandwidth * (1 - random.uniform())};
    const double limit = 1 - random.uniform();
    const double undisturbed = client_in(law, large, 1).stretch * (1 - 1e-15);
    ASSERT_GE(client_in(law, small, 1).stretch, undisturbed) << "trial " << trial;
    ASSERT_GE(client_in(law, large, limit).stretch, undisturbed) << "trial " << trial;
  }
}

TEST(SharedSpeedsProperty, SpeedsLieBetweenNothingAndUndisturbed) {
  RandomClients random(4);
  for (int trial = 0; trial < 10'000; ++trial) {
    for (const double speed : speeds_of(random.clients(1 + random.below(48)))) {
      ASSERT_GT(speed, 0) << "trial " << trial;
      ASSERT_LE(speed, 1) << "trial " << trial;
    }
  }
}

// Also when the company changes kind: limited clients joined by an unlimited one, measured ones by
// unmeasured ones, disjoint limits by one that no longer fits.
TEST(SharedSpeedsProperty, AddingAClientNeverSpeedsUpAnother) {
  RandomClients random(5);
  for (int trial = 0; trial < 50'000; ++trial) {
    std::vector<DomainClient> clients = random.clients(1 + random.below(10));
    const std::vector<double> before = speeds_of(clients);
    const std::size_t place = random.below(clients.size() + 1);
    const DomainClient extra = random.client(random.domain(), random.below(2));
    clients.insert(clients.begin() + static_cast<std::ptrdiff_t>(place), extra);
    std::vector<double> after = speeds_of(clients);
    after.erase(after.begin() + static_cast<std::ptrdiff_t>(place));
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_LE(after[i], before[i] * (1 + 1e-14)) << "trial " << trial << ", client " << i;
    }
  }
}

TEST(SharedSpeedsProperty, OrderOfClientsDoesNotMatter) {
  RandomClients random(6);
  for (int trial = 0; trial < 10'000; ++trial) {
    const std::vector<DomainClient> clients = random.clients(2 + random.below(12));
    std::vector<std::size_t> order(clients.size());
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      std::swap(order[i], order[random.below(i + 1)]);
    }
    std::vector<DomainClient> shuffled;
    shuffled.reserve(order.size());
    for (const std::size_t from : order) shuffled.push_back(clients[from]);
    const std::vector<double> speeds = speeds_of(clients);
    const std::vector<double> permuted = speeds_of(shuffled);
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_NEAR(permuted[i], speeds[order[i]], 1e-12 * permuted[i]) << "trial " << trial;
    }
  }
}

// What a client takes beside others, in units of its time alone on the whole GPU, when `host` of
// that is no kernel.
double time_beside(const std::vector<DomainClient>& others, const ClientLaw& law,
                   DomainShare domain, double threads, double host) {
  std::vector<DomainClient> clients = others;
  DomainClient client = client_in(law, domain, threads);
  client.duty = 1 - host / client.stretch;
  clients.push_back(client);
  return client.stretch / speeds_of(clients).back();
}

// However few or many SMs the others may use, disjoint or not.
TEST(SharedSpeedsProperty, MoreThreadsNeverSlowWhoGetsThem) {
  RandomClients random(8);
  for (int trial = 0; trial < 20'000; ++trial) {
    const std::vector<DomainClient> others = random.clients(1 + random.below(6));
    const ClientLaw law = random.law();
    const DomainShare domain = random.domain();
    const double host = random.uniform();
    const double few = 1 - random.uniform();
    const double more = random.below(3) == 0 ? 1 : few + (1 - few) * random.uniform();
    ASSERT_LE(time_beside(others, law, domain, more, host),
              time_beside(others, law, domain, few, host) * (1 + 1e-12))
        << "trial " << trial << ": " << few << ", " << more;
  }
}

// Neither for who gets a little more, nor for the others: not where limits begin to overlap, not
// where one of them goes.
TEST(SharedSpeedsProperty, LimitsHaveNoSteps) {
  RandomClients random(9);
  for (int trial = 0; trial < 20'000; ++trial) {
    const std::vector<DomainClient> others = random.clients(1 + random.below(6));
    // Who has next to nothing to do on a GPU needs next to no SMs: there all is steep.
    if (std::ranges::any_of(others, [](const auto& other) { return other.gpu_part < 0.01; }))
      continue;
    double taken = 0;
    for (const DomainClient& other : others) taken += other.active_threads;
    ClientLaw law = random.law();
    law.capacity_share = std::max(law.capacity_share, 0.01);
    double few = 0.01 + 0.98 * random.uniform();
    if (random.below(3) == 0) few = 1 - 1e-12;
    if (random.below(3) == 0 && taken < 0.98) few = 1 - taken - 5e-13;
    const auto speeds_with = [&](double threads) {
      std::vector<DomainClient> clients = others;
      clients.push_back(client_in(law, kWholeGpu, threads));
      return speeds_of(clients);
    };
    const std::vector<double> before = speeds_with(few);
    const std::vector<double> after = speeds_with(std::min(1.0, few + 1e-12));
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_NEAR(after[i], before[i], 1e-7 * before[i]) << "trial " << trial << ": " << few;
    }
  }
}

// What was measured beside one neighbour says nothing of many: eight jobs did three GPUs' work.
TEST(SharedSpeedsProperty, MeasuredPairsNeverExceedCapacity) {
  RandomClients random(11);
  for (int trial = 0; trial < 20'000; ++trial) {
    const DomainShare domain = random.domain();
    std::vector<DomainClient> clients(1 + random.below(12));
    for (DomainClient& client : clients) {
      ClientLaw law = random.law();
      law.sensitivity = 2 * random.uniform();
      law.copies_by_law = true;
      client = client_in(law, domain, 1);
    }
    const std::vector<double> speeds = speeds_of(clients);
    double work = 0;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      work += speeds[i] * (clients[i].compute + clients[i].bandwidth);
    }
    ASSERT_LE(work, 1 + 1e-9) << "trial " << trial;
  }
}

// Of one workload, whatever its batches are at the moment; not of two that were measured alike.
TEST(SharedSpeedsProperty, CopiesWithOtherBatchesAreNoNeighbours) {
  const auto speed = [](std::uint32_t first, std::uint32_t second) {
    ClientLaw law{0.3, 0, 3, 0.2, 0.9};
    law.copies_by_law = true;
    std::vector<DomainClient> clients{client_in(law, kWholeGpu, 1)};
    law.capacity_share = 0.31;
    clients.push_back(client_in(law, kWholeGpu, 1));
    clients[0].workload = first;
    clients[1].workload = second;
    return speeds_of(clients)[0];
  };
  EXPECT_NEAR(speed(1, 1), 1 / slowdown(0.3, 0.61, 3), 1e-12);
  EXPECT_NEAR(speed(1, 2), 1 / 1.18, 1e-12);
  EXPECT_EQ(speed(0, 0), speed(1, 2));
}

// p = infinity: what all progress takes together fits the domain. Without limits that holds for
// compute and bandwidth together; on disjoint SMs for each of them.
TEST(SharedSpeedsProperty, HardSharingNeverExceedsCapacity) {
  RandomClients random(7);
  for (int trial = 0; trial < 20'000; ++trial) {
    const DomainShare domain = random.domain();
    const std::size_t n = 1 + random.below(12);
    const bool disjoint = random.below(2) == 0;
    std::vector<DomainClient> clients(n);
    for (DomainClient& client : clients) {
      ClientLaw law = random.law();
      law.norm_p = kHardNorm;
      law.sensitivity.reset();
      const double limit = disjoint && n > 1 ? 1.0 / static_cast<double>(n) : 1;
      client = client_in(law, domain, limit);
    }
    const std::vector<double> speeds = speeds_of(clients);
    double compute = 0;
    double bandwidth = 0;
    for (std::size_t i = 0; i < n; ++i) {
      compute += speeds[i] * clients[i].compute;
      bandwidth += speeds[i] * clients[i].bandwidth;
    }
    ASSERT_LE(disjoint ? std::max(compute, bandwidth) : compute + bandwidth, 1 + 1e-12)
        << "trial " << trial;
  }
}

// Of many random companies: kernels of most are known, of some not.
TEST(SharedSpeedsProperty, TurnsNeverExceedCapacity) {
  RandomClients random(10, true);
  for (int trial = 0; trial < 20'000; ++trial) {
    const DomainShare domain = random.domain();
    std::vector<DomainClient> clients(1 + random.below(12));
    for (DomainClient& client : clients) {
      ClientLaw law = random.law();
      law.norm_p = kHardNorm;
      law.sensitivity.reset();
      client = client_in(law, domain, 1);
    }
    const std::vector<double> speeds = speeds_of(clients);
    double done = 0;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      done += speeds[i] * (clients[i].compute + clients[i].bandwidth);
      ASSERT_GT(speeds[i], 0);
      ASSERT_LE(speeds[i], 1);
    }
    ASSERT_LE(done, 1 + 1e-9) << "trial " << trial;
  }
}

TEST(SharedSpeedsProperty, InTurnsAddingAClientNeverSpeedsUpAnother) {
  RandomClients random(11, true);
  for (int trial = 0; trial < 50'000; ++trial) {
    const DomainShare domain = random.domain();
    std::vector<DomainClient> clients(2 + random.below(9));
    for (DomainClient& client : clients) client = client_in(random.law(), domain, 1);
    const std::vector<double> after = speeds_of(clients);
    clients.pop_back();
    const std::vector<double> before = speeds_of(clients);
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_LE(after[i], before[i] * (1 + 1e-12)) << "trial " << trial << ", client " << i;
    }
  }
}

// U_i is what it says of itself, and longer kernels of others never speed up.
TEST(SharedSpeedsProperty, TurnsAreTheirOwnAnswerAndGrowWithTheOthersKernels) {
  RandomClients random(12, true);
  for (int trial = 0; trial < 20'000; ++trial) {
    std::vector<DomainClient> clients(2 + random.below(6));
    for (DomainClient& client : clients) {
      ClientLaw law = random.law();
      law.norm_p = kHardNorm;
      law.sensitivity.reset();
      law.capacity_share = std::max(law.capacity_share, 1e-6);
      law.kernel_time = std::max(law.kernel_time, milliseconds(1));
      client = client_in(law, kWholeGpu, 1);
    }
    const double slower = 1 / speeds_of(clients)[0];  // max(1, U)
    const DomainClient& own = clients[0];
    double asked = own.compute + own.bandwidth;
    for (std::size_t j = 1; j < clients.size(); ++j) {
      const double ratio =
          static_cast<double>(clients[j].kernel_time.ns) / static_cast<double>(own.kernel_time.ns);
      asked += std::min((own.compute + own.bandwidth) * ratio,
                        (clients[j].compute + clients[j].bandwidth) * slower);
    }
    ASSERT_NEAR(std::max(1.0, asked), slower, 1e-9 * slower) << "trial " << trial;
    clients[1].kernel_time += clients[1].kernel_time;
    ASSERT_GE(1 / speeds_of(clients)[0], slower * (1 - 1e-12)) << "trial " << trial;
  }
}

}  // namespace
}  // namespace slicewise::models
