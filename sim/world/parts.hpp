#pragma once

#include <optional>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/world.hpp"

// The steps of build_world. Each appends what it finds wrong to `found` and goes on.
namespace slicewise::sim {

// Whether the price book knows the region at all.
bool has_prices(const models::Catalogue& catalogue, const std::string& region);

// What the device plugin advertises for the pool's GPUs: renameByDefault replaces the name of a
// shared resource, it does not add one.
ResourceOffer plugin_offer(const scenarios::NodePool& pool);

// nullopt when the pool's instance type, GPU or price is unknown, or its strategy is refused.
std::optional<PoolModel> model_pool(const scenarios::Scenario& scenario,
                                    const scenarios::NodePool& pool,
                                    const models::Catalogue& catalogue, Diagnostics& found);

// Matches what each workload asks for with what the pools offer, and fills in what one unit of its
// work costs on each of them.
void model_workloads(const scenarios::Scenario& scenario, const models::Catalogue& catalogue,
                     World& world, Diagnostics& found);

// Adds the inputs of `world` to its provenance counts and notes which ones nobody measured.
void count_provenance(const scenarios::Scenario& scenario, World& world);

}  // namespace slicewise::sim
