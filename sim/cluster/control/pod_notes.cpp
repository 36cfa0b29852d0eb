#include "pod_notes.hpp"

#include <algorithm>
#include <iterator>

#include "../../world/admission.hpp"
#include "../record/recorder.hpp"
#include "scheduler.hpp"

namespace slicewise::sim {

void mark(RunState& run, std::uint32_t p, LaneMark::Kind kind) {
  if (run.recorder != nullptr) run.recorder->pods().mark(p, kind, run.now);
}

// Which GPUs a pod that may have several was given, and what its all-reduce takes there.
void note_gpus(RunState& run, Pod& pod) {
  pod.all_reduce = {};
  const PoolId pool = run.cluster.nodes[index(pod.node)].pool;
  if (run.cluster.model(pod).on_pool[index(pool)].gpus == 1) return;
  const GpuMask set = run.cluster.gpus_of(pod);
  ++run.record_of(pod).pods_by_gpu_set[index(pool) * kGpuSets + set];
  pod.all_reduce = all_reduce_time(run.world, pool, run.cluster.model(pod), set);
}

// Whose containers the pod's own meets on its domains, and who is there when most are.
void note_neighbours(RunState& run, std::uint32_t p) {
  const Pod& pod = run.cluster.pods[p];
  const std::size_t own = index(pod.workload);
  const std::size_t workloads = run.world.workloads.size();
  for_each_rank(pod, [&](DomainId domain, std::uint32_t) {
    const std::vector<std::uint32_t>& owner = run.cluster.domains[index(domain)].owner;
    const auto is_there = [&](std::uint32_t other) {
      return other != kNoOwner && holds_container(run.cluster.pods[other].phase);
    };
    std::size_t containers = 0;
    for (const std::uint32_t other : owner) {
      if (!is_there(other)) continue;
      ++containers;
      if (other == p) continue;
      const std::size_t neighbour = index(run.cluster.pods[other].workload);
      run.record.shared_domain[own * workloads + neighbour] = 1;
      run.record.shared_domain[neighbour * workloads + own] = 1;
    }
    std::vector<std::uint32_t>& fullest = run.record.domains[index(domain)].fullest;
    if (containers <= fullest.size()) return;
    fullest.clear();
    std::ranges::copy_if(owner, std::back_inserter(fullest), is_there);
  });
}

// The stages of the way of a pod that waited for its node. Before anybody could ask for one it
// stood in the queue, which is no part of it.
void record_start_up(RunState& run, const Pod& pod) {
  const NodeLife& life = run.cluster.nodes[index(pod.node)].life;
  if (!life.started || life.allocatable < pod.queued) return;
  StartUpRecord& record = run.record.start_up;
  const TimePoint first = std::max(pod.queued, life.asked);
  TimePoint reached = first;
  const auto stage = [&](Duration& sum, TimePoint end) {
    end = std::clamp(end, reached, run.now);
    sum += end - reached;
    reached = end;
  };
  stage(record.decision, life.decided);
  stage(record.launch, life.launched);
  stage(record.ready, std::min(life.registered, pod.bound));
  stage(record.gpu_allocatable, std::min(life.allocatable, pod.bound));
  stage(record.scheduling, pod.bound);
  stage(record.image_pull, pod.container_started);
  stage(record.model_load, run.now);
  ++record.pods;
  record.total.push_back(run.now - first);
}

RoomToCome::RoomToCome(const RunState& run, const Scheduler& scheduler)
    : run_(run), scheduler_(scheduler), left_(run.world.workloads.size()) {}

bool RoomToCome::take(const Pod& pod) {
  std::optional<std::int64_t>& left = left_[index(pod.workload)];
  if (!left) {
    left = 0;
    for (const Node& node : run_.cluster.nodes) {
      const bool comes = node.stage == NodeStage::Launching || node.stage == NodeStage::Booting ||
                         node.stage == NodeStage::Registered;
      if (comes) *left += scheduler_.on_empty(node, run_.cluster.model(pod));
    }
  }
  return (*left)-- > 0;
}

// Not when a node for it is on its way, and not when it has waited no longer than others of its
// workload that then got a node: queues are normal.
bool is_pending_for_good(RunState& run, const Scheduler& scheduler, const Pod& pod,
                         RoomToCome& to_come) {
  if (pod.phase != PodPhase::Pending) return false;
  if (!scheduler.fits_empty_node(pod)) return true;
  if (run.record.interrupted) return false;
  constexpr Duration kSchedulingTime = minutes(1);
  constexpr std::int64_t kShortRun = 10;  // a tenth of it
  const Duration length = run.now - TimePoint{};
  const Duration normal = std::max(run.record_of(pod).longest_pending,
                                   std::min(kSchedulingTime, Duration{length.ns / kShortRun}));
  if (length > Duration{} && run.now - pod.queued <= normal) return false;
  return !to_come.take(pod);
}

bool waited_in_vain(RunState& run, const Scheduler& scheduler, const Pod& pod) {
  RoomToCome to_come(run, scheduler);
  return is_pending_for_good(run, scheduler, pod, to_come);
}

}  // namespace slicewise::sim
