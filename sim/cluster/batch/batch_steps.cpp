#include "batch_steps.hpp"

#include <algorithm>
#include <cmath>

#include "slicewise/sim/kernel/far_times.hpp"

#include "../entity_streams.hpp"

namespace slicewise::sim {
namespace {

// Steps that an overlapping host has ready at most. Source: two batches per worker is PyTorch's
// default prefetch_factor.
constexpr int kPreparedSteps = 2;

}  // namespace

BatchSteps::BatchSteps(RunState& run, GpuAccess& gpus, Usage& usage, const SteadyBatch& pace)
    : run_(run), gpus_(gpus), usage_(usage), pace_(pace), progress_(run.cluster.pods.size()) {
  for_each_entity(run.world, [&](std::uint32_t entity) {
    jitter_.emplace_back(run.world.seed, run.replication, entity, Purpose::Host);
  });
}

void BatchSteps::begin(std::uint32_t p) {
  const auto of_unit = static_cast<double>(run_.cluster.model(run_.cluster.pods[p]).steps_per_unit);
  const std::int64_t steps = std::llround(run_.cluster.units_to_do(p) * of_unit);
  progress_[p] = {};
  progress_[p].left = steps;
  progress_[p].to_prepare = steps;
  prepare(p);
}

std::int64_t BatchSteps::units_finished(std::uint32_t p) const {
  const Pod& pod = run_.cluster.pods[p];
  return (total(pod) - progress_[p].left) / run_.cluster.model(pod).steps_per_unit;
}

double BatchSteps::units_left(std::uint32_t p) const {
  return static_cast<double>(progress_[p].left) /
         static_cast<double>(run_.cluster.model(run_.cluster.pods[p]).steps_per_unit);
}

std::int64_t BatchSteps::total(const Pod& pod) const {
  return pod.units * run_.cluster.model(pod).steps_per_unit;
}

bool BatchSteps::runs_together(const Pod& pod) const {
  return std::holds_alternative<Fluid>(run_.cluster.domains[index(pod.domain)].engine);
}

// The share of one unit that belongs to its `step`-th step: all steps add up to the unit exactly.
Duration BatchSteps::part(const Pod& pod, Duration unit, std::int64_t step) const {
  const std::int64_t steps = run_.cluster.model(pod).steps_per_unit;
  const auto up_to = [&](std::int64_t n) {
    return static_cast<std::int64_t>(static_cast<Int128>(unit.ns) * n / steps);
  };
  const double part = static_cast<double>(up_to(step + 1) - up_to(step)) * pod.size;
  return rounded_time(part);
}

// Of a step alone, host phase included.
Duration BatchSteps::duration(const Pod& pod, std::int64_t step) const {
  const Demand& demand = run_.cluster.demand(pod);
  return part(pod, demand.gpu + demand.host, step % run_.cluster.model(pod).steps_per_unit) +
         pod.all_reduce;
}

// What a step takes at the least, by the pod's CPU limit.
double BatchSteps::least_ns(const Pod& pod) const {
  const WorkloadModel& model = run_.cluster.model(pod);
  const double unit_s = least_unit_s(model, run_.cluster.demand(pod));
  return unit_s * 1e9 * pod.size / static_cast<double>(model.steps_per_unit);
}

// The host gets the next step ready. Does nothing when all steps are prepared, or enough of them
// wait.
void BatchSteps::prepare(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  Progress& progress = progress_[p];
  if (progress.preparing || progress.to_prepare == 0 || progress.ready >= kPreparedSteps) return;
  const bool together = runs_together(pod);
  const bool serial =
      run_.cluster.model(pod).host_phase == scenarios::Work::HostPhase::Serial || together;
  if (serial && (progress.on_gpu || progress.ready > 0)) return;
  progress.preparing = true;
  const double host_ns = together ? pace_of_host(p) : (serial ? think(p) : stage(p));
  run_.timers.set(TimerKind::Pod, p, run_.now + rounded_time(host_ns));
}

// Beside MPS clients a step is one piece of work, host phase included (models::ClientLaw); the host
// holds it up only when it is short of CPU, or the pod has reached its limit.
double BatchSteps::pace_of_host(std::uint32_t p) const {
  const Pod& pod = run_.cluster.pods[p];
  const Progress& progress = progress_[p];
  const double stretch = pace_.host_stretch(pod.node);
  double host_ns = least_ns(pod);
  if ((stretch <= 1 && host_ns == 0) || progress.started == TimePoint{}) return 0;
  if (stretch > 1) {
    const double step_ns = static_cast<double>(duration(pod, total(pod) - progress.left).ns);
    host_ns = std::max(host_ns, stretch * step_ns);
  }
  const double elapsed_ns = static_cast<double>((run_.now - progress.started).ns);
  return std::max(0.0, host_ns - elapsed_ns);
}

// Overlapped: the host takes as long for a step as the pod takes alone, since alone it is the host
// that sets the pace. The first step has nobody to overlap with: its GPU phase comes on top.
double BatchSteps::stage(std::uint32_t p) const {
  const Pod& pod = run_.cluster.pods[p];
  const std::int64_t step = total(pod) - progress_[p].to_prepare;
  Duration alone = duration(pod, step);
  Duration on_top;
  if (step == 0) on_top = part(pod, run_.cluster.demand(pod).gpu, 0) + pod.all_reduce;
  alone -= on_top;
  return std::max(static_cast<double>(alone.ns) * pace_.host_stretch(pod.node),
                  least_ns(pod) - static_cast<double>(on_top.ns));
}

// Serial host phase: exponential, so that pods that start together do not march in step.
double BatchSteps::think(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  const Demand& demand = run_.cluster.demand(pod);
  const WorkloadModel& model = run_.cluster.model(pod);
  const double stretch = pace_.host_stretch(pod.node);
  const auto gpu_ns = static_cast<double>(demand.gpu.ns);
  const double host_ns =
      std::max(static_cast<double>(demand.host.ns), least_unit_s(model, demand) * 1e9 - gpu_ns);
  const double mean_ns = (host_ns + (stretch - 1) * (host_ns + gpu_ns)) * pod.size /
                         static_cast<double>(model.steps_per_unit);
  return mean_ns * jitter_[p].exponential();
}

void BatchSteps::prepared(std::uint32_t p) {
  Progress& progress = progress_[p];
  progress.preparing = false;
  --progress.to_prepare;
  ++progress.ready;
  if (!progress.on_gpu) start(p);
  prepare(p);
}

void BatchSteps::start(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  Progress& progress = progress_[p];
  const std::int64_t step = (total(pod) - progress.left) % run_.cluster.model(pod).steps_per_unit;
  const Duration work = runs_together(pod)
                            ? duration(pod, step)
                            : part(pod, run_.cluster.demand(pod).gpu, step) + pod.all_reduce;
  --progress.ready;
  progress.on_gpu = true;
  progress.started = run_.now;
  gpus_.start(p, std::max(nanoseconds(1), work));
}

bool BatchSteps::step_done(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  const Demand& demand = run_.cluster.demand(pod);
  const double steps = static_cast<double>(run_.cluster.model(pod).steps_per_unit);
  usage_.used_host(pod.node, static_cast<double>(demand.cpu.ns) * pod.size / steps);
  usage_.used_sms(p, static_cast<double>(demand.sm_active.ns) * pod.size / steps);
  run_.record_of(pod).all_reduce_ns += static_cast<double>(pod.all_reduce.ns);
  Progress& progress = progress_[p];
  progress.on_gpu = false;
  if (--progress.left == 0) return true;
  if (progress.ready > 0) start(p);
  prepare(p);
  return false;
}

}  // namespace slicewise::sim
