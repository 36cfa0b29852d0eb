#include <algorithm>
#include <cmath>

#include "cluster_run.hpp"

namespace slicewise::sim {
namespace {

using scenarios::WorkloadKind;

// Completion is rounded up to the next nanosecond, so that the work is done when the timer fires.
// A pod that makes no progress has no timer.
TimePoint completion_time(TimePoint now, const Pod& pod) {
  if (pod.units_per_second <= 0) return kNever;
  const double left_ns = std::ceil(pod.units_left / pod.units_per_second * 1e9 - 1e-3);
  constexpr double kBeyondAnyRun = 9e18;
  if (left_ns >= kBeyondAnyRun) return kNever;
  return now + nanoseconds(static_cast<std::int64_t>(std::max(0.0, left_ns)));
}

}  // namespace

void ClusterRun::start_batch(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  const WorkloadModel& model = cluster_.model(pod);
  pod.units_left = static_cast<double>(model.units);
  pod.steps_left = model.units * model.steps_per_unit;
  resolve_node(pod.node);
  if (cluster_.pool(cluster_.nodes[index(pod.node)]).exact) think(p);
}

void ClusterRun::finish_batch(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  WorkloadRecord& record = record_.workloads[index(pod.workload)];
  settle_node(pod.node);
  end_container(p, true);
  ++record.jobs_done;
  record.units_done += cluster_.model(pod).units;
  record.units_in_objective += cluster_.model(pod).units;
  if (cluster_.model(pod).spec.kind == WorkloadKind::Job) {
    leave(p, PodPhase::Succeeded);
  } else {
    back_off(p);  // a Deployment restarts what completes
  }
}

// Whole units that a pod which still runs has behind it; 0 for a Service.
std::int64_t ClusterRun::units_finished(const Pod& pod) const {
  const WorkloadModel& model = cluster_.model(pod);
  if (pod.phase != PodPhase::Working || model.spec.kind == WorkloadKind::Service) return 0;
  if (cluster_.pool(cluster_.nodes[index(pod.node)]).exact) {
    return (model.units * model.steps_per_unit - pod.steps_left) / model.steps_per_unit;
  }
  return model.units - static_cast<std::int64_t>(std::ceil(pod.units_left));
}

// Accounts for the time since the node's rates last changed.
void ClusterRun::settle_node(NodeId id) {
  Node& node = cluster_.nodes[index(id)];
  const double elapsed_ns = static_cast<double>((now_ - node.settled).ns);
  node.settled = now_;
  if (elapsed_ns == 0 || cluster_.pool(node).exact) return;
  for (const GpuId gpu_id : node.gpus) {
    Gpu& gpu = cluster_.gpus[index(gpu_id)];
    gpu.switch_ns += gpu.switch_share * elapsed_ns;
    for (const std::uint32_t owner : gpu.owner) {
      if (owner == kNoOwner) continue;
      Pod& pod = cluster_.pods[owner];
      if (pod.phase == PodPhase::Working) settle_pod(pod, elapsed_ns);
    }
  }
}

void ClusterRun::settle_pod(Pod& pod, double elapsed_ns) {
  const Demand& demand = cluster_.demand(pod);
  const double units = pod.units_per_second * elapsed_ns * 1e-9;
  pod.units_left -= units;
  pod.busy_ns += units * static_cast<double>(demand.gpu.ns) * pod.size;
  cluster_.nodes[index(pod.node)].cpu_ns += units * static_cast<double>(demand.cpu.ns) * pod.size;
  // How far the pod fell behind a pod alone on the node, and because of what.
  const double alone_s = to_seconds(demand.gpu + demand.host) * pod.size;
  WorkloadRecord& record = record_.workloads[index(pod.workload)];
  const double by_gpu = elapsed_ns * (1 - pod.unhindered_by_cpu * alone_s);
  const double by_cpu = elapsed_ns * (pod.unhindered_by_cpu - pod.units_per_second) * alone_s;
  record.stretched_by_gpu += nanoseconds(static_cast<std::int64_t>(by_gpu));
  record.stretched_by_cpu += nanoseconds(static_cast<std::int64_t>(by_cpu));
}

// The set of working pods on the node has changed: new rates, new completion times.
// REQUIRES: the node is settled.
void ClusterRun::resolve_node(NodeId id) {
  node_rates_.solve(cluster_, id);
  const Node& node = cluster_.nodes[index(id)];
  if (cluster_.pool(node).exact) return;
  for (const GpuId gpu_id : node.gpus) {
    for (const std::uint32_t owner : cluster_.gpus[index(gpu_id)].owner) {
      if (owner == kNoOwner) continue;
      const Pod& pod = cluster_.pods[owner];
      if (pod.phase == PodPhase::Working) timers_.set(owner, completion_time(now_, pod));
    }
  }
}

// The share of one unit that belongs to its `step`-th step: all steps add up to the unit exactly.
Duration ClusterRun::step_part(const Pod& pod, Duration unit, std::int64_t step) const {
  const std::int64_t steps = cluster_.model(pod).steps_per_unit;
  const auto up_to = [&](std::int64_t n) {
    return static_cast<std::int64_t>(static_cast<Int128>(unit.ns) * n / steps);
  };
  const double part = static_cast<double>(up_to(step + 1) - up_to(step)) * pod.size;
  return nanoseconds(std::llround(part));
}

// Host phase of the next step: exponential, so that pods that start together do not march in step.
void ClusterRun::think(std::uint32_t p) {
  const Pod& pod = cluster_.pods[p];
  const Demand& demand = cluster_.demand(pod);
  const std::int64_t steps = cluster_.model(pod).steps_per_unit;
  const double stretch = cluster_.nodes[index(pod.node)].host_stretch;
  const double mean_ns = (static_cast<double>(demand.host.ns) +
                          (stretch - 1) * static_cast<double>((demand.host + demand.gpu).ns)) *
                         pod.size / static_cast<double>(steps);
  const double host_ns = mean_ns * host_jitter_[p].exponential() + 0.5;
  timers_.set(p, now_ + nanoseconds(static_cast<std::int64_t>(host_ns)));
}

void ClusterRun::start_step(std::uint32_t p) {
  const Pod& pod = cluster_.pods[p];
  const WorkloadModel& model = cluster_.model(pod);
  const std::int64_t done = model.units * model.steps_per_unit - pod.steps_left;
  const Duration work = step_part(pod, cluster_.demand(pod).gpu, done % model.steps_per_unit);
  start_on_gpu(pod, std::max(nanoseconds(1), work));
}

void ClusterRun::step_done(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  const Demand& demand = cluster_.demand(pod);
  const double steps = static_cast<double>(cluster_.model(pod).steps_per_unit);
  cluster_.nodes[index(pod.node)].cpu_ns += static_cast<double>(demand.cpu.ns) * pod.size / steps;
  if (--pod.steps_left == 0) return finish_batch(p);
  think(p);
}

}  // namespace slicewise::sim
