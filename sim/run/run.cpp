#include "slicewise/sim/run.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "slicewise/sim/cluster/cluster.hpp"

#include "../cluster/cluster_run.hpp"
#include "../result/merge.hpp"
#include "replications.hpp"
#include "shared_progress.hpp"
#include "shared_tasks.hpp"

namespace slicewise::sim {

std::optional<Replication> whole_replication(const World& world, std::size_t replication,
                                             const RunOptions& options, const GiveUp& give_up) {
  Replication record =
      run_until(world, static_cast<std::uint32_t>(replication), options.interrupted, give_up);
  if (is_interrupted(options)) return std::nullopt;
  return record;
}

namespace {

constexpr std::size_t kTasksOfThread = 8;  // between two exchanges of ranks

}  // namespace

int run_worlds(std::span<const World* const> worlds, const RunOptions& options,
               const TakeRecords& take, const Replicate& replicate) {
  struct OneWorld {
    std::vector<std::optional<Replication>> records;
    std::atomic<std::size_t> left{0};
  };
  std::vector<OneWorld> each(worlds.size());
  std::vector<std::pair<std::size_t, std::size_t>> tasks;
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    each[w].left = static_cast<std::size_t>(worlds[w]->replications);
    each[w].records.resize(each[w].left);
    for (std::size_t r = 0; r < each[w].left; ++r) tasks.emplace_back(w, r);
  }
  const auto simulate_task = [&](std::size_t t) {
    const auto [w, r] = tasks[t];
    return replicate ? replicate(w, r) : whole_replication(*worlds[w], r, options);
  };
  const auto run_task = journaled<Replication>(options.journal, simulate_task);
  const auto take_record = [&](std::size_t t, std::optional<Replication> record) {
    const auto [w, r] = tasks[t];
    each[w].records[r] = std::move(record);
    if (--each[w].left > 0) return;
    take(w, each[w].records);
    each[w].records.clear();
  };
  if (current_ranks() == nullptr) {
    run_in_parallel(tasks.size(), options, [&](std::size_t t) { take_record(t, run_task(t)); });
  } else {
    // A part at a time: worlds that are whole need no records.
    const std::size_t part = kTasksOfThread * current_ranks()->size *
                             static_cast<std::size_t>(std::max(1, options.threads));
    RunOptions quiet = options;
    quiet.progress = nullptr;
    quiet.journal = nullptr;  // it knows the tasks of all parts
    for (std::size_t first = 0; first < tasks.size() && !is_interrupted(options); first += part) {
      auto records = results_of<Replication>(std::min(part, tasks.size() - first), quiet,
                                             [&](std::size_t t) { return run_task(first + t); });
      if (options.progress) {
        options.progress(static_cast<int>(first + records.size()), static_cast<int>(tasks.size()));
      }
      for (std::size_t t = 0; t < records.size(); ++t) {
        if (records[t]) take_record(first + t, std::move(records[t]));
      }
    }
  }
  // What was interrupted never saw its last one.
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    if (each[w].left > 0) take(w, each[w].records);
  }
  return static_cast<int>(tasks.size());
}

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

