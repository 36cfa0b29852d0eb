#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/policies.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

// The server of a language model, which takes a share of the whole GPU.
bool shares_whole_gpu(const WorkloadModel& model) {
  return model.spec.llm && !model.spec.llm->kv_cache;
}

// Such servers, that do not fit it together: nullptr when others are to blame.
const WorkloadModel* greedy_server(const World& world, const VariantResult& result) {
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    if (shares_whole_gpu(world.workloads[w]) && result.workloads[w].left_behind.oom_kills > 0)
      return &world.workloads[w];
  }
  return nullptr;
}

// "chat" takes 60 % and "code" 60 %.
std::string shares_text(const World& world) {
  std::string text;
  for (const WorkloadModel& model : world.workloads) {
    if (!shares_whole_gpu(model)) continue;
    text += fmt::format("{}\"{}\"{} {:.3g} %", text.empty() ? "" : " and ", model.name,
                        text.empty() ? " takes" : "", 100 * model.spec.llm->memory_utilization);
  }
  return text;
}

// Tickets of the domain of which most pods may meet on one.
int most_on_a_gpu(const World& world) {
  int most = 1;
  for (const PoolModel& pool : world.pools) {
    for (const DomainKind& kind : pool.kinds) {
      for (const Tickets& tickets : kind.tickets) most = std::max(most, tickets.count);
    }
  }
  return most;
}

void memory_finding(const World& world, const VariantResult& result, Diagnostics& found) {
  const bool known = contains(world.findings, Code::GpuOom, &Diagnostic::code);
  if (result.pods.oom_kills == 0 || known) return;
  if (const WorkloadModel* server = greedy_server(world, result)) {
    const int pods = most_on_a_gpu(world);
    add_diagnostic(
        found, Code::GpuOom, server->spec.llm->where,
        fmt::format("CUDA out of memory killed containers {:.0f} times: at start {} of the whole "
                    "GPU (memoryUtilization), and the one that comes later finds less",
                    result.pods.oom_kills, shares_text(world)),
        fmt::format("memoryUtilization of at most {:.3g} % for each of {} on a GPU (vllm serve "
                    "--gpu-memory-utilization), a kvCache that is enough, or MPS or MIG, where it "
                    "is a share of what each has",
                    95.0 / pods, pods));
    for (const WorkloadModel& model : world.workloads) {
      if (shares_whole_gpu(model)) found.back().workloads.push_back(model.name);
    }
    return;
  }
  const WorkloadModel* culprit = nullptr;
  for (const WorkloadModel& model : world.workloads) {
    if (culprit == nullptr || model.greedy) culprit = &model;
  }
  add_diagnostic(found, Code::GpuOom, culprit->spec.gpu_memory.where,
                 fmt::format("CUDA out of memory killed containers {:.0f} times; {:.0f} of {:.0f} "
                             "pods failed for good",
                             result.pods.oom_kills, result.pods.failed, result.pods.submitted),
                 culprit->greedy ? "stop the process from mapping the whole GPU (GPU_MEM_GREEDY)"
                                 : "fewer replicas, or less gpuMemory per pod: time-slicing limits "
                                   "nothing, MPS gives each process memory / replicas");
}

void fault_finding(const World& world, const VariantResult& result, Diagnostics& found) {
  if (result.pods.fault_victims == 0) return;
  const auto with_faults = std::ranges::find_if(
      world.workloads, [](const WorkloadModel& model) { return model.spec.faults.has_value(); });
  add_diagnostic(found, Code::FaultShared, with_faults->spec.name.where,
                 fmt::format("{} fatal GPU faults took {} containers of neighbours with them: the "
                             "clients of an MPS server share its fate",
                             short_text(result.pods.faults), short_text(result.pods.fault_victims)),
                 "time-slicing and MIG confine a fault to its process");
}

