#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "slicewise/lookup.hpp"
#include "slicewise/portable_math.hpp"
#include "slicewise/sim/gpu_room.hpp"

#include "../../result/merge.hpp"
#include "../../world/parts.hpp"
#include "../probe/probe.hpp"
#include "plan_sections.hpp"

namespace slicewise::sim {
namespace {

// The fewest that so many in a month exceed in 5 of 100 months, of a Poisson law.
int most_in_a_month(double mean) {
  constexpr double kConfidence = 0.95;
  constexpr double kLikeNormal = 500;
  if (mean > kLikeNormal) {
    return static_cast<int>(std::lround(std::min(mean + 1.645 * std::sqrt(mean), 1e9)));
  }
  double chance = portable_exp(-mean);
  double sum = chance;
  int count = 0;
  while (sum < kConfidence && chance > 0) {
    ++count;
    chance *= mean / count;
    sum += chance;
  }
  return count;
}

// Of the nodes that come and go, how many are there: their part of the bill by what all would cost.
double share_of_time(const World& world, Usd monthly) {
  double fixed = 0;
  double most = 0;
  for (const PoolModel& pool : world.pools) {
    const double each = to_dollars(cost_of(pool.price.usd, kMonth));
    (pool.most_nodes ? most : fixed) += each * pool.most_nodes.value_or(pool.nodes);
  }
  return most > 0 ? std::clamp((to_dollars(monthly) - fixed) / most, 0.0, 1.0) : 0;
}

// Nodes of the pool are taken back a few times an hour, and of the others none, against an hour
// without: what that costs each time.
void add_losses(World world, std::size_t pool, const RunOptions& run, PlannedSpot& spot) {
  constexpr double kRequestsWorth = 1e7;
  constexpr double kTimes = 4;
  world.duration = std::max(world.duration.value_or(Duration{}), hours(1));
  double requests = 0;
  for (const WorkloadModel& workload : world.workloads) {
    if (workload.spec.traffic)
      requests += workload.spec.traffic->mean.per_second * to_seconds(*world.duration);
  }
  if (requests == 0 || 2 * requests * world.replications > kRequestsWorth) return;
  RunOptions quiet = run;
  quiet.progress = nullptr;
  RestartLoss fates[2];  // without and with
  double times = 0;
  for (RestartLoss& fate : fates) {
    for (PoolModel& each : world.pools) {
      if (each.spot) each.spot->interruptions = {};
    }
    PoolModel& taken = world.pools[pool];
    if (&fate != fates) {
      taken.spot->interruptions = {kTimes / to_seconds(hours(1)) /
                                   taken.most_nodes.value_or(taken.nodes)};
    }
    const auto result = simulate(world, quiet);
    if (!result) return;
    for (const WorkloadResult& workload : result->workloads) {
      if (!workload.requests) continue;
      const RestartLoss own = fate_of(*workload.requests);
      fate = {fate.lost + own.lost, fate.late + own.late};
    }
    const auto& dynamics = result->node_pools[pool].dynamics;
    times = dynamics ? dynamics->interruptions : 0;
  }
  if (times == 0) return;
  const RestartLoss loss = loss_of(fates[1], fates[0]);
  spot.lost = loss.lost / times * spot.a_month;
  spot.late = loss.late / times * spot.a_month;
}

}  // namespace

void add_provenance(const Scenario& base, const Catalogue& catalogue, const RunOptions& run,
                    Plan& plan) {
  const auto world = probe_world(base, {.pools = plan.options.front().pools}, catalogue);
  if (!world) return;
  plan.provenance = world->provenance;
  plan.rooms = gpu_rooms(*world);
  plan.measure_next = telling_measurement(*world, plan.flips);
  for (const PlannedObjective& o : plan.options.front().figures.objectives) {
    if (auto near = near_limit(*world, o.workload, o.result.name, o.result.value, o.result.limit)) {
      plan.notes.push_back(std::move(*near));
    }
  }
  // A block is paid for days, whatever the run takes of them; times of a GPU that nobody measured
  // are what the answer rests on.
  const bool block = contains(plan.options.front().pools, "capacity-block", &PoolChoice::purchase);
  std::ranges::copy_if(
      world->findings, std::back_inserter(plan.notes), [block](const Diagnostic& d) {
        return d.code == Code::ProfileScaled || (block && d.code == Code::PriceDerived);
      });
  for (const PoolModel& pool : world->pools) {
    if (!pool.spot) continue;
    const double nodes =
        pool.most_nodes
            ? *pool.most_nodes * share_of_time(*world, plan.options.front().figures.monthly)
            : pool.nodes;
    const double a_month = pool.spot->interruptions.per_second * to_seconds(kMonth) * nodes;
    plan.spot.push_back({pool.name, *pool_result(pool).spot, a_month, most_in_a_month(a_month)});
    add_losses(*world, static_cast<std::size_t>(&pool - world->pools.data()), run,
               plan.spot.back());
  }
}

}  // namespace slicewise::sim
