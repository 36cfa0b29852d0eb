#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../world/admission.hpp"
#include "merge.hpp"

namespace slicewise::sim {

std::string few_names(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() > most) return fmt::format("{} workloads", names.size());
  return fmt::format("{}", fmt::join(names, ", "));
}

namespace {

std::int64_t units_in_objective(const WorkloadModel& model, const WorkloadRecord& record) {
  for (const scenarios::Objective& objective : model.spec.objectives) {
    if (objective.figure != scenarios::Figure::CompletionP95) continue;
    const auto in_time = std::ranges::count_if(record.completion, [&](Duration completion) {
      return scenarios::FigureValue(completion) <= objective.limit;
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
  if (model.spec.autoscaling) {  // which had as many as its autoscaler ever made
    left.pods = 0;
    for (const Replication& r : replications) {
      left.pods = std::max<std::int64_t>(left.pods, r.workloads[w].scaling.most);
    }
  }
  if (model.spec.kind == WorkloadKind::Job) left.jobs = model.jobs();
  for (const Replication& r : replications) {
    const WorkloadRecord& record = r.workloads[w];
    left.oom_kills = std::max(left.oom_kills, record.oom_kills);
    left.failed = std::max(left.failed, record.jobs_failed);
    left.crash_looping = std::max(left.crash_looping, record.crash_looping);
    left.pending = std::max(left.pending, record.pending_for_good + record.notebooks.gave_up);
    left.never_admitted = std::max(left.never_admitted, record.never_admitted);
  }
  return left;
}

// What a language model answered; nullopt for other workloads. Without its price.
std::optional<TokenFigures> token_figures(const World& world, std::size_t workload,
                                          std::span<const Replication> replications) {
  const WorkloadModel& model = world.workloads[workload];
  if (!model.spec.llm) return std::nullopt;
  TokenFigures figures;
  const auto count = static_cast<double>(replications.size());
  std::vector<Histogram> first_token;
  std::vector<Histogram> per_token;
  double prompts = 0;
  double found = 0;
  for (const Replication& r : replications) {
    const TokenRecord& record = r.workloads[workload].tokens;
    prompts += static_cast<double>(record.prompts);
    found += static_cast<double>(record.found);
    figures.answered = figures.answered.value_or(0) + static_cast<double>(record.answered) / count;
    figures.input_tokens += static_cast<double>(record.input) / count;
    figures.output_tokens += static_cast<double>(record.output) / count;
    figures.preemptions += static_cast<double>(record.preemptions) / count;
    figures.adapter_loads += static_cast<double>(record.adapter_loads) / count;
    figures.wake_ups += static_cast<double>(record.wake_ups) / count;
    const Duration observed = r.length - world.warmup;
    if (observed.ns > 0) {
      if (model.spec.llm->sleep) {
        const double of_all = static_cast<double>(observed.ns) * model.spec.count;
        figures.awake = figures.awake.value_or(0) + record.awake_ns / of_all / count;
      }
      figures.output_per_second +=
          static_cast<double>(record.output) / to_seconds(observed) / count;
    }
    if (record.cache_size > 0) {
      const double peak =
          static_cast<double>(record.cache_peak) / static_cast<double>(record.cache_size);
      figures.kv_cache_peak = std::max(figures.kv_cache_peak, peak);
      figures.kv_cache = {record.cache_size * model.spec.llm->kv_bytes_per_token->count};
    }
    first_token.push_back(record.first_token);
    per_token.push_back(record.per_token);
  }
  if (prompts > 0) figures.prefix_hits = found / prompts;
  figures.first_token = summarize(first_token);
  figures.per_token = summarize(per_token);
  return figures;
}

// Of an autoscaled Service.
ScalingFigures scaling_figures(std::size_t workload, std::span<const Replication> replications) {
  ScalingFigures figures;
  const auto count = static_cast<double>(replications.size());
  std::vector<Histogram> start_ups;
  for (const Replication& replication : replications) {
    const ScalingRecord& record = replication.workloads[workload].scaling;
    const auto length_ns = static_cast<double>(std::max<std::int64_t>(1, replication.length.ns));
    figures.mean_replicas += record.replica_ns / length_ns / count;
    figures.max_replicas = std::max(figures.max_replicas, record.most);
    figures.max_by_metric = std::max(figures.max_by_metric, record.most_by_metric);
    figures.scale_ups += static_cast<double>(record.ups) / count;
    figures.scale_downs += static_cast<double>(record.downs) / count;
    start_ups.push_back(record.start_up);
  }
  figures.start_up = summarize(start_ups);
  return figures;
}

}  // namespace

WorkloadResult workload_result(const World& world, std::size_t w,
                               std::span<const Replication> replications) {
  const WorkloadModel& model = world.workloads[w];
  const bool service = model.spec.kind == WorkloadKind::Service;
  WorkloadResult result;
  result.name = model.name;
  result.kind = scenarios::kind_name(model.spec.kind);
  result.namespace_name = model.spec.namespace_name;
  result.labels = model.spec.pod.labels;
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
    result.is_stage =
        !model.spec.traffic && std::ranges::any_of(world.pipelines, [&](const PipelineModel& p) {
          return std::ranges::any_of(p.stages,
                                     [&](const auto& stage) { return index(stage.workload) == w; });
        });
    std::vector<const RequestRecord*> records;
    for (const Replication& r : replications) records.push_back(&r.workloads[w].requests);
    add_requests(world, replications, records, result);
  }
  result.goodput_per_second = mean_over(replications, [&](const Replication& r) {
    return per_second(units_in_objective(model, r.workloads[w]), observed(r));
  });
  result.tokens = token_figures(world, w, replications);
  result.notebooks = notebook_figures(world, w, replications);
  if (model.spec.schedule) {
    const auto mean = [&](std::int64_t WorkloadRecord::*figure) {
      return mean_over(replications, [&](const Replication& r) { return r.workloads[w].*figure; });
    };
    result.schedule =
        ScheduleFigures{std::ssize(model.spec.schedule->runs), mean(&WorkloadRecord::runs_missed),
                        mean(&WorkloadRecord::runs_replaced)};
  }
  result.quota = quota_figures(world, std::span(&w, 1), replications);
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
  result.bound_by = bound_by(world, result, std::span(&w, 1), replications);
  result.neighbours = gpu_neighbours_of(world, w, replications);
  result.placement = placement_spread(world, w, replications);
  result.objectives = judge_objectives(world, w, replications, result);
  add_scatter(result.objectives, replications,
              [&](auto one) { return workload_result(world, w, one).objectives; });
  return result;
}

std::optional<QuotaFigures> quota_figures(const World& world,
                                          std::span<const std::size_t> workloads,
                                          std::span<const Replication> replications) {
  if (!world.workloads[workloads.front()].queued) return std::nullopt;
  QuotaFigures figures;
  std::vector<std::vector<Duration>> waits;
  for (const Replication& r : replications) {
    std::vector<Duration>& wait = waits.emplace_back();
    for (const std::size_t w : workloads) {
      const WorkloadRecord& record = r.workloads[w];
      wait.insert(wait.end(), record.quota_wait.begin(), record.quota_wait.end());
      figures.stopped += static_cast<double>(record.quota_stops);
      figures.waiting += static_cast<double>(record.quota_waiting);
    }
  }
  figures.wait = summarize(waits);
  figures.stopped /= static_cast<double>(replications.size());
  figures.waiting /= static_cast<double>(replications.size());
  return figures;
}

namespace {

std::vector<int> gpus_in(GpuMask set) {
  std::vector<int> gpus;
  for (int gpu = 0; gpu < GpuSets::kMostGpus; ++gpu) {
    if ((set >> gpu & 1U) != 0) gpus.push_back(gpu);
  }
  return gpus;
}

}  // namespace

std::optional<GangFigures> gang_figures(const World& world, std::size_t w,
                                        std::span<const Replication> replications) {
  const WorkloadModel& model = world.workloads[w];
  if (most_gpus(model) == 1) return std::nullopt;
  GangFigures figures;
  figures.gpus = most_gpus(model);
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    for (GpuMask set = 1; set < kGpuSets; ++set) {
      const double pods = mean_over(replications, [&](const Replication& r) {
        return r.workloads[w].pods_by_gpu_set[p * kGpuSets + set];
      });
      if (pods == 0) continue;
      const PoolModel& pool = world.pools[p];
      figures.sets.push_back({pool.name, gpus_in(set), pods, pool.gpu_sets.all_linked(set),
                              all_reduce_time(world, make_id<PoolId>(p), model, set)});
    }
  }
  double all_reduce_ns = 0;
  double working_ns = 0;
  for (const Replication& r : replications) {
    all_reduce_ns += r.workloads[w].all_reduce_ns;
    working_ns += static_cast<double>(r.workloads[w].working.ns);
  }
  if (working_ns > 0) figures.all_reduce_share = std::min(1.0, all_reduce_ns / working_ns);
  return figures;
}

std::optional<NumberSummary> in_units(const std::optional<TimeSummary>& times, Duration unit) {
  if (!times) return std::nullopt;
  NumberSummary summary;
  summary.count = times->count;
  summary.mean = ratio(times->mean, unit);
  summary.p50 = ratio(times->p50, unit);
  summary.p95 = ratio(times->p95, unit);
  summary.p99 = ratio(times->p99, unit);
  return summary;
}

std::optional<NotebookFigures> notebook_figures(const World& world, std::size_t w,
                                                std::span<const Replication> replications) {
  const auto& spec = world.workloads[w].spec.notebooks;
  if (!spec) return std::nullopt;
  const auto mean = [&](std::int64_t NotebookRecord::*count) {
    return mean_over(replications,
                     [&](const Replication& r) { return r.workloads[w].notebooks.*count; });
  };
  // From a run to one user and a month of it.
  const auto per_user_month = [&](double of_run, const Replication& r) {
    return r.length.ns == 0 ? 0 : of_run * ratio(kMonth, r.length) / spec->users;
  };
  NotebookFigures figures;
  figures.users = spec->users;
  figures.sessions = mean(&NotebookRecord::sessions);
  figures.cells = mean(&NotebookRecord::cells);
  figures.culled = mean(&NotebookRecord::culled);
  figures.gave_up = mean(&NotebookRecord::gave_up);
  figures.oom_per_user_month = mean_over(replications, [&](const Replication& r) {
    return per_user_month(static_cast<double>(r.workloads[w].oom_kills), r);
  });
  figures.waiting_per_user_month_s = mean_over(replications, [&](const Replication& r) {
    return per_user_month(to_seconds(r.workloads[w].notebooks.waiting), r);
  });
  std::vector<Histogram> starts;
  std::vector<Histogram> slowdown;
  for (const Replication& r : replications) {
    starts.push_back(r.workloads[w].notebooks.session_start);
    slowdown.push_back(r.workloads[w].notebooks.slowdown);
  }
  figures.session_start = summarize(starts);
  figures.cell_slowdown = in_units(summarize(slowdown), kUnitSlowdown);
  return figures;
}

}  // namespace slicewise::sim
