#include "holdings.hpp"

#include <algorithm>
#include <cmath>

namespace slicewise::sim {
namespace {

using scenarios::CostSplit;

// What OpenCost weighs the parts of an AWS node with, dollars an hour of a vCPU, a GiB and a GPU.
// Source: opencost/opencost, configs/aws.json.
constexpr double kWeightOfCpu = 0.031611;
constexpr double kWeightOfGibibyte = 0.004237;
constexpr double kWeightOfGpu = 0.95;

double part_of(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Of the GPUs of its node: a MIG instance takes slices of the GPU and of its memory, and keeps
// others from both.
double domain_share(const PoolModel& pool, const DomainKind& kind) {
  const double of_gpu =
      kind.partition.empty() ? kind.time_share : std::max(kind.time_share, kind.share.bandwidth);
  return of_gpu / pool.gpus_per_node;
}

// Of its domain: devices of one size have equal parts, nos's slices are as large as their memory.
double ticket_share(const DomainKind& kind, const Tickets& tickets) {
  return kind.tickets.size() > 1 && tickets.memory_limit
             ? part_of(tickets.memory_limit->count, kind.memory.count)
             : 1.0 / std::max(1, tickets.count);
}

Usd rounded_down(Usd whole, double share) {
  return {static_cast<std::int64_t>(std::floor(static_cast<double>(whole.nano) * share))};
}

}  // namespace

Holdings::Holdings(RunState& run, const Usage& usage)
    : run_(run),
      usage_(usage),
      nodes_(run.cluster.nodes.size()),
      pods_(run.cluster.pods.size()),
      by_workload_(run.cluster.nodes.size() * run.world.workloads.size()) {}

void Holdings::advance(std::uint32_t n) {
  OfNode& node = nodes_[n];
  // Who holds all of the GPUs and who holds all of the CPUs pay half of the node each.
  const double scale = 1 / std::max(1.0, node.held);
  const TimePoint observed_from = TimePoint{} + run_.world.warmup;
  const auto passed = [&](TimePoint from) {
    return static_cast<double>((run_.now - std::min(run_.now, from)).ns) * scale;
  };
  node.used.whole += passed(node.since);
  node.used.observed += passed(std::max(node.since, observed_from));
  node.since = run_.now;
}

void Holdings::take(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  const auto n = static_cast<std::uint32_t>(index(pod.node));
  advance(n);
  const bool by_use = run_.world.cost_split == CostSplit::GpuTime;
  pods_[p] = {by_use ? 0 : share_of(pod), nodes_[n].used, usage_.gpu_ns(p)};
  nodes_[n].held += pods_[p].share;
  ++nodes_[n].pods;
}

void Holdings::give_back(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  const auto n = static_cast<std::uint32_t>(index(pod.node));
  advance(n);
  OfNode& node = nodes_[n];
  const OfPod& held = pods_[p];
  const Time there{node.used.whole - held.before.whole, node.used.observed - held.before.observed};
  Time& sum = of_workload(n, index(pod.workload));
  if (run_.world.cost_split == CostSplit::GpuTime) {
    const double gpus = run_.cluster.pool(run_.cluster.nodes[n]).gpus_per_node;
    const double used = (usage_.gpu_ns(p) - held.gpu_ns) / gpus;
    sum.whole += used;
    if (there.whole > 0) sum.observed += used * there.observed / there.whole;
  } else {
    sum.whole += there.whole * held.share;
    sum.observed += there.observed * held.share;
  }
  // What doubles leave over must not add up.
  node.held = --node.pods == 0 ? 0 : node.held - held.share;
}

double Holdings::share_of(const Pod& pod) const {
  const double gpus = gpu_share(pod);
  return run_.world.cost_split == CostSplit::Requests ? requested_share(pod, gpus)
                                                      : dominant_share(pod, gpus);
}

// The part of the node that others cannot have because of the pod: the largest of its parts of
// GPUs, of their memory, of CPUs and of memory.
double Holdings::dominant_share(const Pod& pod, double gpus) const {
  const PoolModel& pool = run_.cluster.pool(run_.cluster.nodes[index(pod.node)]);
  const PodTemplate& asks = run_.cluster.model(pod).spec.pod;
  return std::max({gpus, gpu_memory_share(pod),
                   part_of(asks.cpu_request.count, pool.allocatable_cpu.count),
                   part_of(asks.memory_request.count, pool.allocatable_memory.count)});
}

// As OpenCost has it: each resource of the node is worth a part of its price, and is charged to
// those who ask for it.
double Holdings::requested_share(const Pod& pod, double gpus) const {
  const PoolModel& pool = run_.cluster.pool(run_.cluster.nodes[index(pod.node)]);
  const PodTemplate& asks = run_.cluster.model(pod).spec.pod;
  const double cpu = kWeightOfCpu * static_cast<double>(pool.allocatable_cpu.count) / 1000;
  const double memory =
      kWeightOfGibibyte * part_of(pool.allocatable_memory.count, gibibytes(1).count);
  const double gpu = kWeightOfGpu * pool.gpus_per_node;
  return (gpu * gpus + cpu * part_of(asks.cpu_request.count, pool.allocatable_cpu.count) +
          memory * part_of(asks.memory_request.count, pool.allocatable_memory.count)) /
         (gpu + cpu + memory);
}

double Holdings::gpu_share(const Pod& pod) const {
  const PoolModel& pool = run_.cluster.pool(run_.cluster.nodes[index(pod.node)]);
  double share = 0;
  for (const DomainId id : pod.tickets) {
    const Domain& domain = run_.cluster.domains[index(id)];
    const DomainKind& kind = run_.cluster.kind(domain);
    if (const Tickets* const held = run_.cluster.tickets(domain, run_.cluster.model(pod))) {
      share += domain_share(pool, kind) * ticket_share(kind, *held);
    }
  }
  return share;
}

// A process that maps all free memory leaves none to others.
double Holdings::gpu_memory_share(const Pod& pod) const {
  const PoolModel& pool = run_.cluster.pool(run_.cluster.nodes[index(pod.node)]);
  const WorkloadModel& model = run_.cluster.model(pod);
  const Bytes process{run_.cluster.gpu_memory(pod).count + pool.context_memory.count};
  double share = 0;
  for_each_rank(pod, [&](DomainId id, std::uint32_t) {
    const Domain& domain = run_.cluster.domains[index(id)];
    const DomainKind& kind = run_.cluster.kind(domain);
    const Tickets* const held = run_.cluster.tickets(domain, model);
    const Bytes limit = held == nullptr ? kind.memory : held->memory_limit.value_or(kind.memory);
    const Bytes each = model.greedy ? limit : std::min(process, limit);
    share += domain_share(pool, kind) *
             std::min(1.0, part_of(each.count * model.spec.processes_per_pod, kind.memory.count));
  });
  return share;
}

void Holdings::split(std::uint32_t n, const CostLedger& cost) {
  const Duration billed = run_.now - run_.cluster.nodes[n].life.launched;
  const TimePoint observed_from = TimePoint{} + run_.world.warmup;
  const TimePoint from = std::max(run_.cluster.nodes[n].life.launched, observed_from);
  NodeRecord& record = run_.record.nodes[n];
  const Usd observed =
      rounded_down(cost.total, part_of((run_.now - std::min(run_.now, from)).ns, billed.ns));
  record.observed += observed;
  record.switching += cost.switching;
  Time sum;
  for (std::size_t w = 0; w < run_.world.workloads.size(); ++w) {
    sum.whole += of_workload(n, w).whole;
    sum.observed += of_workload(n, w).observed;
  }
  if (sum.whole <= 0) return;
  // Context switches are nobody's. The time of kernels has none in it; who holds a part of the node
  // holds that part of what they leave.
  const double switched = part_of(cost.switching.nano, cost.total.nano);
  const double held = sum.whole / std::max(sum.whole, static_cast<double>(billed.ns));
  const bool by_use = run_.world.cost_split == CostSplit::GpuTime;
  const Usd all_held = std::min(cost.total - cost.switching,
                                rounded_down(cost.total, by_use ? held : held * (1 - switched)));
  for (std::size_t w = 0; w < run_.world.workloads.size(); ++w) {
    Time& time = of_workload(n, w);
    WorkloadRecord& workload = run_.record.workloads[w];
    workload.held += rounded_down(all_held, time.whole / sum.whole);
    workload.shared += rounded_down(cost.total - all_held, time.whole / sum.whole);
    if (sum.observed > 0) {
      workload.observed += rounded_down(observed, time.observed / sum.observed);
    }
    time = {};
  }
}

}  // namespace slicewise::sim
