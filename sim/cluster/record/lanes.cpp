#include "lanes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "slicewise/sim/cluster/cluster.hpp"

namespace slicewise::sim {
namespace {

std::optional<LanePhase> lane_phase(PodPhase phase) {
  switch (phase) {
    case PodPhase::Pending:
      return LanePhase::Pending;
    case PodPhase::Pulling:
      return LanePhase::Pulling;
    case PodPhase::Loading:
      return LanePhase::Loading;
    case PodPhase::Working:
      return LanePhase::Running;
    case PodPhase::BackOff:
    case PodPhase::Recreating:
      return LanePhase::BackOff;
    case PodPhase::Unsubmitted:
    case PodPhase::Suspended:
    case PodPhase::Succeeded:
    case PodPhase::Failed:
      return std::nullopt;
  }
  return std::nullopt;
}

// How far it came. One that is there from the start has come all the way at the start.
void copy_life(const Node& node, RecordedNode& recorded) {
  const NodeLife& life = node.life;
  const auto reached = [&](TimePoint at) { return !life.started || at > life.decided; };
  if (is_billed(node.stage)) recorded.launched = life.launched;
  if (!is_billed(node.stage) || node.stage == NodeStage::Booting) return;
  if (reached(life.registered)) recorded.ready = life.registered;
  if (node.stage == NodeStage::Registered) return;
  if (reached(life.allocatable)) recorded.allocatable = life.allocatable;
}

// Of the workload's pods, the first `most` of all: the nth pods of all workloads before any n+1st,
// so that a large workload does not crowd out a small one.
std::vector<std::vector<bool>> choose_pods(const World& world, int most) {
  std::vector<std::vector<bool>> chosen;
  int largest = 0;
  for (const WorkloadModel& workload : world.workloads) {
    chosen.emplace_back(static_cast<std::size_t>(workload.spec.count), false);
    largest = std::max(largest, workload.spec.count);
  }
  int taken = 0;
  for (int nth = 0; nth < largest; ++nth) {
    for (std::vector<bool>& of_workload : chosen) {
      if (taken == most) return chosen;
      if (static_cast<std::size_t>(nth) >= of_workload.size()) continue;
      of_workload[static_cast<std::size_t>(nth)] = true;
      ++taken;
    }
  }
  return chosen;
}

}  // namespace

Duration gained(double total_ns, std::int64_t& before_ns) {
  const std::int64_t before = before_ns;
  before_ns = std::max(before_ns, std::int64_t{std::llround(total_ns)});
  return {before_ns - before};
}

void PodLanes::begin(const World& world) {
  const std::vector<std::vector<bool>> chosen = choose_pods(world, draft_.limits.pods);
  for (std::uint32_t w = 0; w < world.workloads.size(); ++w) {
    for (std::size_t nth = 0; nth < chosen[w].size(); ++nth) {
      if (!chosen[w][nth]) {
        draft_.lane_of.push_back(kNotRecorded);
        ++draft_.recording.left_out.pods;
        continue;
      }
      draft_.lane_of.push_back(static_cast<std::uint32_t>(draft_.recording.pods.size()));
      RecordedPod pod;
      pod.name = pod_name(world.workloads[w], nth);
      pod.workload = w;
      pod.gpu_busy.resize(draft_.recording.buckets());
      draft_.recording.pods.push_back(std::move(pod));
    }
  }
  open_.resize(draft_.recording.pods.size());
  busy_before_.resize(draft_.recording.pods.size());
  worked_ns_.resize(draft_.lane_of.size());
}

void PodLanes::enters(const ClusterState& cluster, std::uint32_t p, PodPhase phase, TimePoint now) {
  const std::uint32_t lane = draft_.lane_of[p];
  if (lane == kNotRecorded) return;
  const Pod& pod = cluster.pods[p];
  const std::optional<LanePhase> next = lane_phase(phase);
  const bool on_gpu = is_bound(phase);
  OpenInterval& open = open_[lane];
  if (open.phase == next && on_gpu == !open.gpus.empty()) return;
  close(lane, now);
  open.phase = next;
  open.from = now;
  open.gpus.clear();
  open.memory = {};
  if (!on_gpu) return;
  for_each_rank(pod, [&](DomainId domain, std::uint32_t) {
    if (draft_.gpu_of[index(domain)] != kNotRecorded)
      open.gpus.push_back(draft_.gpu_of[index(domain)]);
  });
  if (pod.domain == kNoDomain) return;
  open.memory = cluster.domains[index(pod.domain)].memory.held_by(pod.context);
}

void PodLanes::took_memory(const ClusterState& cluster, std::uint32_t p) {
  const Pod& pod = cluster.pods[p];
  for_each_rank(pod, [&](DomainId domain, std::uint32_t) {
    gpus_.memory_used(index(domain), cluster.domains[index(domain)].memory.used());
  });
  if (draft_.lane_of[p] == kNotRecorded || pod.domain == kNoDomain) return;
  OpenInterval& open = open_[draft_.lane_of[p]];
  const Bytes held = cluster.domains[index(pod.domain)].memory.held_by(pod.context);
  open.memory = std::max(open.memory, held);
}

bool PodLanes::has_room(std::size_t taken) {
  if (std::cmp_less(taken, draft_.limits.intervals_per_pod)) return true;
  ++draft_.recording.left_out.intervals;
  return false;
}

void PodLanes::close(std::uint32_t lane, TimePoint now) {
  OpenInterval& open = open_[lane];
  if (!open.phase || open.from == now) return;
  std::vector<LaneInterval>& intervals = draft_.recording.pods[lane].intervals;
  if (!has_room(intervals.size())) return;
  intervals.push_back({*open.phase, open.from, now, open.gpus, open.memory});
}

void PodLanes::mark(std::uint32_t p, LaneMark::Kind kind, TimePoint now) {
  if (draft_.lane_of[p] == kNotRecorded) return;
  std::vector<LaneMark>& marks = draft_.recording.pods[draft_.lane_of[p]].marks;
  if (has_room(marks.size())) marks.push_back({kind, now});
}

void PodLanes::sample(std::uint32_t p, double gpu_busy_ns) {
  if (draft_.lane_of[p] == kNotRecorded) return;
  draft_.now_of(draft_.recording.pods[draft_.lane_of[p]].gpu_busy) =
      gained(worked_ns_[p] + gpu_busy_ns, busy_before_[draft_.lane_of[p]]);
}

void PodLanes::end(TimePoint now) {
  for (std::uint32_t lane = 0; lane < open_.size(); ++lane) close(lane, now);
}

// Those of a place for a node, when its first node comes.
void GpuSeries::add(const ClusterState& cluster, std::uint32_t n, const std::string& name) {
  const Node& node = cluster.nodes[n];
  const PoolModel& pool = cluster.pool(node);
  for (std::size_t layout = 0; layout < pool.layouts.size(); ++layout) {
    std::vector<int> instances(static_cast<std::size_t>(pool.gpus_per_node), 0);
    for (const DomainId id : node.domains_under[layout]) {
      const Domain& domain = cluster.domains[index(id)];
      const int instance = instances[domain.gpu]++;
      if (std::cmp_greater_equal(draft_.recording.gpus.size(), draft_.limits.gpus)) {
        ++draft_.recording.left_out.gpus;
        continue;
      }
      const DomainKind& kind = cluster.kind(domain);
      draft_.gpu_of[index(id)] = static_cast<std::uint32_t>(draft_.recording.gpus.size());
      RecordedGpu gpu;
      gpu.node = name;
      gpu.index = static_cast<int>(domain.gpu);
      gpu.instance = instance;
      gpu.partition = kind.partition;
      gpu.model = pool.gpu->name;
      gpu.share = kind.time_share;
      gpu.memory_total = kind.memory;
      for (auto* series : {&gpu.busy, &gpu.switching, &gpu.sm_active}) {
        series->resize(draft_.recording.buckets());
      }
      gpu.memory.resize(draft_.recording.buckets());
      draft_.recording.gpus.push_back(std::move(gpu));
      before_.emplace_back();
      sm_known_.push_back(1);
    }
  }
}

void GpuSeries::memory_used(std::size_t domain, Bytes used) {
  if (draft_.gpu_of[domain] == kNotRecorded) return;
  Bytes& most = draft_.now_of(draft_.recording.gpus[draft_.gpu_of[domain]].memory);
  most = std::max(most, used);
}

void GpuSeries::sample(std::size_t domain, const Totals& totals) {
  const std::uint32_t g = draft_.gpu_of[domain];
  if (g == kNotRecorded) return;
  RecordedGpu& gpu = draft_.recording.gpus[g];
  Before& before = before_[g];
  draft_.now_of(gpu.busy) = gained(totals.busy_ns, before.busy_ns);
  draft_.now_of(gpu.switching) = gained(totals.switching_ns, before.switching_ns);
  draft_.now_of(gpu.sm_active) = gained(totals.sm_ns, before.sm_ns);
  sm_known_[g] = totals.sm_known ? sm_known_[g] : 0;
  memory_used(domain, totals.memory_used);
  if (draft_.bucket + 1 < gpu.memory.size()) gpu.memory[draft_.bucket + 1] = totals.memory_used;
}

void GpuSeries::end() {
  for (std::size_t g = 0; g < draft_.recording.gpus.size(); ++g) {
    if (sm_known_[g] == 0) draft_.recording.gpus[g].sm_active.clear();
  }
}

void NodeLanes::begin(const ClusterState& cluster) {
  draft_.gpu_of.resize(cluster.domains.size(), kNotRecorded);
  life_of_.resize(cluster.nodes.size(), kNotRecorded);
  seen_.resize(cluster.nodes.size());
}

void NodeLanes::decided(const ClusterState& cluster, std::uint32_t n) {
  const Node& node = cluster.nodes[n];
  const PoolModel& pool = cluster.pool(node);
  std::uint32_t first = n;  // of the pool's places
  while (first > 0 && cluster.nodes[first - 1].pool == node.pool) --first;
  const std::string name = fmt::format("{}-{}", pool.name, n - first + 1);
  if (seen_[n] == 0) gpus_.add(cluster, n, name);
  seen_[n] = 1;
  life_of_[n] = kNotRecorded;
  if (std::cmp_greater_equal(draft_.recording.nodes.size(), draft_.limits.nodes)) {
    ++draft_.recording.left_out.nodes;
    return;
  }
  RecordedNode recorded;
  recorded.name = name;
  recorded.pool = static_cast<std::uint32_t>(index(node.pool));
  recorded.pool_name = pool.name;
  recorded.instance_type = pool.instance_type;
  recorded.decided = node.life.decided;
  recorded.until = kNever;
  life_of_[n] = static_cast<std::uint32_t>(draft_.recording.nodes.size());
  draft_.recording.nodes.push_back(std::move(recorded));
}

void NodeLanes::drains(std::uint32_t n, TimePoint now, RecordedNode::End why) {
  if (life_of_[n] == kNotRecorded) return;
  RecordedNode& node = draft_.recording.nodes[life_of_[n]];
  node.draining = now;
  node.end = why;
}

void NodeLanes::ends(const Node& node, std::uint32_t n, TimePoint now, UsdPerHour price,
                     Usd billed) {
  if (life_of_[n] == kNotRecorded) return;
  RecordedNode& recorded = draft_.recording.nodes[life_of_[n]];
  copy_life(node, recorded);
  recorded.until = now;
  recorded.price = price;
  recorded.billed = billed;
}

void NodeLanes::end(TimePoint now) {
  for (const std::uint32_t life : life_of_) {
    if (life == kNotRecorded) continue;
    RecordedNode& node = draft_.recording.nodes[life];
    if (node.until == kNever) node.until = now;  // never launched: no bill
  }
}

void TurnLanes::begin(const ClusterState& cluster) {
  RecordedTurns& turns = draft_.recording.turns;
  const bool take_turns = std::ranges::any_of(cluster.domains, [](const Domain& domain) {
    return std::holds_alternative<RoundRobin>(domain.engine);
  });
  if (!take_turns) return;
  turns.seen = RecordedTurns::Seen::NotAsked;
  if (draft_.limits.turns <= 0) return;
  turns.seen = RecordedTurns::Seen::NoRivals;
  from_ = TimePoint{} + draft_.recording.warmup;
}

void TurnLanes::gpu_does(std::size_t domain, const RoundRobin::Doing& doing, std::uint32_t pod,
                         TimePoint now) {
  using What = RoundRobin::Doing::What;
  const std::uint32_t gpu = draft_.gpu_of[domain];
  if (gpu == kNotRecorded) return;
  if (open_.size() <= gpu) open_.resize(draft_.recording.gpus.size());
  OpenTurn& open = open_[gpu];
  // A switch may lead to a context that has just been closed.
  const bool nobody = doing.what == What::Nothing || pod >= draft_.lane_of.size();
  const std::uint32_t lane = nobody ? kNotRecorded : draft_.lane_of[pod];
  if (open.doing.what == doing.what && open.lane == lane) return;
  RecordedTurns& turns = draft_.recording.turns;
  if (turns.seen == RecordedTurns::Seen::NoRivals) {
    if (doing.what != What::Switch) return;
    turns.seen = RecordedTurns::Seen::Some;
    turns.from = now;
  }
  close(gpu, now);
  open = {doing, lane, now};
  turns.until = now;
  if (std::cmp_less(turns.turns.size(), draft_.limits.turns)) return;
  until_ = now;
  for (std::uint32_t other = 0; other < open_.size(); ++other) close(other, now);
}

void TurnLanes::close(std::uint32_t gpu, TimePoint now) {
  OpenTurn& open = open_[gpu];
  if (open.lane != kNotRecorded && now > open.from) {
    const bool is_switch = open.doing.what == RoundRobin::Doing::What::Switch;
    draft_.recording.turns.turns.push_back({gpu, open.lane, is_switch, open.from, now});
  }
  open.lane = kNotRecorded;
}

void TurnLanes::end(TimePoint now) {
  if (until_ != kNever || draft_.recording.turns.seen != RecordedTurns::Seen::Some) return;
  draft_.recording.turns.until = now;
  for (std::uint32_t gpu = 0; gpu < open_.size(); ++gpu) close(gpu, now);
}

}  // namespace slicewise::sim
