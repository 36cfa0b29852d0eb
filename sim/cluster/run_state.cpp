#include "run_state.hpp"

#include "../world/admission.hpp"
#include "entity_streams.hpp"

namespace slicewise::sim {
namespace {

Timers::Counts timer_counts(const World& world, const ClusterState& cluster) {
  std::uint32_t services = 0;
  std::uint32_t autoscaled = 0;
  bool faults = false;
  bool host = false;
  bool sleeps = false;
  for (const WorkloadModel& model : world.workloads) {
    services += model.spec.kind == WorkloadKind::Service ? 1 : 0;
    autoscaled += model.spec.autoscaling ? 1 : 0;
    faults = faults || model.spec.faults;
    sleeps = sleeps || (model.spec.llm && model.spec.llm->sleep);
    host = host || needs_host_cpu(model.spec.serving);
  }
  const auto pods = static_cast<std::uint32_t>(cluster.pods.size());
  const auto nodes = static_cast<std::uint32_t>(cluster.nodes.size());
  const std::uint32_t changes_nodes = world.changes_nodes() ? 1 : 0;
  Timers::Counts counts{};
  const auto set = [&](TimerKind kind, std::size_t count) {
    counts[static_cast<std::size_t>(kind)] = static_cast<std::uint32_t>(count);
  };
  set(TimerKind::Pod, pods);
  set(TimerKind::Domain, cluster.domains.size());
  set(TimerKind::Service, services);
  set(TimerKind::Termination, 1);
  set(TimerKind::MigDevice, 1);
  set(TimerKind::Quota, world.queues.empty() ? 0 : 1);
  set(TimerKind::Scheduler, 1);
  set(TimerKind::Layout, world.pools.size());
  set(TimerKind::Partitioner, 1);
  set(TimerKind::Fault, faults ? pods : 0);
  set(TimerKind::HostCpu, host ? nodes : 0);
  set(TimerKind::Pipeline, world.pipelines.size());
  set(TimerKind::Scaler, autoscaled);
  set(TimerKind::EngineTurn, sleeps ? cluster.domains.size() : 0);
  set(TimerKind::Node, changes_nodes ? nodes : 0);
  set(TimerKind::Interruption, changes_nodes ? nodes : 0);
  set(TimerKind::Provisioner, changes_nodes);
  set(TimerKind::Removal, changes_nodes);
  set(TimerKind::End, 1);
  set(TimerKind::Sample, 1);
  set(TimerKind::Turn, 1);
  return counts;
}

Replication empty_record(const World& world, const ClusterState& cluster) {
  Replication record;
  record.workloads.resize(world.workloads.size());
  record.shared_domain.resize(world.workloads.size() * world.workloads.size());
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const auto pods = static_cast<std::size_t>(world.workloads[w].spec.count);
    record.workloads[w].completion.reserve(pods);
    record.workloads[w].wait.reserve(pods);
    if (world.workloads[w].spec.trace) {
      record.workloads[w].outcomes.resize(static_cast<std::size_t>(world.workloads[w].jobs()));
    }
    if (most_gpus(world.workloads[w]) > 1) {
      record.workloads[w].pods_by_gpu_set.resize(world.pools.size() * kGpuSets);
    }
  }
  record.pipelines.resize(world.pipelines.size());
  record.nodes.resize(cluster.nodes.size());
  record.domains.resize(cluster.domains.size());
  record.pools.resize(world.pools.size());
  return record;
}

// Units of a second, as the workload has them, stretched to the length of the run.
void give_recorded_work(Duration run, Pod& pod) {
  const double seconds_of_run = to_seconds(run);
  pod.units = std::max<std::int64_t>(1, std::llround(seconds_of_run));
  pod.size = seconds_of_run / static_cast<double>(pod.units);
}

}  // namespace

RunState::RunState(const World& of_world, std::uint32_t nth_replication, Recorder* recorder_or_null)
    : world(of_world),
      replication(nth_replication),
      recorder(recorder_or_null),
      cluster(make_cluster(of_world)),
      timers(timer_counts(of_world, cluster)),
      record(empty_record(of_world, cluster)) {
  std::size_t p = 0;
  for (const WorkloadModel& model : world.workloads) {
    for (int nth = 0; nth < model.spec.count; ++nth, ++p) {
      Pod& pod = cluster.pods[p];
      pod.nth = static_cast<std::uint32_t>(nth);
      pod.units = model.units;
      if (model.spec.trace) {
        give_recorded_work((*model.spec.trace->jobs)[cluster.job(pod)].run, pod);
      } else if (model.spec.measured) {
        RandomStream size(world.seed, replication,
                          entity_of(model.name, static_cast<std::uint32_t>(nth)),
                          Purpose::UnitTime);
        pod.size = random_size(size, model.spec.measured->unit_time_cv);
      }
      if (cluster.job(pod) >= static_cast<std::uint32_t>(model.spec.jobs_at_once())) continue;
      timers.set(TimerKind::Pod, p, first_submission(model.spec, cluster.job(pod)));
    }
  }
}

}  // namespace slicewise::sim
