#include "cluster_run.hpp"

#include <algorithm>
#include <cmath>

#include "slicewise/sim/cluster/cluster.hpp"

#include "../world/gangs.hpp"
#include "entity_streams.hpp"

namespace slicewise::sim {
namespace {

using scenarios::WorkloadKind;

// A run without an end of its own (a Job that can never be placed beside a Deployment that never
// stops) is cut here, and the report says so.
constexpr Duration kLongestRun = hours(std::int64_t{24} * 366);

// Looking at the flag costs an atomic load; once in this many events is often enough for Ctrl-C.
constexpr std::uint32_t kEventsBetweenChecks = 4096;

bool has_faults(const World& world) {
  return std::ranges::any_of(world.workloads,
                             [](const WorkloadModel& w) { return w.spec.faults.has_value(); });
}

bool works_on_host(const World& world) {
  return std::ranges::any_of(world.workloads, [](const WorkloadModel& w) {
    return w.spec.serving.cpu_before.ns > 0 || w.spec.serving.cpu_after.ns > 0;
  });
}

std::uint32_t timer_count(const ClusterState& cluster, const World& world) {
  const auto services = std::ranges::count_if(
      world.workloads, [](const WorkloadModel& w) { return w.spec.kind == WorkloadKind::Service; });
  const auto autoscaled = std::ranges::count_if(
      world.workloads, [](const WorkloadModel& w) { return w.spec.autoscaling.has_value(); });
  const std::size_t fault_timers = has_faults(world) ? cluster.pods.size() : 0;
  const std::size_t host_timers = works_on_host(world) ? cluster.nodes.size() : 0;
  // Each place for a node has two, the provisioner has two.
  const std::size_t node_timers = world.changes_nodes() ? 2 * cluster.nodes.size() + 2 : 0;
  return static_cast<std::uint32_t>(cluster.pods.size() + cluster.domains.size() +
                                    world.pools.size() + fault_timers + host_timers +
                                    world.pipelines.size() + node_timers) +
         static_cast<std::uint32_t>(services + autoscaled) + 4;
}

}  // namespace

ClusterRun::ClusterRun(const World& world, std::uint32_t replication, Recorder* recorder)
    : world_(world),
      replication_(replication),
      recorder_(recorder),
      cluster_(make_cluster(world)),
      scheduler_(cluster_, world.seed, replication),
      node_rates_(world),
      timers_(timer_count(cluster_, world)),
      servers_(cluster_.pods.size()),
      rooms_(cluster_) {
  const auto pods = static_cast<std::uint32_t>(cluster_.pods.size());
  first_domain_timer_ = pods;
  first_service_timer_ = pods + static_cast<std::uint32_t>(cluster_.domains.size());
  service_of_.resize(world.workloads.size());
  record_.workloads.resize(world.workloads.size());
  record_.shared_domain.resize(world.workloads.size() * world.workloads.size());
  for (std::uint32_t w = 0; w < world.workloads.size(); ++w) {
    const auto pods_of_workload = static_cast<std::size_t>(world.workloads[w].spec.count);
    record_.workloads[w].completion.reserve(pods_of_workload);
    record_.workloads[w].wait.reserve(pods_of_workload);
    if (most_gpus(world.workloads[w]) > 1) {
      record_.workloads[w].pods_by_gpu_set.resize(world.pools.size() * kGpuSets);
    }
  }
  add_services();
  scheduler_timer_ = first_service_timer_ + static_cast<std::uint32_t>(services_.size());
  first_pool_timer_ = scheduler_timer_ + 1;
  first_fault_timer_ = first_pool_timer_ + static_cast<std::uint32_t>(world.pools.size());
  first_host_timer_ = first_fault_timer_ + (has_faults(world) ? pods : 0);
  first_pipeline_timer_ = first_host_timer_ + static_cast<std::uint32_t>(host_cpu_.size());
  first_scaler_timer_ = first_pipeline_timer_ + static_cast<std::uint32_t>(pipelines_.size());
  layout_.resize(world.pools.size());
  for (std::uint32_t pool = 0; pool < world.pools.size(); ++pool) {
    if (world.pools[pool].layout_changes.empty()) continue;
    timers_.set(first_pool_timer_ + pool, world.pools[pool].layout_changes.front().at);
  }
  bound_.reserve(pods);

  user_of_.resize(pods);
  std::vector<std::uint32_t> ordinal(world.workloads.size(), 0);
  for (std::uint32_t p = 0; p < pods; ++p) {
    Pod& pod = cluster_.pods[p];
    const scenarios::Workload& spec = cluster_.model(pod).spec;
    const auto w = static_cast<std::uint32_t>(index(pod.workload));
    const std::uint32_t nth = ordinal[w]++;
    const std::uint32_t entity = entity_of(cluster_.model(pod).name, nth);
    RandomStream size(world.seed, replication, entity, Purpose::UnitTime);
    pod.size = spec.measured ? random_size(size, spec.measured->unit_time_cv) : 1;
    host_jitter_.emplace_back(world.seed, replication, entity, Purpose::Host);
    if (has_faults(world)) faults_.emplace_back(world.seed, replication, entity, Purpose::Fault);
    timers_.set(p, first_submission(spec, nth));
    if (spec.kind != WorkloadKind::Notebook) continue;
    user_of_[p] = static_cast<std::uint32_t>(users_.size());
    users_.emplace_back(
        UserCalendar(*spec.notebooks, world.starts_at, world.seed, replication, entity));
    timers_.set(p, users_.back().calendar.next().start);
  }
  add_scalers();
  first_node_timer_ = first_scaler_timer_ + static_cast<std::uint32_t>(scalers_.size());
  const auto node_timers =
      static_cast<std::uint32_t>(world.changes_nodes() ? cluster_.nodes.size() : 0);
  first_interruption_timer_ = first_node_timer_ + node_timers;
  provisioner_timer_ = first_interruption_timer_ + node_timers;
  removal_timer_ = provisioner_timer_ + 1;
  end_timer_ = provisioner_timer_ + (node_timers > 0 ? 2 : 0);
  sample_timer_ = end_timer_ + 1;
  turn_timer_ = sample_timer_ + 1;
  add_nodes();
  if (recorder_ != nullptr) arm_samples();
  for (std::size_t s = 0; s < services_.size(); ++s) arm_service(s);
  for (std::size_t pipeline = 0; pipeline < pipelines_.size(); ++pipeline) arm_pipeline(pipeline);
  timers_.set(end_timer_, TimePoint{} + world.duration.value_or(kLongestRun));
  count_jobs();
  check_all_done();
}

void ClusterRun::add_services() {
  services_.reserve(world_.workloads.size());
  for (std::uint32_t w = 0; w < world_.workloads.size(); ++w) {
    const WorkloadModel& model = world_.workloads[w];
    if (model.spec.kind != WorkloadKind::Service) continue;
    service_of_[w] = static_cast<std::uint32_t>(services_.size());
    services_.emplace_back(world_, make_id<WorkloadId>(w), replication_, entity_of(model.name));
  }
  for (std::size_t pipeline = 0; pipeline < world_.pipelines.size(); ++pipeline) {
    pipelines_.emplace_back(world_, pipeline, replication_,
                            entity_of(world_.pipelines[pipeline].name));
  }
  record_.pipelines.resize(pipelines_.size());
  if (!works_on_host(world_)) return;
  for (const Node& node : cluster_.nodes) host_cpu_.emplace_back(cluster_.pool(node).vcpus);
}

Replication ClusterRun::run(const std::atomic<bool>* interrupted) {
  std::uint32_t events = 0;
  while (!ended_) {
    now_ = timers_.top_time();
    dispatch(timers_.begin_firing());
    timers_.end_firing();
    if (++events % kEventsBetweenChecks == 0 && interrupted != nullptr && interrupted->load()) {
      break;
    }
  }
  end_run();
  return std::move(record_);
}

void ClusterRun::dispatch(std::uint32_t timer) {
  if (timer < first_domain_timer_) return on_pod_timer(timer);
  if (timer < first_service_timer_) return on_domain_timer(timer - first_domain_timer_);
  if (timer < scheduler_timer_) return on_service_timer(timer - first_service_timer_);
  if (timer == scheduler_timer_) return run_scheduler();
  if (timer < first_fault_timer_) return on_layout_timer(timer - first_pool_timer_);
  if (timer < first_host_timer_) return on_fault(timer - first_fault_timer_);
  if (timer < first_pipeline_timer_) return on_host_timer(timer - first_host_timer_);
  if (timer < first_scaler_timer_) return on_pipeline_timer(timer - first_pipeline_timer_);
  if (timer < first_node_timer_) return on_scaler_timer(timer - first_scaler_timer_);
  if (timer < first_interruption_timer_) return on_node_timer(timer - first_node_timer_);
  if (timer < end_timer_) {
    if (timer < provisioner_timer_) return on_interruption(timer - first_interruption_timer_);
    return timer == provisioner_timer_ ? on_provisioner_timer() : on_removal_timer();
  }
  if (timer == sample_timer_) return on_sample_timer();
  if (timer == turn_timer_) return on_turn_timer();
  record_.cut_off = !world_.duration && jobs_left_ > 0;
  ended_ = true;
}

void ClusterRun::run_scheduler() {
  bound_.clear();
  const TimePoint retry = scheduler_.cycle(now_, bound_);
  if (retry != kNever) timers_.set(scheduler_timer_, retry);
  for (const std::uint32_t pod : bound_) on_bound(pod);
  record_.pending_max =
      std::max(record_.pending_max, static_cast<std::int64_t>(scheduler_.pending()));
  ask_for_nodes();
  check_all_done();
}

// Jobs that run, or that some node can still hold, under its layout or one to come.
void ClusterRun::count_jobs() {
  jobs_left_ = 0;
  for (const Pod& pod : cluster_.pods) {
    if (cluster_.model(pod).spec.kind != WorkloadKind::Job) continue;
    if (pod.phase == PodPhase::Succeeded || pod.phase == PodPhase::Failed) continue;
    if (is_bound(pod.phase) || scheduler_.fits_empty_node(cluster_.model(pod))) ++jobs_left_;
  }
}

// Without a duration, a run lasts until the last Job that a node could hold has ended. Pods that no
// node could ever hold stay Pending and are reported.
void ClusterRun::check_all_done() {
  if (world_.duration || jobs_left_ > 0) return;
  timers_.set(end_timer_, now_);
}

void ClusterRun::end_run() {
  record_.length = now_ - TimePoint{};
  for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) settle_node(make_id<NodeId>(n));
  if (recorder_ != nullptr) take_samples();
  for (std::uint32_t p = 0; p < cluster_.pods.size(); ++p) {
    const Pod& pod = cluster_.pods[p];
    if (pod.phase != PodPhase::Loading && pod.phase != PodPhase::Working) continue;
    WorkloadRecord& record = record_.workloads[index(pod.workload)];
    record.units_done += units_finished(pod);
    record.units_in_objective += units_finished(pod);
    end_container(p, true);
  }
  for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
    if (is_billed(cluster_.nodes[n].stage)) bill_node(n);
    record_.nodes[n].cpu_time = nanoseconds(std::llround(cluster_.nodes[n].cpu_ns));
  }
  for (std::size_t d = 0; d < cluster_.domains.size(); ++d) {
    record_.domains[d].memory_peak = cluster_.domains[d].memory.peak();
  }
  for (std::size_t s = 0; s < services_.size(); ++s) {
    requests_of(s).in_system_ns = services_[s].population.integral_ns(now_);
  }
  for (std::size_t pipeline = 0; pipeline < pipelines_.size(); ++pipeline) {
    record_.pipelines[pipeline].requests.in_system_ns =
        pipelines_[pipeline].population.integral_ns(now_);
  }
  for (Scaler& scaler : scalers_) account_wish(scaler);
  record_.pending_reasons = scheduler_.reasons();
  record_.pending_at_end = static_cast<std::int64_t>(scheduler_.pending());
}

Replication run_replication(const World& world, std::uint32_t replication,
                            const std::atomic<bool>* interrupted) {
  return ClusterRun(world, replication).run(interrupted);
}

}  // namespace slicewise::sim
