#include "cluster_run.hpp"

#include <cassert>
#include <string>

#include <fmt/format.h>

#include "clock_watch.hpp"

namespace slicewise::sim {
std::string pod_name(const WorkloadModel& workload, std::size_t nth) {
  return fmt::format("{}-{}", workload.name, nth + 1);
}

namespace {

// A run without an end of its own (a Job that can never be placed beside a Deployment that never
// stops) is cut here, and the report says so.
constexpr Duration kLongestRun = hours(std::int64_t{24} * 366);

// Looking at the flag costs an atomic load; once in this many events is often enough for Ctrl-C.
constexpr std::int64_t kEventsBetweenChecks = 4096;

// What most replications never come to: those that are over sooner are not worth the question.
constexpr std::int64_t kEventsBetweenDoubts = std::int64_t{1} << 13;
static_assert(kEventsBetweenDoubts % kEventsBetweenChecks == 0);

}  // namespace

ClusterRun::ClusterRun(const World& world, std::uint32_t replication, Recorder* recorder)
    : run_(world, replication, recorder),
      scheduler_(run_.cluster, world.seed, replication, preemption_),
      jobs_(run_, scheduler_),
      gpus_(run_),
      usage_(run_, gpus_),
      hosts_(run_),
      batch_(run_, usage_, hosts_),
      steps_(run_, gpus_, usage_, batch_),
      replicas_(run_, gpus_, usage_, hosts_, services_, scalers_, pods_),
      services_(run_, usage_, replicas_, pipelines_, scalers_),
      pipelines_(run_, services_),
      scalers_(run_, gpus_, services_, replicas_, pods_),
      notebooks_(run_, gpus_, usage_, pods_),
      work_(run_, batch_, steps_, services_, replicas_, notebooks_, usage_, pods_),
      pods_(run_, scheduler_, gpus_, usage_, batch_, jobs_, work_, scalers_, services_, replicas_),
      preemption_(run_, scheduler_, pods_, work_),
      layouts_(run_, scheduler_, batch_, jobs_, pods_),
      nodes_(run_, usage_, pods_),
      provisioner_(run_, scheduler_, nodes_, pods_.endings().budgets()),
      sampler_(run_, {gpus_, usage_, batch_, services_, replicas_, pipelines_, scalers_, work_}) {
  run_.timers.set(TimerKind::End, 0, TimePoint{} + world.duration.value_or(kLongestRun));
  jobs_.count();
  jobs_.end_run_without_any();
}

inline void ClusterRun::dispatch(Timers::Fired timer) {
  const std::uint32_t nth = timer.nth;
  switch (timer.kind) {
    case TimerKind::Pod:
      return pods_.on_timer(nth);
    case TimerKind::Domain:
      if (const auto pod = gpus_.complete(nth)) work_.gpu_done(*pod);
      if (run_.timers.is_firing()) gpus_.arm(nth);  // nobody gave it work, which arms it
      return;
    case TimerKind::Service:
      return services_.on_timer(nth);
    case TimerKind::Termination:
      return pods_.endings().on_timer();
    case TimerKind::MigDevice:
      return pods_.devices().on_timer();
    case TimerKind::Quota:
      return pods_.quotas().on_timer();
    case TimerKind::Scheduler:
      return look_at_queue();
    case TimerKind::Layout:
      return layouts_.on_timer(nth);
    case TimerKind::Partitioner:
      return layouts_.nos().on_timer();
    case TimerKind::Fault:
      return pods_.gpu_fault(nth);
    case TimerKind::HostCpu:
      return replicas_.host_done(make_id<NodeId>(nth));
    case TimerKind::Pipeline:
      return pipelines_.on_timer(nth);
    case TimerKind::Scaler:
      return scalers_.on_timer(nth);
    case TimerKind::EngineTurn:
      return replicas_.engines().on_timer(nth);
    case TimerKind::Node:
      return nodes_.on_timer(nth);
    case TimerKind::Interruption:
      return nodes_.interrupt(nth);
    case TimerKind::Provisioner:
      return provisioner_.on_timer();
    case TimerKind::Removal:
      return provisioner_.on_removal_timer();
    case TimerKind::End:
      run_.record.cut_off = !run_.world.duration && jobs_.left() > 0;
      run_.ended = true;
      return;
    case TimerKind::Sample:
      return sampler_.on_timer();
    case TimerKind::Turn:
      return sampler_.on_turn_timer();
  }
}

namespace {

std::int64_t recorded_jobs_over(const RunState& run) {
  std::int64_t over = 0;
  for (const TraceModel& trace : run.world.traces) {
    for (const std::size_t w : trace.workloads) {
      const WorkloadRecord& record = run.record.workloads[w];
      over += std::ssize(record.completion) + record.jobs_failed;
    }
  }
  return over;
}

}  // namespace

Replication ClusterRun::run(const std::atomic<bool>* interrupted, const LookIn& look_in,
                            const GiveUp& give_up) {
  std::int64_t& events = run_.record.events;
  ClockWatch watch(run_);
  start_where_pods_are();
  while (!run_.ended) {
    assert(run_.timers.next() >= run_.now);
    run_.now = run_.timers.next();
    const Timers::Fired timer = run_.timers.begin_firing();
    watch.fired(timer);
    dispatch(timer);
    run_.timers.end_firing();
    if (++events % kEventsBetweenChecks != 0) continue;
    if (look_in) look_in(recorded_jobs_over(run_), run_.now);
    run_.record.interrupted = interrupted != nullptr && interrupted->load();
    if (run_.record.interrupted) break;
    if (give_up && events % kEventsBetweenDoubts == 0 && give_up(run_.record)) break;
  }
  end();
  return std::move(run_.record);
}

// Pods that are on a node when the run begins have room kept there, and are placed before anybody
// else comes.
void ClusterRun::start_where_pods_are() {
  std::vector<std::uint32_t> first_node;  // by pool
  int slots = 0;
  for (const PoolModel& pool : run_.world.pools) {
    first_node.push_back(static_cast<std::uint32_t>(slots));
    slots += pool.node_slots();
  }
  std::vector<std::uint32_t> there;
  std::uint32_t end = 0;
  for (const WorkloadModel& model : run_.world.workloads) {
    std::uint32_t p = end;
    end += static_cast<std::uint32_t>(model.spec.count);
    const auto take = [&] {
      const bool comes = run_.timers.at(TimerKind::Pod, p) == TimePoint{};
      if (comes) there.push_back(p);
      return comes;
    };
    for (const StartingPods& place : model.starts_on) {
      const bool is_node = place.node < run_.world.pools[place.pool].nodes;
      const std::uint32_t node = first_node[place.pool] + static_cast<std::uint32_t>(place.node);
      for (int n = 0; n < place.pods && p < end; ++n, ++p) {
        if (take() && is_node) scheduler_.nominated().keep({p, node});
      }
    }
    for (; p < end && run_.cluster.first_of_job(p) != p; ++p) take();  // the rest of a gang
  }
  if (there.empty()) return;
  for (const std::uint32_t p : there) {
    run_.timers.clear(TimerKind::Pod, p);
    pods_.on_timer(p);
  }
  pods_.quotas().on_timer();
  look_at_queue();
  scheduler_.nominated().clear();
  scheduler_.nodes_changed();
}

void ClusterRun::look_at_queue() {
  preemption_.stop_those_with_more_left();
  if (scheduler_.cycle(run_.now)) run_.wake_scheduler();
  for (const std::uint32_t pod : scheduler_.bound()) pods_.on_bound(pod);
  run_.record.pending_max =
      std::max(run_.record.pending_max, static_cast<std::int64_t>(scheduler_.queue().size()));
  provisioner_.ask_for_nodes();
  layouts_.nos().notice_pending();
  jobs_.end_run_without_any();
}

void ClusterRun::end() {
  Replication& record = run_.record;
  ClusterState& cluster = run_.cluster;
  record.length = run_.now - TimePoint{};
  for (std::uint32_t n = 0; n < cluster.nodes.size(); ++n) batch_.settle(make_id<NodeId>(n));
  if (run_.recorder != nullptr) sampler_.take();
  replicas_.engines().record_awake();
  pods_.count_left_behind();
  for (std::uint32_t p = 0; p < cluster.pods.size(); ++p) {
    const PodPhase phase = cluster.pods[p].phase;
    const bool has_left = phase == PodPhase::Succeeded || phase == PodPhase::Failed;
    if (!has_left && cluster.first_of_job(p) == p) {
      WorkloadRecord& workload = run_.record_of(cluster.pods[p]);
      workload.units_done += work_.units_finished(p);
      workload.units_in_objective += work_.units_finished(p);
      workload.units_under_way += work_.part_of_unit(p);
    }
    pods_.stop_at_end(p);
  }
  for (std::uint32_t n = 0; n < cluster.nodes.size(); ++n) {
    if (is_billed(cluster.nodes[n].stage)) nodes_.bill(n);
    record.nodes[n].cpu_time = usage_.host_time(n);
  }
  for (std::size_t d = 0; d < cluster.domains.size(); ++d) {
    record.domains[d].memory_peak = cluster.domains[d].memory.peak();
  }
  services_.record_populations();
  pipelines_.record_populations();
  scalers_.record_wishes();
  record.pending_reasons = scheduler_.reasons();
  record.pending_at_end = static_cast<std::int64_t>(scheduler_.queue().size());
}

namespace {

// Thousands of replications are kept until the last one is done.
void pack(Replication& record) {
  for (WorkloadRecord& workload : record.workloads) {
    for (Histogram* const histogram :
         {&workload.requests.latency, &workload.requests.queueing, &workload.tokens.first_token,
          &workload.tokens.per_token, &workload.scaling.start_up, &workload.notebooks.session_start,
          &workload.notebooks.slowdown}) {
      histogram->pack();
    }
  }
  for (PipelineRecord& pipeline : record.pipelines) pipeline.requests.latency.pack();
}

}  // namespace

Replication run_replication(const World& world, std::uint32_t replication,
                            const std::atomic<bool>* interrupted, const LookIn& look_in) {
  Replication record = ClusterRun(world, replication).run(interrupted, look_in, {});
  pack(record);
  return record;
}

Replication run_until(const World& world, std::uint32_t replication,
                      const std::atomic<bool>* interrupted, const GiveUp& give_up) {
  Replication record = ClusterRun(world, replication).run(interrupted, {}, give_up);
  pack(record);
  return record;
}

}  // namespace slicewise::sim
