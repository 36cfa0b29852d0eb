#include "pairs_put_together.hpp"

#include <algorithm>
#include <span>

#include "../probe/loads.hpp"

namespace slicewise::sim {
namespace {

// One pod of each, with its part of the requests or users.
Scenario one_pod_of_each(Scenario scenario) {
  for (std::size_t w = 0; w < scenario.workloads.size(); ++w) {
    const double part = 1.0 / scenario.workloads[w].count;
    for (const LoadTarget& load : all_load_targets(scenario)) {
      if (load.index == w) scenario = scaled(scenario, std::span(&load, 1), part);
    }
    scenario.workloads[w].count = scenario.workloads[w].pods_per_job = 1;
    scenario.workloads[w].parallelism.reset();
    scenario.workloads[w].schedule.reset();
    scenario.workloads[w].trace.reset();  // one job of the mean length
    scenario.workloads[w].autoscaling.reset();
    scenario.workloads[w].starts_on.clear();
  }
  return scenario;
}

bool all_may_run(const World& world) {
  return std::ranges::all_of(world.workloads, [&](const WorkloadModel& workload) {
    return workload.on_pool.front().schedulable;
  });
}

// One pod of each of the workloads on one node of the pool that fills a GPU before it takes the
// next; nullopt where not all of them may run there.
std::optional<World> put_together(const Scenario& base, const std::vector<std::size_t>& workloads,
                                  std::size_t pool, Duration length, const Catalogue& catalogue) {
  Scenario scenario = one_pod_of_each(with_only(base, workloads, length));
  NodePool node = base.node_pools[pool];
  node.nodes = 1;
  node.most_nodes.reset();
  node.capacity_type = CapacityType::OnDemand;
  node.spot.reset();
  scenario.node_pools = {std::move(node)};
  Expected<World> world = build_world(scenario, catalogue);
  if (!world || !all_may_run(*world)) return std::nullopt;
  world->pools.front().allocation = scenarios::AllocationPolicy::Packed;
  return std::move(*world);
}

// Those on which both ran come first.
std::vector<std::size_t> pools_for(const Companions& pair) {
  std::vector<std::size_t> pools(pair.world.pools.size());
  for (std::size_t p = 0; p < pools.size(); ++p) pools[p] = p;
  std::stable_partition(pools.begin(), pools.end(), [&](std::size_t p) {
    return std::ranges::any_of(pair.replications, [&](const std::vector<Member>& members) {
      return !members.empty() && members[0].ran_on[p] && members[1].ran_on[p];
    });
  });
  return pools;
}

}  // namespace

void PairsPutTogether::add(const Scenario& base, const Companions& apart, Duration length,
                           const Catalogue& catalogue) {
  const std::vector<std::size_t>& pair = apart.workloads;
  for (const std::size_t pool : pools_for(apart)) {
    auto world = put_together(base, pair, pool, length, catalogue);
    if (!world) continue;
    const auto first = held_against(base, pair[0], pool, length, catalogue);
    const auto second = held_against(base, pair[1], pool, length, catalogue);
    if (!first || !second) continue;
    pairs_.push_back({companies_.size(), {*first, *second}});
    companies_.push_back({pair, std::move(*world), {}});
    return;
  }
}

void PairsPutTogether::simulate(Simulations& simulations) {
  if (!companies_.empty()) simulate_companies(companies_, simulations);
}

void PairsPutTogether::fill(NeighbourMatrix& matrix) const {
  for (const Pair& pair : pairs_) {
    const Companions& company = companies_[pair.company];
    for (std::size_t place = 0; place < 2; ++place) {
      const Companions& alone = companies_[pair.alone[place]];
      const std::vector<NeighbourFigure> figures = figures_of(alone.world.workloads.front());
      for (NeighbourRow& row : matrix.rows) {
        if (row.workload != company.workloads[place]) continue;
        const auto figure = std::ranges::find(figures, row.figure) - figures.begin();
        NeighbourEffect effect = effect_of(company, alone, static_cast<std::size_t>(figure));
        if (!effect.shares_gpu || !effect.slowdown) continue;
        effect.put_together = true;
        row.beside[company.workloads[1 - place]] = effect;
      }
    }
  }
}

std::optional<std::size_t> PairsPutTogether::held_against(const Scenario& base,
                                                          std::size_t workload, std::size_t pool,
                                                          Duration length,
                                                          const Catalogue& catalogue) {
  const auto known = alone_.find({workload, pool});
  if (known != alone_.end()) return known->second;
  auto world = put_together(base, {workload}, pool, length, catalogue);
  if (!world) return std::nullopt;
  companies_.push_back({{workload}, std::move(*world), {}});
  return alone_[{workload, pool}] = companies_.size() - 1;
}

}  // namespace slicewise::sim