// Time that containers spent waiting for their restart, when it is worth saying.
void back_off_finding(const World& world, std::span<const Replication> replications,
                      Diagnostics& found) {
  constexpr double kWorthSaying = 0.01;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    double backing_off = 0;
    double running = 0;
    for (const Replication& r : replications) {
      backing_off += to_seconds(r.workloads[w].backing_off);
      running += to_seconds(r.workloads[w].pod_running);
    }
    const double share = backing_off / std::max(1e-9, backing_off + running);
    if (share < kWorthSaying) continue;
    const Workload& spec = world.workloads[w].spec;
    const FindingsAbout about(spec.given_name(), found);
    const bool completes = spec.kind == WorkloadKind::Deployment;
    add_diagnostic(
        found, Code::CrashLoopBackOff, spec.name.where,
        fmt::format("containers of \"{}\" spent {:.0f} % of their time in CrashLoopBackOff, "
                    "holding their GPU",
                    spec.name.value, 100 * share),
        completes ? "a Deployment backs off after clean exits, too: run work that ends as a Job"
                  : "");
  }
}

void host_cpu_finding(const World& world, std::span<const Replication> replications,
                      Diagnostics& found) {
  constexpr double kWorthSaying = 0.01;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    double lost = 0;
    double running = 0;
    for (const Replication& r : replications) {
      lost += to_seconds(r.workloads[w].stretched_by_cpu);
      running += to_seconds(r.workloads[w].pod_running);
    }
    const Workload& spec = world.workloads[w].spec;
    // What requests wait for is named beside their latency.
    if (spec.kind == WorkloadKind::Service) continue;
    if (lost <= kWorthSaying * running) continue;
    const auto& limit = spec.pod.cpu_limit;
    const bool by_limit = limit && spec.measured->cpu && *limit < *spec.measured->cpu;
    const FindingsAbout about(spec.given_name(), found);
    add_diagnostic(
        found, Code::HostCpuOversubscribed, spec.pod.cpu_where,
        fmt::format("\"{}\" lost {:.1f} % of its time because its pods want more host CPU than {}",
                    spec.name.value, 100 * lost / running,
                    by_limit ? "their limit lets them have" : "the node has"),
        by_limit
            ? "raise or drop the CPU limit"
            : "request what a pod uses (measured.cpu), so that the scheduler spreads the pods");
  }
}

// Pods on GPUs that are not all joined by NVLink: better sets were taken, or the node has none.
struct SlowGangs {
  std::string name;  // of the workload, or of the trace that it is a part of
  const Workload* first = nullptr;
  double pods = 0;
  double unlinked = 0;
  std::set<int> gpus;  // that such pods have
};

std::vector<SlowGangs> slow_gangs(const World& world, const VariantResult& result) {
  std::vector<SlowGangs> all;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const auto& gang = result.workloads[w].gang;
    if (!gang) continue;
    const Workload& spec = world.workloads[w].spec;
    const std::string& name = spec.given_name();
    auto known = std::ranges::find(all, name, &SlowGangs::name);
    if (known == all.end()) known = all.insert(known, {name, &spec, 0, 0, {}});
    for (const GpuSetFigures& set : gang->sets) {
      known->pods += set.pods;
      if (set.all_linked) continue;
      known->unlinked += set.pods;
      known->gpus.insert(gang->gpus);
    }
  }
  std::erase_if(all, [](const SlowGangs& gangs) { return gangs.unlinked == 0; });
  return all;
}

// "2", "2, 4 and 8".
std::string numbers_text(const std::set<int>& numbers) {
  std::string text;
  std::size_t left = numbers.size();
  for (const int number : numbers) {
    text += fmt::format("{}{}", number, left > 2 ? ", " : left == 2 ? " and " : "");
    --left;
  }
  return text;
}

const SourceLocation& where_gpus_are_asked(const PodTemplate& pod) {
  return pod.extended.empty() ? pod.claim.where : pod.extended.front().count_where;
}

void gang_finding(const World& world, const VariantResult& result, Diagnostics& found) {
  for (const SlowGangs& gangs : slow_gangs(world, result)) {
    const Workload& spec = *gangs.first;
    const FindingsAbout about(gangs.name, found);
    add_diagnostic(
        found, Code::GangAcrossSlowLinks, where_gpus_are_asked(spec.pod),
        fmt::format("{} of {} pods of \"{}\" got {} GPUs without an NVLink between some of them",
                    short_text(gangs.unlinked), short_text(gangs.pods), gangs.name,
                    numbers_text(gangs.gpus)),
        spec.llm || (spec.work && spec.work->all_reduce)
            ? "their all-reduce goes over fewer links, or over PCIe"
            : "give work.allReduce to see what that costs: here it only decides the placement");
  }
}

