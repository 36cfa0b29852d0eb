#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <utility>

#include "slicewise/sim/serving/arrivals.hpp"

namespace slicewise::sim {
namespace {

using scenarios::ClientTraffic;
using scenarios::ClientWindow;

// Odd, so that the streams of a workload's clients never meet. Source: 2^32 over the golden ratio.
constexpr std::uint32_t kNextClient = 0x9E3779B9U;

// Nobody waits longer for a client.
constexpr TimePoint kFarthest = TimePoint{} + hours(std::int64_t{24} * 36'500);

Duration length_of_pass(const ClientTraffic& traffic) {
  Duration length;
  for (const ClientWindow& window : traffic.windows) {
    length = std::max(length, window.at + traffic.window);
  }
  return length;
}

bool asks(const ClientWindow& window) { return window.rate.per_second > 0; }

RenewalGaps gaps_of(const ClientWindow& window) {
  using Gaps = scenarios::Traffic::Gaps;
  switch (window.law) {
    case ClientWindow::Law::Gamma:
      return {Gaps::Gamma, window.variation};
    case ClientWindow::Law::Weibull:
      return {Gaps::Weibull, window.variation};
    case ClientWindow::Law::Exponential:
      break;
  }
  return {Gaps::Poisson, 1};
}

}  // namespace

ClientArrivals::ClientArrivals(const ClientTraffic& traffic, std::uint64_t seed,
                               std::uint32_t replication, std::uint32_t entity)
    : traffic_(&traffic), pass_(length_of_pass(traffic)) {
  const std::vector<ClientWindow>& windows = traffic.windows;
  for (std::size_t first = 0; first < windows.size();) {
    const std::uint32_t client = windows[first].client;
    std::size_t last = first;
    bool any = false;
    for (; last < windows.size() && windows[last].client == client; ++last) {
      any = any || asks(windows[last]);
    }
    const std::uint32_t stream = entity + (client + 1) * kNextClient;
    if (any) add_client(first, last, RandomStream(seed, replication, stream, Purpose::Arrival));
    first = last;
  }
  build_tournament();
}

void ClientArrivals::add_client(std::size_t first, std::size_t last, RandomStream random) {
  Client client{.random = random,
                .gaps = gaps_of(traffic_->windows[first]),
                .next = {},
                .until = {},
                .pass_begins = TimePoint{} - traffic_->from,
                .first = first,
                .last = last,
                .window = first};
  enter_window(client);
  clients_.push_back(client);
}

// From the client's window on, the first that brings a request, and when.
void ClientArrivals::enter_window(Client& client) {
  while (client.pass_begins < kFarthest) {
    for (; client.window < client.last; ++client.window) {
      const ClientWindow& window = traffic_->windows[client.window];
      if (asks(window) && begin_window(client, window)) return;
    }
    if (!traffic_->repeats) break;
    client.window = client.first;
    client.pass_begins = client.pass_begins + pass_;
  }
  client.next = kNever;
}

// Whether a request comes in it.
bool ClientArrivals::begin_window(Client& client, const ClientWindow& window) {
  const TimePoint begin = std::max(TimePoint{}, client.pass_begins + window.at);
  client.until = client.pass_begins + window.at + traffic_->window;
  if (client.until <= begin) return false;  // before the run
  client.gaps = gaps_of(window);
  client.mean_gap_ns = 1e9 / (window.rate.per_second * traffic_->scale);
  const double wait_ns = client.mean_gap_ns * client.gaps.draw_residual(client.random);
  if (!(wait_ns < static_cast<double>((client.until - begin).ns))) return false;
  client.next = begin + nanoseconds(std::llround(wait_ns));
  return true;
}

void ClientArrivals::advance() {
  assert(first_.at != kNever);
  Client& client = clients_[first_.client];
  const double gap_ns = client.mean_gap_ns * client.gaps.draw(client.random);
  if (gap_ns < static_cast<double>((client.until - client.next).ns)) {
    client.next = client.next + nanoseconds(std::llround(gap_ns));
  } else {
    ++client.window;
    enter_window(client);
  }
  first_.at = client.next;
  for (std::size_t node = (losers_.size() + first_.client) / 2; node > 0; node /= 2) {
    if (before(losers_[node], first_)) std::swap(losers_[node], first_);
  }
}

// One 128-bit comparison: no branch to mispredict on the order of two random times.
bool ClientArrivals::before(const Arrival& a, const Arrival& b) {
  const auto key = [](const Arrival& arrival) {
    return (static_cast<Int128>(arrival.at.ns) << 64) | static_cast<Int128>(arrival.client);
  };
  return key(a) < key(b);
}

void ClientArrivals::build_tournament() {
  const std::size_t leaves = std::bit_ceil(std::max<std::size_t>(clients_.size(), 1));
  losers_.assign(leaves, {kNever, UINT32_MAX});
  std::vector<Arrival> winners(2 * leaves, {kNever, UINT32_MAX});
  for (std::size_t c = 0; c < clients_.size(); ++c) {
    winners[leaves + c] = {clients_[c].next, static_cast<std::uint32_t>(c)};
  }
  for (std::size_t node = leaves - 1; node > 0; --node) {
    winners[node] = winners[2 * node];
    losers_[node] = winners[2 * node + 1];
    if (before(losers_[node], winners[node])) std::swap(losers_[node], winners[node]);
  }
  first_ = winners[1];
}

}  // namespace slicewise::sim
