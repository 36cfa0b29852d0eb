#include "launch_throttle.hpp"

#include <algorithm>
#include <cmath>

namespace slicewise::sim {
namespace {

bool limits_some(const PoolModel& pool) {
  return pool.books && std::ranges::any_of(pool.kinds.front().tickets, [](const Tickets& tickets) {
           return tickets.time_limit < 1;
         });
}

}  // namespace

LaunchThrottle::LaunchThrottle(const World& world) {
  if (std::ranges::none_of(world.pools, limits_some)) return;
  std::size_t pods = 0;
  for (const WorkloadModel& workload : world.workloads) {
    pods += static_cast<std::size_t>(workload.spec.count);
  }
  pods_.resize(pods);
}

void LaunchThrottle::begin(std::uint32_t pod, Duration work) { pods_[pod].rest = work; }

std::optional<Duration> LaunchThrottle::next(std::uint32_t pod, TimePoint now, double limit) {
  OfPod& state = pods_[pod];
  const double most_ns = static_cast<double>(kWindow.ns) * limit;
  state.owed_ns =
      std::max(state.owed_ns - limit * static_cast<double>((now - state.since).ns), -most_ns);
  state.since = now;
  if (limit < 1 && state.owed_ns > 0) {
    state.held_until = now + nanoseconds(std::max(1LL, std::llround(state.owed_ns / limit)));
    return std::nullopt;
  }
  state.held_until = kNever;
  const Duration piece = std::min(state.rest, kPiece);
  state.rest -= piece;
  if (limit < 1) state.owed_ns += static_cast<double>(piece.ns);
  return piece;
}

Duration LaunchThrottle::shorten(std::uint32_t pod, Duration less) {
  OfPod& state = pods_[pod];
  const Duration kept = state.held_until == kNever ? Duration{} : nanoseconds(1);
  const Duration taken = std::min(less, std::max(Duration{}, state.rest - kept));
  state.rest -= taken;
  return taken;
}

void LaunchThrottle::end(std::uint32_t pod) {
  pods_[pod].rest = {};
  pods_[pod].held_until = kNever;
}

}  // namespace slicewise::sim
