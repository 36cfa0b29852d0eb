#include "preemption.hpp"

#include <algorithm>
#include <tuple>

#include "container_work.hpp"
#include "pod_life.hpp"
#include "scheduler.hpp"

namespace slicewise::sim {

Preemption::Preemption(RunState& run, const Scheduler& scheduler, PodLife& pods,
                       const ContainerWork& work)
    : run_(run),
      scheduler_(scheduler),
      pods_(pods),
      work_(work),
      choice_(run.cluster, scheduler.nominated()) {
  for (const WorkloadModel& workload : run.world.workloads) {
    lowest_ = std::min(lowest_, workload.spec.priority);
  }
  if (!scenarios::preempts(run.world.pod_queue)) return;
  rooms_.emplace(run.cluster);
  free_.emplace(run.cluster);
}

void Preemption::open_rooms() {
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    const Node& node = run_.cluster.nodes[n];
    for (auto* rooms : {&rooms_, &free_}) {
      if (!node.is_known()) {
        (*rooms)->close(n);
      } else if (node.schedulable) {
        (*rooms)->open(n, NodeRooms::Tickets::Free);
      } else {
        (*rooms)->cordon(n);
      }
    }
  }
}

template <class Use>
void Preemption::for_each_that_runs(Use&& use) {
  const ClusterState& cluster = run_.cluster;
  for (const Node& node : cluster.nodes) {
    for_each_pod_on(cluster, node, [&](std::uint32_t p) {
      if (cluster.first_of_job(p) == p) use(p);
    });
  }
}

void Preemption::give(std::uint32_t first) {
  for_each_of_job(run_.cluster, first, [&](std::uint32_t p) {
    const Pod& pod = run_.cluster.pods[p];
    rooms_->give(static_cast<std::uint32_t>(index(pod.node)), index(pod.workload));
  });
}

bool Preemption::take_again(std::uint32_t first) {
  std::uint32_t taken = first;
  bool all = true;
  for_each_of_job(run_.cluster, first, [&](std::uint32_t p) {
    const Pod& pod = run_.cluster.pods[p];
    all = all &&
          rooms_->take(static_cast<std::uint32_t>(index(pod.node)), index(pod.workload), 1) == 1;
    taken += all ? 1 : 0;
  });
  for (std::uint32_t p = first; !all && p < taken; ++p) {
    const Pod& pod = run_.cluster.pods[p];
    rooms_->give(static_cast<std::uint32_t>(index(pod.node)), index(pod.workload));
  }
  return all;
}

std::int64_t Preemption::room(std::uint32_t node, std::size_t w, bool only_free) const {
  const std::int64_t in_thought = rooms_->room(node, w);
  return only_free ? std::min(in_thought, free_->room(node, w)) : in_thought;
}

bool Preemption::fits(std::size_t w, bool only_free) const {
  std::int64_t left = run_.world.workloads[w].pods_per_job;
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size() && left > 0; ++n) {
    left -= room(n, w, only_free);
  }
  return left <= 0;
}

bool Preemption::take(std::size_t w, bool only_free) {
  if (!fits(w, only_free)) return false;
  std::int64_t left = run_.world.workloads[w].pods_per_job;
  taken_.clear();
  for (std::uint32_t n = 0; left > 0 && n < run_.cluster.nodes.size(); ++n) {
    const std::int64_t pods = rooms_->take(n, w, std::min(left, room(n, w, only_free)));
    if (only_free) free_->take(n, w, pods);
    taken_.insert(taken_.end(), static_cast<std::size_t>(pods), n);
    left -= pods;
  }
  // Those that keep company may find that one of them leaves none to others.
  for (std::size_t t = 0; left > 0 && t < taken_.size(); ++t) {
    rooms_->give(taken_[t], w);
    if (only_free) free_->give(taken_[t], w);
  }
  return left == 0;
}

bool Preemption::make_room_for(std::uint32_t wanted) {
  if (run_.world.pod_queue != PodQueue::Priority) return false;
  const ClusterState& cluster = run_.cluster;
  const auto priority = [&](std::uint32_t p) {
    return cluster.model(cluster.pods[p]).spec.priority;
  };
  victims_.clear();
  for_each_that_runs([&](std::uint32_t p) {
    if (priority(p) < priority(wanted)) victims_.push_back(p);
  });
  if (victims_.empty()) return false;
  // Lowest first, then the youngest.
  std::ranges::sort(victims_, {}, [&](std::uint32_t p) {
    const Pod& pod = cluster.pods[p];
    return std::tuple(priority(p), -pod.bound.ns, -pod.submitted.ns, -std::int64_t{p});
  });
  open_rooms();
  const std::size_t w = index(cluster.pods[wanted].workload);
  std::size_t aside = 0;
  bool fits = false;
  while (!fits && aside < victims_.size()) {
    give(victims_[aside++]);
    fits = take(w, false);
  }
  if (!fits) return false;
  victims_.resize(aside);
  std::ranges::reverse(victims_);
  bool any = false;  // else the pod would be tried again and again
  for (const std::uint32_t p : victims_) {
    if (take_again(p)) continue;
    pods_.evict(p, Eviction::Preempted);
    any = true;
  }
  return any;
}

