#include "recorder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

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
    case PodPhase::Succeeded:
    case PodPhase::Failed:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

void Recorder::begin(const ClusterState& cluster) {
  gpu_of_.resize(cluster.domains.size(), kNotRecorded);
  life_of_.resize(cluster.nodes.size(), kNotRecorded);
  const bool take_turns = std::ranges::any_of(cluster.domains, [](const Domain& domain) {
    return std::holds_alternative<RoundRobin>(domain.engine);
  });
  if (!take_turns) return;
  recording_.turns.seen = RecordedTurns::Seen::NotAsked;
  if (limits_.turns <= 0) return;
  recording_.turns.seen = RecordedTurns::Seen::NoRivals;
  follow_from_ = TimePoint{} + recording_.warmup;
}

void Recorder::node_decided(const ClusterState& cluster, std::uint32_t n) {
  const Node& node = cluster.nodes[n];
  const PoolModel& pool = cluster.pool(node);
  std::uint32_t first = n;  // of the pool's places
  while (first > 0 && cluster.nodes[first - 1].pool == node.pool) --first;
  const std::string name = fmt::format("{}-{}", pool.name, n - first + 1);
  if (places_seen_.insert(n).second) add_gpus(cluster, n, name);
  life_of_[n] = kNotRecorded;
  if (std::cmp_greater_equal(recording_.nodes.size(), limits_.nodes)) {
    ++recording_.left_out.nodes;
    return;
  }
  RecordedNode recorded;
  recorded.name = name;
  recorded.pool = static_cast<std::uint32_t>(index(node.pool));
  recorded.pool_name = pool.name;
  recorded.instance_type = pool.instance_type;
  recorded.on_demand_fallback = node.life.on_demand;
  recorded.decided = node.life.decided;
  recorded.until = kNever;
  life_of_[n] = static_cast<std::uint32_t>(recording_.nodes.size());
  recording_.nodes.push_back(std::move(recorded));
}

// Those of a place for a node, when its first node comes.
void Recorder::add_gpus(const ClusterState& cluster, std::uint32_t n, const std::string& name) {
  const Node& node = cluster.nodes[n];
  const PoolModel& pool = cluster.pool(node);
  for (std::size_t layout = 0; layout < pool.layouts.size(); ++layout) {
    std::vector<int> instances(static_cast<std::size_t>(pool.gpus_per_node), 0);
    for (const DomainId id : node.domains_under[layout]) {
      const Domain& domain = cluster.domains[index(id)];
      const int instance = instances[domain.gpu]++;
      if (std::cmp_greater_equal(recording_.gpus.size(), limits_.gpus)) {
        ++recording_.left_out.gpus;
        continue;
      }
      const DomainKind& kind = cluster.kind(domain);
      gpu_of_[index(id)] = static_cast<std::uint32_t>(recording_.gpus.size());
      RecordedGpu gpu;
      gpu.node = name;
      gpu.index = static_cast<int>(domain.gpu);
      gpu.instance = instance;
      gpu.partition = kind.partition;
      gpu.model = pool.gpu->name;
      gpu.share = kind.time_share;
      gpu.memory_total = kind.memory;
      for (auto* series : {&gpu.busy, &gpu.switching, &gpu.sm_active}) {
        series->resize(recording_.buckets());
      }
      gpu.memory.resize(recording_.buckets());
      recording_.gpus.push_back(std::move(gpu));
      gpu_before_.emplace_back();
      sm_known_.push_back(1);
      turn_now_.emplace_back();
    }
  }
}

void Recorder::node_drains(std::uint32_t n, TimePoint now, RecordedNode::End why) {
  if (life_of_[n] == kNotRecorded) return;
  RecordedNode& node = recording_.nodes[life_of_[n]];
  node.draining = now;
  node.end = why;
}

void Recorder::node_ends(const Node& node, std::uint32_t n, TimePoint now, UsdPerHour price,
                         Usd billed) {
  if (life_of_[n] == kNotRecorded) return;
  RecordedNode& recorded = recording_.nodes[life_of_[n]];
  copy_life(node, recorded);
  recorded.until = now;
  recorded.price = price;
  recorded.billed = billed;
}

// How far it came. One that is there from the start has come all the way at the start.
void Recorder::copy_life(const Node& node, RecordedNode& recorded) {
  const NodeLife& life = node.life;
  const auto reached = [&](TimePoint at) { return !life.started || at > life.decided; };
  if (is_billed(node.stage)) recorded.launched = life.launched;
  if (!is_billed(node.stage) || node.stage == NodeStage::Booting) return;
  if (reached(life.registered)) recorded.ready = life.registered;
  if (node.stage == NodeStage::Registered) return;
  if (reached(life.allocatable)) recorded.allocatable = life.allocatable;
}

