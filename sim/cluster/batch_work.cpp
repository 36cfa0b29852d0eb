#include <algorithm>
#include <cmath>

#include "cluster_run.hpp"

namespace slicewise::sim {
namespace {

using scenarios::WorkloadKind;

// Steps that an overlapping host has ready at most. Source: two batches per worker is PyTorch's
// default prefetch_factor.
constexpr int kPreparedSteps = 2;

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
  if (!cluster_.pool(cluster_.nodes[index(pod.node)]).exact) return;
  pod.steps_to_prepare = pod.steps_left;
  pod.steps_ready = 0;
  pod.on_gpu = false;
  pod.preparing = false;
  prepare(p);
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

// Whole units that a batch pod which still runs has behind it.
std::int64_t ClusterRun::units_finished(const Pod& pod) const {
  const WorkloadModel& model = cluster_.model(pod);
  if (pod.phase != PodPhase::Working || !scenarios::runs_batches(model.spec.kind)) return 0;
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
  for (const DomainId domain_id : node.domains()) {
    Domain& domain = cluster_.domains[index(domain_id)];
    domain.switch_ns += domain.switch_share * elapsed_ns;
    for (const std::uint32_t owner : domain.owner) {
      if (owner == kNoOwner) continue;
      Pod& pod = cluster_.pods[owner];
      if (pod.phase == PodPhase::Working && pod.domain == domain_id) settle_pod(pod, elapsed_ns);
    }
  }
}

void ClusterRun::settle_pod(Pod& pod, double elapsed_ns) {
  const Demand& demand = cluster_.demand(pod);
  const double units = pod.units_per_second * elapsed_ns * 1e-9;
  pod.units_left -= units;
  pod.busy_ns += pod.busy_share * elapsed_ns;
  pod.sm_ns += units * static_cast<double>(demand.sm_active.ns) * pod.size;
  cluster_.nodes[index(pod.node)].cpu_ns += units * static_cast<double>(demand.cpu.ns) * pod.size;
  // How far the pod fell behind one with a whole GPU and the node to itself, and because of what.
  const double all_reduce_s = cluster_.all_reduce_s(pod);
  const double alone_s = to_seconds(demand.whole_gpu) * pod.size + all_reduce_s;
  WorkloadRecord& record = record_.workloads[index(pod.workload)];
  record.all_reduce_ns += units * all_reduce_s * 1e9;
  const double by_gpu = elapsed_ns * (1 - pod.unhindered_by_cpu * alone_s);
  const double by_cpu = elapsed_ns * (pod.unhindered_by_cpu - pod.units_per_second) * alone_s;
  record.stretched_by_gpu += nanoseconds(static_cast<std::int64_t>(by_gpu));
  record.stretched_by_cpu += nanoseconds(static_cast<std::int64_t>(by_cpu));
}

// The set of working pods on the node has changed: new rates, new completion times.
// REQUIRES: the node is settled.
void ClusterRun::resolve_node(NodeId id) {
  node_rates_.solve(cluster_, id);
  if (!host_cpu_.empty()) share_host_cpu(id);
  const Node& node = cluster_.nodes[index(id)];
  if (cluster_.pool(node).exact) return;
  for (const DomainId domain_id : node.domains()) {
    for (const std::uint32_t owner : cluster_.domains[index(domain_id)].owner) {
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

// The host gets the next step ready, as the workload's host phase and the engine have it. Does
// nothing when all steps are prepared, or enough of them wait.
void ClusterRun::prepare(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  if (pod.preparing || pod.steps_to_prepare == 0 || pod.steps_ready >= kPreparedSteps) return;
  const bool runs_together =
      std::holds_alternative<Fluid>(cluster_.domains[index(pod.domain)].engine);
  const bool serial =
      cluster_.model(pod).host_phase == scenarios::Work::HostPhase::Serial || runs_together;
  if (serial && (pod.on_gpu || pod.steps_ready > 0)) return;
  pod.preparing = true;
  const double host_ns = runs_together ? pace_of_host(pod) : (serial ? think(p) : stage(pod));
  timers_.set(p, now_ + nanoseconds(std::llround(host_ns)));
}

// Beside MPS clients a step is one piece of work, host phase included (models::ClientLaw); the host
// holds it up only when it is short of CPU.
double ClusterRun::pace_of_host(const Pod& pod) const {
  const double stretch = cluster_.nodes[index(pod.node)].host_stretch;
  if (stretch <= 1 || pod.step_started == TimePoint{}) return 0;
  const double step_ns = static_cast<double>(step_total(pod, steps_done(pod)).ns);
  const double elapsed_ns = static_cast<double>((now_ - pod.step_started).ns);
  return std::max(0.0, stretch * step_ns - elapsed_ns);
}

// Overlapped: the host takes as long for a step as the pod takes alone, since alone it is the host
// that sets the pace. The first step has nobody to overlap with: its GPU phase comes on top.
double ClusterRun::stage(const Pod& pod) const {
  const WorkloadModel& model = cluster_.model(pod);
  const std::int64_t step = model.units * model.steps_per_unit - pod.steps_to_prepare;
  Duration alone = step_total(pod, step);
  if (step == 0) alone -= step_part(pod, cluster_.demand(pod).gpu, 0) + pod.all_reduce;
  return static_cast<double>(alone.ns) * cluster_.nodes[index(pod.node)].host_stretch;
}

// Serial host phase: exponential, so that pods that start together do not march in step.
double ClusterRun::think(std::uint32_t p) {
  const Pod& pod = cluster_.pods[p];
  const Demand& demand = cluster_.demand(pod);
  const std::int64_t steps = cluster_.model(pod).steps_per_unit;
  const double stretch = cluster_.nodes[index(pod.node)].host_stretch;
  const double mean_ns = (static_cast<double>(demand.host.ns) +
                          (stretch - 1) * static_cast<double>((demand.host + demand.gpu).ns)) *
                         pod.size / static_cast<double>(steps);
  return mean_ns * host_jitter_[p].exponential();
}

void ClusterRun::step_prepared(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  pod.preparing = false;
  --pod.steps_to_prepare;
  ++pod.steps_ready;
  if (!pod.on_gpu) start_step(p);
  prepare(p);
}

std::int64_t ClusterRun::steps_done(const Pod& pod) const {
  const WorkloadModel& model = cluster_.model(pod);
  return model.units * model.steps_per_unit - pod.steps_left;
}

Duration ClusterRun::step_total(const Pod& pod, std::int64_t step) const {
  const Demand& demand = cluster_.demand(pod);
  return step_part(pod, demand.gpu + demand.host, step % cluster_.model(pod).steps_per_unit) +
         pod.all_reduce;
}

void ClusterRun::start_step(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  const std::int64_t step = steps_done(pod) % cluster_.model(pod).steps_per_unit;
  const bool runs_together =
      std::holds_alternative<Fluid>(cluster_.domains[index(pod.domain)].engine);
  const Duration work = runs_together
                            ? step_total(pod, step)
                            : step_part(pod, cluster_.demand(pod).gpu, step) + pod.all_reduce;
  --pod.steps_ready;
  pod.on_gpu = true;
  pod.step_started = now_;
  start_on_gpu(pod, std::max(nanoseconds(1), work));
}

void ClusterRun::step_done(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  const Demand& demand = cluster_.demand(pod);
  const double steps = static_cast<double>(cluster_.model(pod).steps_per_unit);
  cluster_.nodes[index(pod.node)].cpu_ns += static_cast<double>(demand.cpu.ns) * pod.size / steps;
  pod.sm_ns += static_cast<double>(demand.sm_active.ns) * pod.size / steps;
  record_.workloads[index(pod.workload)].all_reduce_ns += static_cast<double>(pod.all_reduce.ns);
  pod.on_gpu = false;
  if (--pod.steps_left == 0) return finish_batch(p);
  if (pod.steps_ready > 0) start_step(p);
  prepare(p);
}

}  // namespace slicewise::sim