// Pods whose replicas are of fewer GPUs than there could be.
void fewer_gpus_finding(const World& world, const VariantResult& result, Diagnostics& found) {
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const WorkloadModel& model = world.workloads[w];
    if (!result.workloads[w].gang) continue;
    double pods = 0;
    double fewer = 0;
    int most = 0;
    for (const GpuSetFigures& set : result.workloads[w].gang->sets) {
      const auto pool = std::ranges::find(world.pools, set.pool, &PoolModel::name);
      const PoolDemand& demand =
          model.on_pool[static_cast<std::size_t>(pool - world.pools.begin())];
      const bool distributed = pool->allocation == scenarios::AllocationPolicy::Distributed;
      if (!distributed || !demand.shares_several) continue;
      pods += set.pods;
      if (std::cmp_greater_equal(set.gpus.size(), demand.gpus)) continue;
      fewer += set.pods;
      most = std::max(most, demand.gpus);
    }
    if (fewer == 0) continue;
    const FindingsAbout about(model.spec.given_name(), found);
    add_diagnostic(
        found, Code::RequestNoEffect, where_gpus_are_asked(model.spec.pod),
        fmt::format(
            "{} of {} pods of \"{}\" got their {} replicas from fewer than {} GPUs: those had "
            "the fewest taken",
            short_text(fewer), short_text(pods), model.name, model.tickets, most),
        "simulated is a process on each GPU that is there; a program that counts on more of them "
        "fails. Pods that need several want nodes that do not share them");
  }
}

// What the result of this name was judged by.
const std::vector<scenarios::Objective>& objectives_of(const World& world,
                                                       const WorkloadResult& result) {
  if (result.recorded) {
    const auto trace = std::ranges::find(world.traces, result.name, &TraceModel::name);
    return world.workloads[trace->workloads.front()].spec.objectives;
  }
  if (result.kind == "Pipeline") {
    return std::ranges::find(world.pipelines, result.name, &PipelineModel::name)->spec.objectives;
  }
  return std::ranges::find(world.workloads, result.name, &WorkloadModel::name)->spec.objectives;
}

void objective_findings(const World& world, const VariantResult& result, Diagnostics& found) {
  for (const WorkloadResult& workload : result.workloads) {
    const FindingsAbout about(workload.name, found);
    for (std::size_t o = 0; o < workload.objectives.size(); ++o) {
      const ObjectiveResult& judged = workload.objectives[o];
      if (auto near = near_limit(world, workload.name, judged.name, judged.value, judged.limit)) {
        found.push_back(std::move(*near));
      }
      if (judged.pass) continue;
      found.push_back(
          missed_objective(workload.name, judged, objectives_of(world, workload)[o].where));
    }
  }
}

}  // namespace

Diagnostics run_findings(const World& world, std::span<const Replication> replications,
                         const VariantResult& result) {
  Diagnostics found = world.findings;
  memory_finding(world, result, found);
  fault_finding(world, result, found);
  pending_finding(world, replications, result, found);
  node_findings(world, replications, result, found);
  host_cpu_finding(world, replications, found);
  gang_finding(world, result, found);
  fewer_gpus_finding(world, result, found);
  request_findings(world, replications, result, found);
  back_off_finding(world, replications, found);
  return found;
}

void verdict_findings(const World& world, std::span<const Replication> replications,
                      const VariantResult& result, Diagnostics& found) {
  objective_findings(world, result, found);
  std::ranges::move(policy_findings(world.policies, result.policies), std::back_inserter(found));
  if (std::ranges::any_of(replications, [](const Replication& r) { return r.cut_off; })) {
    Diagnostic cut =
        make_diagnostic(Code::RunNeverEnds, {},
                        "the run was stopped after one simulated year: some Jobs never finished",
                        "set spec.duration, or give the Jobs a node that nothing else fills");
    cut.severity = Severity::Warning;
    found.push_back(std::move(cut));
  }
}

}  // namespace slicewise::sim
