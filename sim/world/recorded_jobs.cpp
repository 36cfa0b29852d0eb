#include <algorithm>

#include <fmt/format.h>

#include "parts.hpp"

// The workloads that a trace of jobs became, and which of its jobs do not run as they were
// recorded.
namespace slicewise::sim {
namespace {

using scenarios::ApartJobs;

const scenarios::RecordedJobs& source_of(const World& world, const TraceModel& trace) {
  return *world.workloads[trace.workloads.front()].spec.trace;
}

// What an empty node of the pool has too little of for a pod of the workload, under its present
// layout or one to come.
std::optional<scenarios::Apart> lacks(const PoolModel& pool, const WorkloadModel& workload,
                                      std::size_t offer) {
  const PodTemplate& pod = workload.spec.pod;
  if (workload.tickets > pool.most_tickets_per_node(offer)) return scenarios::Apart::NodeGpus;
  if (pod.cpu_request > pool.allocatable_cpu) return scenarios::Apart::NodeCpu;
  if (pod.memory_request > pool.allocatable_memory) return scenarios::Apart::NodeMemory;
  return std::nullopt;
}

// Of the pools that admit its pods and offer what they ask for; those that no pool does are told so
// elsewhere. nullopt: some node holds one, and all nodes together a gang.
std::optional<scenarios::Apart> lacks_everywhere(const World& world,
                                                 const WorkloadModel& workload) {
  std::optional<scenarios::Apart> least;
  std::int64_t room = 0;  // for pods
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolModel& pool = world.pools[p];
    const auto offer = workload.on_pool[p].offer;
    if (!offer || !admits(pool, workload.spec.pod)) continue;
    const auto why = lacks(pool, workload, *offer);
    if (!why && workload.pods_per_job == 1) return std::nullopt;
    if (!why) room += pool.tickets_per_node(*offer, 0) / workload.tickets * pool.node_slots();
    least = std::max(least, std::optional(why.value_or(scenarios::Apart::NodeGpus)));
  }
  return room < workload.pods_per_job ? least : std::nullopt;
}

std::vector<ApartJobs> jobs_for_no_node(const World& world, TraceModel& trace) {
  std::vector<ApartJobs> apart;
  for (const std::size_t w : trace.workloads) {
    const Workload& spec = world.workloads[w].spec;
    const auto why = lacks_everywhere(world, world.workloads[w]);
    if (!why || spec.count == 0) continue;
    trace.never_fit.push_back(w);
    auto known = std::ranges::find(apart, *why, &ApartJobs::why);
    if (known == apart.end()) known = apart.insert(known, {*why, 0, spec.trace->first});
    known->jobs += world.workloads[w].jobs();
    if (spec.trace->first.row < known->first.row) known->first = spec.trace->first;
  }
  std::ranges::sort(apart, {}, &ApartJobs::why);
  return apart;
}

// A job goes over several nodes only where its GPUs are not shared.
std::string what_helps(const World& world, const TraceModel& trace, scenarios::Apart why) {
  if (why != scenarios::Apart::NodeGpus)
    return "take a larger instance type, or write hostRequests: false";
  const bool any_unshared = std::ranges::any_of(trace.never_fit, [&](std::size_t w) {
    return std::ranges::any_of(world.workloads[w].on_pool,
                               [](const PoolDemand& pool) { return pool.offer && pool.gpus > 1; });
  });
  return any_unshared ? "take more nodes, or leave them out with mostGpus"
                      : "jobs go over several nodes where GPUs are not shared: give them such "
                        "nodes (two workloads, leastGpus and mostGpus), say gpusPerPod: 1, or "
                        "leave them out with mostGpus";
}

}  // namespace

void model_traces(World& world, Diagnostics& found) {
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const auto& spec = world.workloads[w].spec.trace;
    if (!spec) continue;
    auto trace = std::ranges::find(world.traces, spec->workload, &TraceModel::name);
    if (trace == world.traces.end()) {
      trace = world.traces.insert(trace, {spec->workload, {}, {}, {}});
      if (spec->apart) trace->apart = *spec->apart;
    }
    trace->workloads.push_back(w);
  }
  for (TraceModel& trace : world.traces) {
    const FindingsAbout about(trace.name, found);
    const scenarios::RecordedJobs& source = source_of(world, trace);
    std::int64_t all = 0;
    for (const std::size_t w : trace.workloads) all += world.workloads[w].jobs();
    for (const ApartJobs& jobs : jobs_for_no_node(world, trace)) {
      trace.apart.push_back(jobs);
      add_diagnostic(found, Code::JobNeverFits, source.file.where,
                     fmt::format("{} of {} jobs of \"{}\" stay Pending for good: they are those "
                                 "{}; the first is {} of {}",
                                 jobs.jobs, all, trace.name, apart_text(jobs.why),
                                 jobs.first.text(), source.file.value),
                     what_helps(world, trace, jobs.why));
    }
  }
}

}  // namespace slicewise::sim
