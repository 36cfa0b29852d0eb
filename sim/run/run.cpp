#include "slicewise/sim/run.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "../result/merge.hpp"
#include "replications.hpp"

namespace slicewise::sim {
namespace {

// The replications of a world that finished, merged; nullopt when none did.
std::optional<VariantResult> merge_finished(const World& world,
                                            std::span<std::optional<Replication>> records) {
  std::vector<Replication> finished;
  for (std::optional<Replication>& record : records) {
    if (record) finished.push_back(std::move(*record));
  }
  if (finished.empty()) return std::nullopt;
  return merge(world, finished);
}

bool by_place(const Diagnostic& a, const Diagnostic& b) {
  return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
}

}  // namespace

std::vector<std::optional<VariantResult>> simulate_all(std::span<const World* const> worlds,
                                                       const RunOptions& options) {
  std::vector<std::optional<VariantResult>> results(worlds.size());
  run_worlds(worlds, options, [&](std::size_t w, std::span<std::optional<Replication>> records) {
    results[w] = merge_finished(*worlds[w], records);
  });
  return results;
}

std::optional<VariantResult> simulate(const World& world, const RunOptions& options) {
  const World* const one = &world;
  return simulate_all({&one, 1}, options).front();
}

Expected<Result> run_scenario(const scenarios::ScenarioSet& set, const models::Catalogue& catalogue,
                              const RunOptions& options) {
  std::vector<World> worlds;
  worlds.reserve(set.variants.size());
  Diagnostics found;
  for (const scenarios::Scenario& scenario : set.variants) {
    auto world = build_world(scenario, catalogue);
    if (world) {
      worlds.push_back(std::move(*world));
      continue;
    }
    for (Diagnostic& d : world.error()) {
      if (!holds(found, d)) found.push_back(std::move(d));
    }
  }
  if (has_errors(found)) {
    std::ranges::stable_sort(found, by_place);
    return tl::unexpected(std::move(found));
  }

  std::vector<const World*> all;
  all.reserve(worlds.size());
  for (const World& world : worlds) all.push_back(&world);
  Result result;
  result.stamp = stamp_of(set, 0, catalogue);
  result.stamp.variant.clear();
  for (std::optional<VariantResult>& variant : simulate_all(all, options)) {
    const int asked = result.stamp.replications;
    result.interrupted = result.interrupted || !variant || variant->replications < asked;
    if (variant) result.variants.push_back(std::move(*variant));
  }
  return result;
}

Stamp stamp_of(const scenarios::ScenarioSet& set, std::size_t variant,
               const models::Catalogue& catalogue) {
  Stamp stamp;
  stamp.scenario = set.name;
  stamp.scenario_sha256 = set.sha256;
  stamp.variant = set.variants[variant].name;
  stamp.variants = set.variants.size();
  stamp.seed = set.variants[variant].seed;
  stamp.replications = set.variants[variant].replications;
  stamp.allow_pending = set.variants[variant].allow_pending;
  stamp.price_date = catalogue.prices.date();
  return stamp;
}

}  // namespace slicewise::sim
