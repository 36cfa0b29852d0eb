#include "scheduling_queue.hpp"

#include <bit>

namespace slicewise::sim {
namespace {

constexpr Duration kInitialBackoff = seconds(1);
constexpr Duration kLongestBackoff = seconds(10);

Duration scheduling_backoff(int attempts) {
  Duration backoff = kInitialBackoff;
  for (int n = 1; n < attempts && backoff < kLongestBackoff; ++n) backoff = backoff * 2;
  return std::min(backoff, kLongestBackoff);
}

std::size_t pods_of_job(const ClusterState& cluster, std::uint32_t pod) {
  return static_cast<std::size_t>(cluster.model(cluster.pods[pod]).pods_per_job);
}

}  // namespace

// Twice the pods: places are closed up only after as many came as wait at most.
PendingPods::PendingPods(std::size_t most_pods)
    : pods_(std::bit_ceil(std::max<std::size_t>(1, 2 * most_pods)), kNoOwner),
      ends_(2 * pods_.size(), kNever) {}

void PendingPods::push_back(std::uint32_t pod, TimePoint ends) {
  // Whoever looks at all of them must not pass by many places where nobody is.
  constexpr std::size_t kShort = 64;
  constexpr std::size_t kSparse = 4;
  if (count_ == 0) first_ = end_ = 0;
  const bool sparse = end_ - first_ > std::max(kShort, kSparse * count_);
  if (sparse || end_ == pods_.size()) close_ranks();
  pods_[end_] = pod;
  set_end(end_++, ends);
  ++count_;
}

void PendingPods::close_ranks() {
  std::size_t to = 0;
  const std::size_t last = end_;
  for (std::size_t place = first_; place < last; ++place) {
    if (pods_[place] == kNoOwner) continue;
    pods_[to] = pods_[place];
    ends_[pods_.size() + to++] = back_off_ends(place);
  }
  for (std::size_t place = to; place < last; ++place) {
    pods_[place] = kNoOwner;
    ends_[pods_.size() + place] = kNever;
  }
  compare_again(0, last);
  first_ = 0;
  end_ = to;
}

void PendingPods::compare_again(std::size_t from, std::size_t to) {
  if (from == to) return;
  std::size_t first = pods_.size() + from;
  std::size_t last = pods_.size() + to - 1;
  while ((first /= 2) > 0) {
    last /= 2;
    for (std::size_t node = first; node <= last; ++node) {
      ends_[node] = std::min(ends_[2 * node], ends_[2 * node + 1]);
    }
  }
}

void PendingPods::remove(std::size_t place) {
  pods_[place] = kNoOwner;
  set_end(place, kNever);
  --count_;
  while (first_ < end_ && pods_[first_] == kNoOwner) ++first_;
}

void PendingPods::set_end(std::size_t place, TimePoint ends) {
  std::size_t node = pods_.size() + place;
  ends_[node] = ends;
  while ((node /= 2) > 0) {
    const TimePoint earliest = std::min(ends_[2 * node], ends_[2 * node + 1]);
    if (ends_[node] == earliest) return;
    ends_[node] = earliest;
  }
}

std::optional<std::size_t> PendingPods::first_eligible(TimePoint now, TimePoint& skipped) const {
  if (ends_[1] > now) {
    skipped = std::min(skipped, ends_[1]);
    return std::nullopt;
  }
  std::size_t node = 1;
  while (node < pods_.size()) {
    node *= 2;
    if (ends_[node] <= now) continue;
    skipped = std::min(skipped, ends_[node]);
    ++node;
  }
  return node - pods_.size();
}

SchedulingQueue::SchedulingQueue(const ClusterState& cluster)
    : cluster_(cluster),
      attempts_(cluster.pods.size()),
      turned_down_(cluster.world->workloads.size(), 0),
      looked_at_(cluster.world->workloads.size()),
      may_fit_(cluster.world->workloads.size(), 1) {
  if (scenarios::preempts(cluster.world->pod_queue)) ranked_.emplace(cluster);
  for (const WorkloadModel& workload : cluster.world->workloads) {
    of_workload_.emplace_back(ranked_ ? 0 : static_cast<std::size_t>(workload.spec.count));
  }
  heads_.reserve(of_workload_.size());
  // A node with another layout may hold other pods.
  looks_always_ = std::ranges::any_of(
      cluster.world->pools, [](const PoolModel& pool) { return !pool.layout_changes.empty(); });
}

void SchedulingQueue::add(std::uint32_t pod, TimePoint now) {
  try_in_vain_until(now);
  const std::size_t workload = index(cluster_.pods[pod].workload);
  if (ranked_) {
    ranked_->add(pod);
  } else {
    of_workload_[workload].push_back(pod, now);
  }
  count_ += pods_of_job(cluster_, pod);
}

void SchedulingQueue::withdraw(std::uint32_t pod, TimePoint now) {
  try_in_vain_until(now);
  const std::size_t workload = index(cluster_.pods[pod].workload);
  if (ranked_) {
    ranked_->remove(pod);
    count_ -= pods_of_job(cluster_, pod);
  }
  PendingPods& queue = of_workload_[workload];
  for (std::size_t place = queue.first(); queue.size() > 0 && place < queue.end(); ++place) {
    if (queue[place] != pod) continue;
    queue.remove(place);
    count_ -= pods_of_job(cluster_, pod);
    break;
  }
  attempts_[pod] = 0;
  freed();  // it may have held up others
}

bool SchedulingQueue::goes_before(const Candidate& a, const Candidate& b) const {
  const auto& workloads = cluster_.world->workloads;
  const int priority_a = workloads[a.workload].spec.priority;
  const int priority_b = workloads[b.workload].spec.priority;
  const bool by_work = cluster_.world->pod_queue > scenarios::PodQueue::Priority;
  if (!by_work && priority_a != priority_b) return priority_a > priority_b;
  if (ranked_) return ranked_->rank(pod(a)) < ranked_->rank(pod(b));
  return cluster_.pods[pod(a)].queued < cluster_.pods[pod(b)].queued;
}

TimePoint SchedulingQueue::oldest_of(std::size_t workload) const {
  const auto since = [this](std::uint32_t pod) { return cluster_.pods[pod].queued; };
  if (ranked_) return since(*std::ranges::min_element(ranked_->of(workload), {}, since));
  const PendingPods& queue = of_workload_[workload];
  return since(queue[queue.first()]);
}

std::optional<SchedulingQueue::Candidate> SchedulingQueue::not_looked_at(
    std::size_t workload) const {
  if (jobs_of(workload) == 0) return std::nullopt;
  if (ranked_) return Candidate{workload, jobs_of(workload) - 1};
  const PendingPods& queue = of_workload_[workload];
  std::size_t place = std::max(queue.first(), looked_at_[workload]);
  while (place < queue.end() && queue[place] == kNoOwner) ++place;
  return place < queue.end() ? std::optional(Candidate{workload, place}) : std::nullopt;
}

// A workload's first pod stays its first until it is taken or turned down, so only then another is
// looked for: a cycle costs O(log workloads) for each pod that it tries, not a look at all of them.
std::optional<SchedulingQueue::Candidate> SchedulingQueue::next(TimePoint now) {
  if (blocked_) return std::nullopt;
  if (!backs_off()) return best_not_looked_at();
  const bool fifo = cluster_.world->pod_queue == scenarios::PodQueue::Fifo;
  const auto goes_after = [this](const Candidate& a, const Candidate& b) {
    return goes_before(b, a) || (!goes_before(a, b) && a.workload > b.workload);
  };
  const auto find_head = [&](std::size_t workload) {
    const auto place = fifo ? std::nullopt : of_workload_[workload].first_eligible(now, retry_);
    const auto head = place ? std::optional(Candidate{workload, *place}) : std::nullopt;
    const auto first = fifo ? not_looked_at(workload) : head;
    if (!first) return;
    heads_.push_back(*first);
    std::ranges::push_heap(heads_, goes_after);
  };
  if (!heads_known_) {
    heads_known_ = true;
    for (std::size_t w = 0; w < of_workload_.size(); ++w) find_head(w);
  } else if (taken_of_) {
    find_head(*taken_of_);
  }
  taken_of_.reset();
  if (heads_.empty()) return std::nullopt;
  const Candidate best = heads_.front();
  std::ranges::pop_heap(heads_, goes_after);
  heads_.pop_back();
  if (!fifo) return best;
  // Nobody overtakes the head, also while it backs off.
  const TimePoint eligible = of_workload_[best.workload].back_off_ends(best.place);
  if (eligible <= now) return best;
  retry_ = std::min(retry_, eligible);
  blocked_ = true;
  return std::nullopt;
}

std::optional<SchedulingQueue::Candidate> SchedulingQueue::best_not_looked_at() const {
  std::optional<Candidate> best;
  for (std::size_t w = 0; w < of_workload_.size(); ++w) {
    if (turned_down_[w] != 0) continue;
    const auto candidate = not_looked_at(w);
    if (candidate && (!best || goes_before(*candidate, *best))) best = candidate;
  }
  return best;
}

void SchedulingQueue::take(const Candidate& candidate) {
  attempts_[pod(candidate)] = 0;
  count_ -= pods_of_job(cluster_, pod(candidate));
  taken_of_ = candidate.workload;
  if (ranked_) {
    ranked_->remove(pod(candidate));
  } else {
    of_workload_[candidate.workload].remove(candidate.place);
  }
}

void SchedulingQueue::back_off(const Candidate& candidate, TimePoint now) {
  turned_down_[candidate.workload] = 1;
  const TimePoint ends = now + scheduling_backoff(++attempts_[pod(candidate)]);
  of_workload_[candidate.workload].set_end(candidate.place, ends);
  tries_.push_back({candidate, now, ends});
  if (cluster_.world->pod_queue != scenarios::PodQueue::Fifo) return;
  blocked_ = true;
  retry_ = std::min(retry_, ends);
}

void SchedulingQueue::try_soon(std::uint32_t pod, TimePoint since, TimePoint now) {
  try_in_vain_until(now);
  attempts_[pod] = 1;
  PendingPods& queue = of_workload_[index(cluster_.pods[pod].workload)];
  for (std::size_t place = queue.first(); queue.size() > 0 && place < queue.end(); ++place) {
    if (queue[place] == pod) return queue.set_end(place, std::max(now, since + kInitialBackoff));
  }
}

void SchedulingQueue::turn_down(const Candidate& candidate, TimePoint now, bool others_may) {
  if (!backs_off()) {
    turned_down_[candidate.workload] = 1;
    return;
  }
  back_off(candidate, now);
  if (others_may) {
    taken_of_ = candidate.workload;
    return;
  }
  may_fit_[candidate.workload] = 0;
  if (blocked_) std::ranges::fill(may_fit_, char{0});
}

void SchedulingQueue::start_over() {
  std::ranges::fill(turned_down_, char{0});
  std::ranges::fill(looked_at_, std::size_t{0});
  heads_.clear();
  heads_known_ = false;
  taken_of_.reset();
  retry_ = kNever;
  blocked_ = false;
}

void SchedulingQueue::begin_cycle(TimePoint now) {
  try_in_vain_until(now);
  in_vain_ = kNever;
  start_over();
}

TimePoint SchedulingQueue::end_cycle(bool others_end) {
  if (!backs_off()) return kNever;
  if (looks_always_ || others_end) return retry_;
  for (std::size_t w = 0; w < of_workload_.size(); ++w) {
    if (may_fit_[w] != 0 && of_workload_[w].size() > 0) return retry_;
  }
  in_vain_ = retry_;
  return kNever;
}

// Whom a cycle at `in_vain_` would turn down: with nobody bound, one pod of each workload.
void SchedulingQueue::try_in_vain() {
  const TimePoint at = in_vain_;
  start_over();
  if (cluster_.world->pod_queue == scenarios::PodQueue::Fifo) {
    if (const auto head = next(at)) back_off(*head, at);
  } else {
    for (std::size_t w = 0; w < of_workload_.size(); ++w) {
      const auto place = of_workload_[w].first_eligible(at, retry_);
      if (place) back_off({w, *place}, at);
    }
  }
  in_vain_ = retry_;
}

// The tries since the last cycle, none of which can have found a node. Back-offs of pods that have
// waited for long are all 10 s: then the same tries come again in each such period, and a long wait
// costs no more than two or three of them, however many pods wait.
void SchedulingQueue::try_in_vain_until(TimePoint now) {
  bool follows = false;  // this period upon the one before it
  // Who was tried in neither has been eligible since before this one: all that comes is the same
  // again.
  const auto repeats = [this] {
    return std::ranges::equal(tries_, tries_before_, [](const Try& a, const Try& b) {
      return a.who == b.who && a.at == b.at + kLongestBackoff && a.ends == b.ends + kLongestBackoff;
    });
  };
  while (in_vain_ < now) {
    if (now - in_vain_ < kLongestBackoff * 3) {
      tries_.clear();
      try_in_vain();
      continue;
    }
    const TimePoint next_period = in_vain_ + kLongestBackoff;
    tries_before_.swap(tries_);
    tries_.clear();
    while (in_vain_ < next_period) try_in_vain();
    if (follows && in_vain_ == next_period && repeats()) skip_periods(now);
    follows = in_vain_ == next_period;
  }
  tries_.clear();
}

void SchedulingQueue::skip_periods(TimePoint now) {
  const Duration skipped = kLongestBackoff * ((now - in_vain_).ns / kLongestBackoff.ns);
  in_vain_ = in_vain_ + skipped;
  for (const Try& last : tries_) {
    PendingPods& queue = of_workload_[last.who.workload];
    const bool tried_again = queue.back_off_ends(last.who.place) != last.ends;
    if (!tried_again) queue.set_end(last.who.place, last.ends + skipped);
  }
}

}  // namespace slicewise::sim
