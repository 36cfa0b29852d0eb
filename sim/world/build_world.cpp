#include <algorithm>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/sim/isolation.hpp"
#include "slicewise/sim/world.hpp"

#include "parts.hpp"

namespace slicewise::sim {
namespace {

using scenarios::WorkloadKind;

void check_region(const scenarios::Scenario& scenario, const models::Catalogue& catalogue,
                  Diagnostics& found) {
  if (has_prices(catalogue, scenario.region)) return;
  const std::vector<std::string> regions = catalogue.prices.regions();
  const auto near = nearest_name(scenario.region, regions);
  found.push_back(make_diagnostic(
      Code::RegionUnknown, scenario.region_where,
      fmt::format("the price book has no region \"{}\"", scenario.region),
      near ? fmt::format("did you mean {}?", *near)
           : fmt::format("it has {}; --prices can add one", fmt::join(regions, ", "))));
}

void check_end(const scenarios::Scenario& scenario, Diagnostics& found) {
  if (scenario.duration) return;
  const bool has_job = std::ranges::any_of(
      scenario.workloads, [](const auto& w) { return w.kind == WorkloadKind::Job; });
  if (has_job) return;
  found.push_back(make_diagnostic(Code::RunNeverEnds, scenario.where,
                                  "there is no Job to wait for: a Deployment restarts what "
                                  "completes, a Service serves for ever, people come back to "
                                  "their Notebooks",
                                  "set spec.duration, for example `duration: 1h`"));
}

void check_isolation(const World& world, Diagnostics& found) {
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    auto gap = isolation_gap(world, pool);
    if (!gap) continue;
    found.push_back(make_diagnostic(
        Code::IsolationTooWeak, world.isolation->where, std::move(*gap),
        "cut the GPUs with MIG, give each its own node pool (taints, or nodeSelector and labels), "
        "or leave the GPU unshared"));
  }
}

// Gives every offered resource its id, in the order of the pools.
void name_resources(World& world) {
  for (PoolModel& pool : world.pools) {
    for (ResourceOffer& offer : pool.offers) {
      auto name = std::ranges::find(world.resources, offer.name);
      if (name == world.resources.end()) {
        world.resources.push_back(offer.name);
        name = world.resources.end() - 1;
      }
      offer.id = make_id<ResourceId>(static_cast<std::size_t>(name - world.resources.begin()));
    }
  }
}

// A pool is simulated request by request when a service or notebooks may land on it: steady state
// says nothing about the latency of one request or cell.
void choose_engines(World& world) {
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    world.pools[pool].exact =
        world.fidelity == scenarios::Fidelity::Exact ||
        std::ranges::any_of(world.workloads, [&](const WorkloadModel& w) {
          return !scenarios::runs_batches(w.spec.kind) && w.on_pool[pool].schedulable;
        });
  }
}

}  // namespace

Expected<World> build_world(const scenarios::Scenario& scenario,
                            const models::Catalogue& catalogue) {
  Diagnostics found;
  check_region(scenario, catalogue, found);
  check_planning(scenario, catalogue, found);
  World world;
  world.name = scenario.name;
  world.description = scenario.description;
  world.duration = scenario.duration;
  world.warmup = scenario.warmup;
  world.seed = scenario.seed;
  world.replications = scenario.replications;
  world.allow_pending = scenario.allow_pending;
  world.starts_at = scenario.starts_at;
  world.fidelity = scenario.fidelity;
  world.score_policy = scenario.score_policy;
  world.isolation = scenario.isolation;
  world.policies = scenario.policies;
  world.provisioner = scenario.provisioner;
  for (const scenarios::NodePool& pool : scenario.node_pools) {
    if (auto model = model_pool(scenario, pool, catalogue, found)) {
      world.pools.push_back(std::move(*model));
    }
  }
  name_resources(world);
  model_workloads(scenario, catalogue, world, found);
  check_end(scenario, found);
  if (has_errors(found)) return tl::unexpected(std::move(found));
  check_isolation(world, found);
  if (has_errors(found)) return tl::unexpected(std::move(found));
  model_pipelines(scenario, world);
  world.findings = std::move(found);
  choose_engines(world);
  count_provenance(scenario, world);
  return world;
}

}  // namespace slicewise::sim
