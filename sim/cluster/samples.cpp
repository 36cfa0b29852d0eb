#include <algorithm>

#include "cluster_run.hpp"
#include "recorder.hpp"

// What a recording gets to see at the end of each of its buckets. Only reads, but for engines whose
// clock it moves to where it is: that changes no result (see RoundRobin, Fluid, StrictSlots).
namespace slicewise::sim {

void ClusterRun::arm_samples() { timers_.set(sample_timer_, recorder_->bucket_ends()); }

void ClusterRun::on_sample_timer() {
  take_samples();
  arm_samples();
}

void ClusterRun::take_samples() {
  std::vector<Recorder::GpuTotals> gpus(cluster_.domains.size());
  std::vector<Recorder::WorkloadTotals> workloads(world_.workloads.size());
  for (std::size_t d = 0; d < gpus.size(); ++d) gpus[d] = ended_totals(d);
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    workloads[w].completed = scenarios::runs_batches(world_.workloads[w].spec.kind)
                                 ? record_.workloads[w].jobs_done
                                 : record_.workloads[w].units_done;
    workloads[w].gpu_busy_ns = static_cast<double>(record_.workloads[w].gpu_busy.ns);
  }
  for (std::uint32_t p = 0; p < cluster_.pods.size(); ++p) {
    Pod& pod = cluster_.pods[p];
    Recorder::WorkloadTotals& workload = workloads[index(pod.workload)];
    double busy_ns = 0;
    if (pod.phase == PodPhase::Working) {
      ++workload.running;
      workload.waiting += static_cast<std::int64_t>(servers_[p].queued());
      const double sm_ns = sm_so_far(p);
      for_each_rank(pod, [&](DomainId id, std::uint32_t context, Duration busy_before) {
        const Domain& domain = cluster_.domains[index(id)];
        const double here_ns =
            steady_busy(pod) + static_cast<double>((busy_on_gpu(id, context) - busy_before).ns);
        const DomainKind& kind = cluster_.kind(domain);
        Recorder::GpuTotals& gpu = gpus[index(id)];
        gpu.busy_ns += here_ns / kind.owned_time;
        gpu.sm_ns += sm_ns / kind.owned_time;
        gpu.sm_known = gpu.sm_known && cluster_.model(pod).sm_known;
        workload.gpu_busy_ns += here_ns * kind.time_share / kind.owned_time;
        busy_ns += here_ns;
      });
    }
    recorder_->sample_pod(p, busy_ns);
  }
  for (ServiceState& service : services_) {
    workloads[index(service.workload)].in_system = service.population.inside();
  }
  for (const Scaler& scaler : scalers_) {
    workloads[index(scaler.workload)].waiting += static_cast<std::int64_t>(scaler.held.size());
  }
  for (std::size_t d = 0; d < gpus.size(); ++d) recorder_->sample_gpu(d, gpus[d]);
  for (std::size_t w = 0; w < workloads.size(); ++w) recorder_->sample_workload(w, workloads[w]);
  for (std::size_t pipeline = 0; pipeline < pipelines_.size(); ++pipeline) {
    Recorder::WorkloadTotals totals;
    totals.in_system = pipelines_[pipeline].population.inside();
    recorder_->sample_workload(workloads.size() + pipeline, totals);
  }
  sample_pools();
  recorder_->close_bucket();
}

void ClusterRun::sample_pools() {
  std::vector<std::int64_t> ready(world_.pools.size());
  std::vector<std::int64_t> billed(world_.pools.size());
  for (const Node& node : cluster_.nodes) {
    ready[index(node.pool)] += node.stage == NodeStage::Ready ? 1 : 0;
    billed[index(node.pool)] += is_billed(node.stage) ? 1 : 0;
  }
  for (std::size_t pool = 0; pool < ready.size(); ++pool) {
    recorder_->sample_pool(pool, ready[pool], billed[pool]);
  }
}

// The last timer of an instant: everything that happens at it has. Who has a GPU changes at the
// latest when a turn or switch is over.
void ClusterRun::on_turn_timer() {
  TimePoint next = kNever;
  for (std::size_t d = 0; d < cluster_.domains.size(); ++d) {
    Domain& domain = cluster_.domains[d];
    auto* engine = std::get_if<RoundRobin>(&domain.engine);
    if (engine == nullptr) continue;
    engine->advance(now_);
    const RoundRobin::Doing doing = engine->doing();
    recorder_->gpu_does(d, doing, domain.owner[doing.context], now_);
    next = std::min(next, doing.until);
  }
  if (recorder_->follows_turns(now_)) timers_.set(turn_timer_, next);
}

// Of a domain, without the containers that work there.
Recorder::GpuTotals ClusterRun::ended_totals(std::size_t d) {
  Domain& domain = cluster_.domains[d];
  const DomainTime& taken = record_.domains[d].time;
  const Node& node = cluster_.nodes[index(domain.node)];
  const double owned = cluster_.kind(domain).owned_time;
  double switching_ns = domain.switch_ns + domain.switch_share * unsettled_ns(node);
  with_engine(domain, [&](auto& engine) {
    engine.advance(now_);
    switching_ns += static_cast<double>((engine.time().switching - domain.switching_billed).ns);
  });
  Recorder::GpuTotals totals;
  totals.busy_ns = static_cast<double>(taken.busy().ns) +
                   (domain.useful_ns + domain.late_ns + domain.failed_ns) / owned;
  totals.switching_ns = static_cast<double>(taken.switching.ns) + switching_ns / owned;
  totals.sm_ns = static_cast<double>(taken.sm_active.ns) + domain.sm_ns / owned;
  totals.sm_known = domain.sm_known && taken.sm_known;
  totals.memory_used = domain.memory.used();
  return totals;
}

// Time since the rates of a node in steady state were last accounted for; exact ones have none.
double ClusterRun::unsettled_ns(const Node& node) const {
  return cluster_.pool(node).exact ? 0 : static_cast<double>((now_ - node.settled).ns);
}

// GPU time of a container that works, without what an engine counts.
double ClusterRun::steady_busy(const Pod& pod) const {
  return pod.busy_ns + pod.busy_share * unsettled_ns(cluster_.nodes[index(pod.node)]);
}

// SM time of a container that works; of work under way on a GPU the part that is done.
double ClusterRun::sm_so_far(std::uint32_t p) {
  const Pod& pod = cluster_.pods[p];
  const Demand& demand = cluster_.demand(pod);
  const double sm_ns = static_cast<double>(demand.sm_active.ns);
  const double elapsed_ns = unsettled_ns(cluster_.nodes[index(pod.node)]);
  const double steady_ns = pod.units_per_second * elapsed_ns * 1e-9 * sm_ns * pod.size;
  if (elapsed_ns > 0) return pod.sm_ns + steady_ns;
  const scenarios::WorkloadKind kind = cluster_.model(pod).spec.kind;
  if (pod.ranks_at_work == 0 || !pod.ranks.empty() || scenarios::runs_batches(kind)) {
    return pod.sm_ns;
  }
  const Duration work = kind == scenarios::WorkloadKind::Notebook ? user_of(p).cell.gpu_time
                        : servers_[p].llm ? servers_[p].llm->batching.piece().work
                                          : servers_[p].batch_work;
  const double done_ns = static_cast<double>((work - left_on_gpu(pod)).ns);
  return pod.sm_ns + done_ns * sm_ns / static_cast<double>(demand.gpu.ns);
}

}  // namespace slicewise::sim