void Recorder::pod_enters(const ClusterState& cluster, std::uint32_t p, PodPhase phase,
                          TimePoint now) {
  const std::uint32_t lane = lane_of_[p];
  if (lane == kNotRecorded) return;
  const Pod& pod = cluster.pods[p];
  const std::optional<LanePhase> next = lane_phase(phase);
  const bool on_gpu = is_bound(phase);
  OpenInterval& open = open_[lane];
  if (open.phase == next && on_gpu == !open.gpus.empty()) return;
  close_interval(lane, now);
  open.phase = next;
  open.from = now;
  open.gpus.clear();
  open.memory = {};
  if (!on_gpu) return;
  for_each_rank(pod, [&](DomainId domain, std::uint32_t, Duration) {
    if (gpu_of_[index(domain)] != kNotRecorded) open.gpus.push_back(gpu_of_[index(domain)]);
  });
  open.memory = cluster.domains[index(pod.domain)].memory.held_by(pod.context);
}

void Recorder::memory_taken(const ClusterState& cluster, std::uint32_t p) {
  const Pod& pod = cluster.pods[p];
  for_each_rank(pod, [&](DomainId domain, std::uint32_t, Duration) {
    memory_used(index(domain), cluster.domains[index(domain)].memory.used());
  });
  if (lane_of_[p] == kNotRecorded) return;
  OpenInterval& open = open_[lane_of_[p]];
  const Bytes held = cluster.domains[index(pod.domain)].memory.held_by(pod.context);
  open.memory = std::max(open.memory, held);
}

bool Recorder::has_room(std::size_t taken) {
  if (std::cmp_less(taken, limits_.intervals_per_pod)) return true;
  ++recording_.left_out.intervals;
  return false;
}

void Recorder::close_interval(std::uint32_t lane, TimePoint now) {
  OpenInterval& open = open_[lane];
  if (!open.phase || open.from == now) return;
  std::vector<LaneInterval>& intervals = recording_.pods[lane].intervals;
  if (!has_room(intervals.size())) return;
  intervals.push_back({*open.phase, open.from, now, open.gpus, open.memory});
}

void Recorder::mark(std::uint32_t p, LaneMark::Kind kind, TimePoint now) {
  if (lane_of_[p] == kNotRecorded) return;
  std::vector<LaneMark>& marks = recording_.pods[lane_of_[p]].marks;
  if (has_room(marks.size())) marks.push_back({kind, now});
}

void Recorder::memory_used(std::size_t domain, Bytes used) {
  if (gpu_of_[domain] == kNotRecorded) return;
  Bytes& most = now_of(recording_.gpus[gpu_of_[domain]].memory);
  most = std::max(most, used);
}

void Recorder::gpu_does(std::size_t domain, const RoundRobin::Doing& doing, std::uint32_t pod,
                        TimePoint now) {
  using What = RoundRobin::Doing::What;
  const std::uint32_t gpu = gpu_of_[domain];
  if (gpu == kNotRecorded) return;
  OpenTurn& open = turn_now_[gpu];
  // A switch may lead to a context that has just been closed.
  const bool nobody = doing.what == What::Nothing || pod >= lane_of_.size();
  const std::uint32_t lane = nobody ? kNotRecorded : lane_of_[pod];
  if (open.doing.what == doing.what && open.pod == lane) return;
  RecordedTurns& turns = recording_.turns;
  if (turns.seen == RecordedTurns::Seen::NoRivals) {
    if (doing.what != What::Switch) return;
    turns.seen = RecordedTurns::Seen::Some;
    turns.from = now;
  }
  end_turn(gpu, now);
  open = {doing, lane, now};
  turns.until = now;
  if (std::cmp_less(turns.turns.size(), limits_.turns)) return;
  follow_until_ = now;
  for (std::uint32_t other = 0; other < turn_now_.size(); ++other) end_turn(other, now);
}

void Recorder::end_turn(std::uint32_t gpu, TimePoint now) {
  OpenTurn& open = turn_now_[gpu];
  if (open.pod != kNotRecorded && now > open.from) {
    const bool is_switch = open.doing.what == RoundRobin::Doing::What::Switch;
    recording_.turns.turns.push_back({gpu, open.pod, is_switch, open.from, now});
  }
  open.pod = kNotRecorded;
}

