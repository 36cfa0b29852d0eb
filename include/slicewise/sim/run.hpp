#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/task_journal.hpp"
#include "slicewise/sim/world.hpp"

// What is wrong with a scenario once the catalogue is at hand.
namespace slicewise::sim {

// Every mistake of a scenario file in one list, in file order: what the loader found, and the names
// that only the catalogue can judge (instance types, regions, prices, GPUs, profiles, MIG layouts,
// resource names). Names are checked even in a file that did not load, as far as it could be read.
// Figures that are missing and strategies that are not simulated are left to build_world.
Diagnostics check_names(const scenarios::LoadedScenario& loaded,
                        const models::Catalogue& catalogue);

// All that keeps variants from being simulated, each thing once, in the order of the variants.
Diagnostics check_worlds(const scenarios::ScenarioSet& set, const models::Catalogue& catalogue);

struct RunOptions {
  int threads = 1;  // replications in parallel; never changes a byte of the result
  // Called after each replication with (done, total), from any thread, one call at a time.
  std::function<void(int done, int total)> progress;
  // Set to true from a signal handler to stop: the replications that have finished are reported.
  const std::atomic<bool>* interrupted = nullptr;
  // Called now and then from inside the replications of run_scenario(), as `progress` is: the
  // recorded jobs that are over, of those of all replications, and the time that one has reached.
  std::function<void(std::int64_t done, std::int64_t total, TimePoint now)> jobs_progress = nullptr;
  // What a study knows so far, a line for people, as soon as it knows: "best so far: 8 x
  // g5.xlarge".
  std::function<void(const std::string& line)> so_far = nullptr;
  // Of a comparison, a highest load, neighbours or sensitivity; never changes a byte of them.
  TaskJournal* journal = nullptr;
  // Calls at the same time that share their threads: how many of those are at work, with the one
  // that makes this call. Who is through leaves them to the others.
  std::atomic<int>* busy = nullptr;
};

// Simulates one world: all its replications, merged in index order. nullopt when it was interrupted
// before the first one was done.
std::optional<VariantResult> simulate(const World& world, const RunOptions& options = {});

// Simulates every variant of a scenario file. Diagnostics of all variants come back together,
// each mistake once. A variant with recorded jobs that is interrupted before its first replication
// is done is reported as far as that got.
Expected<Result> run_scenario(const scenarios::ScenarioSet& set, const models::Catalogue& catalogue,
                              const RunOptions& options = {});

}  // namespace slicewise::sim
