#include <algorithm>

#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

using scenarios::FigureValue;
using scenarios::WorkloadKind;

// What Pending pods waited for. The records do not tell workloads apart: a GPU, when any did.
std::string_view waited_for(std::span<const Replication> replications) {
  bool cpu = false;
  bool memory = false;
  for (const Replication& r : replications) {
    for (const PendingReason& reason : r.pending_reasons) {
      for (std::size_t cause = kResourceCause; cause < reason.nodes_by_cause.size(); ++cause) {
        if (reason.nodes_by_cause[cause] > 0) return "waiting for a GPU";
      }
      cpu = cpu || reason.nodes_by_cause[static_cast<std::size_t>(RejectCause::Cpu)] > 0;
      memory = memory || reason.nodes_by_cause[static_cast<std::size_t>(RejectCause::Memory)] > 0;
    }
  }
  if (cpu) return "waiting for CPU";
  return memory ? "waiting for memory" : "waiting for a node";
}

// What kept the workload from running as fast as alone: the largest of its delays, when one of
// them is worth naming (5 % of the time its containers ran).
std::string_view bound_by(const WorkloadResult& result, std::size_t workload,
                          std::span<const Replication> replications) {
  double running = 0;
  double gpu = 0;
  double cpu = 0;
  double waiting = 0;
  std::int64_t failed = 0;
  std::int64_t done = 0;
  for (const Replication& r : replications) {
    const WorkloadRecord& record = r.workloads[workload];
    running += to_seconds(record.pod_running);
    gpu += to_seconds(record.stretched_by_gpu);
    cpu += to_seconds(record.stretched_by_cpu);
    for (const Duration wait : record.wait) waiting += to_seconds(wait);
    failed += record.jobs_failed;
    done += record.jobs_done;
  }
  if (failed > done) {
    const bool out_of_memory = std::ranges::any_of(
        replications, [&](const Replication& r) { return r.workloads[workload].oom_kills > 0; });
    return out_of_memory ? "GPU memory" : "GPU faults";
  }
  const double largest = std::max({gpu, cpu, waiting});
  constexpr double kWorthNaming = 0.05;
  if (result.kind == "Service" || largest <= kWorthNaming * running) return {};
  if (largest == waiting) return waited_for(replications);
  return largest == gpu ? "GPU" : "host CPU";
}

std::int64_t units_in_objective(const WorkloadModel& model, const WorkloadRecord& record) {
  for (const scenarios::Objective& objective : model.spec.objectives) {
    if (objective.figure != scenarios::Figure::CompletionP95) continue;
    const auto in_time = std::ranges::count_if(record.completion, [&](Duration completion) {
      return FigureValue(completion) <= objective.limit;
    });
    return in_time * model.units;
  }
  return record.units_in_objective;
}

// Of the time of all GPUs that there were.
double gpu_busy_share(const World& world, std::size_t w,
                      std::span<const Replication> replications) {
  if (!world.changes_nodes()) {
    int gpus = 0;
    for (const PoolModel& pool : world.pools) gpus += pool.nodes * pool.gpus_per_node;
    return mean_over(replications, [&](const Replication& r) {
      return ratio(r.workloads[w].gpu_busy, r.length) / gpus;
    });
  }
  return mean_over(replications, [&](const Replication& r) {
    Duration gpu_time;
    std::size_t n = 0;
    for (const PoolModel& pool : world.pools) {
      for (int node = 0; node < pool.node_slots(); ++node) {
        gpu_time += r.nodes[n++].up * pool.gpus_per_node;
      }
    }
    return ratio(r.workloads[w].gpu_busy, gpu_time);
  });
}

LeftBehind left_behind(const WorkloadModel& model, std::size_t w,
                       std::span<const Replication> replications) {
  LeftBehind left;
  left.pods = model.spec.count;
  for (const Replication& r : replications) {
    const WorkloadRecord& record = r.workloads[w];
    left.oom_kills = std::max(left.oom_kills, record.oom_kills);
    left.failed = std::max(left.failed, record.jobs_failed);
    left.crash_looping = std::max(left.crash_looping, record.crash_looping);
    left.pending = std::max(left.pending, record.pending_for_good + record.notebooks.gave_up);
  }
  return left;
}

}  // namespace

WorkloadResult workload_result(const World& world, std::size_t w,
                               std::span<const Replication> replications) {
  const WorkloadModel& model = world.workloads[w];
  const bool service = model.spec.kind == WorkloadKind::Service;
  WorkloadResult result;
  result.name = model.name;
  result.kind = scenarios::kind_name(model.spec.kind);
  result.unit_name = service ? "request" : (model.spec.work ? model.spec.work->unit_name : "unit");
  const auto observed = [&](const Replication& r) {
    return service ? r.length - world.warmup : r.length;
  };
  result.completed = mean_over(replications, [&](const Replication& r) {
    return service ? r.workloads[w].units_done : r.workloads[w].jobs_done;
  });
  result.throughput_per_second = mean_over(replications, [&](const Replication& r) {
    return per_second(r.workloads[w].units_done, observed(r));
  });
  if (service) {
    std::vector<const RequestRecord*> records;
    for (const Replication& r : replications) records.push_back(&r.workloads[w].requests);
    add_requests(world, replications, records, result);
  } else {
    result.goodput_per_second = mean_over(replications, [&](const Replication& r) {
      return per_second(units_in_objective(model, r.workloads[w]), observed(r));
    });
  }
  result.tokens = token_figures(world, w, replications);
  result.notebooks = notebook_figures(world, w, replications);
  result.gang = gang_figures(world, w, replications);
  result.left_behind = left_behind(model, w, replications);
  std::vector<std::vector<Duration>> completions;
  std::vector<std::vector<Duration>> waits;
  for (const Replication& r : replications) {
    completions.push_back(r.workloads[w].completion);
    waits.push_back(r.workloads[w].wait);
  }
  result.job_completion = summarize(completions);
  result.wait = summarize(waits);
  result.gpu_busy_share = gpu_busy_share(world, w, replications);
  result.gpu_lost = from_seconds(mean_over(
      replications, [&](const Replication& r) { return to_seconds(r.workloads[w].gpu_lost); }));
  if (world.workloads[w].spec.autoscaling) result.scaling = scaling_figures(w, replications);
  result.bound_by = bound_by(result, w, replications);
  result.objectives = judge_objectives(model, w, replications, result);
  return result;
}

}  // namespace slicewise::sim
