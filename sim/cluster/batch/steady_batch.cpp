#include "steady_batch.hpp"

#include <algorithm>
#include <cmath>

#include "slicewise/sim/kernel/far_times.hpp"

namespace slicewise::sim {

TimePoint completion_time(TimePoint now, double units_left, double units_per_second) {
  if (units_per_second <= 0) return kNever;
  const double left_ns = std::ceil(units_left / units_per_second * 1e9 - 1e-3);
  if (left_ns >= kLongestNs) return kNever;
  return now + nanoseconds(static_cast<std::int64_t>(std::max(0.0, left_ns)));
}

SteadyBatch::SteadyBatch(RunState& run, Usage& usage, HostCpus& hosts)
    : run_(run),
      usage_(usage),
      hosts_(hosts),
      rates_(run.world),
      paces_(run.cluster),
      units_left_(run.cluster.pods.size()),
      settled_(run.cluster.nodes.size()) {}

void SteadyBatch::begin(std::uint32_t p) { units_left_[p] = run_.cluster.units_to_do(p); }

std::int64_t SteadyBatch::units_finished(std::uint32_t p) const {
  return run_.cluster.pods[p].units - static_cast<std::int64_t>(std::ceil(units_left_[p]));
}

double SteadyBatch::units_left(std::uint32_t p) const {
  const double unsettled_s = unsettled_ns(run_.cluster.pods[p].node) * 1e-9;
  return units_left_[p] - paces_.pods[p].units_per_second * unsettled_s;
}

double SteadyBatch::unsettled_ns(NodeId node) const {
  if (run_.cluster.is_exact(node)) return 0;
  return static_cast<double>((run_.now - settled_[index(node)]).ns);
}

void SteadyBatch::settle(NodeId id) {
  const Node& node = run_.cluster.nodes[index(id)];
  TimePoint& settled = settled_[index(id)];
  const double elapsed_ns = static_cast<double>((run_.now - settled).ns);
  settled = run_.now;
  if (elapsed_ns == 0 || run_.cluster.pool(node).exact) return;
  // Of one GPU, whose domains follow each other.
  std::uint32_t gpu = 0;
  int pods = 0;
  double one_by_one_ns = 0;
  const auto add_shared = [&] {
    PoolRecord& record = run_.record.pools[index(node.pool)];
    if (pods > 1) record.shared_ns += elapsed_ns;
    if (pods > 1) record.one_by_one_ns += one_by_one_ns;
    pods = 0;
    one_by_one_ns = 0;
  };
  for (const DomainId domain_id : node.domains()) {
    const Domain& domain = run_.cluster.domains[index(domain_id)];
    if (domain.gpu != gpu) add_shared();
    gpu = domain.gpu;
    usage_.switched(domain_id, paces_.switch_share[index(domain_id)] * elapsed_ns);
    for (const std::uint32_t owner : domain.owner) {
      if (owner == kNoOwner) continue;
      const Pod& pod = run_.cluster.pods[owner];
      if (pod.phase != PodPhase::Working || pod.domain != domain_id) continue;
      one_by_one_ns += settle_pod(owner, elapsed_ns);
      ++pods;
    }
  }
  add_shared();
}

double SteadyBatch::settle_pod(std::uint32_t p, double elapsed_ns) {
  const Pod& pod = run_.cluster.pods[p];
  const PodPace& pace = paces_.pods[p];
  const Demand& demand = run_.cluster.demand(pod);
  const double units = pace.units_per_second * elapsed_ns * 1e-9;
  units_left_[p] -= units;
  usage_.used_gpu(p, pace.busy_share * elapsed_ns);
  usage_.used_sms(p, units * static_cast<double>(demand.sm_active.ns) * pod.size);
  usage_.used_host(pod.node, units * static_cast<double>(demand.cpu.ns) * pod.size);
  // How far the pod fell behind one with a whole GPU and the node to itself, and because of what.
  const double all_reduce_s = run_.cluster.all_reduce_s(pod);
  const double alone_s = to_seconds(demand.whole_gpu) * pod.size + all_reduce_s;
  WorkloadRecord& record = run_.record_of(pod);
  record.all_reduce_ns += units * all_reduce_s * 1e9;
  // Neighbours that the host holds back leave it more of the GPU.
  const double unhindered = std::max(pace.unhindered_by_cpu, pace.units_per_second);
  const double by_gpu = elapsed_ns * (1 - unhindered * alone_s);
  const double by_cpu = elapsed_ns * (unhindered - pace.units_per_second) * alone_s;
  record.stretched_by_gpu += nanoseconds(static_cast<std::int64_t>(by_gpu));
  record.stretched_by_cpu += nanoseconds(static_cast<std::int64_t>(by_cpu));
  return units * alone_s * 1e9;
}

void SteadyBatch::resolve(NodeId id) {
  rates_.solve(run_.cluster, id, paces_);
  const Node& node = run_.cluster.nodes[index(id)];
  if (!hosts_.empty()) hosts_.leave_to_batch(id, vcpus_in_use(node));
  if (run_.cluster.pool(node).exact) return;
  for (const DomainId domain_id : node.domains()) {
    for (const std::uint32_t owner : run_.cluster.domains[index(domain_id)].owner) {
      if (owner == kNoOwner || run_.cluster.pods[owner].phase != PodPhase::Working) continue;
      const TimePoint done =
          completion_time(run_.now, units_left_[owner], paces_.pods[owner].units_per_second);
      run_.timers.set(TimerKind::Pod, owner, done);
    }
  }
}

// By batch pods, on average.
double SteadyBatch::vcpus_in_use(const Node& node) const {
  double used = 0;
  for (const DomainId domain : node.domains()) {
    for (const std::uint32_t owner : run_.cluster.domains[index(domain)].owner) {
      if (owner == kNoOwner) continue;
      const Pod& pod = run_.cluster.pods[owner];
      if (pod.phase != PodPhase::Working || pod.domain != domain) continue;
      used +=
          paces_.pods[owner].units_per_second * to_seconds(run_.cluster.demand(pod).cpu) * pod.size;
    }
  }
  return used;
}

}  // namespace slicewise::sim
