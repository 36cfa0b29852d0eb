#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

#include "../cluster/give_up.hpp"

namespace slicewise::sim {

bool is_interrupted(const RunOptions& options);

// Calls work(0) .. work(count - 1) on options.threads threads, started in order, until it is
// interrupted. Each call writes to a place of its own, so that the number of threads cannot change
// a result. Throws what the first of them throws that fails.
void run_in_parallel(std::size_t count, const RunOptions& options,
                     const std::function<void(std::size_t)>& work);

// Whether tasks may be done that nobody may need: not where those of others, or of another day, are
// told by their numbers.
bool looks_ahead(const RunOptions& options);
// How many tasks would be done at once by now, with what looks ahead; else 1.
std::size_t side_by_side(const RunOptions& options);

// The world of each variant; mistakes of all of them together, each once.
Expected<std::vector<World>> worlds_of(const ScenarioSet& set, const Catalogue& catalogue,
                                       UnknownInputs unknown = UnknownInputs::Taken);

// What the variants of a set became, in their order.
Result result_of(const ScenarioSet& set, const Catalogue& catalogue,
                 std::vector<std::optional<VariantResult>> variants);

// Each world with all its replications, those that finished merged; nullopt: none did.
std::vector<std::optional<VariantResult>> simulate_all(std::span<const World* const> worlds,
                                                       const RunOptions& options);

// One replication; nullopt when it was interrupted before its end, or before it was given up.
std::optional<Replication> whole_replication(const World& world, std::size_t replication,
                                             const RunOptions& options, const GiveUp& give_up = {});

using TakeRecords =
    std::function<void(std::size_t world, std::span<std::optional<Replication>> records)>;
using Replicate =
    std::function<std::optional<Replication>(std::size_t world, std::size_t replication)>;

// All replications of all worlds, as run_in_parallel() does; `take` gets those of a world, absent
// where they were interrupted, as soon as its last one is over, from the thread that ran it.
// `replicate`: runs one; else whole_replication() does. Returns how many replications there are.
int run_worlds(std::span<const World* const> worlds, const RunOptions& options,
               const TakeRecords& take, const Replicate& replicate = {});

}  // namespace slicewise::sim
