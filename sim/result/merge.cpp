#include "merge.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/isolation.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"
#include "slicewise/sim/policies.hpp"
#include "slicewise/sim/pool_choice.hpp"

namespace slicewise::sim {
namespace {

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
      if (!contains(pods.pending_reasons, message)) {
        pods.pending_reasons.push_back(std::move(message));
      }
    }
  }
  return pods;
}

}  // namespace

VariantResult merge(const World& world, std::span<const Replication> replications) {
  VariantResult result;
  result.name = world.name;
  result.description = world.description;
  result.swept_value = world.swept_value;
  result.seed = world.seed;
  result.replications = static_cast<int>(replications.size());
  result.replications_asked = world.replications;
  std::vector<std::string_view> strategies;
  for (const PoolModel& pool : world.pools) {
    const std::string_view strategy = strategy_name(pool.strategy);
    if (!contains(strategies, strategy)) {
      strategies.push_back(strategy);
    }
    result.node_pools.push_back(pool_result(pool));
    result.node_pools.back().dynamics =
        node_dynamics(world, static_cast<std::size_t>(&pool - world.pools.data()), replications);
  }
  result.strategy = fmt::format("{}", fmt::join(strategies, ", "));
  result.rooms = gpu_rooms(world);
  std::vector<std::vector<Duration>> lengths;
  for (const Replication& r : replications) lengths.push_back({r.length});
  result.makespan = *summarize(lengths);
  std::vector<std::vector<Duration>> ends;
  for (const Replication& r : replications) {
    if (r.last_job_end > Duration{}) ends.push_back({r.last_job_end});
  }
  result.last_job_end = summarize(ends);
  result.pods = count_pods(world, replications);
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    result.workloads.push_back(workload_result(world, w, replications));
  }
  for (std::size_t p = 0; p < world.pipelines.size(); ++p) {
    result.workloads.push_back(pipeline_result(world, p, replications));
  }
  add_nodes(world, replications, result);
  result.node_start_up = node_start_up(replications);
  result.cost = cost_result(world, replications);
  price_workloads(world, replications, result);
  const GpuNeighbours neighbours = gpu_neighbours(world);
  result.pods_share_gpu = neighbours.pods;
  result.namespaces_share_gpu = neighbours.namespaces;
  result.findings = run_findings(world, replications, result);
  fold_traces(world, replications, result);
  result.policies = judge_policies(world.policies, result);
  result.is_cut_off = std::ranges::any_of(replications, &Replication::cut_off);
  result.verdict = judge(result, world.allow_pending);
  verdict_findings(world, replications, result, result.findings);
  result.provenance = world.provenance;
  result.expected_errors = expected_errors(world);
  result.unsure_gains = unsure_gains(world, replications);
  return result;
}

}  // namespace slicewise::sim
