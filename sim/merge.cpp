#include "merge.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/cluster/reject_cause.hpp"
#include "slicewise/sim/metrics/cost_ledger.hpp"
#include "slicewise/sim/metrics/interval.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

namespace slicewise::sim {
namespace {

using scenarios::FigureValue;
using scenarios::WorkloadKind;

constexpr std::int64_t kHoursPerMonth = 730;

template <class Get>
double mean_over(std::span<const Replication> replications, Get get) {
  double sum = 0;
  for (const Replication& r : replications) sum += static_cast<double>(get(r));
  return sum / static_cast<double>(replications.size());
}

double ratio(Duration part, Duration whole) {
  return whole.ns == 0 ? 0 : static_cast<double>(part.ns) / static_cast<double>(whole.ns);
}

double per_second(std::int64_t count, Duration over) {
  return over.ns <= 0 ? 0 : static_cast<double>(count) / to_seconds(over);
}

// As scenarios spell it.
std::string_view policy_word(models::Vgpu::Policy policy) {
  switch (policy) {
    case models::Vgpu::Policy::BestEffort:
      return "bestEffort";
    case models::Vgpu::Policy::EqualShare:
      return "equalShare";
    case models::Vgpu::Policy::FixedShare:
      return "fixedShare";
  }
  return "bestEffort";
}

void describe_sharing(const PoolModel& pool, NodePoolResult& result) {
  for (const DomainKind& kind : pool.kinds) {
    const auto turns = [&](const models::TimeSlice& slice) {
      result.turn = slice.turn;
      result.switch_cost = slice.switch_cost;
    };
    std::visit(models::Overloaded{
                   [](const models::Exclusive&) {},
                   [&](const models::TimeSlicing& slicing) { turns(slicing.slice); },
                   [&](const models::Mps& mps) {
                     // The smallest, where MIG instances of several sizes are shared.
                     result.active_threads =
                         std::min(result.active_threads.value_or(1), mps.active_threads);
                     if (!result.memory_limit ||
                         (mps.memory_limit && *mps.memory_limit < *result.memory_limit)) {
                       result.memory_limit = mps.memory_limit;
                     }
                   },
                   [&](const models::Vgpu& vgpu) {
                     turns(vgpu.slice);
                     result.vgpu_policy = policy_word(vgpu.policy);
                     result.vgpus_per_gpu = vgpu.per_gpu;
                   },
               },
               kind.sharing);
  }
}

void describe_partitions(const PoolModel& pool, NodePoolResult& result) {
  const NodeLayout& layout = pool.layouts.front();
  if (layout.name.empty()) return;
  result.mig_config = layout.name;
  double compute = 0;
  for (const NodeLayout::Domain& domain : layout.domains) {
    const DomainKind& kind = pool.kinds[domain.kind];
    compute += kind.share.compute;
    if (!kind.partition.empty()) result.instances[kind.partition] += pool.nodes;
  }
  result.sms_unused_ratio = std::max(0.0, 1 - compute / pool.gpus_per_node);
}

NodePoolResult pool_result(const PoolModel& pool) {
  NodePoolResult result;
  result.name = pool.name;
  result.instance_type = pool.instance_type;
  result.gpu_model = pool.gpu->name;
  result.region = pool.region;
  result.purchase_option = pool.purchase_option;
  result.strategy = pool.strategy;
  result.nodes = pool.nodes;
  result.gpus_per_node = pool.gpus_per_node;
  result.price = pool.price.usd;
  result.price_source = pool.price.source.text;
  describe_sharing(pool, result);
  describe_partitions(pool, result);
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    result.advertised[pool.offers[offer].name] = pool.nodes * pool.tickets_per_node(offer, 0);
  }
  return result;
}

PodCounts count_pods(const World& world, std::span<const Replication> replications) {
  PodCounts pods;
  const auto mean = [&](std::int64_t Replication::*count) {
    return mean_over(replications, [&](const Replication& r) { return r.*count; });
  };
  pods.submitted = mean(&Replication::pods_submitted);
  pods.succeeded = mean(&Replication::succeeded);
  pods.failed = mean(&Replication::failed);
  pods.oom_kills = mean(&Replication::oom_kills);
  pods.restarts = mean(&Replication::restarts);
  pods.faults = mean(&Replication::faults);
  pods.fault_victims = mean(&Replication::fault_victims);
  pods.evicted = mean(&Replication::evicted);
  for (const Replication& r : replications) {
    pods.running_max = std::max(pods.running_max, r.running_max);
    pods.pending_max = std::max(pods.pending_max, r.pending_max);
    for (const PendingReason& reason : r.pending_reasons) {
      std::string message = pending_message(world, reason);
      if (std::ranges::find(pods.pending_reasons, message) == pods.pending_reasons.end()) {
        pods.pending_reasons.push_back(std::move(message));
      }
    }
  }
  return pods;
}

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

template <class Get>
RequestCounts request_counts(std::span<const Replication> replications, Get get) {
  RequestCounts counts;
  const auto mean = [&](std::int64_t RequestRecord::*count) {
    return mean_over(replications, [&](const Replication& r) { return get(r).*count; });
  };
  counts.arrived = mean(&RequestRecord::arrived);
  counts.answered = mean(&RequestRecord::answered);
  counts.in_objectives = mean(&RequestRecord::in_objectives);
  counts.refused = mean(&RequestRecord::refused);
  counts.dropped = mean(&RequestRecord::dropped);
  counts.timed_out = mean(&RequestRecord::timed_out);
  counts.retried = mean(&RequestRecord::retried);
  const double batches = mean(&RequestRecord::batches);
  counts.mean_batch = batches > 0 ? mean(&RequestRecord::batched) / batches : 0;
  if (counts.arrived > 0) counts.availability = counts.answered / counts.arrived;
  return counts;
}

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
  result.goodput_per_second = mean_over(replications, [&](const Replication& r) {
    return per_second(units_in_objective(model, r.workloads[w]), observed(r));
  });
  if (service) {
    result.requests = request_counts(
        replications, [&](const Replication& r) -> const auto& { return r.workloads[w].requests; });
  }
  std::vector<std::vector<Duration>> completions;
  std::vector<std::vector<Duration>> waits;
  std::vector<Histogram> latencies;
  for (const Replication& r : replications) {
    completions.push_back(r.workloads[w].completion);
    waits.push_back(r.workloads[w].wait);
    if (service) latencies.push_back(r.workloads[w].requests.latency);
  }
  result.job_completion = summarize(completions);
  result.wait = summarize(waits);
  result.latency = summarize(latencies);
  int gpus = 0;
  for (const PoolModel& pool : world.pools) gpus += pool.nodes * pool.gpus_per_node;
  result.gpu_busy_share = mean_over(replications, [&](const Replication& r) {
    return ratio(r.workloads[w].gpu_busy, r.length) / gpus;
  });
  result.bound_by = bound_by(result, w, replications);
  result.objectives = judge_objectives(model, w, replications, result);
  return result;
}

