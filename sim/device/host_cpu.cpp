#include "slicewise/sim/device/host_cpu.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <span>

namespace slicewise::sim {
namespace {

bool later(const HostCpu::Task& a, const HostCpu::Task& b) {
  if (a.finish_ns != b.finish_ns) return a.finish_ns > b.finish_ns;
  return a.order > b.order;
}

}  // namespace

HostCpu::Group& HostCpu::group_of(std::uint32_t owner, double limit) {
  if (limit == kNoLimit) return groups_.front();
  Group* idle = nullptr;
  for (Group& group : std::span(groups_).subspan(1)) {
    if (group.heap.empty()) {
      idle = &group;
    } else if (group.owner == owner) {
      return group;
    }
  }
  if (idle == nullptr) idle = &groups_.emplace_back();
  idle->limit = limit;
  idle->owner = owner;
  return *idle;
}

double HostCpu::node_speed() const {
  double wanted = 0;
  for (const Group& group : groups_) wanted += group.wanted();
  return wanted > cores_ ? cores_ / wanted : 1.0;
}

double HostCpu::left_ns(const Group& group, double node_speed) const {
  constexpr double kBeyondAnyRunNs = 4e18;
  const double speed = node_speed * (group.wanted() / static_cast<double>(group.heap.size()));
  return std::clamp((group.heap.front().finish_ns - group.virtual_ns) / speed, 0.0,
                    kBeyondAnyRunNs);
}

const HostCpu::Group* HostCpu::first_to_finish() const {
  const double speed = node_speed();
  const Group* first = nullptr;
  double least = kNoLimit;
  for (const Group& group : groups_) {
    if (group.heap.empty()) continue;
    const double left = left_ns(group, speed);
    if (left < least) {
      least = left;
      first = &group;
    }
  }
  return first;
}

TimePoint HostCpu::next() const {
  const Group* first = first_to_finish();
  if (first == nullptr) return kNever;
  // A millionth of a nanosecond is rounding, not work.
  const double left = std::ceil(left_ns(*first, node_speed()) - 1e-6);
  return now_ + nanoseconds(static_cast<std::int64_t>(left));
}

void HostCpu::advance(TimePoint t) {
  assert(t >= now_);
  const double speed = node_speed();
  for (Group& group : groups_) {
    if (group.heap.empty()) continue;
    const double share = speed * (group.wanted() / static_cast<double>(group.heap.size()));
    group.virtual_ns += static_cast<double>((t - now_).ns) * share;
  }
  now_ = t;
}

void HostCpu::start(std::uint32_t owner, std::uint32_t item, Duration work, double limit) {
  Group& group = group_of(owner, limit);
  if (group.heap.empty()) group.virtual_ns = 0;
  group.heap.push_back({group.virtual_ns + static_cast<double>(work.ns), started_++, owner, item});
  std::ranges::push_heap(group.heap, later);
}

HostCpu::Task HostCpu::complete() {
  const Group* first = first_to_finish();
  assert(first != nullptr);
  std::vector<Task>& heap = groups_[static_cast<std::size_t>(first - groups_.data())].heap;
  std::ranges::pop_heap(heap, later);
  const Task done = heap.back();
  heap.pop_back();
  return done;
}

std::vector<std::uint32_t> HostCpu::take(std::uint32_t owner) {
  std::vector<Task> taken;
  for (Group& group : groups_) {
    std::erase_if(group.heap, [&](const Task& task) {
      if (task.owner != owner) return false;
      taken.push_back(task);
      return true;
    });
    std::ranges::make_heap(group.heap, later);
  }
  std::ranges::sort(taken, {}, &Task::order);
  std::vector<std::uint32_t> items;
  items.reserve(taken.size());
  for (const Task& task : taken) items.push_back(task.item);
  return items;
}

}  // namespace slicewise::sim
