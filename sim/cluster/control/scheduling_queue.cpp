#include "scheduling_queue.hpp"

namespace slicewise::sim {
namespace {

constexpr Duration kInitialBackoff = seconds(1);
constexpr Duration kLongestBackoff = seconds(10);

Duration scheduling_backoff(int attempts) {
  Duration backoff = kInitialBackoff;
  for (int n = 1; n < attempts && backoff < kLongestBackoff; ++n) backoff = backoff * 2;
  return std::min(backoff, kLongestBackoff);
}

}  // namespace

void PendingPods::remove(std::size_t place) {
  for (; place > 0; --place) ring_[slot(place)] = ring_[slot(place - 1)];
  head_ = slot(1);
  --count_;
}

SchedulingQueue::SchedulingQueue(const ClusterState& cluster)
    : cluster_(cluster),
      backoff_(cluster.pods.size()),
      turned_down_(cluster.world->workloads.size(), 0),
      may_fit_(cluster.world->workloads.size(), 1),
      before_(cluster.pods.size()) {
  for (const WorkloadModel& workload : cluster.world->workloads) {
    of_workload_.emplace_back(static_cast<std::size_t>(workload.spec.count));
  }
  // Where nodes come and go, who starts them is asked in every cycle; a node with another layout
  // may hold other pods.
  looks_always_ = cluster.world->changes_nodes() ||
                  std::ranges::any_of(cluster.world->pools, [](const PoolModel& pool) {
                    return !pool.layout_changes.empty();
                  });
}

void SchedulingQueue::add(std::uint32_t pod, TimePoint now) {
  try_in_vain_until(now);
  backoff_[pod].ends = now;
  of_workload_[index(cluster_.pods[pod].workload)].push_back(pod);
  ++count_;
}

void SchedulingQueue::withdraw(std::uint32_t pod, TimePoint now) {
  try_in_vain_until(now);
  PendingPods& queue = of_workload_[index(cluster_.pods[pod].workload)];
  for (std::size_t place = 0; place < queue.size(); ++place) {
    if (queue[place] != pod) continue;
    queue.remove(place);
    --count_;
    break;
  }
  backoff_[pod].attempts = 0;
  freed();  // it may have held up others
}

bool SchedulingQueue::goes_before(const Candidate& a, const Candidate& b) const {
  const auto& workloads = cluster_.world->workloads;
  const int priority_a = workloads[a.workload].spec.priority;
  const int priority_b = workloads[b.workload].spec.priority;
  if (priority_a != priority_b) return priority_a > priority_b;
  return cluster_.pods[pod(a)].queued < cluster_.pods[pod(b)].queued;
}

std::optional<SchedulingQueue::Candidate> SchedulingQueue::next(TimePoint now) {
  if (blocked_) return std::nullopt;
  std::optional<Candidate> best;
  const bool fifo = cluster_.world->pod_queue == scenarios::PodQueue::Fifo;
  for (std::size_t w = 0; w < of_workload_.size(); ++w) {
    if (turned_down_[w] != 0) continue;
    // Only the few pods that were turned down in the last 10 s are skipped here.
    for (std::size_t place = 0; place < of_workload_[w].size(); ++place) {
      const TimePoint eligible = backoff_[of_workload_[w][place]].ends;
      if (eligible > now && !fifo) {
        retry_ = std::min(retry_, eligible);
        continue;
      }
      const Candidate candidate{w, place};
      if (!best || goes_before(candidate, *best)) best = candidate;
      break;
    }
  }
  if (!fifo || !best) return best;
  // Nobody overtakes the head, also while it backs off.
  const TimePoint eligible = backoff_[pod(*best)].ends;
  if (eligible <= now) return best;
  retry_ = std::min(retry_, eligible);
  return std::nullopt;
}

void SchedulingQueue::take(const Candidate& candidate) {
  backoff_[pod(candidate)].attempts = 0;
  of_workload_[candidate.workload].remove(candidate.place);
  --count_;
}

void SchedulingQueue::back_off(const Candidate& candidate, TimePoint now) {
  turned_down_[candidate.workload] = 1;
  Backoff& backoff = backoff_[pod(candidate)];
  backoff.ends = now + scheduling_backoff(++backoff.attempts);
  if (cluster_.world->pod_queue != scenarios::PodQueue::Fifo) return;
  blocked_ = true;
  retry_ = std::min(retry_, backoff.ends);
}

void SchedulingQueue::turn_down(const Candidate& candidate, TimePoint now) {
  back_off(candidate, now);
  may_fit_[candidate.workload] = 0;
  if (blocked_) std::ranges::fill(may_fit_, char{0});
}

void SchedulingQueue::start_over() {
  std::ranges::fill(turned_down_, char{0});
  retry_ = kNever;
  blocked_ = false;
}

void SchedulingQueue::begin_cycle(TimePoint now) {
  try_in_vain_until(now);
  in_vain_ = kNever;
  start_over();
}

TimePoint SchedulingQueue::end_cycle() {
  if (looks_always_) return retry_;
  for (std::size_t w = 0; w < of_workload_.size(); ++w) {
    if (may_fit_[w] != 0 && of_workload_[w].size() > 0) return retry_;
  }
  in_vain_ = retry_;
  return kNever;
}

// The tries since the last cycle, none of which can have found a node.
void SchedulingQueue::try_in_vain_until(TimePoint now) {
  while (in_vain_ < now) {
    skip_periods(now);
    if (in_vain_ >= now) return;
    const TimePoint at = in_vain_;
    start_over();
    while (const auto candidate = next(at)) back_off(*candidate, at);
    in_vain_ = retry_;
  }
}

// Back-offs of pods that have waited for long are all 10 s: after each such period the same comes
// again, and a long wait costs no more than two of them.
void SchedulingQueue::skip_periods(TimePoint now) {
  if (now - in_vain_ < kLongestBackoff * 3) return;
  const TimePoint start = in_vain_;
  for (const PendingPods& queue : of_workload_) {
    for (std::size_t place = 0; place < queue.size(); ++place) {
      before_[queue[place]] = backoff_[queue[place]];
    }
  }
  while (in_vain_ < start + kLongestBackoff) {
    const TimePoint at = in_vain_;
    start_over();
    while (const auto candidate = next(at)) back_off(*candidate, at);
    in_vain_ = retry_;
  }
  if (in_vain_ != start + kLongestBackoff) return;
  const auto moved = [&](std::uint32_t pod) {
    return backoff_[pod].ends == before_[pod].ends + kLongestBackoff;
  };
  const auto rests = [&](std::uint32_t pod) {
    return backoff_[pod].ends == before_[pod].ends && before_[pod].ends <= start;
  };
  for (const PendingPods& queue : of_workload_) {
    for (std::size_t place = 0; place < queue.size(); ++place) {
      if (!moved(queue[place]) && !rests(queue[place])) return;
    }
  }
  const std::int64_t periods = (now - in_vain_).ns / kLongestBackoff.ns - 1;
  const Duration skipped = kLongestBackoff * periods;
  in_vain_ = in_vain_ + skipped;
  for (const PendingPods& queue : of_workload_) {
    for (std::size_t place = 0; place < queue.size(); ++place) {
      Backoff& backoff = backoff_[queue[place]];
      if (moved(queue[place])) backoff.ends = backoff.ends + skipped;
    }
  }
}

}  // namespace slicewise::sim