// Figures of the domain that stands at `position` in the records.
GpuResult gpu_result(const DomainKind& kind, std::span<const Replication> replications,
                     std::size_t position) {
  GpuResult gpu;
  const auto mean = [&](auto time_of) {
    return mean_over(replications, [&](const Replication& r) {
      return ratio(time_of(r.domains[position].time), r.length);
    });
  };
  gpu.partition = kind.partition;
  gpu.gpu_share = kind.time_share;
  gpu.memory_total = kind.memory;
  gpu.time_busy_ratio = mean([](const DomainTime& t) { return t.busy(); });
  gpu.context_switch_ratio = mean([](const DomainTime& t) { return t.switching; });
  if (std::ranges::all_of(
          replications, [&](const Replication& r) { return r.domains[position].time.sm_known; })) {
    gpu.sm_active_ratio = mean([](const DomainTime& t) { return t.sm_active; });
  }
  for (const Replication& r : replications) {
    gpu.memory_peak = std::max(gpu.memory_peak, r.domains[position].memory_peak);
  }
  return gpu;
}

// One row for each domain of the node, under every layout that it has in the run.
void add_gpus(const PoolModel& pool, const std::string& node,
              std::span<const Replication> replications, std::size_t& position,
              VariantResult& result) {
  for (const NodeLayout& layout : pool.layouts) {
    std::vector<int> instances(static_cast<std::size_t>(pool.gpus_per_node), 0);
    for (const NodeLayout::Domain& domain : layout.domains) {
      GpuResult gpu = gpu_result(pool.kinds[domain.kind], replications, position++);
      gpu.node = node;
      gpu.index = domain.gpu;
      gpu.model = pool.gpu->name;
      gpu.instance = instances[static_cast<std::size_t>(domain.gpu)]++;
      result.gpus.push_back(std::move(gpu));
    }
  }
}

