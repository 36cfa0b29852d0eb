#include "slicewise/sim/device/host_cpu.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace slicewise::sim {
namespace {

bool later(const HostCpu::Task& a, const HostCpu::Task& b) {
  if (a.finish_ns != b.finish_ns) return a.finish_ns > b.finish_ns;
  return a.order > b.order;
}

}  // namespace

double HostCpu::speed() const {
  return std::min(1.0, cores_ / static_cast<double>(std::max<std::size_t>(heap_.size(), 1)));
}

TimePoint HostCpu::next() const {
  if (heap_.empty()) return kNever;
  constexpr double kBeyondAnyRunNs = 4e18;
  const double left_ns =
      std::clamp((heap_.front().finish_ns - virtual_ns_) / speed(), 0.0, kBeyondAnyRunNs);
  // A millionth of a nanosecond is rounding, not work.
  return now_ + nanoseconds(static_cast<std::int64_t>(std::ceil(left_ns - 1e-6)));
}

void HostCpu::advance(TimePoint t) {
  assert(t >= now_);
  virtual_ns_ += static_cast<double>((t - now_).ns) * speed();
  now_ = t;
}

void HostCpu::start(std::uint32_t owner, std::uint32_t item, Duration work) {
  if (heap_.empty()) virtual_ns_ = 0;
  heap_.push_back({virtual_ns_ + static_cast<double>(work.ns), started_++, owner, item});
  std::ranges::push_heap(heap_, later);
}

HostCpu::Task HostCpu::complete() {
  assert(!heap_.empty());
  std::ranges::pop_heap(heap_, later);
  const Task done = heap_.back();
  heap_.pop_back();
  return done;
}

std::vector<std::uint32_t> HostCpu::take(std::uint32_t owner) {
  std::vector<Task> taken;
  std::erase_if(heap_, [&](const Task& task) {
    if (task.owner != owner) return false;
    taken.push_back(task);
    return true;
  });
  std::ranges::make_heap(heap_, later);
  std::ranges::sort(taken, {}, &Task::order);
  std::vector<std::uint32_t> items;
  items.reserve(taken.size());
  for (const Task& task : taken) items.push_back(task.item);
  return items;
}

}  // namespace slicewise::sim
