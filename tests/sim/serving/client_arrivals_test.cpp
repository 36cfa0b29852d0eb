#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/serving/arrivals.hpp"

#include "../device/confidence.hpp"

namespace slicewise::sim {
namespace {

using scenarios::ClientTraffic;
using scenarios::ClientWindow;
using WindowLaw = ClientWindow::Law;

constexpr Duration kWindow = seconds(600);

ClientTraffic traffic_in(std::vector<ClientWindow> windows) {
  ClientTraffic traffic;
  traffic.windows = std::move(windows);
  traffic.window = kWindow;
  return traffic;
}

ClientArrivals arrivals_of(const ClientTraffic& traffic, std::uint32_t replication = 0) {
  return {traffic, 42, replication, 7};
}

std::vector<TimePoint> until(TimePoint end, ClientArrivals arrivals) {
  std::vector<TimePoint> times;
  for (; arrivals.next() < end; arrivals.advance()) times.push_back(arrivals.next());
  return times;
}

// WindowLaw: whatever law and variation, a window brings rate times length requests on average, and
// as many in its first half as in its second.
TEST(ClientArrivals, WindowsHaveTheirRates) {
  for (const WindowLaw law : {WindowLaw::Exponential, WindowLaw::Gamma, WindowLaw::Weibull}) {
    for (const double variation : {0.5, 3.0}) {
      SCOPED_TRACE(variation);
      const ClientTraffic traffic = traffic_in({{0, {}, {0.3}, law, variation},
                                                {0, kWindow, {0.05}, WindowLaw::Gamma, 4},
                                                {0, kWindow * 2, {0}, WindowLaw::Gamma, 0}});
      std::vector<double> early;
      std::vector<double> late;
      std::vector<double> second;
      for (std::uint32_t replication = 0; replication < 30; ++replication) {
        constexpr std::uint32_t kRuns = 60;
        double counts[4] = {};
        for (std::uint32_t run = 0; run < kRuns; ++run) {
          const auto times = until(kNever, arrivals_of(traffic, replication * kRuns + run));
          for (const TimePoint at : times) counts[at.ns / (kWindow.ns / 2)] += 1.0 / kRuns;
        }
        early.push_back(counts[0]);
        late.push_back(counts[1]);
        second.push_back(counts[2] + counts[3]);
      }
      expect_mean(early, 90, 0.05);
      expect_mean(late, 90, 0.05);
      expect_mean(second, 30, 0.15);
    }
  }
}

// WindowLaw: the gaps within a window have the variation that was asked for.
TEST(ThoroughClientArrivals, GapsHaveTheirVariation) {
  for (const WindowLaw law : {WindowLaw::Gamma, WindowLaw::Weibull}) {
    for (const double variation : {0.4, 2.5}) {
      const ClientTraffic traffic = traffic_in({{0, {}, {50}, law, variation}});
      std::vector<double> squares;
      for (std::uint32_t replication = 0; replication < 30; ++replication) {
        const auto times = until(kNever, arrivals_of(traffic, replication));
        double sum = 0;
        double sum_of_squares = 0;
        for (std::size_t i = 1; i < times.size(); ++i) {
          const double gap = to_seconds(times[i] - times[i - 1]);
          sum += gap;
          sum_of_squares += gap * gap;
        }
        const auto gaps = static_cast<double>(times.size() - 1);
        squares.push_back(sum_of_squares / gaps / (sum / gaps * sum / gaps) - 1);
      }
      expect_mean(squares, variation * variation, 0.1);
    }
  }
}

// What clients do together is what each does alone, merged.
TEST(ClientArrivals, ClientsDoNotDisturbEachOther) {
  std::vector<ClientWindow> all;
  std::vector<TimePoint> apart;
  for (std::uint32_t client = 0; client < 37; ++client) {
    std::vector<ClientWindow> own;
    for (std::int64_t window = 0; window < 4; ++window) {
      const double rate =
          (client + static_cast<std::uint32_t>(window)) % 3 == 0 ? 0 : 0.02 * client;
      own.push_back({client, kWindow * window, {rate}, WindowLaw::Gamma, 1.0 + client / 10.0});
    }
    all.insert(all.end(), own.begin(), own.end());
    const ClientTraffic traffic = traffic_in(own);
    const auto times = until(kNever, arrivals_of(traffic));
    apart.insert(apart.end(), times.begin(), times.end());
  }
  std::ranges::sort(apart);
  const ClientTraffic together = traffic_in(all);
  EXPECT_EQ(until(kNever, arrivals_of(together)), apart);
  EXPECT_GT(apart.size(), 10'000U);
}

TEST(ClientArrivals, RepeatsAndStartsWhereAsked) {
  // A client that asks in the second window of three only.
  ClientTraffic traffic =
      traffic_in({{0, {}, {0}}, {0, kWindow, {5}, WindowLaw::Gamma, 2}, {0, kWindow * 2, {0}}});
  traffic.from = kWindow + seconds(300);
  traffic.repeats = true;
  std::vector<double> counts(7);
  for (const TimePoint at : until(TimePoint{} + kWindow * 6, arrivals_of(traffic))) {
    counts[static_cast<std::size_t>((at + seconds(300)).ns / kWindow.ns)] += 1;
  }
  EXPECT_GT(counts[0], 1'000);  // its second half
  EXPECT_LT(counts[0], 2'000);
  EXPECT_EQ(counts[1], 0);
  EXPECT_EQ(counts[2], 0);
  EXPECT_GT(counts[3], 2'000);
  EXPECT_EQ(counts[4] + counts[5], 0);
  EXPECT_GT(counts[6], 1'000);
  traffic.scale = 0.5;
  const auto fewer = until(TimePoint{} + kWindow * 6, arrivals_of(traffic));
  EXPECT_NEAR(static_cast<double>(fewer.size()), 3000, 500);
}

TEST(ClientArrivals, NobodyAsksIsNever) {
  const ClientTraffic none = traffic_in({{0, {}, {0}}, {1, {}, {0}}});
  EXPECT_EQ(arrivals_of(none).next(), kNever);
  ClientTraffic rare = traffic_in({{0, {}, {1e-300}}});
  EXPECT_EQ(arrivals_of(rare).next(), kNever);
}

TEST(Arrivals, ComeFromClientsWhereTheTrafficHasThem) {
  scenarios::Traffic traffic;
  const ClientTraffic clients = traffic_in({{0, {}, {3}, WindowLaw::Weibull, 2}});
  traffic.shape = clients;
  Arrivals arrivals(traffic, {}, 42, 0, 7);
  for (ClientArrivals same = arrivals_of(clients); same.next() != kNever; same.advance()) {
    ASSERT_EQ(arrivals.next(), same.next());
    arrivals.advance();
  }
  EXPECT_EQ(arrivals.next(), kNever);
}

}  // namespace
}  // namespace slicewise::sim
