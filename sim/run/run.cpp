#include "slicewise/sim/run.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "../result/merge.hpp"
#include "replications.hpp"

namespace slicewise::sim {
namespace {

// One replication of one variant: the unit of parallel work.
struct Task {
  const World* world = nullptr;
  std::uint32_t replication = 0;
  std::optional<Replication> record;  // absent when the run was interrupted before it
};

void run_tasks(std::vector<Task>& tasks, const RunOptions& options) {
  run_in_parallel(tasks.size(), options, [&](std::size_t t) {
    tasks[t].record = whole_replication(*tasks[t].world, tasks[t].replication, options);
  });
}

std::vector<Task> tasks_of(const World& world) {
  std::vector<Task> tasks;
  tasks.reserve(static_cast<std::size_t>(world.replications));
  for (int r = 0; r < world.replications; ++r) {
    tasks.push_back({&world, static_cast<std::uint32_t>(r), std::nullopt});
  }
  return tasks;
}

// Merges the replications of `world` that finished; nullopt when none did.
std::optional<VariantResult> merge_tasks(const World& world, std::span<Task> tasks) {
  std::vector<Replication> records;
  for (Task& task : tasks) {
    if (task.record) records.push_back(std::move(*task.record));
  }
  if (records.empty()) return std::nullopt;
  return merge(world, records);
}

bool by_place(const Diagnostic& a, const Diagnostic& b) {
  return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
}

}  // namespace

std::optional<VariantResult> simulate(const World& world, const RunOptions& options) {
  std::vector<Task> tasks = tasks_of(world);
  run_tasks(tasks, options);
  return merge_tasks(world, tasks);
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

  std::vector<Task> tasks;
  for (const World& world : worlds) {
    for (Task& task : tasks_of(world)) tasks.push_back(std::move(task));
  }
  run_tasks(tasks, options);

  Result result;
  result.interrupted =
      std::ranges::any_of(tasks, [](const Task& task) { return !task.record.has_value(); });
  result.stamp = stamp_of(set, 0, catalogue);
  result.stamp.variant.clear();
  std::span<Task> rest = tasks;
  for (const World& world : worlds) {
    const auto count = static_cast<std::size_t>(world.replications);
    if (auto variant = merge_tasks(world, rest.first(count))) {
      result.variants.push_back(std::move(*variant));
    }
    rest = rest.subspan(count);
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