void add_nodes(const World& world, std::span<const Replication> replications,
               VariantResult& result) {
  std::size_t position = 0;
  std::size_t n = 0;
  for (const PoolModel& pool : world.pools) {
    for (int node = 0; node < pool.nodes; ++node, ++n) {
      const std::string name = fmt::format("{}-{}", pool.name, node + 1);
      result.nodes.push_back({name, pool.name, mean_over(replications, [&](const Replication& r) {
                                return ratio(r.nodes[n].cpu_time, r.length) / pool.vcpus;
                              })});
      add_gpus(pool, name, replications, position, result);
    }
  }
}

CostLedger replication_cost(const World& world, const Replication& replication) {
  CostLedger sum;
  std::size_t position = 0;
  std::vector<GpuShareOfTime> shares;
  for (const PoolModel& pool : world.pools) {
    for (int node = 0; node < pool.nodes; ++node) {
      shares.clear();
      for (const NodeLayout& layout : pool.layouts) {
        for (const NodeLayout::Domain& domain : layout.domains) {
          const double of_node = pool.kinds[domain.kind].time_share / pool.gpus_per_node;
          shares.push_back({replication.domains[position++].time, of_node});
        }
      }
      sum += node_cost(pool.price.usd, replication.length, shares);
    }
  }
  return sum;
}

Cost cost_result(const World& world, std::span<const Replication> replications) {
  Cost cost;
  CostLedger sum;
  std::int64_t jobs = 0;
  std::int64_t in_slo = 0;
  for (const Replication& r : replications) {
    sum += replication_cost(world, r);
    for (std::size_t w = 0; w < world.workloads.size(); ++w) {
      const bool service = world.workloads[w].spec.kind == WorkloadKind::Service;
      (service ? in_slo : jobs) +=
          service ? r.workloads[w].units_in_objective : r.workloads[w].jobs_done;
    }
  }
  cost.ledger = mean_of(sum, static_cast<std::int64_t>(replications.size()));
  if (jobs > 0) cost.per_job = Usd{sum.total.nano / jobs};
  if (in_slo > 0) {
    cost.per_1k_requests_in_slo =
        Usd{static_cast<std::int64_t>(static_cast<Int128>(sum.total.nano) * 1000 / in_slo)};
  }
  for (const PoolModel& pool : world.pools) {
    cost.monthly += Usd{pool.price.usd.per_hour.nano * pool.nodes * kHoursPerMonth};
  }
  return cost;
}

}  // namespace

VariantResult merge(const World& world, std::span<const Replication> replications) {
  VariantResult result;
  result.name = world.name;
  result.description = world.description;
  result.replications = static_cast<int>(replications.size());
  std::vector<std::string> strategies;
  for (const PoolModel& pool : world.pools) {
    const std::string& strategy = pool.strategy;
    if (std::ranges::find(strategies, strategy) == strategies.end()) {
      strategies.push_back(strategy);
    }
    result.node_pools.push_back(pool_result(pool));
  }
  result.strategy = fmt::format("{}", fmt::join(strategies, ", "));
  std::vector<std::vector<Duration>> lengths;
  for (const Replication& r : replications) lengths.push_back({r.length});
  result.makespan = *summarize(lengths);
  result.pods = count_pods(world, replications);
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    result.workloads.push_back(workload_result(world, w, replications));
  }
  add_nodes(world, replications, result);
  result.cost = cost_result(world, replications);
  result.findings = run_findings(world, replications, result);
  result.provenance = world.provenance;
  return result;
}

}  // namespace slicewise::sim
