#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/world.hpp"

// The steps of build_world. Each appends what it finds wrong to `found` and goes on.
namespace slicewise::sim {

// "did you mean" for a name that is not in a list of the catalogue, else where to find the list.
template <class Items>
Diagnostic unknown_name(Code code, const Located<std::string>& wanted, const std::string& message,
                        const Items& known, const std::string& list_command) {
  std::vector<std::string_view> names;
  names.reserve(known.size());
  for (const auto& item : known) names.push_back(item.name);
  const auto near = nearest_name(wanted.value, names);
  const std::string all = "`" + list_command + "` lists all";
  return make_diagnostic(code, wanted.where, message,
                         near ? "did you mean " + *near + "? " + all : all);
}

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
