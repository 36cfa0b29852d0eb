#include "scheduling_queue.hpp"

#include <array>
#include <functional>
#include <tuple>

namespace slicewise::sim {
namespace {

// By tries in vain; the last is that of all further ones.
constexpr std::array kBackoffs = {seconds(1), seconds(2), seconds(4), seconds(8), seconds(10)};

// kube-scheduler tells the ends of back-offs apart by the second.
std::int64_t whole_seconds(TimePoint at) { return at.ns / seconds(1).ns; }

std::size_t pods_of_job(const ClusterState& cluster, std::uint32_t pod) {
  return static_cast<std::size_t>(cluster.model(cluster.pods[pod]).pods_per_job);
}

}  // namespace

// Twice the pods: places are closed up only after as many came as wait at most.
PendingPods::PendingPods(std::size_t most_pods)
    : pods_(std::max<std::size_t>(1, 2 * most_pods), kNoOwner), queued_(pods_.size()) {
  constexpr std::size_t kManyRuns = 64;
  runs_.reserve(kManyRuns);
}

void PendingPods::push_back(std::uint32_t pod, TimePoint now) {
  // Whoever looks at all of them must not pass by many places where nobody is.
  constexpr std::size_t kShort = 64;
  constexpr std::size_t kSparse = 4;
  if (count_ == 0) {
    first_ = tried_ = end_ = 0;
    runs_.clear();
  }
  const bool sparse = end_ - first_ > std::max(kShort, kSparse * count_);
  if (sparse || end_ == pods_.size()) close_ranks();
  pods_[end_] = pod;
  queued_[end_] = now;
  ++end_;
  ++count_;
}

void PendingPods::close_ranks() {
  std::size_t to = 0;
  auto run = runs_.begin();
  for (std::size_t place = first_; place < end_; ++place) {
    for (; run != runs_.end() && run->end <= place; ++run) run->end = to;
    if (pods_[place] == kNoOwner) continue;
    pods_[to] = pods_[place];
    queued_[to] = queued_[place];
    ++to;
  }
  for (; run != runs_.end(); ++run) run->end = to;
  std::fill(pods_.begin() + static_cast<std::ptrdiff_t>(to), pods_.end(), kNoOwner);
  first_ = 0;
  tried_ = runs_.empty() ? 0 : runs_.back().end;
  end_ = to;
}

void PendingPods::remove(std::size_t place) {
  pods_[place] = kNoOwner;
  --count_;
  first_ = first_from(first_);
}

void PendingPods::put_back(std::size_t place, std::uint32_t pod) {
  pods_[place] = pod;
  first_ = std::min(first_, place);
}

std::size_t PendingPods::first_from(std::size_t place) const {
  while (place < end_ && pods_[place] == kNoOwner) ++place;
  return place;
}

// The second in which the back-off of a pod that was tried so often ends; 0: it is over.
std::int64_t PendingPods::backs_off_until(std::size_t place, std::size_t tries,
                                          TimePoint now) const {
  const std::int64_t ends = whole_seconds(since(place) + kBackoffs[tries - 1]);
  return ends < whole_seconds(now) ? 0 : ends;
}

// Of each run the first is looked at: those behind it wait for as long, or came later.
std::optional<std::pair<std::size_t, Turn>> PendingPods::next(TimePoint now) const {
  std::optional<std::pair<std::size_t, Turn>> first;
  std::size_t begin = first_;
  for (const Run& run : runs_) {
    const std::size_t place = first_from(begin);
    begin = std::max(begin, run.end);
    if (place >= run.end) continue;
    const std::int64_t ends = backs_off_until(place, run.tries, now);
    const Turn turn{ends > 0, ends, 0, since(place), queued_[place], 0};
    if (!first || turn < first->second) first = {place, turn};
    if (ends == 0) return first;
  }
  const std::size_t new_one = first_from(std::max(first_, tried_));
  if (new_one < end_) first = {new_one, {false, 0, 0, queued_[new_one], queued_[new_one], 0}};
  return first;
}

// Places as the pods at them were tried: those that did not back off, then the others, by when that
// would have ended. Their places in the order of all workloads are as they were.
void PendingPods::sort_by_turn(TimePoint now) {
  std::size_t begin = first_;
  for (Run& run : runs_) {
    const std::size_t place = first_from(begin);
    const bool is_tried = place < run.end && run.tries > 0;
    run.until = is_tried ? backs_off_until(place, run.tries, now) : 0;
    begin = std::max(begin, run.end);
  }
  const auto place_at = [this](std::size_t place) {
    return pods_.begin() + static_cast<std::ptrdiff_t>(place);
  };
  for (std::size_t r = 1; r < runs_.size(); ++r) {
    std::size_t to = r;
    while (to > 0 && runs_[to - 1].until > runs_[r].until) --to;
    if (to == r) continue;
    const std::size_t from = to == 0 ? first_ : std::max(first_, runs_[to - 1].end);
    const std::size_t middle = std::max(first_, runs_[r - 1].end);
    const std::size_t size = runs_[r].end - middle;
    std::rotate(place_at(from), place_at(middle), place_at(runs_[r].end));
    Run moved = runs_[r];
    moved.end = from + size;
    for (std::size_t behind = r; behind > to; --behind) {
      runs_[behind] = runs_[behind - 1];
      runs_[behind].end = std::max(first_, runs_[behind].end) + size;
    }
    runs_[to] = moved;
  }
  first_ = first_from(first_);
}

void PendingPods::turn_down(TimePoint now, bool all) {
  if (tried_ < end_) runs_.push_back({end_, 0, 0});
  tried_ = end_;
  if (all) {
    sort_by_turn(now);
    last_try_ = now;
  }
  std::size_t kept = 0;
  for (Run run : runs_) {
    const std::size_t begin = kept == 0 ? first_ : runs_[kept - 1].end;
    if (run.end <= begin) continue;
    if (all || run.tries == 0) run.tries = std::min(run.tries + 1, kBackoffs.size());
    const bool joins = kept > 0 && runs_[kept - 1].tries == run.tries &&
                       whole_seconds(since(begin - 1)) == whole_seconds(since(begin));
    runs_[joins ? kept - 1 : kept++] = run;
  }
  runs_.resize(kept);
}

SchedulingQueue::SchedulingQueue(const ClusterState& cluster)
    : cluster_(cluster),
      turned_down_(cluster.world->workloads.size(), 0),
      looked_at_(cluster.world->workloads.size()),
      may_fit_(cluster.world->workloads.size(), MayFit::All) {
  if (scenarios::preempts(cluster.world->pod_queue)) ranked_.emplace(cluster);
  for (const WorkloadModel& workload : cluster.world->workloads) {
    of_workload_.emplace_back(ranked_ ? 0 : static_cast<std::size_t>(workload.spec.count));
  }
  heads_.reserve(of_workload_.size());
  tried_.reserve(of_workload_.size());
}

void SchedulingQueue::add(std::uint32_t pod, TimePoint now) {
  const std::size_t workload = index(cluster_.pods[pod].workload);
  if (ranked_) {
    ranked_->add(pod);
  } else {
    of_workload_[workload].push_back(pod, now);
    may_fit_[workload] = std::max(may_fit_[workload], MayFit::New);
  }
  count_ += pods_of_job(cluster_, pod);
}

void SchedulingQueue::withdraw(std::uint32_t pod) {
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
  freed();  // it may have held up others
}

bool SchedulingQueue::goes_before(const Candidate& a, const Candidate& b) const {
  const auto& workloads = cluster_.world->workloads;
  const int priority_a = workloads[a.workload].spec.priority;
  const int priority_b = workloads[b.workload].spec.priority;
  const bool by_work = cluster_.world->pod_queue > PodQueue::Priority;
  if (!by_work && priority_a != priority_b) return priority_a > priority_b;
  if (ranked_) return ranked_->rank(pod(a)) < ranked_->rank(pod(b));
  const auto came = [this](const Candidate& who) {
    return std::pair(cluster_.pods[pod(who)].queued, row_of(cluster_, pod(who)));
  };
  return came(a) < came(b);
}

TimePoint SchedulingQueue::oldest_of(std::size_t workload) const {
  const auto since = [this](std::uint32_t pod) { return cluster_.pods[pod].queued; };
  if (ranked_) return since(*std::ranges::min_element(ranked_->of(workload), {}, since));
  TimePoint oldest = kNever;
  for_each_of(workload, [&](std::uint32_t pod) { oldest = std::min(oldest, since(pod)); });
  return oldest;
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

void SchedulingQueue::find_head(std::size_t workload, TimePoint now) {
  const PendingPods& queue = of_workload_[workload];
  if (queue.size() == 0) return;
  Head head{{}, {workload, queue.first()}};
  if (cluster_.world->pod_queue == PodQueue::Fifo) {
    head.turn.since = cluster_.pods[queue[queue.first()]].queued;
  } else {
    const auto first = queue.next(now);
    if (!first) return;
    std::tie(head.who.place, head.turn) = *first;
  }
  head.turn.row = row_of(cluster_, queue[head.who.place]);
  head.turn.minus_priority = -std::int64_t{cluster_.world->workloads[workload].spec.priority};
  heads_.push_back(head);
  std::ranges::push_heap(heads_, std::greater{});
}

// A workload's first pod stays its first until it is taken or turned down, so only then another is
// looked for: a cycle costs O(log workloads) for each pod that it tries, not a look at all of them.
std::optional<SchedulingQueue::Candidate> SchedulingQueue::next(TimePoint now) {
  if (blocked_) return std::nullopt;
  if (!has_turns()) return best_not_looked_at();
  if (!heads_known_) {
    heads_known_ = true;
    const bool strict = cluster_.world->pod_queue == PodQueue::Fifo;
    for (std::size_t w = 0; w < of_workload_.size(); ++w) {
      if (strict || may_fit_[w] != MayFit::None) find_head(w, now);
    }
  } else if (taken_of_) {
    find_head(*taken_of_, now);
  }
  taken_of_.reset();
  if (heads_.empty()) return std::nullopt;
  std::ranges::pop_heap(heads_, std::greater{});
  const Candidate best = heads_.back().who;
  heads_.pop_back();
  return best;
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
  count_ -= pods_of_job(cluster_, pod(candidate));
  taken_of_ = candidate.workload;
  if (ranked_) {
    ranked_->remove(pod(candidate));
  } else {
    of_workload_[candidate.workload].remove(candidate.place);
  }
}

void SchedulingQueue::turn_down(const Candidate& candidate, bool others_may) {
  const auto& [workload, place] = candidate;
  if (!has_turns()) {
    turned_down_[workload] = 1;
    return;
  }
  PendingPods& queue = of_workload_[workload];
  if (others_may) {
    passed_over_.emplace_back(candidate, queue[place]);
    queue.pass_over(place);
    taken_of_ = workload;
    return;
  }
  blocked_ = cluster_.world->pod_queue == PodQueue::Fifo;
  if (!blocked_) tried_.emplace_back(workload, may_fit_[workload] == MayFit::All);
  may_fit_[workload] = MayFit::None;
}

bool SchedulingQueue::end_cycle(TimePoint now) {
  for (const auto& [who, pod] : passed_over_) of_workload_[who.workload].put_back(who.place, pod);
  for (const auto& [workload, all] : tried_) of_workload_[workload].turn_down(now, all);
  tried_.clear();
  for (const auto& [who, pod] : passed_over_) {
    if (freed_in_cycle_ || may_fit_[who.workload] == MayFit::None) continue;
    of_workload_[who.workload].turn_down(now, may_fit_[who.workload] == MayFit::All);
    may_fit_[who.workload] = MayFit::None;
  }
  passed_over_.clear();
  return freed_in_cycle_;
}

void SchedulingQueue::begin_cycle() {
  freed_in_cycle_ = false;
  std::ranges::fill(turned_down_, char{0});
  std::ranges::fill(looked_at_, std::size_t{0});
  heads_.clear();
  heads_known_ = false;
  taken_of_.reset();
  blocked_ = false;
}

}  // namespace slicewise::sim