std::optional<std::uint32_t> Preemption::nominate(std::uint32_t pod) {
  const WorkloadModel& model = run_.cluster.model(run_.cluster.pods[pod]);
  const bool waits = run_.world.pod_queue != PodQueue::Backfill || model.pods_per_job > 1 ||
                     model.spec.trace ||
                     model.spec.preemption_policy == scenarios::PreemptionPolicy::Never;
  if (waits || model.spec.priority <= lowest_) return std::nullopt;
  const auto node = scheduler_.nominated().node_of(pod);
  if (node && pods_.endings().makes_room(*node, model.spec.priority)) return node;
  const auto chosen = choice_.node_for(pod, pods_.endings().budgets());
  if (!chosen) return std::nullopt;
  for (const std::uint32_t victim : choice_.victims()) pods_.endings().begin(victim);
  return chosen;
}

void Preemption::stop_those_with_more_left() {
  const PodQueue queue = run_.world.pod_queue;
  const bool by_time = queue == PodQueue::ShortestTime;
  if (!by_time && queue != PodQueue::ShortestService) return;
  if (scheduler_.queue().size() == 0 || looked_ == run_.now) return;
  looked_ = run_.now;  // once at an instant: who is stopped wakes the scheduler, too
  const ClusterState& cluster = run_.cluster;
  const RankedPods& ranked = scheduler_.queue().ranked();
  if (all_find_room()) return;
  all_wait();
  const std::size_t first = next_waiting();
  const RankedPods::Rank least = ranked.rank(ranked.of(first).back());
  order_.clear();
  for_each_that_runs([&](std::uint32_t p) {
    if (cluster.model(cluster.pods[p]).spec.kind != WorkloadKind::Job) return;
    double left = 0;  // of the part of the job that has most to do
    for_each_of_job(cluster, p,
                    [&](std::uint32_t of_job) { left = std::max(left, work_.units_left(of_job)); });
    const RankedPods::Rank rank{work_left(cluster, p, left), cluster.pods[p].submitted,
                                row_of(cluster, p), p};
    if (least < rank) order_.push_back(rank);  // the others stay where they are
  });
  if (order_.empty()) return;
  open_rooms();
  for (const RankedPods::Rank& rank : order_) give(rank.pod);
  if (!any_would_fit()) return;
  std::ranges::sort(order_);
  victims_.clear();
  for (const RankedPods::Rank& rank : order_) {
    make_room_in_thought(rank);
    if (const std::uint32_t p = rank.pod; !take_again(p)) {
      victims_.push_back(p);
    }
  }
  for (const std::uint32_t p : victims_) pods_.evict(p, Eviction::Stopped);
}

void Preemption::all_wait() {
  waiting_.clear();
  for (std::size_t w = 0; w < run_.world.workloads.size(); ++w) {
    waiting_.push_back(scheduler_.queue().jobs_of(w));
  }
}

// Whether what is free is enough for all that wait: then nobody has to go, whatever those that run
// have left.
bool Preemption::all_find_room() {
  all_wait();
  open_rooms();
  for (std::size_t w = next_waiting(); w != kNobody; w = next_waiting()) {
    if (!take(w, true)) return false;
    --waiting_[w];
  }
  return true;
}

// Whether a job that waits would fit if all that may have to go were gone: else nobody has to.
bool Preemption::any_would_fit() const {
  for (std::size_t w = 0; w < waiting_.size(); ++w) {
    if (waiting_[w] > 0 && fits(w, false)) return true;
  }
  return false;
}

std::size_t Preemption::next_waiting() const {
  const RankedPods& ranked = scheduler_.queue().ranked();
  std::size_t next = kNobody;
  for (std::size_t w = 0; w < waiting_.size(); ++w) {
    if (waiting_[w] == 0) continue;
    const auto rank = [&](std::size_t of) { return ranked.rank(ranked.of(of)[waiting_[of] - 1]); };
    if (next == kNobody || rank(w) < rank(next)) next = w;
  }
  return next;
}

void Preemption::make_room_in_thought(const RankedPods::Rank& rank) {
  const RankedPods& ranked = scheduler_.queue().ranked();
  for (std::size_t w = next_waiting(); w != kNobody; w = next_waiting()) {
    if (rank < ranked.rank(ranked.of(w)[waiting_[w] - 1])) return;
    const bool fits = take(w, true) || take(w, false);
    waiting_[w] = fits ? waiting_[w] - 1 : 0;  // there will be no more room than now
  }
}

}  // namespace slicewise::sim
