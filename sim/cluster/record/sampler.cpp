#include "sampler.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace slicewise::sim {

Sampler::Sampler(RunState& run, const Sources& sources) : run_(run), from_(sources) {
  if (run.recorder != nullptr) arm();
}

void Sampler::on_timer() {
  take();
  arm();
}

void Sampler::take() {
  std::vector<GpuSeries::Totals> gpus(run_.cluster.domains.size());
  std::vector<Recorder::WorkloadTotals> workloads(run_.world.workloads.size());
  for (std::size_t d = 0; d < gpus.size(); ++d) gpus[d] = ended_totals(d);
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    workloads[w].completed = scenarios::runs_batches(run_.world.workloads[w].spec.kind)
                                 ? run_.record.workloads[w].jobs_done
                                 : run_.record.workloads[w].units_done;
    workloads[w].gpu_busy_ns = static_cast<double>(run_.record.workloads[w].gpu_busy.ns);
  }
  for (std::uint32_t p = 0; p < run_.cluster.pods.size(); ++p) {
    const Pod& pod = run_.cluster.pods[p];
    Recorder::WorkloadTotals& workload = workloads[index(pod.workload)];
    double busy_ns = 0;
    if (pod.phase == PodPhase::Working) {
      ++workload.running;
      workload.waiting += static_cast<std::int64_t>(from_.replicas.of_pod(p).queued());
      const double sm_ns = sm_so_far(p);
      // In steady state no engine counts; exact nodes are never unsettled.
      const double steady_ns = from_.usage.of_pod(p).busy_ns +
                               from_.batch.pace(p).busy_share * from_.batch.unsettled_ns(pod.node);
      for_each_rank(pod, [&](DomainId id, std::uint32_t context) {
        const double here_ns = steady_ns + from_.usage.counted_ns(id, context);
        const DomainKind& kind = run_.cluster.kind(run_.cluster.domains[index(id)]);
        GpuSeries::Totals& gpu = gpus[index(id)];
        gpu.busy_ns += here_ns / kind.owned_time;
        gpu.sm_ns += sm_ns / kind.owned_time;
        gpu.sm_known = gpu.sm_known && run_.cluster.model(pod).sm_known;
        workload.gpu_busy_ns += here_ns * kind.time_share / kind.owned_time;
        busy_ns += here_ns;
      });
    }
    run_.recorder->pods().sample(p, busy_ns);
  }
  for (std::size_t s = 0; s < from_.services.count(); ++s) {
    const ServiceState& service = from_.services[s];
    workloads[index(service.workload)].in_system = service.population.inside();
  }
  from_.scalers.for_each_held([&](std::size_t workload, std::size_t held) {
    workloads[workload].waiting += static_cast<std::int64_t>(held);
  });
  for (std::size_t d = 0; d < gpus.size(); ++d) run_.recorder->gpus().sample(d, gpus[d]);
  for (std::size_t w = 0; w < workloads.size(); ++w)
    run_.recorder->sample_workload(w, workloads[w]);
  for (std::size_t pipeline = 0; pipeline < from_.pipelines.count(); ++pipeline) {
    Recorder::WorkloadTotals totals;
    totals.in_system = from_.pipelines.inside(pipeline);
    run_.recorder->sample_workload(workloads.size() + pipeline, totals);
  }
  sample_pools();
  run_.recorder->close_bucket();
}

void Sampler::sample_pools() {
  std::vector<std::int64_t> ready(run_.world.pools.size());
  std::vector<std::int64_t> billed(run_.world.pools.size());
  for (const Node& node : run_.cluster.nodes) {
    ready[index(node.pool)] += node.stage == NodeStage::Ready ? 1 : 0;
    billed[index(node.pool)] += is_billed(node.stage) ? 1 : 0;
  }
  for (std::size_t pool = 0; pool < ready.size(); ++pool) {
    run_.recorder->sample_pool(pool, ready[pool], billed[pool]);
  }
}

// The last timer of an instant: everything that happens at it has. Who has a GPU changes at the
// latest when a turn or switch is over.
void Sampler::on_turn_timer() {
  TimePoint next = kNever;
  for (std::size_t d = 0; d < run_.cluster.domains.size(); ++d) {
    Domain& domain = run_.cluster.domains[d];
    auto* engine = std::get_if<RoundRobin>(&domain.engine);
    if (engine == nullptr) continue;
    engine->advance(run_.now);
    const RoundRobin::Doing doing = engine->doing();
    run_.recorder->turns().gpu_does(d, doing, domain.owner[doing.context], run_.now);
    next = std::min(next, doing.until);
  }
  if (run_.recorder->turns().follows(run_.now)) run_.timers.set(TimerKind::Turn, 0, next);
}

// Of a domain, without the containers that work there.
GpuSeries::Totals Sampler::ended_totals(std::size_t d) {
  Domain& domain = run_.cluster.domains[d];
  const DomainTime& taken = run_.record.domains[d].time;
  const Usage::OfDomain& used = from_.usage.of_domain(d);
  const double owned = run_.cluster.kind(domain).owned_time;
  double switching_ns =
      used.switch_ns + from_.batch.switch_share(d) * from_.batch.unsettled_ns(domain.node);
  with_engine(domain, [&](auto& engine) {
    engine.advance(run_.now);
    switching_ns += static_cast<double>((engine.time().switching - used.switching_billed).ns);
  });
  GpuSeries::Totals totals;
  totals.busy_ns = static_cast<double>(taken.busy().ns) +
                   (used.useful_ns + used.late_ns + used.failed_ns) / owned;
  totals.switching_ns = static_cast<double>(taken.switching.ns) + switching_ns / owned;
  totals.sm_ns = static_cast<double>(taken.sm_active.ns) + used.sm_ns / owned;
  totals.sm_known = used.sm_known && taken.sm_known;
  totals.memory_used = domain.memory.used();
  return totals;
}

// SM time of a container that works; of work under way on a GPU the part that is done.
double Sampler::sm_so_far(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  if (pod.domain == kNoDomain) return 0;
  const Demand& demand = run_.cluster.demand(pod);
  const double used_ns = from_.usage.of_pod(p).sm_ns;
  const double sm_ns = static_cast<double>(demand.sm_active.ns);
  const double elapsed_ns = from_.batch.unsettled_ns(pod.node);
  if (elapsed_ns > 0) {
    return used_ns + from_.batch.pace(p).units_per_second * elapsed_ns * 1e-9 * sm_ns * pod.size;
  }
  if (!from_.gpus.works(p) || !pod.ranks.empty()) return used_ns;
  const std::optional<Duration> work = from_.work.gpu_work(p);
  if (!work) return used_ns;
  // What waits by chance has more left than it was given.
  const auto done = std::max(*work - from_.gpus.left(pod), Duration{});
  return used_ns + from_.work.sm_time(p, static_cast<double>(done.ns));
}

}  // namespace slicewise::sim