namespace {

std::int64_t recorded_jobs(const World& world) {
  std::int64_t jobs = 0;
  for (const TraceModel& trace : world.traces) {
    for (const std::size_t w : trace.workloads) jobs += world.workloads[w].jobs();
  }
  return jobs;
}

// Whether figures can be made of a replication that was interrupted.
bool says_something(const World& world, const Replication& record) {
  return !world.traces.empty() && record.length > world.warmup;
}

// Those that finished, merged; of a world without any, the one that got furthest.
std::optional<VariantResult> merge_furthest(const World& world,
                                            std::span<std::optional<Replication>> records) {
  const auto whole = [](const auto& record) { return record && !record->interrupted; };
  if (std::ranges::any_of(records, whole)) {
    for (auto& record : records) {
      if (!whole(record)) record.reset();
    }
    return merge_finished(world, records);
  }
  const auto reached = [](const auto& record) { return record ? record->length : Duration{-1}; };
  const auto furthest = std::ranges::max_element(records, {}, reached);
  if (furthest == records.end() || !*furthest) return std::nullopt;
  const Duration stopped_at = (*furthest)->length;
  auto result = merge_finished(world, {&*furthest, 1});
  result->stopped_at = stopped_at;
  return result;
}

std::vector<std::optional<VariantResult>> simulate_as_far_as_it_goes(
    std::span<const World* const> worlds, const RunOptions& options) {
  std::vector<std::int64_t> jobs;
  std::vector<std::size_t> first;  // replication of each world
  for (const World* world : worlds) {
    first.push_back(jobs.size());
    jobs.insert(jobs.end(), static_cast<std::size_t>(world->replications), recorded_jobs(*world));
  }
  SharedProgress progress(options.jobs_progress, jobs);
  const auto replicate = [&](std::size_t w, std::size_t r) -> std::optional<Replication> {
    const std::size_t part = first[w] + r;
    Replication record = run_replication(
        *worlds[w], static_cast<std::uint32_t>(r), options.interrupted,
        [&](std::int64_t over, TimePoint now) { progress.update(part, over, now); });
    if (record.interrupted && !says_something(*worlds[w], record)) return std::nullopt;
    if (!record.interrupted) progress.update(part, jobs[part], TimePoint{} + record.length);
    return record;
  };
  std::vector<std::optional<VariantResult>> results(worlds.size());
  run_worlds(
      worlds, options,
      [&](std::size_t w, std::span<std::optional<Replication>> records) {
        results[w] = merge_furthest(*worlds[w], records);
      },
      replicate);
  return results;
}

}  // namespace

Expected<std::vector<World>> worlds_of(const ScenarioSet& set, const Catalogue& catalogue,
                                       UnknownInputs unknown) {
  std::vector<World> worlds;
  worlds.reserve(set.variants.size());
  Diagnostics found;
  for (const Scenario& scenario : set.variants) {
    auto world = build_world(scenario, catalogue, unknown);
    if (world) {
      std::ranges::move(peaks_not_in_run(scenario), std::back_inserter(world->findings));
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
  return worlds;
}

Result result_of(const ScenarioSet& set, const Catalogue& catalogue,
                 std::vector<std::optional<VariantResult>> variants) {
  Result result;
  result.stamp = stamp_of(set, 0, catalogue);
  result.stamp.variant.clear();
  for (std::optional<VariantResult>& variant : variants) {
    result.interrupted = result.interrupted || !variant || !variant->is_whole();
    if (variant) result.variants.push_back(std::move(*variant));
  }
  return result;
}

Expected<Result> run_scenario(const ScenarioSet& set, const Catalogue& catalogue,
                              const RunOptions& options) {
  const auto worlds = worlds_of(set, catalogue);
  if (!worlds) return tl::unexpected(worlds.error());
  std::vector<const World*> all;
  all.reserve(worlds->size());
  for (const World& world : *worlds) all.push_back(&world);
  return result_of(set, catalogue, simulate_as_far_as_it_goes(all, options));
}

void stamp_layers(const Catalogue& catalogue, Stamp& stamp) {
  for (const models::CatalogueLayer& layer : catalogue.layers) {
    stamp.catalogue_files.push_back(layer.file);
    stamp.catalogue_sha256.push_back(layer.sha256);
  }
}

Stamp stamp_of(const ScenarioSet& set, std::size_t variant, const Catalogue& catalogue) {
  Stamp stamp;
  stamp.scenario = set.name;
  stamp.scenario_sha256 = set.sha256;
  stamp.inputs = set.inputs;
  stamp.variant = set.variants[variant].name;
  stamp.variants = set.variants.size();
  stamp.seed = set.variants[variant].seed;
  stamp.replications = set.variants[variant].replications;
  stamp.allow_pending = set.variants[variant].allow_pending;
  stamp.price_date = catalogue.prices.date();
  stamp_layers(catalogue, stamp);
  return stamp;
}

Stamp stamp_of(const ScenarioSet& set, std::size_t variant, const Scenario& judged,
               const Catalogue& catalogue) {
  Stamp stamp = stamp_of(set, variant, catalogue);
  if (judged.starts_at != set.variants[variant].starts_at) {
    stamp.starts_at = scenarios::week_time_text(judged.start());
  }
  return stamp;
}

}  // namespace slicewise::sim
