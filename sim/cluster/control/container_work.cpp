#include "container_work.hpp"

#include <algorithm>
#include <cmath>

namespace slicewise::sim {
namespace {

// measured.cpu of a Service is what one replica uses on average while it serves.
Duration service_cpu_time(const Workload& spec, Duration served) {
  if (!spec.measured) return {};
  const Millicores cpu = spec.measured->cpu.value_or(Millicores{});
  return {static_cast<std::int64_t>(static_cast<Int128>(served.ns) * cpu.count / 1000)};
}

}  // namespace

ContainerWork::ContainerWork(RunState& run, SteadyBatch& batch, BatchSteps& steps,
                             Services& services, Replicas& replicas, Notebooks& notebooks,
                             Usage& usage, PodLife& pods)
    : run_(run),
      batch_(batch),
      steps_(steps),
      services_(services),
      replicas_(replicas),
      notebooks_(notebooks),
      usage_(usage),
      pods_(pods) {}

void ContainerWork::create(std::uint32_t p) {
  if (kind_of(p) == WorkloadKind::Notebook) return notebooks_.open_session(p);
  pods_.submit(p);
}

void ContainerWork::wait(std::uint32_t p) {
  if (kind_of(p) == WorkloadKind::Notebook) notebooks_.wait_for_server(p);
}

void ContainerWork::give_up(std::uint32_t p) {
  if (kind_of(p) == WorkloadKind::Notebook) notebooks_.close_session(p);
}

void ContainerWork::begin(std::uint32_t p) {
  const NodeId node = run_.cluster.pods[p].node;
  switch (kind_of(p)) {
    case WorkloadKind::Service:
      services_.start_serving(p);
      return batch_.resolve(node);
    case WorkloadKind::Notebook:
      return notebooks_.kernel_ready(p);
    case WorkloadKind::Job:
    case WorkloadKind::Deployment:
      batch_.begin(p);
      if (!uses_gpu(p)) return begin_without_gpu(p);
      batch_.resolve(node);
      if (run_.cluster.is_exact(node)) steps_.begin(p);
      return;
  }
}

// Nobody is in its way.
void ContainerWork::begin_without_gpu(std::uint32_t p) {
  run_.timers.set(TimerKind::Pod, p,
                  completion_time(run_.now, run_.cluster.units_to_do(p), 1 / unit_seconds(p)));
}

double ContainerWork::unit_seconds(std::uint32_t p) const {
  return to_seconds(run_.cluster.model(run_.cluster.pods[p]).spec.measured->unit_time.value());
}

void ContainerWork::end(std::uint32_t p) {
  if (kind_of(p) != WorkloadKind::Service) return;
  const Pod& pod = run_.cluster.pods[p];
  services_.stop_serving(p);
  const Duration cpu_time =
      service_cpu_time(run_.cluster.model(pod).spec, run_.now - pod.work_started);
  usage_.used_host(pod.node, static_cast<double>(cpu_time.ns));
}

std::int64_t ContainerWork::units_finished(std::uint32_t p) const {
  const Pod& pod = run_.cluster.pods[p];
  if (!scenarios::runs_batches(kind_of(p))) return 0;
  if (pod.phase != PodPhase::Working) return static_cast<std::int64_t>(pod.kept);  // was stopped
  if (!uses_gpu(p)) return pod.units - static_cast<std::int64_t>(std::ceil(units_left(p)));
  return makes_steps(p) ? steps_.units_finished(p) : batch_.units_finished(p);
}

double ContainerWork::part_of_unit(std::uint32_t p) const {
  if (!scenarios::runs_batches(kind_of(p))) return 0;
  const double behind = static_cast<double>(run_.cluster.pods[p].units) - units_left(p);
  return std::max(0.0, behind - static_cast<double>(units_finished(p)));
}

double ContainerWork::units_left(std::uint32_t p) const {
  const Pod& pod = run_.cluster.pods[p];
  if (pod.phase != PodPhase::Working) return run_.cluster.units_to_do(p);
  if (!uses_gpu(p)) {
    const double done = to_seconds(run_.now - pod.work_started) / unit_seconds(p);
    return std::max(0.0, run_.cluster.units_to_do(p) - done);
  }
  return makes_steps(p) ? steps_.units_left(p) : batch_.units_left(p);
}

double ContainerWork::sm_time(std::uint32_t p, double gpu_ns) const {
  const Demand& demand = run_.cluster.demand(run_.cluster.pods[p]);
  const std::size_t together =
      kind_of(p) == WorkloadKind::Service ? replicas_.of_pod(p).batch.size() : 0;
  return together > 0 && together <= demand.batches.size()
             ? sim::sm_time(demand.batches[together - 1], gpu_ns)
             : sim::sm_time(demand, gpu_ns);
}

std::optional<Duration> ContainerWork::gpu_work(std::uint32_t p) const {
  const WorkloadKind kind = kind_of(p);
  if (kind == WorkloadKind::Service) return replicas_.of_pod(p).gpu_work();
  if (kind == WorkloadKind::Notebook) return notebooks_.gpu_work(p);
  return std::nullopt;
}

}  // namespace slicewise::sim