void Recorder::request_over(RecordedRequest request) {
  using Outcome = RecordedRequest::Outcome;
  if (request.pod) *request.pod -= first_of_[request.workload];
  if (std::cmp_less(recording_.requests.size(), limits_.requests)) {
    recording_.requests.push_back(request);
  } else if (limits_.requests > 0) {
    ++recording_.left_out.requests;
  }
  RecordedWorkload& workload = recording_.workloads[request.workload];
  const bool late = request.outcome == Outcome::Late;
  if (!late && request.outcome != Outcome::InTime) {
    ++now_of(workload.lost);
    return;
  }
  ++now_of(workload.completed);
  now_of(workload.late) += late ? 1 : 0;
  const Duration latency = request.over - request.arrived;
  Latencies& latencies = latencies_[request.workload];
  latencies.times.add(latency);
  for (std::size_t n = workload.latency_bounds.size(); n > 0; --n) {
    if (latency > workload.latency_bounds[n - 1]) break;
    ++latencies.within_bound[n - 1];
  }
}

// What a total has gained since the last bucket. One that fell back (work under way that was
// thrown away) gains nothing until it has caught up.
Duration Recorder::gained(double total_ns, std::int64_t& before_ns) {
  const std::int64_t before = before_ns;
  before_ns = std::max(before_ns, std::int64_t{std::llround(total_ns)});
  return {before_ns - before};
}

void Recorder::sample_gpu(std::size_t domain, const GpuTotals& totals) {
  const std::uint32_t g = gpu_of_[domain];
  if (g == kNotRecorded) return;
  RecordedGpu& gpu = recording_.gpus[g];
  GpuBefore& before = gpu_before_[g];
  now_of(gpu.busy) = gained(totals.busy_ns, before.busy_ns);
  now_of(gpu.switching) = gained(totals.switching_ns, before.switching_ns);
  now_of(gpu.sm_active) = gained(totals.sm_ns, before.sm_ns);
  sm_known_[g] = totals.sm_known ? sm_known_[g] : 0;
  memory_used(domain, totals.memory_used);
  if (bucket_ + 1 < gpu.memory.size()) gpu.memory[bucket_ + 1] = totals.memory_used;
}

void Recorder::sample_workload(std::size_t w, const WorkloadTotals& totals) {
  RecordedWorkload& workload = recording_.workloads[w];
  if (!workload.running.empty()) now_of(workload.running) = totals.running;
  if (!workload.gpu_busy.empty()) {
    now_of(workload.gpu_busy) = gained(totals.gpu_busy_ns, workload_busy_before_[w]);
  }
  if (workload.arrived.empty()) {
    now_of(workload.completed) = totals.completed - completed_before_[w];
    completed_before_[w] = totals.completed;
    return;
  }
  now_of(workload.in_system) = totals.in_system;
  if (!workload.waiting.empty()) now_of(workload.waiting) = totals.waiting;
  Latencies& latencies = latencies_[w];
  if (latencies.times.count() > 0) {
    now_of(workload.mean) = latencies.times.mean();
    now_of(workload.p50) = latencies.times.quantile(0.5);
    now_of(workload.p99) = latencies.times.quantile(0.99);
    latencies.times = {};
  }
  for (std::int64_t& count : latencies.within_bound) {
    workload.within_bound.push_back(std::exchange(count, 0));
  }
}

void Recorder::sample_pod(std::uint32_t p, double gpu_busy_ns) {
  if (lane_of_[p] == kNotRecorded) return;
  now_of(recording_.pods[lane_of_[p]].gpu_busy) =
      gained(pod_worked_ns_[p] + gpu_busy_ns, pod_busy_before_[lane_of_[p]]);
}

void Recorder::sample_pool(std::size_t pool, std::int64_t ready, std::int64_t billed) {
  now_of(recording_.pools[pool].ready) = ready;
  now_of(recording_.pools[pool].billed) = billed;
}

TimePoint Recorder::bucket_ends() const {
  return bucket_ < recording_.buckets() ? recording_.bucket_end(bucket_) : kNever;
}

Recording Recorder::take(TimePoint now) {
  for (std::uint32_t lane = 0; lane < open_.size(); ++lane) close_interval(lane, now);
  const bool to_the_end =
      follow_until_ == kNever && recording_.turns.seen == RecordedTurns::Seen::Some;
  if (to_the_end) recording_.turns.until = now;
  for (std::uint32_t gpu = 0; to_the_end && gpu < turn_now_.size(); ++gpu) end_turn(gpu, now);
  for (std::uint32_t n = 0; n < life_of_.size(); ++n) {
    if (life_of_[n] == kNotRecorded) continue;
    RecordedNode& node = recording_.nodes[life_of_[n]];
    if (node.until == kNever) node.until = now;  // never launched: no bill
  }
  for (std::size_t g = 0; g < recording_.gpus.size(); ++g) {
    if (sm_known_[g] == 0) recording_.gpus[g].sm_active.clear();
  }
  return std::move(recording_);
}

}  // namespace slicewise::sim
